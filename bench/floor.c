#include "bench/floor.h"

#include <poll.h>
#include <stdio.h>

#include "bench/port.h"
#include "measure/clock.h"

enum { LISTEN_MS = 5000, STOP_MS = 1000 };

static enum tlc_status await_listener(struct floor_server *server, uint16_t port,
                                      struct tlc_error *error)
{
    uint64_t deadline = tlc_now_ns() + LISTEN_MS * UINT64_C(1000000);
    while (!port_accepts(port)) {
        if (!tlc_process_alive(&server->process, NULL) || tlc_now_ns() > deadline)
            return tlc_fail(error, TLC_ENVIRONMENT, "floor: its server does not listen");
        poll(NULL, 0, 10);
    }
    return TLC_OK;
}

enum tlc_status floor_start(struct floor_server *server, const struct rig_options *options,
                            double burn_us, struct tlc_error *error)
{
    char burn[32];
    uint16_t port = port_unused();
    *server =
        (struct floor_server){.process = {.control = -1}, .burn_us = burn_us > 0 ? burn_us : 0};
    snprintf(server->address, sizeof server->address, "127.0.0.1:%u", port);
    snprintf(burn, sizeof burn, "%.0f", server->burn_us);
    const char *const arguments[] = {
        options->program, "load", "--serve-floor", server->address, "--burn-us", burn, NULL};
    const struct tlc_process_options process = {
        .arguments = arguments, .cpus = options->server_cpus, .log = options->log};
    enum tlc_status status = tlc_process_start(&process, &server->process, error);
    return status == TLC_OK ? await_listener(server, port, error) : status;
}

void floor_stop(struct floor_server *server)
{
    tlc_process_stop(&server->process, STOP_MS);
}
