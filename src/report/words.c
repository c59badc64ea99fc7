#include "report/words.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct tlc_workload_words workloads[] = {
    {"network", "handshakes over sockets", "server CPU", "completed handshake", "server instances",
     "servers", "servers", "generator"},
    {"memory", "handshakes in memory", "CPU of the arm's side in", "completed handshake",
     "processes", "processes", "both sides", "orchestrator"},
    {"primitive", "raw operations", "CPU", "operation", "worker processes", "worker processes",
     "workers", "orchestrator"},
};

// Results of earlier versions do not tell the workload: the network.
const struct tlc_workload_words *tlc_words_of_arm(const struct tlc_report_arm *arm)
{
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        if (!strcmp(workloads[i].workload, arm->workload))
            return &workloads[i];
    return &workloads[0];
}

const struct tlc_workload_words *tlc_words_of_report(const struct tlc_report_model *model)
{
    return model->arm_count ? tlc_words_of_arm(&model->arms[0]) : &workloads[0];
}

char *tlc_words_figure(double value, char *words)
{
    if (!isfinite(value))
        snprintf(words, TLC_WORDS, "-");
    else
        snprintf(words, TLC_WORDS, "%.*f", value >= 10 ? 1 : 2, value);
    return words;
}

char *tlc_words_rate(double value, char *words)
{
    if (!isfinite(value))
        snprintf(words, TLC_WORDS, "-");
    else
        snprintf(words, TLC_WORDS, "%.*f", value >= 100 ? 0 : 1, value);
    return words;
}

char *tlc_words_ratio(double value, char *words)
{
    if (!isfinite(value))
        snprintf(words, TLC_WORDS, "-");
    else
        snprintf(words, TLC_WORDS, "%.*f", value >= 10 ? 1 : value >= 2 ? 2 : 3, value);
    return words;
}

static char *range(struct tlc_figure figure, char *(*one)(double, char *), char *words)
{
    char low[TLC_WORDS], high[TLC_WORDS];
    if (!isfinite(figure.low) || !isfinite(figure.high)) {
        strcpy(words, "-");
        return words;
    }
    one(figure.low, low);
    one(figure.high, high);
    snprintf(words, TLC_WORDS, "%.70s to %.70s", low, high);
    return words;
}

char *tlc_words_figure_range(struct tlc_figure figure, char *words)
{
    return range(figure, tlc_words_figure, words);
}

char *tlc_words_ratio_range(struct tlc_figure figure, char *words)
{
    return range(figure, tlc_words_ratio, words);
}

static void percent(double share, const char *before, const char *after, char *words)
{
    double value = 100 * fabs(share);
    snprintf(words, TLC_WORDS, "%s%.*f %%%s", before, value < 10 ? 1 : 0, value, after);
}

char *tlc_words_verdict(const struct tlc_report_arm *arm, double margin, char *words)
{
    double ratio = arm->ratio.estimate;
    if (!strcmp(arm->verdict, "slower") && ratio >= 2)
        snprintf(words, TLC_WORDS, "costs %.1f times as much", ratio);
    else if (!strcmp(arm->verdict, "slower") && isfinite(ratio))
        percent(ratio - 1, "costs ", " more", words);
    else if (!strcmp(arm->verdict, "faster") && isfinite(ratio))
        percent(1 - ratio, "costs ", " less", words);
    else if (!strcmp(arm->verdict, "equivalent") && isfinite(margin))
        snprintf(words, TLC_WORDS, "the same within %g %%", 100 * margin);
    else if (!strcmp(arm->verdict, "no-claim") && arm->detectable > 0)
        percent(arm->detectable, "no claim (under ", " cannot be seen)", words);
    else if (!strcmp(arm->verdict, "no-claim"))
        snprintf(words, TLC_WORDS, "no claim");
    else
        snprintf(words, TLC_WORDS, "%s", arm->verdict);
    return words;
}

char *tlc_words_check_value(const char *check, double value, char *words)
{
    static const char *const counted[] = {"errors", "listen-overflow", "counts", "negotiated",
                                          "provider"};
    if (!isfinite(value)) {
        strcpy(words, "-");
        return words;
    }
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (!strcmp(check, counted[i])) {
            snprintf(words, TLC_WORDS, "%.0f", value);
            return words;
        }
    snprintf(words, TLC_WORDS, "%.1f %%", 100 * value);
    return words;
}

