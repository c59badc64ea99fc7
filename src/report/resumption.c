#include "report/resumption.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "report/paired.h"
#include "report/telling.h"
#include "report/words.h"

// Less of the server's CPU time than this is "little".
static const double LITTLE = 0.10;

// What the generator counted over the accepted samples of an arm.
struct totals {
    double handshakes, resumed, to_server, from_server, without_group;
};

static double number_of(const json_t *object, const char *member)
{
    const json_t *value = json_object_get(object, member);
    return json_is_number(value) ? json_number_value(value) : 0;
}

static struct totals totals_of(const struct tlc_report_arm *arm)
{
    struct totals sum = {0};
    size_t index;
    json_t *sample;
    json_array_foreach(arm->sample_list, index, sample)
    {
        const json_t *counters = json_object_get(sample, "counters");
        const json_t *negotiated = json_object_get(counters, "negotiated");
        if (!json_is_true(json_object_get(sample, "accepted")))
            continue;
        sum.handshakes += number_of(counters, "handshakes");
        sum.resumed += number_of(counters, "resumed");
        sum.to_server += number_of(counters, "bytes_sent");
        sum.from_server += number_of(counters, "bytes_received");
        sum.without_group += number_of(json_object_get(negotiated, "group"), "none");
    }
    return sum;
}

static bool setting_is(const struct tlc_report_arm *arm, const char *key, const char *value)
{
    const char *setting = tlc_report_setting(arm, key);
    return setting && !strcmp(setting, value);
}

static bool resumes(const struct tlc_report_arm *arm)
{
    return tlc_report_setting(arm, "resumption") && !setting_is(arm, "resumption", "none");
}

static bool always_resumes(const struct tlc_report_arm *arm, const char *mode)
{
    return setting_is(arm, "resumption", mode) && number_of(arm->settings, "resume_ratio") >= 1;
}

// Whether two arms differ in nothing but what resumption needs: then their difference is its
// saving.
static bool alike(const struct tlc_report_arm *arm, const struct tlc_report_arm *other)
{
    static const char *const keys[] = {"workload", "server", "stack", "certificate",
                                       "version",  "groups", NULL};
    return tlc_json_alike(arm->settings, other->settings, keys);
}

// The full handshake that an arm which resumes is divided by; NULL when there is none, and when it
// is another in more than that.
static const struct tlc_report_arm *full_of(const struct tlc_report_model *model,
                                            const struct tlc_report_arm *arm)
{
    const struct tlc_report_arm *divisor = resumes(arm) ? tlc_report_divisor(model, arm) : NULL;
    return divisor && !resumes(divisor) && alike(arm, divisor) ? divisor : NULL;
}

static bool is_told(const struct tlc_report_model *model, const struct tlc_report_arm *arm)
{
    bool told = resumes(arm);
    for (size_t i = 0; !told && i < model->arm_count; i++)
        told = full_of(model, &model->arms[i]) == arm;
    return told;
}

// By the protocol: RFC 8446, 2 and 2.2; RFC 5246, 7.3. The client's Finished is a flight, tickets
// behind it are none. A round trip is one until the client may send data.
static const char *flights_of(const struct tlc_report_arm *arm)
{
    if (!setting_is(arm, "version", "TLSv1.2"))
        return "3, 1 RTT";
    if (!resumes(arm))
        return "4, 2 RTT";
    return number_of(arm->settings, "resume_ratio") < 1 ? "3 or 4" : "3, 1 RTT";
}

static char *per_handshake(double count, const struct totals *totals, char *words)
{
    if (totals->handshakes > 0 && count > 0) // in memory none are counted
        snprintf(words, TLC_WORDS, "%.0f", count / totals->handshakes);
    else
        snprintf(words, TLC_WORDS, "-");
    return words;
}

static char *percent(double share, char *words)
{
    snprintf(words, TLC_WORDS, isfinite(share) ? "%.1f %%" : "-", 100 * share);
    return words;
}

