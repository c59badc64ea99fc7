#include "evidence/visit.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/names.h"
#include "evidence/connect.h"
#include "evidence/probe.h"
#include "measure/clock.h"

enum { LEAST_SILENCE_MS = 100, MORE_TICKETS_MS = 1000, WEEK_S = 7 * 24 * 3600 };

static const uint64_t ns_per_ms = 1000000;

// A connection of the lean TLS 1.3 client.
struct walk {
    const struct tlc_visit_options *options;
    struct tlc_tls13_config *config;
    struct tlc_tls13_client *client;
    int fd;
    uint64_t deadline_ns, connect_ns;
};

enum heard { BYTES, SILENCE, END };

static uint64_t now_ms(void)
{
    return tlc_now_ns() / ns_per_ms;
}

static enum tlc_status send_pending(struct walk *walk, struct tlc_error *error)
{
    size_t count;
    const uint8_t *bytes;
    while ((bytes = tlc_tls13_output(walk->client, &count)) && count) {
        ssize_t sent = send(walk->fd, bytes, count, MSG_NOSIGNAL);
        if (sent >= 0)
            tlc_tls13_output_sent(walk->client, (size_t)sent);
        else if (errno != EINTR && errno != EAGAIN)
            return tlc_fail_errno(error, "send");
        else if (errno == EAGAIN && tlc_wait_fd(walk->fd, POLLOUT, walk->deadline_ns) <= 0)
            return tlc_fail(error, TLC_ENVIRONMENT, "the server takes no bytes in time");
    }
    return TLC_OK;
}

// Hands what the server sends to the client until the time is over.
static enum heard hear(struct walk *walk, uint64_t until_ns)
{
    uint8_t bytes[16384];
    for (;;) {
        ssize_t got = recv(walk->fd, bytes, sizeof bytes, 0);
        if (got > 0) {
            (void)tlc_tls13_input(walk->client, bytes, (size_t)got, now_ms());
            return BYTES;
        }
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return END;
        if (errno == EAGAIN && tlc_wait_fd(walk->fd, POLLIN, until_ns) <= 0)
            return SILENCE;
    }
}

static enum tlc_status shake_hands(struct walk *walk, struct tlc_error *error)
{
    enum tlc_status status = send_pending(walk, error);
    while (status == TLC_OK && tlc_tls13_state(walk->client) == TLC_TLS13_WAIT) {
        switch (hear(walk, walk->deadline_ns)) {
        case SILENCE:
            return tlc_fail(error, TLC_ENVIRONMENT, "no answer within %u ms",
                            walk->options->timeout_ms);
        case END:
            return tlc_fail(error, TLC_REFUSED, "the server ended the connection");
        case BYTES:
            break;
        }
        status = send_pending(walk, error);
    }
    if (tlc_tls13_state(walk->client) == TLC_TLS13_FAILED)
        return tlc_fail(error, TLC_REFUSED, "%s", tlc_tls13_failure(walk->client));
    return status;
}

static void keep_tickets(struct walk *walk, struct tlc_visit *visit)
{
    struct tlc_tls13_ticket ticket;
    while (visit->pass_count < TLC_PASSES_MAX && tlc_tls13_take_ticket(walk->client, &ticket)) {
        if (!visit->pass_count) {
            visit->lifetime_s = ticket.lifetime_s;
            visit->ticket_bytes = ticket.identity_bytes;
        }
        visit->passes[visit->pass_count++] =
            (struct tlc_pass){.version = TLC_TLS13, .ticket = ticket};
    }
}

// Tickets come a round trip behind the client's Finished, which nothing else announces.
static void await_tickets(struct walk *walk, struct tlc_visit *visit)
{
    uint64_t silence_ns = LEAST_SILENCE_MS * ns_per_ms + 2 * walk->connect_ns;
    uint64_t end_ns = tlc_now_ns() + MORE_TICKETS_MS * ns_per_ms + silence_ns;
    keep_tickets(walk, visit);
    while (visit->pass_count < walk->options->wanted) {
        uint64_t until_ns = tlc_now_ns() + silence_ns;
        if (hear(walk, until_ns < end_ns ? until_ns : end_ns) != BYTES ||
            tlc_tls13_state(walk->client) != TLC_TLS13_DONE)
            break;
        keep_tickets(walk, visit);
    }
}

static void say_goodbye(struct walk *walk)
{
    struct tlc_error ignored;
    if (walk->client && tlc_tls13_state(walk->client) == TLC_TLS13_DONE &&
        tlc_tls13_close(walk->client, &ignored) == TLC_OK && send_pending(walk, &ignored) != TLC_OK)
        errno = 0;
    if (walk->fd >= 0)
        close(walk->fd);
    tlc_tls13_client_free(walk->client);
    tlc_tls13_config_free(walk->config);
}

