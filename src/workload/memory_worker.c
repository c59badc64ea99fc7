#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/message.h"
#include "workload/arm_mask.h"
#include "workload/memory.h"
#include "workload/memory_company.h"
#include "workload/memory_slice.h"

struct serving {
    struct tlc_plan *plan; // of one arm; NULL: not prepared
    struct tlc_memory_arm arm;
};

static void release(struct serving *serving)
{
    if (!serving->plan)
        return;
    tlc_memory_arm_close(&serving->arm);
    tlc_plan_free(serving->plan);
    serving->plan = NULL;
}

static enum tlc_status prepare(struct serving *serving, const json_t *request, json_t *answer,
                               struct tlc_error *error)
{
    json_t *evidence;
    const char *folder = json_string_value(json_object_get(request, "certificates"));
    release(serving);
    if (!folder)
        return tlc_fail(error, TLC_USAGE, "control: prepare: certificates: missing");
    enum tlc_status status =
        tlc_plan_from_json(json_object_get(request, "plan"), &serving->plan, error);
    if (status != TLC_OK)
        return status;
    status = tlc_memory_arm_open(&serving->plan->arms[0], folder, &serving->arm, &evidence, error);
    if (status != TLC_OK) {
        tlc_plan_free(serving->plan);
        serving->plan = NULL;
        return status;
    }
    json_t *processor = tlc_arm_processor(serving->arm.pair.server.stack->build());
    if (processor)
        json_object_set_new(evidence, "processor", processor);
    json_object_set_new(answer, "evidence", evidence);
    return TLC_OK;
}

// A whole number from 0 to `high`; a missing one is 0.
static enum tlc_status read_count(const json_t *request, const char *name, uint64_t high,
                                  uint64_t *count, struct tlc_error *error)
{
    const json_t *value = json_object_get(request, name);
    json_int_t got = json_integer_value(value);
    if (value && (!json_is_integer(value) || got < 0 || (uint64_t)got > high))
        return tlc_fail(error, TLC_USAGE, "control: %s: not a whole number from 0 to %" PRIu64,
                        name, high);
    *count = (uint64_t)got;
    return TLC_OK;
}

static enum tlc_status need_arm(const struct serving *serving, struct tlc_error *error)
{
    return serving->plan ? TLC_OK : tlc_fail(error, TLC_USAGE, "control: no arm is prepared");
}

static enum tlc_status slice(struct serving *serving, const json_t *request, json_t *answer,
                             struct tlc_error *error)
{
    uint64_t duration_us, count;
    struct tlc_memory_figures figures;
    enum tlc_status status = need_arm(serving, error);
    if (status == TLC_OK)
        status = read_count(request, "duration_us", INT64_MAX / 2000, &duration_us, error);
    if (status == TLC_OK)
        status = read_count(request, "count", INT64_MAX, &count, error);
    if (status == TLC_OK)
        status = tlc_memory_slice(&serving->arm, duration_us, count, &figures, error);
    if (status != TLC_OK)
        return status;
    json_t *told =
        json_pack("{s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:I}", "counters",
                  tlc_counters_to_json(&figures.counters), "server_us", figures.split.server_us,
                  "client_us", figures.split.client_us, "rest_us", figures.split.rest_us,
                  "total_us", figures.total_us, "wall_us", figures.split.wall_us, "clock_ns",
                  figures.clock_ns, "interrupted", (json_int_t)figures.split.interrupted);
    const struct tlc_memory_side *server = &serving->arm.pair.server;
    json_t *provider = tlc_provider_describe_use(server->stack, &server->context, 1);
    if (provider)
        json_object_set_new(told, "provider", provider);
    if (figures.failure[0])
        json_object_set_new(told, "failure", json_string(figures.failure));
    json_object_update(answer, told);
    json_decref(told);
    tlc_counters_free(&figures.counters);
    return TLC_OK;
}

