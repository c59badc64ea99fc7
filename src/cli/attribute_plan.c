#include "cli/attribute_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/operations.h"
#include "base/names.h"
#include "cli/common.h"

enum {
    SLICE_MS = 150,
    SLICE_LEAST_MS = 100,
    ROUNDS_LEAST = 2,
    WARM_UP_MS = 100,
    SERVER_WARM_UP_MS = 2000, // of servers whose runtimes may compile first
    MOST_OPERATIONS = 32
};

struct builder {
    const struct tlc_attribute_options *options;
    char **groups, **certificates;
    const char *operations[MOST_OPERATIONS];
    size_t arms, timed, operation_count;
};

// ---- which operations are parts of these handshakes

static bool is_asked(char *const *words, const char *word)
{
    for (; words && *words; words++) {
        uint16_t code = tlc_code(TLC_NAME_GROUP, *words);
        if (!strcmp(*words, word) || (code && code == tlc_code(TLC_NAME_GROUP, word)))
            return true;
    }
    return false;
}

static bool is_listed(const struct builder *builder, const char *name)
{
    for (size_t i = 0; i < builder->operation_count; i++)
        if (!strcmp(builder->operations[i], name))
            return true;
    return false;
}

static void list_operations(struct builder *builder)
{
    const struct tlc_part_operation *operation;
    for (size_t i = 0; (operation = tlc_part_operation_at(i)); i++)
        if ((!operation->group || is_asked(builder->groups, operation->group)) &&
            (!operation->certificate || is_asked(builder->certificates, operation->certificate)) &&
            !is_listed(builder, operation->name) && builder->operation_count < MOST_OPERATIONS)
            builder->operations[builder->operation_count++] = operation->name;
}

// ---- arms

static void put_key(FILE *to, const char *key, const char *value)
{
    fprintf(to, ", %s: ", key);
    tlc_put_yaml(to, value);
}

// What an arm is called tells what differs: the group, the certificate, or both.
static void put_name(FILE *to, const struct builder *builder, const char *group,
                     const char *certificate, const char *end)
{
    char name[160];
    bool one_certificate = !builder->certificates[1];
    snprintf(name, sizeof name, "%.60s%s%.60s%s", group, one_certificate ? "" : " ",
             one_certificate ? "" : certificate, end);
    tlc_put_yaml(to, name);
}

static void put_settings(FILE *to, const struct builder *builder, const char *group,
                         const char *certificate)
{
    const struct tlc_attribute_options *options = builder->options;
    put_key(to, "groups", group);
    put_key(to, "certificate", certificate);
    put_key(to, "stack", options->stack);
    put_key(to, "cipher", options->cipher);
    // The server's work is the same, and the client leaves it no time to wait.
    put_key(to, "share", "cheap");
    if (options->server)
        put_key(to, "server", options->server);
    if (options->server)
        fprintf(to, ", warm_up: %dms", SERVER_WARM_UP_MS);
}

static void put_arm(FILE *to, struct builder *builder, const char *group, const char *certificate)
{
    bool baseline = !builder->arms++;
    fputs(baseline ? "baseline: {workload: network" : "  - {name: ", to);
    if (!baseline)
        put_name(to, builder, group, certificate, "");
    put_settings(to, builder, group, certificate);
    fputs(", attribute: true}\n", to);
    if (baseline)
        fputs("include:\n", to);
}

// The same, timed by the tracing provider and not sampled.
static void put_timed(FILE *to, struct builder *builder, const char *group, const char *certificate)
{
    builder->timed++;
    fputs("  - {name: ", to);
    put_name(to, builder, group, certificate, " timed");
    put_settings(to, builder, group, certificate);
    fputs(", trace: timed, attribute: false, optional: true}\n", to);
}

static void put_each(FILE *to, struct builder *builder,
                     void (*put)(FILE *, struct builder *, const char *, const char *))
{
    for (char **group = builder->groups; *group; group++)
        for (char **certificate = builder->certificates; *certificate; certificate++)
            put(to, builder, *group, *certificate);
}

static void put_operation(FILE *to, const struct builder *builder, const char *operation)
{
    fputs("  - {workload: primitive, optional: true, attribute: false, cipher: any, name: ", to);
    tlc_put_yaml(to, operation);
    put_key(to, "operation", operation);
    put_key(to, "stack", builder->options->stack);
    fputs("}\n", to);
}

struct lengths {
    unsigned rounds, slice_ms;
};