// "61.2 % (60.8 to 61.9)" of the server's CPU time.
static char *saved_words(const struct tlc_report_arm *arm, char *words)
{
    const struct tlc_figure *ratio = &arm->ratio;
    if (!arm->accepted || !isfinite(ratio->estimate))
        snprintf(words, TLC_WORDS, "-");
    else if (!isfinite(ratio->low) || !isfinite(ratio->high))
        percent(1 - ratio->estimate, words);
    else
        snprintf(words, TLC_WORDS, "%.1f %% (%.1f to %.1f)", 100 * (1 - ratio->estimate),
                 100 * (1 - ratio->high), 100 * (1 - ratio->low));
    return words;
}

static void tell_arm(struct tlc_telling *telling, const struct tlc_report_model *model,
                     const struct tlc_report_arm *arm, struct tlc_table *table)
{
    const struct totals totals = totals_of(arm);
    char resumed[TLC_WORDS], none[TLC_WORDS], to[TLC_WORDS], from[TLC_WORDS], saved[TLC_WORDS];
    double share = totals.handshakes > 0 ? totals.resumed / totals.handshakes : NAN;
    double exchanged = totals.handshakes > 0 ? 1 - totals.without_group / totals.handshakes : NAN;
    tlc_tell_row(telling, table,
                 (const char *const[]){arm->name, percent(share, resumed), percent(exchanged, none),
                                       per_handshake(totals.to_server, &totals, to),
                                       per_handshake(totals.from_server, &totals, from),
                                       flights_of(arm),
                                       full_of(model, arm) ? saved_words(arm, saved) : ""});
}

static void tell_arms(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},         {"resumed", true, 0},
        {"key exchange", true, 0}, {"bytes to server", true, 0},
        {"from server", true, 0},  {"flights (derived)", false, 1},
        {"saved, 95 %", true, 1}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++)
        if (is_told(model, &model->arms[i]))
            tell_arm(telling, model, &model->arms[i], &table);
    tlc_tell_table(telling, &table);
}

// A full handshake and its resumption in both modes of TLS 1.3.
struct triple {
    const struct tlc_report_arm *full, *dhe_ke, *ke;
};

// The next triple whose arms all have figures. False when there is none from `*from` on.
static bool next_triple(const struct tlc_report_model *model, size_t *from, struct triple *triple)
{
    for (; *from < model->arm_count; ++*from) {
        const struct tlc_report_arm *arm = &model->arms[*from];
        *triple = (struct triple){full_of(model, arm), arm, NULL};
        if (!triple->full || !triple->full->accepted || !arm->accepted ||
            !always_resumes(arm, "psk_dhe_ke"))
            continue;
        for (size_t i = 0; i < model->arm_count; i++)
            if (always_resumes(&model->arms[i], "psk_ke") && model->arms[i].accepted &&
                full_of(model, &model->arms[i]) == triple->full)
                triple->ke = &model->arms[i];
        if (triple->ke) {
            ++*from;
            return true;
        }
    }
    return false;
}

static void tell_parts(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    static const struct tlc_table_column columns[] = {{"full handshake", false, 0},
                                                      {"cost", true, 0},
                                                      {"signature and certificate", true, 0},
                                                      {"kept key exchange", true, 0},
                                                      {"the rest", true, 0}};
    struct tlc_table table;
    struct triple triple;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t from = 0; next_triple(model, &from, &triple);) {
        char cost[TLC_WORDS], signature[TLC_WORDS], exchange[TLC_WORDS], rest[TLC_WORDS];
        tlc_tell_row(
            telling, &table,
            (const char *const[]){
                triple.full->name, tlc_words_figure(triple.full->cost_us.estimate, cost),
                tlc_paired_words(tlc_paired_difference(triple.full, triple.dhe_ke), signature),
                tlc_paired_words(tlc_paired_difference(triple.dhe_ke, triple.ke), exchange),
                tlc_words_figure(triple.ke->cost_us.estimate, rest)});
    }
    if (!table.row_count) {
        tlc_table_free(&table);
        return;
    }
    tlc_tell_paragraph(
        telling,
        "Parts in %s of server CPU, derived. Signature and certificate: full less psk_dhe_ke, "
        "which saves both with their bytes, and perhaps a ticket (a server may send fewer of "
        "them when it resumes). Kept key exchange: psk_dhe_ke less psk_ke. Intervals are 95 "
        "%%, over the differences within blocks.",
        telling->emitter->microseconds);
    tlc_tell_table(telling, &table);
}

