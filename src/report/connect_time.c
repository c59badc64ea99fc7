// Waiting on a long path, told in words and tables.
#include "report/connect_time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/exporters.h"
#include "report/telling.h"
#include "report/text.h"
#include "report/words.h"

enum { MOST_RTTS = 64, RTTS_A_TABLE = TLC_TABLE_COLUMNS - 1, LATE_MS = 3 };

static const char *const phase_names[] = {"tcp", "server_hello", "finished", "first_byte"};

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static const json_t *phase_of(const json_t *at, const char *phase)
{
    return json_object_get(json_object_get(at, "phases"), phase);
}

// "450.7": milliseconds, as the user feels them.
static char *milliseconds(double us, char *words)
{
    if (isfinite(us))
        snprintf(words, TLC_WORDS, fabs(us) < 9950 ? "%.2f" : "%.1f", us / 1000);
    else
        snprintf(words, TLC_WORDS, "-");
    return words;
}

// "450.7 (450.2 to 451.1)"; a bound for which there are too few connections is "?".
static char *with_range(const json_t *figure, char *words)
{
    char estimate[TLC_WORDS], low[TLC_WORDS], high[TLC_WORDS];
    milliseconds(tlc_json_number(figure, "estimate"), estimate);
    milliseconds(tlc_json_number(figure, "low"), low);
    milliseconds(tlc_json_number(figure, "high"), high);
    if (!strcmp(estimate, "-"))
        snprintf(words, TLC_WORDS, "-");
    else
        snprintf(words, TLC_WORDS, "%.40s (%.40s to %.40s)", estimate, strcmp(low, "-") ? low : "?",
                 strcmp(high, "-") ? high : "?");
    return words;
}

static char *quantile(const json_t *at, const char *phase, const char *name, char *words)
{
    const json_t *figure = json_object_get(phase_of(at, phase), name);
    return milliseconds(tlc_json_number(figure, "estimate"), words);
}

// All round-trip times of all arms, in the order in which they come first.
static size_t round_trip_times(const json_t *result, double rtts[MOST_RTTS])
{
    size_t count = 0, i, j;
    json_t *arm, *at;
    json_array_foreach(json_object_get(result, "arms"), i, arm)
    {
        json_array_foreach(json_object_get(arm, "at"), j, at)
        {
            double rtt = tlc_json_number(at, "rtt_us");
            bool known = !isfinite(rtt) || count == MOST_RTTS;
            for (size_t k = 0; k < count; k++)
                known = known || !(rtts[k] < rtt || rtts[k] > rtt);
            if (!known)
                rtts[count++] = rtt;
        }
    }
    return count;
}

static const json_t *at_rtt(const json_t *arm, double rtt)
{
    size_t i;
    json_t *at;
    json_array_foreach(json_object_get(arm, "at"), i, at)
    {
        double there = tlc_json_number(at, "rtt_us");
        if (!(there < rtt || there > rtt) && tlc_json_number(at, "connections") > 0)
            return at;
    }
    return NULL;
}

static void tell_overview(struct tlc_telling *telling, const json_t *result, const double *rtts,
                          size_t count)
{
    char titles[RTTS_A_TABLE][32], words[RTTS_A_TABLE][TLC_WORDS];
    struct tlc_table_column columns[TLC_TABLE_COLUMNS] = {{"arm", false, 0}};
    const char *cells[TLC_TABLE_COLUMNS];
    struct tlc_table table;
    size_t index;
    json_t *arm;
    for (size_t i = 0; i < count; i++) {
        snprintf(titles[i], sizeof titles[i], "%g ms", rtts[i] / 1000);
        columns[i + 1] = (struct tlc_table_column){titles[i], true, 0};
    }
    tlc_table_init(&table, columns, count + 1);
    json_array_foreach(json_object_get(result, "arms"), index, arm)
    {
        cells[0] = text_of(arm, "name");
        for (size_t i = 0; i < count; i++)
            cells[i + 1] = quantile(at_rtt(arm, rtts[i]), "first_byte", "p50", words[i]);
        tlc_tell_row(telling, &table, cells);
    }
    tlc_tell_table(telling, &table);
}

// The server's flight, where the window matters, from the evidence.
static char *flight_words(const json_t *arm, char *words)
{
    const json_t *bytes = json_object_get(json_object_get(arm, "evidence"), "bytes");
    double flight = tlc_json_number(bytes, "server_flight");
    snprintf(words, TLC_WORDS, isfinite(flight) ? "%.0f" : "-", flight);
    return words;
}

