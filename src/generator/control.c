// The generator as a child of the orchestrator (docs/control.md).
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/message.h"
#include "generator/generator.h"
#include "generator/hold.h"
#include "measure/allocations.h"

struct prepared {
    json_int_t id;
    struct tlc_target *target;
    struct tlc_hold *hold; // NULL: it holds none
};

struct serving {
    struct prepared *prepared;
    size_t count;
};

static struct prepared *find(struct serving *serving, json_int_t id)
{
    for (size_t i = 0; i < serving->count; i++)
        if (serving->prepared[i].id == id)
            return &serving->prepared[i];
    return NULL;
}

static enum tlc_status read_id(const json_t *request, json_int_t *id, struct tlc_error *error)
{
    const json_t *value = json_object_get(request, "id");
    if (!json_is_integer(value))
        return tlc_fail(error, TLC_USAGE, "control: id: missing or not a whole number");
    *id = json_integer_value(value);
    return TLC_OK;
}

static enum tlc_status prepare(struct serving *serving, const json_t *request, json_t *answer,
                               struct tlc_error *error)
{
    json_int_t id = 0;
    if (read_id(request, &id, error) != TLC_OK)
        return TLC_USAGE;
    if (find(serving, id))
        return tlc_fail(error, TLC_USAGE,
                        "control: prepare: id %" JSON_INTEGER_FORMAT ": in use; release it first",
                        id);
    struct tlc_target_options options;
    enum tlc_status status =
        tlc_target_options_from_json(json_object_get(request, "target"), &options, error);
    if (status != TLC_OK)
        return status;
    struct prepared *grown =
        realloc(serving->prepared, (serving->count + 1) * sizeof *serving->prepared);
    struct tlc_target *target = NULL;
    if (grown) {
        serving->prepared = grown;
        status = tlc_target_new(&options, &target, error);
    } else {
        status = tlc_fail(error, TLC_ENVIRONMENT, "control: out of memory");
    }
    tlc_target_options_release(&options);
    if (status != TLC_OK)
        return status;
    serving->prepared[serving->count++] = (struct prepared){.id = id, .target = target};
    json_object_set_new(answer, "ok", json_true());
    json_object_set_new(answer, "target", tlc_target_describe(target));
    return TLC_OK;
}

static enum tlc_status find_target(struct serving *serving, const json_t *request,
                                   struct prepared **prepared, struct tlc_error *error)
{
    json_int_t id = 0;
    if (read_id(request, &id, error) != TLC_OK)
        return TLC_USAGE;
    *prepared = find(serving, id);
    if (*prepared)
        return TLC_OK;
    return tlc_fail(error, TLC_USAGE, "control: id %" JSON_INTEGER_FORMAT ": not prepared", id);
}

static enum tlc_status read_count(const json_t *request, const char *name, uint64_t high,
                                  uint64_t *count, struct tlc_error *error)
{
    const json_t *value = json_object_get(request, name);
    json_int_t got = json_integer_value(value);
    if (value && (!json_is_integer(value) || got < 0 || (uint64_t)got > high))
        return tlc_fail(error, TLC_USAGE, "control: slice: %s: not a whole number in range", name);
    *count = (uint64_t)got;
    return TLC_OK;
}

static enum tlc_status slice(struct serving *serving, const json_t *request, json_t *answer,
                             struct tlc_error *error)
{
    struct prepared *prepared;
    uint64_t concurrency, batch, batch_wait_us;
    struct tlc_slice_options options = {
        .keep_latencies = json_is_true(json_object_get(request, "keep_latencies")),
        .rate = json_number_value(json_object_get(request, "rate")),
        .rate_end = json_number_value(json_object_get(request, "rate_end")),
    };
    if (find_target(serving, request, &prepared, error) != TLC_OK ||
        read_count(request, "duration_us", INT64_MAX / 2000, &options.duration_us, error) !=
            TLC_OK ||
        read_count(request, "count", INT64_MAX, &options.count, error) != TLC_OK ||
        read_count(request, "concurrency", 1u << 20, &concurrency, error) != TLC_OK ||
        read_count(request, "batch", 1u << 16, &batch, error) != TLC_OK ||
        read_count(request, "batch_wait_us", 1000000, &batch_wait_us, error) != TLC_OK)
        return TLC_USAGE;
    options.concurrency = (unsigned)concurrency;
    options.batch = (unsigned)batch;
    options.batch_wait_us = (unsigned)batch_wait_us;
    struct tlc_counters counters;
    struct tlc_allocations before, after;
    tlc_allocations_read(&before);
    enum tlc_status status = tlc_target_slice(prepared->target, &options, &counters, error);
    if (status != TLC_OK)
        return status;
    tlc_allocations_read(&after);
    if (tlc_allocations_loaded())
        json_object_set_new(answer, "allocations",
                            tlc_allocations_per_handshake(&before, &after, counters.handshakes));
    json_object_set_new(answer, "counters", tlc_counters_to_json(&counters));
    tlc_counters_free(&counters);
    return TLC_OK;
}

