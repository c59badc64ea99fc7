#include "cli/connect_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "cli/common.h"

enum { MOST_NAMES = 128 };

// One configuration and the way in which it connects.
struct choice {
    const char *version, *certificate, *groups, *intermediates;
    enum { FULL, RESUMED, RETRIED, UPGRADED, WAYS } way;
};

struct maker {
    const struct tlc_connect_plan *asked;
    FILE *to;
    char first[128]; // the baseline's description
    size_t count;
};

// What may stand in a plan as it is, each word of a list for itself.
static enum tlc_status check_value(const char *option, const char *key, const char *value,
                                   struct tlc_error *error)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                ":._%/-,";
    enum tlc_status status = TLC_OK;
    char name[64];
    if (!value)
        return TLC_OK;
    if (!*value || value[strspn(value, plain)])
        return tlc_fail(error, TLC_USAGE, "connect-time: %s '%.64s': not a value", option, value);
    snprintf(name, sizeof name, "connect-time: %s", option);
    char **words = tlc_words(value);
    for (char **word = words; status == TLC_OK && word && *word; word++)
        status = tlc_plan_check_value(key, *word, name, error);
    tlc_words_free(words);
    return status;
}

static enum tlc_status check_values(const struct tlc_connect_plan *asked, struct tlc_error *error)
{
    const struct {
        const char *option, *key, *value;
    } all[] = {{"--rtt", "rtt", asked->rtt},
               {"--jitter", "jitter", asked->jitter},
               {"--loss", "loss", asked->loss},
               {"--rate", "rate", asked->rate},
               {"--initial-window", "initial_window", asked->initial_window},
               {"--versions", "version", asked->versions},
               {"--groups", "groups", asked->groups},
               {"--certs", "certificate", asked->certificates},
               {"--intermediates", "intermediates", asked->intermediates},
               {"--alpn", "alpn", asked->alpn},
               {"--stack", "stack", asked->stack},
               {"--authority", "authority", asked->authority},
               {"--count", "connections", asked->connections},
               {"--pace", "pace", asked->pace},
               {"--timeout", "timeout", asked->timeout}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        enum tlc_status status = check_value(all[i].option, all[i].key, all[i].value, error);
        if (status != TLC_OK)
            return status;
    }
    return TLC_OK;
}

static bool is_tls12(const struct choice *choice)
{
    return tlc_code(TLC_NAME_VERSION, choice->version) == TLC_TLS12;
}

// ML-KEM, ML-DSA and HelloRetryRequest are TLS 1.3's; ALPN and an upgrade exclude each other.
static bool is_possible(const struct choice *choice)
{
    if (!is_tls12(choice))
        return true;
    return !strcasestr(choice->groups, "mlkem") && strncmp(choice->certificate, "mldsa", 5) != 0 &&
           choice->way != RETRIED;
}

static void describe(const struct choice *choice, bool with_depth, char *words, size_t bytes)
{
    static const char *const ways[WAYS] = {"", ", resumed", ", HelloRetryRequest", ", upgrade"};
    size_t used = (size_t)snprintf(words, bytes, "%.16s, %.24s, %.48s", choice->version,
                                   choice->certificate, choice->groups);
    if (with_depth && used < bytes)
        used +=
            (size_t)snprintf(words + used, bytes - used, ", %.4s intermediate%s",
                             choice->intermediates, strcmp(choice->intermediates, "1") ? "s" : "");
    if (used < bytes)
        snprintf(words + used, bytes - used, "%s", ways[choice->way]);
}

static void write_choice(struct maker *maker, const struct choice *choice)
{
    const struct tlc_connect_plan *asked = maker->asked;
    fprintf(maker->to, "version: %s, certificate: %s, groups: '%s', intermediates: %s",
            choice->version, choice->certificate, choice->groups, choice->intermediates);
    if (choice->way == RESUMED)
        fprintf(maker->to, ", resumption: %s, resume_ratio: 100%%",
                is_tls12(choice) ? "ticket" : "psk_dhe_ke");
    fprintf(maker->to, ", hello_retry: %s", choice->way == RETRIED ? "true" : "false");
    if (choice->way == UPGRADED)
        fprintf(maker->to, ", upgrade: true, alpn: none");
    else if (asked->alpn)
        fprintf(maker->to, ", alpn: %s", asked->alpn);
}