static const char *answer(bool yes, bool no)
{
    return yes ? "true" : no ? "false" : "not settled";
}

// Both modes are settled by what was negotiated; the price of the exchange stands beside it.
static void tell_exchange_claim(struct tlc_telling *telling, const struct triple *triple)
{
    const struct totals dhe = totals_of(triple->dhe_ke), ke = totals_of(triple->ke);
    bool all_resumed = dhe.handshakes > 0 && ke.handshakes > 0 && dhe.resumed >= dhe.handshakes &&
                       ke.resumed >= ke.handshakes;
    char price[TLC_WORDS];
    tlc_tell_item(telling, "a TLS 1.3 resumption skips the key exchange",
                  "%s with psk_dhe_ke ('%s': %.0f of %.0f handshakes made one), %s with psk_ke "
                  "('%s': %.0f of %.0f); psk_dhe_ke costs %s %s more",
                  answer(all_resumed && dhe.without_group >= dhe.handshakes,
                         all_resumed && dhe.without_group <= 0),
                  triple->dhe_ke->name, dhe.handshakes - dhe.without_group, dhe.handshakes,
                  answer(all_resumed && ke.without_group >= ke.handshakes,
                         all_resumed && ke.without_group <= 0),
                  triple->ke->name, ke.handshakes - ke.without_group, ke.handshakes,
                  tlc_paired_words(tlc_paired_difference(triple->dhe_ke, triple->ke), price),
                  telling->emitter->microseconds);
}

static void tell_worth_claim(struct tlc_telling *telling, const struct tlc_report_arm *arm)
{
    const struct tlc_figure *ratio = &arm->ratio;
    char saved[TLC_WORDS];
    tlc_tell_item(telling, "resumption saves little on P-256",
                  "%s: '%s' saves %s of the server's CPU time (little: below %.0f %%)",
                  answer(ratio->low > 1 - LITTLE, ratio->high < 1 - LITTLE), arm->name,
                  saved_words(arm, saved), 100 * LITTLE);
}

static void tell_claims(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    struct triple triple;
    for (size_t from = 0; next_triple(model, &from, &triple);)
        tell_exchange_claim(telling, &triple);
    for (size_t i = 0; i < model->arm_count; i++) {
        const struct tlc_report_arm *arm = &model->arms[i];
        if (arm->accepted && full_of(model, arm) && setting_is(arm, "certificate", "ecdsa-p256") &&
            number_of(arm->settings, "resume_ratio") >= 1)
            tell_worth_claim(telling, arm);
    }
}

bool tlc_resumption_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    struct tlc_telling telling = {.emitter = emitter};
    bool any = false;
    for (size_t i = 0; i < model->arm_count; i++)
        any = any || full_of(model, &model->arms[i]);
    if (!any)
        return true;
    tlc_tell_heading(&telling, 2, "resumption");
    tlc_tell_paragraph(
        &telling, "resumed, key exchange: shares of all handshakes, as counted in each; bytes: of "
                  "TLS for each handshake, with its tickets; saved: server CPU less than the full "
                  "handshake it is divided by takes; flights: by the protocol, without a "
                  "HelloRetryRequest.");
    tell_arms(&telling, model);
    tell_parts(&telling, model);
    tell_claims(&telling, model);
    return !telling.broken;
}