static enum tlc_status count_tickets(struct serving *serving, const json_t *request, json_t *answer,
                                     struct tlc_error *error)
{
    struct prepared *prepared;
    unsigned tickets, resumed;
    if (find_target(serving, request, &prepared, error) != TLC_OK)
        return TLC_USAGE;
    enum tlc_status status = tlc_target_count_tickets(prepared->target, &tickets, &resumed, error);
    if (status != TLC_OK)
        return status;
    json_object_set_new(answer, "tickets", json_integer(tickets));
    json_object_set_new(answer, "resumed_tickets", json_integer(resumed));
    return TLC_OK;
}

static json_t *hold_json(struct tlc_hold *hold)
{
    struct tlc_hold_facts facts;
    tlc_hold_facts(hold, &facts);
    return json_pack("{s:i, s:i, s:I, s:I, s:I, s:I, s:I}", "open", (int)facts.open, "closed",
                     (int)facts.closed, "bytes_sent", (json_int_t)facts.bytes_sent,
                     "bytes_received", (json_int_t)facts.bytes_received, "first_us",
                     (json_int_t)facts.first_us, "median_us", (json_int_t)facts.median_us,
                     "last_us", (json_int_t)facts.last_us);
}

static enum tlc_status hold(struct serving *serving, const json_t *request, json_t *answer,
                            struct tlc_error *error)
{
    struct prepared *prepared;
    uint64_t count;
    if (find_target(serving, request, &prepared, error) != TLC_OK ||
        read_count(request, "count", TLC_MOST_HELD, &count, error) != TLC_OK)
        return TLC_USAGE;
    tlc_hold_free(prepared->hold);
    prepared->hold = NULL;
    enum tlc_status status =
        tlc_target_hold(prepared->target, (unsigned)count, &prepared->hold, error);
    if (status == TLC_OK)
        json_object_set_new(answer, "held", hold_json(prepared->hold));
    return status;
}

static enum tlc_status await_ends(struct serving *serving, const json_t *request, json_t *answer,
                                  struct tlc_error *error)
{
    struct prepared *prepared;
    uint64_t duration_us;
    if (find_target(serving, request, &prepared, error) != TLC_OK ||
        read_count(request, "duration_us", TLC_LONGEST_HOLD_US, &duration_us, error) != TLC_OK)
        return TLC_USAGE;
    if (!prepared->hold)
        return tlc_fail(error, TLC_USAGE, "control: await-ends: nothing is held");
    tlc_hold_wait(prepared->hold, duration_us);
    json_object_set_new(answer, "held", hold_json(prepared->hold));
    return TLC_OK;
}

static void end_prepared(struct prepared *prepared)
{
    tlc_hold_free(prepared->hold);
    tlc_target_free(prepared->target);
}

static enum tlc_status release(struct serving *serving, const json_t *request, json_t *answer,
                               struct tlc_error *error)
{
    struct prepared *prepared;
    if (find_target(serving, request, &prepared, error) != TLC_OK)
        return TLC_USAGE;
    end_prepared(prepared);
    *prepared = serving->prepared[--serving->count];
    json_object_set_new(answer, "ok", json_true());
    return TLC_OK;
}

static const struct {
    const char *name;
    enum tlc_status (*serve)(struct serving *serving, const json_t *request, json_t *answer,
                             struct tlc_error *error);
} commands[] = {
    {"prepare", prepare}, {"slice", slice},           {"count-tickets", count_tickets},
    {"hold", hold},       {"await-ends", await_ends}, {"release", release},
};

static enum tlc_status answer_to(struct serving *serving, const json_t *request, json_t *answer,
                                 struct tlc_error *error)
{
    const char *name = json_string_value(json_object_get(request, "command"));
    for (size_t i = 0; name && i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(commands[i].name, name))
            return commands[i].serve(serving, request, answer, error);
    return tlc_fail(error, TLC_USAGE, "control: command: unknown");
}

// Whether the peer has ended, as against a message or the wait for one.
static bool peer_ended(int control)
{
    struct pollfd waited = {.fd = control, .events = POLLIN};
    while (poll(&waited, 1, -1) < 0)
        if (errno != EINTR)
            return true;
    char byte;
    return recv(control, &byte, 1, MSG_PEEK) == 0;
}

enum tlc_status tlc_generator_serve(int control, struct tlc_error *error)
{
    struct serving serving = {.count = 0};
    enum tlc_status status = TLC_OK;
    bool stopped = false;
    while (status == TLC_OK && !stopped && !peer_ended(control)) {
        json_t *request;
        status = tlc_message_receive(control, -1, &request, error);
        if (status != TLC_OK)
            break;
        json_t *answer = json_object();
        const char *name = json_string_value(json_object_get(request, "command"));
        stopped = name && !strcmp(name, "stop");
        struct tlc_error reason;
        if (stopped) {
            json_object_set_new(answer, "ok", json_true());
        } else if (answer_to(&serving, request, answer, &reason) != TLC_OK) {
            json_object_set_new(answer, "error", json_string(reason.text));
            json_object_set_new(answer, "status", json_integer(reason.status));
        }
        status = tlc_message_send(control, answer, error);
        json_decref(answer);
        json_decref(request);
    }
    while (serving.count)
        end_prepared(&serving.prepared[--serving.count]);
    free(serving.prepared);
    return status;
}