static char *arithmetic_words(const json_t *at, char *words)
{
    const json_t *phase = phase_of(at, "first_byte");
    double expected = tlc_json_number(phase, "expected_us"),
           trips = tlc_json_number(phase, "round_trips");
    double measured = tlc_json_number(json_object_get(phase, "p50"), "estimate");
    if (isfinite(expected) && expected > 0 && isfinite(measured))
        snprintf(words, TLC_WORDS, "%.0f RTT %+.1f %%", trips, 100 * (measured / expected - 1));
    else
        snprintf(words, TLC_WORDS, isfinite(trips) ? "%.0f RTT" : "-", trips);
    return words;
}

static void tell_phases(struct tlc_telling *telling, const json_t *result, double rtt)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},        {"server's flight", true, 0},  {"TCP", true, 0},
        {"ServerHello", true, 0}, {"Finished", true, 0},         {"first byte", true, 1},
        {"arithmetic", true, 1},  {"over the baseline", true, 1}};
    struct tlc_table table;
    size_t index;
    json_t *arm;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach(json_object_get(result, "arms"), index, arm)
    {
        char flight[TLC_WORDS], tcp[TLC_WORDS], hello[TLC_WORDS], finished[TLC_WORDS],
            first[TLC_WORDS], sum[TLC_WORDS], over[TLC_WORDS];
        const json_t *at = at_rtt(arm, rtt);
        if (!at)
            continue;
        with_range(json_object_get(phase_of(at, "first_byte"), "p50"), first);
        tlc_tell_row(telling, &table,
                     (const char *const[]){text_of(arm, "name"), flight_words(arm, flight),
                                           quantile(at, "tcp", "p50", tcp),
                                           quantile(at, "server_hello", "p50", hello),
                                           quantile(at, "finished", "p50", finished), first,
                                           arithmetic_words(at, sum),
                                           with_range(json_object_get(at, "difference_us"), over)});
    }
    tlc_tell_table(telling, &table);
}

static void tell_tails(struct tlc_telling *telling, const json_t *result, double rtt)
{
    static const struct tlc_table_column columns[] = {{"arm", false, 0}, {"connections", true, 0},
                                                      {"p50", true, 0},  {"p90", true, 0},
                                                      {"p99", true, 1},  {"p99.9", true, 1}};
    static const char *const names[] = {"p50", "p90", "p99", "p999"};
    struct tlc_table table;
    size_t index;
    json_t *arm;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach(json_object_get(result, "arms"), index, arm)
    {
        char words[4][TLC_WORDS], count[32];
        const json_t *at = at_rtt(arm, rtt);
        if (!at)
            continue;
        snprintf(count, sizeof count, "%.0f", tlc_json_number(at, "connections"));
        for (int i = 0; i < 4; i++)
            with_range(json_object_get(phase_of(at, "first_byte"), names[i]), words[i]);
        tlc_tell_row(telling, &table,
                     (const char *const[]){text_of(arm, "name"), count, words[0], words[1],
                                           words[2], words[3]});
    }
    tlc_tell_table(telling, &table);
}

static void tell_refused(struct tlc_telling *telling, const json_t *result)
{
    size_t i, j;
    json_t *arm, *at, *count;
    const char *reason;
    json_array_foreach(json_object_get(result, "arms"), i, arm)
    {
        if (!json_is_true(json_object_get(arm, "accepted")))
            tlc_tell_alert(telling, "REFUSED: '%s'.", text_of(arm, "name"));
        json_array_foreach(json_object_get(arm, "at"), j, at)
        {
            json_object_foreach(json_object_get(at, "errors"), reason, count) tlc_tell_item(
                telling, text_of(arm, "name"),
                "%" JSON_INTEGER_FORMAT " of %.0f at %g ms failed: %s", json_integer_value(count),
                tlc_json_number(at, "begun"), tlc_json_number(at, "rtt_us") / 1000, reason);
        }
    }
}

static double late(const json_t *result, const char *who)
{
    const json_t *json = json_object_get(json_object_get(result, "late_us"), who);
    return tlc_json_number(json_object_get(json, "p99"), "estimate") / 1000;
}