// What fits into the time that was asked for, and two rounds of short slices at least.
static struct lengths choose_lengths(const struct builder *builder)
{
    const struct tlc_attribute_options *options = builder->options;
    size_t served = builder->arms + builder->timed;
    double blocks = (double)options->blocks;
    // Attributed arms are sampled in slices of their own.
    double slices = (double)(served + builder->arms + builder->operation_count);
    double warm_ups_ms = (double)(served * (options->server ? SERVER_WARM_UP_MS : WARM_UP_MS) +
                                  builder->operation_count * WARM_UP_MS);
    // What one slice of every round may take.
    double left_ms = ((double)options->seconds * 1000 / blocks - warm_ups_ms) / slices;
    if (left_ms >= ROUNDS_LEAST * SLICE_MS)
        return (struct lengths){(unsigned)(left_ms / SLICE_MS), SLICE_MS};
    double slice_ms = left_ms / ROUNDS_LEAST;
    return (struct lengths){ROUNDS_LEAST,
                            slice_ms < SLICE_LEAST_MS ? SLICE_LEAST_MS : (unsigned)slice_ms};
}

static void put_schedule(FILE *to, const struct builder *builder)
{
    const struct tlc_attribute_options *options = builder->options;
    struct lengths lengths = choose_lengths(builder);
    fprintf(to,
            "schedule: {blocks: %" PRIu64 ", rounds: %u, slice: %ums, warm_up: %dms, "
            "sampling: %" PRIu64 "}\nchecks: {server_busy: %s}\n",
            options->blocks, lengths.rounds, lengths.slice_ms, WARM_UP_MS, options->frequency_hz,
            options->busy_machine ? "0%, accounting: 10000%, steal: 100%, generator_busy: 100%, "
                                    "headroom_gain: 1000%"
                                  : "70%, accounting: 30%");
}

static void put_plan(FILE *to, struct builder *builder)
{
    const struct tlc_attribute_options *options = builder->options;
    fputs("name: attribute\nquestion: Which part of a handshake takes the server's CPU time?\n"
          "control: false\n",
          to);
    put_each(to, builder, put_arm);
    // OpenSSL alone has providers; of servers that are not ours only some take its configuration.
    if (options->timed && !options->server && !strncmp(options->stack, "openssl", 7))
        put_each(to, builder, put_timed);
    if (options->burn) {
        fputs("  - {name: burn", to);
        put_key(to, "burn", options->burn);
        fputs("}\n", to);
        builder->arms++;
    }
    if (options->operations && !options->server)
        list_operations(builder);
    for (size_t i = 0; i < builder->operation_count; i++)
        put_operation(to, builder, builder->operations[i]);
    if (builder->arms + builder->timed + builder->operation_count == 1)
        fputs("  []\n", to);
    put_schedule(to, builder);
}

static enum tlc_status write_plan(struct builder *builder, char **text, size_t *bytes,
                                  struct tlc_error *error)
{
    FILE *to = open_memstream(text, bytes);
    if (!to)
        return tlc_fail_errno(error, "attribute");
    put_plan(to, builder);
    return fclose(to) ? tlc_fail_errno(error, "attribute") : TLC_OK;
}

// The baseline is told by what it is.
static enum tlc_status name_baseline(struct tlc_plan *plan, struct tlc_error *error)
{
    char *name = strdup(plan->arms[0].groups);
    if (!name)
        return tlc_fail(error, TLC_ENVIRONMENT, "attribute: out of memory");
    free(plan->arms[0].name);
    plan->arms[0].name = name;
    return TLC_OK;
}

enum tlc_status tlc_attribute_plan(const struct tlc_attribute_options *options,
                                   struct tlc_plan **plan, struct tlc_error *error)
{
    struct builder builder = {.options = options,
                              .groups = tlc_words(options->groups),
                              .certificates = tlc_words(options->certificates)};
    char *text = NULL;
    size_t bytes = 0;
    *plan = NULL;
    enum tlc_status status = TLC_OK;
    if (!builder.groups || !builder.certificates || !*builder.groups || !*builder.certificates)
        status = tlc_fail(error, TLC_USAGE,
                          "attribute: --groups and --certs: write names parted by commas");
    if (status == TLC_OK)
        status = write_plan(&builder, &text, &bytes, error);
    if (status == TLC_OK)
        status = tlc_plan_parse(text, bytes, "attribute", plan, error);
    if (status == TLC_OK && !builder.certificates[1])
        status = name_baseline(*plan, error);
    if (status != TLC_OK) {
        tlc_plan_free(*plan);
        *plan = NULL;
    }
    tlc_words_free(builder.groups);
    tlc_words_free(builder.certificates);
    free(text);
    return status;
}
