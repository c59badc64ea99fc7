// A run of three times as many handshakes minus a short one leaves what handshakes cost, without
// start and end; whatever counts.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/count_rig.h"

enum { FACTOR = 3, MOST_REPEATS = 20, SERVER = 0, CLIENT, SIDES };

struct side {
    struct tlc_counted few[MOST_REPEATS], many[MOST_REPEATS];
};

static const struct tlc_count_method *const methods[] = {&tlc_count_by_callgrind,
                                                         &tlc_count_by_perf};

const struct tlc_count_method *tlc_count_method(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!strcmp(methods[i]->name, name))
            return methods[i];
    return NULL;
}

enum tlc_status tlc_count_settle(struct tlc_count_options *options, json_t *document,
                                 struct tlc_error *error)
{
    const struct tlc_count_method *method = options->method;
    if (options->event.kind && method != &tlc_count_by_perf)
        return tlc_fail(error, TLC_USAGE,
                        "count: --event %s: --by %s counts instructions only; give --by perf",
                        options->event.kind->name, method->name);
    if (!options->event.kind)
        options->event.kind = tlc_event_kind("instructions");
    if (!options->handshakes)
        options->handshakes = method->handshakes;
    json_object_set_new(document, "method", json_string(method->name));
    json_object_set_new(document, "event", json_string(options->event.kind->name));
    return TLC_OK;
}

enum tlc_status tlc_count_require(struct tlc_count_options *options, json_t *document,
                                  struct tlc_error *error)
{
    return options->method->require(options, document, error);
}

static enum tlc_status take_run(struct tlc_count_rig *rig, uint64_t handshakes,
                                struct tlc_counted *client, struct tlc_counted *server,
                                struct tlc_error *error)
{
    const struct tlc_count_method *method = rig->options->method;
    enum tlc_status status = method->client(rig, handshakes, client, error);
    if (status == TLC_OK)
        status = tlc_count_rig_await_idle(rig, error);
    if (status == TLC_OK)
        status = method->server(rig, server, error);
    return status;
}

static enum tlc_status run_repeat(struct tlc_count_rig *rig, struct side *sides, size_t repeat,
                                  struct tlc_error *error)
{
    uint64_t few = rig->options->handshakes;
    enum tlc_status status =
        take_run(rig, few, &sides[CLIENT].few[repeat], &sides[SERVER].few[repeat], error);
    if (status == TLC_OK)
        status = take_run(rig, FACTOR * few, &sides[CLIENT].many[repeat],
                          &sides[SERVER].many[repeat], error);
    return status;
}

struct function {
    const char *name, *object;
    double each;
};

static int by_count(const void *left, const void *right)
{
    double a = ((const struct function *)left)->each, b = ((const struct function *)right)->each;
    return (a < b) - (a > b);
}

// The functions of the first repeat that grow most with the number of handshakes.
static json_t *top_functions(const struct side *side, const struct tlc_count_options *options,
                             double total)
{
    const struct tlc_callgrind *many = &side->many[0].functions;
    struct function *functions = calloc(many->count + 1, sizeof *functions);
    json_t *list = json_array();
    double handshakes = (double)((FACTOR - 1) * options->handshakes);
    for (size_t i = 0; functions && i < many->count; i++) {
        const struct tlc_callgrind_function *function = &many->functions[i];
        double few =
            (double)tlc_callgrind_self(&side->few[0].functions, function->name, function->object);
        functions[i] = (struct function){function->name, function->object,
                                         ((double)function->self - few) / handshakes};
    }
    if (functions)
        qsort(functions, many->count, sizeof *functions, by_count);
    for (size_t i = 0; functions && i < many->count && i < options->top; i++)
        if (functions[i].each > 0)
            json_array_append_new(
                list, json_pack("{s:s%, s:s%, s:f, s:f}", "name", functions[i].name,
                                strlen(functions[i].name), "object", functions[i].object,
                                strlen(functions[i].object), "instructions", functions[i].each,
                                "share", functions[i].each / total));
    free(functions);
    return list;
}

static json_t *side_json(const struct side *side, const struct tlc_count_options *options)
{
    double total = 0, user = 0, kernel = 0, least = INFINITY, most = -INFINITY;
    double handshakes = (double)((FACTOR - 1) * options->handshakes);
    double runs = handshakes * (double)options->repeats;
    for (size_t i = 0; i < options->repeats; i++) {
        const struct tlc_counted *few = &side->few[i], *many = &side->many[i];
        double each = (many->total - few->total) / handshakes;
        total += (many->total - few->total) / runs;
        user += (many->user - few->user) / runs;
        kernel += (many->kernel - few->kernel) / runs;
        least = fmin(least, each);
        most = fmax(most, each);
    }
    // A number that is none becomes null.
    json_t *json = json_object();
    json_object_set_new(json, "per_handshake", json_real(total));
    if (options->event.kind == tlc_event_kind("instructions"))
        json_object_set_new(json, "instructions_per_handshake", json_real(total));
    json_t *members = json_pack("{s:o?, s:o?, s:o?, s:o}", "user", json_real(user), "kernel",
                                json_real(kernel), "spread", json_real((most - least) / total),
                                "functions", top_functions(side, options, total));
    json_object_update_new(json, members);
    return json;
}

static enum tlc_status check_sides(const json_t *document, const struct tlc_count_options *options,
                                   struct tlc_error *error)
{
    for (size_t i = 0; i < SIDES; i++) {
        const char *name = tlc_count_sides[i];
        double each = tlc_json_number(tlc_count_side(document, name), "per_handshake");
        if (!(each > 0))
            return tlc_fail(error, TLC_REFUSED,
                            "count: %s: more handshakes took no more %s; give a larger --count",
                            name, options->event.kind->unit);
    }
    return TLC_OK;
}

static enum tlc_status count_all(struct tlc_count_rig *rig, struct side *sides,
                                 struct tlc_error *error)
{
    const struct tlc_count_method *method = rig->options->method;
    enum tlc_status status = method->start(rig, error);
    // What a library does only once, in its first handshakes, is nobody's cost.
    if (status == TLC_OK)
        status = tlc_count_rig_load(rig, NULL, method->warm_up, error);
    if (status == TLC_OK)
        status = tlc_count_rig_await_idle(rig, error);
    if (status == TLC_OK)
        status = method->begin(rig, error);
    for (size_t i = 0; i < rig->options->repeats && status == TLC_OK; i++)
        status = run_repeat(rig, sides, i, error);
    return status;
}

enum tlc_status tlc_count_run(const struct tlc_count_options *options, json_t *document,
                              struct tlc_error *error)
{
    struct tlc_count_rig rig;
    struct side *sides = calloc(SIDES, sizeof *sides);
    if (!sides)
        return tlc_fail(error, TLC_ENVIRONMENT, "count: out of memory");
    enum tlc_status status = tlc_count_rig_open(options, &rig, error);
    if (status == TLC_OK) {
        status = count_all(&rig, sides, error);
        options->method->stop(&rig);
        tlc_count_rig_close(&rig);
    }
    if (status == TLC_OK) {
        json_object_set_new(document, "sides",
                            json_pack("{s:o, s:o}", "server", side_json(&sides[SERVER], options),
                                      "client", side_json(&sides[CLIENT], options)));
        status = check_sides(document, options, error);
    }
    for (size_t i = 0; i < MOST_REPEATS; i++)
        for (int side = 0; side < SIDES; side++) {
            tlc_callgrind_free(&sides[side].few[i].functions);
            tlc_callgrind_free(&sides[side].many[i].functions);
        }
    free(sides);
    return status;
}