static void write_baseline(struct maker *maker, const struct choice *choice)
{
    const struct tlc_connect_plan *asked = maker->asked;
    const struct {
        const char *key, *value;
    } path[] = {{"jitter", asked->jitter},  {"loss", asked->loss},
                {"rate", asked->rate},      {"initial_window", asked->initial_window},
                {"stack", asked->stack},    {"authority", asked->authority},
                {"timeout", asked->timeout}};
    fprintf(maker->to, "baseline: {engine: full, rtt: '");
    for (const char *at = asked->rtt; *at; at++)
        fputc(*at == ',' ? ':' : *at, maker->to);
    fprintf(maker->to, "', ");
    for (size_t i = 0; i < sizeof path / sizeof *path; i++)
        if (path[i].value)
            fprintf(maker->to, "%s: %s, ", path[i].key, path[i].value);
    write_choice(maker, choice);
    fprintf(maker->to, "}\n");
}

static void add_choice(struct maker *maker, const struct choice *choice)
{
    char words[MOST_NAMES];
    if (!is_possible(choice))
        return;
    describe(choice, strcmp(maker->asked->intermediates, "0") != 0, words, sizeof words);
    if (!maker->count++) {
        snprintf(maker->first, sizeof maker->first, "%s", words);
        write_baseline(maker, choice);
        fprintf(maker->to, "include:\n");
        return;
    }
    fprintf(maker->to, "  - {name: '%s', ", words);
    write_choice(maker, choice);
    fprintf(maker->to, "}\n");
}

static void add_ways(struct maker *maker, struct choice choice)
{
    const bool wanted[WAYS] = {true, maker->asked->resume, maker->asked->hello_retry,
                               maker->asked->upgrade};
    for (int way = 0; way < WAYS; way++)
        if (wanted[way]) {
            choice.way = way;
            add_choice(maker, &choice);
        }
}

static void add_all(struct maker *maker)
{
    const struct tlc_connect_plan *asked = maker->asked;
    char **versions = tlc_words(asked->versions), **groups = tlc_words(asked->groups);
    char **certificates = tlc_words(asked->certificates);
    char **depths = tlc_words(asked->intermediates);
    for (char **version = versions; version && *version; version++)
        for (char **certificate = certificates; certificate && *certificate; certificate++)
            for (char **depth = depths; depth && *depth; depth++)
                for (char **group = groups; group && *group; group++)
                    add_ways(maker, (struct choice){.version = *version,
                                                    .certificate = *certificate,
                                                    .groups = *group,
                                                    .intermediates = *depth});
    tlc_words_free(versions);
    tlc_words_free(groups);
    tlc_words_free(certificates);
    tlc_words_free(depths);
}

static enum tlc_status name_baseline(struct tlc_plan *plan, const char *name,
                                     struct tlc_error *error)
{
    char *copy = strdup(name);
    if (!copy)
        return tlc_fail(error, TLC_ENVIRONMENT, "connect-time: out of memory");
    free(plan->arms[0].name);
    plan->arms[0].name = copy;
    return TLC_OK;
}

enum tlc_status tlc_connect_plan_make(const struct tlc_connect_plan *asked, struct tlc_plan **plan,
                                      struct tlc_error *error)
{
    char *text = NULL;
    size_t bytes = 0;
    struct maker maker = {.asked = asked};
    *plan = NULL;
    enum tlc_status status = check_values(asked, error);
    if (status != TLC_OK)
        return status;
    maker.to = open_memstream(&text, &bytes);
    if (!maker.to)
        return tlc_fail(error, TLC_ENVIRONMENT, "connect-time: out of memory");
    fprintf(maker.to, "name: connect-time\nquestion: What does a client wait on this path?\n"
                      "workload: connect\ncontrol: false\n");
    fprintf(maker.to, "schedule: {connections: %s, pace: %s}\n", asked->connections, asked->pace);
    add_all(&maker);
    if (maker.count == 1)
        fprintf(maker.to, "  []\n");
    if (fclose(maker.to))
        status = tlc_fail(error, TLC_ENVIRONMENT, "connect-time: out of memory");
    else if (!maker.count)
        status = tlc_fail(error, TLC_USAGE,
                          "connect-time: nothing is left to measure; ML-KEM groups, ML-DSA "
                          "certificates and HelloRetryRequest need --versions 1.3");
    else
        status = tlc_plan_parse(text, bytes, "connect-time", plan, error);
    free(text);
    if (status == TLC_OK)
        status = name_baseline(*plan, maker.first, error);
    return status;
}