static enum tlc_status idle(struct serving *serving, const json_t *request, json_t *answer,
                            struct tlc_error *error)
{
    enum { MOST = 100000 };
    uint64_t connections;
    json_t *told;
    enum tlc_status status = need_arm(serving, error);
    if (status == TLC_OK)
        status = read_count(request, "connections", MOST, &connections, error);
    if (status == TLC_OK)
        status = tlc_memory_idle(&serving->arm, (unsigned)connections, &told, error);
    if (status == TLC_OK)
        json_object_set_new(answer, "idle_connections", told);
    return status;
}

static enum tlc_status company(struct serving *serving, const json_t *request, json_t *answer,
                               struct tlc_error *error)
{
    enum { MOST = 10000 };
    uint64_t burn_us, handshakes, turns;
    enum tlc_status status = need_arm(serving, error);
    if (status == TLC_OK)
        status = read_count(request, "burn_us", MOST, &burn_us, error);
    if (status == TLC_OK)
        status = read_count(request, "handshakes", MOST, &handshakes, error);
    if (status == TLC_OK)
        status = read_count(request, "turns", TLC_COMPANY_TURNS, &turns, error);
    if (status == TLC_OK && !(burn_us && handshakes && turns))
        status = tlc_fail(error, TLC_USAGE, "control: company: burn_us, handshakes or turns is 0");
    if (status != TLC_OK)
        return status;
    struct tlc_memory_company told = {
        .burn_us = (unsigned)burn_us, .handshakes = (unsigned)handshakes, .turns = (unsigned)turns};
    status = tlc_memory_company(&serving->arm, &told, error);
    if (status == TLC_OK) {
        json_object_set_new(answer, "company", json_real(told.company));
        json_object_set_new(answer, "alone", json_real(told.alone));
    }
    return status;
}

static const struct {
    const char *name;
    enum tlc_status (*serve)(struct serving *serving, const json_t *request, json_t *answer,
                             struct tlc_error *error);
} commands[] = {{"prepare", prepare}, {"slice", slice}, {"idle", idle}, {"company", company}};

static enum tlc_status answer_to(struct serving *serving, const json_t *request, json_t *answer,
                                 struct tlc_error *error)
{
    const char *name = json_string_value(json_object_get(request, "command"));
    for (size_t i = 0; name && i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(commands[i].name, name))
            return commands[i].serve(serving, request, answer, error);
    return tlc_fail(error, TLC_USAGE,
                    "control: command: unknown; there are prepare, slice, idle, company and stop");
}

// Whether the peer has ended, as against a message or the wait for one.
static bool peer_ended(int control)
{
    struct pollfd waited = {.fd = control, .events = POLLIN};
    while (poll(&waited, 1, -1) < 0)
        if (errno != EINTR)
            return true;
    char byte;
    return recv(control, &byte, 1, MSG_PEEK) <= 0;
}

static json_t *answer_of(struct serving *serving, const json_t *request, bool *stopped)
{
    struct tlc_error reason;
    json_t *answer = json_object();
    const char *name = json_string_value(json_object_get(request, "command"));
    *stopped = name && !strcmp(name, "stop");
    if (!*stopped && answer_to(serving, request, answer, &reason) != TLC_OK) {
        json_object_set_new(answer, "error", json_string(reason.text));
        json_object_set_new(answer, "status", json_integer(reason.status));
    }
    return answer;
}

enum tlc_status tlc_memory_serve(int control, struct tlc_error *error)
{
    struct serving serving = {.plan = NULL};
    enum tlc_status status = TLC_OK;
    bool stopped = false;
    while (status == TLC_OK && !stopped && !peer_ended(control)) {
        json_t *request;
        status = tlc_message_receive(control, -1, &request, error);
        if (status != TLC_OK)
            break;
        json_t *answer = answer_of(&serving, request, &stopped);
        status = tlc_message_send(control, answer, error);
        json_decref(answer);
        json_decref(request);
    }
    release(&serving);
    return status;
}