static void tell_network(struct tlc_telling *telling, const json_t *result)
{
    const json_t *network = json_object_get(result, "network");
    const char *kind = text_of(network, "kind"), *why = text_of(network, "why");
    const json_t *schedule = json_object_get(json_object_get(result, "plan"), "schedule");
    bool relay = !strcmp(kind, "relay");
    tlc_tell_item(telling, "network", "%s%s%s",
                  relay ? "the delay relay, a model of propagation and TCP's window on loopback"
                        : "netem of the kernel, in namespaces of tlscost's own",
                  *why ? "; " : "", why);
    tlc_tell_item(telling, "begun",
                  "%.0f connections a second of all arms together, Poisson, %.0f "
                  "of each arm at each RTT",
                  tlc_json_number(schedule, "pace"), tlc_json_number(schedule, "connections"));
    tlc_tell_item(telling, "kept time",
                  "99 %% of connections were begun within %.2f ms of when they were due",
                  late(result, "client"));
    if (relay)
        tlc_tell_item(telling, "the relay", "99 %% of its deliveries were within %.2f ms of theirs",
                      late(result, "relay"));
    if (late(result, "client") > LATE_MS || late(result, "relay") > LATE_MS)
        tlc_tell_alert(telling,
                       "WARNING: this machine did not keep time. What it was late by is in the "
                       "figures; stop what else runs on it, or lower the pace, and measure again.");
}

static enum tlc_status tell(const void *what, const struct tlc_emitter *emitter,
                            struct tlc_error *error)
{
    const json_t *result = what;
    struct tlc_telling telling = {.emitter = emitter};
    double rtts[MOST_RTTS];
    size_t count = round_trip_times(result, rtts);
    const json_t *plan = json_object_get(result, "plan");
    tlc_tell_heading(&telling, 1, "connect time: %s", text_of(plan, "name"));
    tlc_tell_paragraph(&telling, "%s", text_of(plan, "question"));
    tlc_tell_paragraph(&telling, "Figures are times that a client waits, in milliseconds, from the "
                                 "moment its connection was due. They are no costs of a server.");
    tell_network(&telling, result);
    tell_refused(&telling, result);
    tlc_tell_heading(&telling, 2, "time to the first byte by RTT, median");
    for (size_t i = 0; i < count; i += RTTS_A_TABLE)
        tell_overview(&telling, result, rtts + i,
                      count - i < RTTS_A_TABLE ? count - i : RTTS_A_TABLE);
    for (size_t i = 0; i < count; i++) {
        tlc_tell_heading(&telling, 2, "phases at %g ms, medians", rtts[i] / 1000);
        tell_phases(&telling, result, rtts[i]);
        tlc_tell_heading(&telling, 2, "time to the first byte at %g ms, quantiles", rtts[i] / 1000);
        tell_tails(&telling, result, rtts[i]);
    }
    tlc_tell_paragraph(
        &telling, "Intervals: 95 %%; of quantiles between order statistics, of differences to "
                  "the baseline by the rank-sum test. '?': too few connections for a bound. "
                  "'arithmetic' counts round trips from the bytes of the flights, and by how "
                  "much the median lies above them: computing, and this machine's own delays.");
    return tlc_told(&telling, error);
}

static void put_times(const json_t *arm, const json_t *at, FILE *to)
{
    const json_t *all = json_object_get(at, "times_us");
    size_t count = json_array_size(json_object_get(all, phase_names[0]));
    char *name = tlc_text_csv(text_of(arm, "name"));
    for (size_t i = 0; name && i < count; i++) {
        fprintf(to, "%s,%.0f", name, tlc_json_number(at, "rtt_us"));
        for (size_t phase = 0; phase < sizeof phase_names / sizeof *phase_names; phase++)
            fprintf(to, ",%.1f",
                    json_number_value(json_array_get(json_object_get(all, phase_names[phase]), i)));
        fputs("\r\n", to);
    }
    free(name);
}

static enum tlc_status write_csv(const json_t *result, FILE *to, struct tlc_error *error)
{
    size_t i, j;
    json_t *arm, *at;
    fputs("arm,rtt_us,tcp_us,server_hello_us,finished_us,first_byte_us\r\n", to);
    json_array_foreach(json_object_get(result, "arms"), i, arm)
    {
        json_array_foreach(json_object_get(arm, "at"), j, at) put_times(arm, at, to);
    }
    return fflush(to) || ferror(to) ? tlc_fail_errno(error, "report: write") : TLC_OK;
}

bool tlc_is_connect_time(const json_t *result)
{
    return !strcmp(text_of(result, "command"), "connect-time");
}

enum tlc_status tlc_connect_time_write(const json_t *result, const char *format, FILE *to,
                                       struct tlc_error *error)
{
    return !strcmp(format, "csv") ? write_csv(result, to, error)
                                  : tlc_emit(format, tell, result, to, error);
}