static struct tlc_figure figure_of(const json_t *object, const char *estimate)
{
    const json_t *parts[] = {json_object_get(object, estimate), json_object_get(object, "low"),
                             json_object_get(object, "high")};
    double values[3];
    for (size_t i = 0; i < 3; i++)
        values[i] = json_is_number(parts[i]) ? json_number_value(parts[i]) : NAN;
    return (struct tlc_figure){values[0], values[1], values[2]};
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

// "steal, accounting"
static void join(const json_t *names, char *text, size_t capacity)
{
    size_t used = 0, index;
    json_t *name;
    snprintf(text, capacity, "no reason told");
    json_array_foreach((json_t *)(uintptr_t)names, index, name)
    {
        if (json_is_string(name) && used < capacity)
            used += (size_t)snprintf(text + used, capacity - used, "%s%.30s", used ? ", " : "",
                                     json_string_value(name));
    }
}

char *tlc_words_calibration(const struct tlc_report_model *model, char *words)
{
    const json_t *calibration = json_object_get(model->result, "calibration");
    char equal[TLC_WORDS], between[TLC_WORDS], slope[TLC_WORDS];
    *words = '\0';
    if (json_is_null(calibration))
        snprintf(words, TLC_WORDS, "none of this machine; 'tlscost calibrate' makes one");
    if (!json_is_object(calibration))
        return words;
    const char *finished = text_of(calibration, "finished");
    const json_t *accepted = json_object_get(calibration, "accepted_samples");
    if (json_is_integer(accepted) && !json_integer_value(accepted)) {
        char checks[100];
        join(json_object_get(calibration, "refused"), checks, sizeof checks);
        snprintf(words, TLC_WORDS, "NOT passed (%.20s): no sample accepted: %s", finished, checks);
        return words;
    }
    struct tlc_figure a_a = figure_of(json_object_get(calibration, "a_a"), "estimate");
    struct tlc_figure line = figure_of(json_object_get(calibration, "known_cost"), "slope");
    const char *servers = text_of(calibration, "server_cpus");
    bool same = !strcmp(servers, text_of(model->setup, "server_cpus"));
    snprintf(words, TLC_WORDS,
             "%s (%.20s): equal arms %.8s (%.24s), known cost read with slope %.8s%s%.16s",
             json_is_true(json_object_get(calibration, "passed")) ? "passed" : "NOT passed",
             finished, tlc_words_ratio(a_a.estimate, equal), tlc_words_ratio_range(a_a, between),
             tlc_words_ratio(line.estimate, slope), same ? "" : "; made with servers on ",
             same ? "" : servers);
    return words;
}

static bool read_time(const char *text, time_t *seconds)
{
    struct tm fields = {0};
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &fields);
    *seconds = end && !*end ? timegm(&fields) : -1;
    return *seconds != -1;
}

char *tlc_words_duration(const char *started, const char *finished, char *words)
{
    time_t from, until;
    *words = '\0';
    if (!read_time(started, &from) || !read_time(finished, &until) || until < from)
        return words;
    long seconds = (long)(until - from);
    if (seconds < 60)
        snprintf(words, TLC_WORDS, "%ld s", seconds);
    else if (seconds < 3600)
        snprintf(words, TLC_WORDS, "%ld min %ld s", seconds / 60, seconds % 60);
    else
        snprintf(words, TLC_WORDS, "%ld h %ld min", seconds / 3600, seconds / 60 % 60);
    return words;
}

char *tlc_words_made(const json_t *stack, char *words)
{
    const json_t *seconds = json_object_get(json_object_get(stack, "manifest"), "seconds");
    const json_t *clean = json_object_get(seconds, "clean");
    const json_t *cached = json_object_get(seconds, "cached");
    *words = '\0';
    if (json_is_number(clean) && json_is_number(cached))
        snprintf(words, TLC_WORDS, "; made in %.1f s clean, %.2f s from the cache",
                 json_number_value(clean), json_number_value(cached));
    else if (json_is_number(clean))
        snprintf(words, TLC_WORDS, "; made in %.1f s clean", json_number_value(clean));
    return words;
}