static enum tlc_status prepare(struct walk *walk, struct tlc_error *error)
{
    static const uint16_t ciphers[] = {TLC_AES_128_GCM_SHA256, TLC_AES_256_GCM_SHA384,
                                       TLC_CHACHA20_POLY1305_SHA256};
    const struct tlc_visit_options *options = walk->options;
    char host[256] = "";
    enum tlc_status status = tlc_address_host(options->address, host, sizeof host, error);
    const char *name = options->server_name ? options->server_name : host;
    const struct tlc_tls13_options tls13 = {.groups = options->groups,
                                            .group_count = options->group_count,
                                            .ciphers = ciphers,
                                            .cipher_count = sizeof ciphers / sizeof *ciphers,
                                            .server_name = *name ? name : NULL,
                                            .psk_modes = options->psk_modes};
    if (status == TLC_OK)
        status = tlc_tls13_config_new(&tls13, &walk->config, error);
    walk->client = tlc_tls13_client_new();
    if (status == TLC_OK && !walk->client)
        status = tlc_fail(error, TLC_ENVIRONMENT, "out of memory");
    return status;
}

// The question is whether the server still takes the ticket, not whether the client would offer it.
static enum tlc_status begin(struct walk *walk, struct tlc_error *error)
{
    const struct tlc_pass *offered = walk->options->offered;
    struct tlc_tls13_ticket ticket;
    if (offered && offered->version == TLC_TLS13) {
        ticket = offered->ticket;
        ticket.lifetime_s = WEEK_S;
    }
    return tlc_tls13_start(walk->client, walk->config,
                           offered && offered->version == TLC_TLS13 ? &ticket : NULL, now_ms(),
                           error);
}

static enum tlc_status visit_tls13(const struct tlc_visit_options *options, struct tlc_visit *visit,
                                   struct tlc_error *error)
{
    struct walk walk = {.options = options, .fd = -1};
    uint64_t started_ns = tlc_now_ns();
    walk.deadline_ns = started_ns + options->timeout_ms * ns_per_ms;
    enum tlc_status status = prepare(&walk, error);
    if (status == TLC_OK)
        status = tlc_connect(options->address, NULL, walk.deadline_ns, &walk.fd, error);
    walk.connect_ns = tlc_now_ns() - started_ns;
    if (status == TLC_OK)
        status = begin(&walk, error);
    if (status == TLC_OK)
        status = shake_hands(&walk, error);
    if (status == TLC_OK) {
        if (options->wanted)
            await_tickets(&walk, visit);
        const struct tlc_tls13_evidence *seen = tlc_tls13_evidence(walk.client);
        visit->resumed = seen->resumed;
        visit->psk_mode = seen->psk_mode;
        visit->group = seen->group;
        visit->tickets = seen->tickets;
    }
    say_goodbye(&walk);
    return status;
}

static enum tlc_status visit_tls12(const struct tlc_visit_options *options, struct tlc_visit *visit,
                                   struct tlc_error *error)
{
    struct tlc_probe_session kept = {0};
    json_t *evidence = NULL;
    bool brings = options->offered && options->offered->version == TLC_TLS12;
    const struct tlc_probe_options probe = {
        .address = options->address,
        .plugin = options->plugin,
        .min_version = TLC_TLS12,
        .max_version = TLC_TLS12,
        .server_name = options->server_name,
        .tickets_awaited = 1,
        .timeout_ms = options->timeout_ms,
        .session = brings ? options->offered->session : NULL,
        .session_bytes = brings ? options->offered->session_bytes : 0,
        .session_kept = &kept,
    };
    enum tlc_status status = tlc_probe(&probe, &evidence, error);
    if (status != TLC_OK)
        return status;
    visit->resumed = json_is_true(json_object_get(evidence, "resumed"));
    visit->psk_mode = -1;
    visit->tickets = kept.ticket;
    visit->lifetime_s = kept.lifetime_s;
    if (kept.bytes)
        visit->passes[visit->pass_count++] = (struct tlc_pass){
            .version = TLC_TLS12, .session = kept.bytes, .session_bytes = kept.count};
    json_decref(evidence);
    return TLC_OK;
}

enum tlc_status tlc_visit_make(const struct tlc_visit_options *options, struct tlc_visit *visit,
                               struct tlc_error *error)
{
    *visit = (struct tlc_visit){.psk_mode = -1};
    enum tlc_status status = options->version == TLC_TLS12 ? visit_tls12(options, visit, error)
                                                           : visit_tls13(options, visit, error);
    return status == TLC_OK ? TLC_OK : tlc_fail_prefix(error, "tickets: %.200s", options->address);
}

void tlc_pass_clear(struct tlc_pass *pass)
{
    free(pass->session);
    explicit_bzero(pass, sizeof *pass);
}

void tlc_visit_clear(struct tlc_visit *visit)
{
    while (visit->pass_count)
        tlc_pass_clear(&visit->passes[--visit->pass_count]);
}

bool tlc_visit_take(struct tlc_visit *visit, struct tlc_pass *pass)
{
    if (!visit->pass_count)
        return false;
    *pass = visit->passes[--visit->pass_count];
    return true;
}
