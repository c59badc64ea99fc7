#include "report/pre_authentication.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "report/paired.h"
#include "report/telling.h"
#include "report/words.h"

static const json_t *unfinished_of(const struct tlc_report_model *model, size_t index)
{
    const json_t *arm = json_array_get(json_object_get(model->result, "arms"), index);
    const json_t *unfinished = json_object_get(arm, "unfinished");
    return json_is_object(unfinished) ? unfinished : NULL;
}

static const json_t *half_open_of(const struct tlc_report_model *model, size_t index)
{
    const json_t *half_open = json_object_get(unfinished_of(model, index), "half_open");
    return json_is_object(half_open) ? half_open : NULL;
}

static const char *setting(const struct tlc_report_arm *arm, const char *key)
{
    const char *text = tlc_report_setting(arm, key);
    return text ? text : "";
}

// The one answer that all ClientHellos got, or the most frequent one and that there were others.
static char *answer_words(const json_t *answers, char *words)
{
    const char *answer, *most = "-";
    json_t *count;
    json_int_t best = 0;
    json_object_foreach((json_t *)(uintptr_t)answers, answer, count)
    {
        if (json_integer_value(count) > best) {
            best = json_integer_value(count);
            most = answer;
        }
    }
    snprintf(words, TLC_WORDS, "%.100s%s", most,
             json_object_size(answers) > 1 ? " and others" : "");
    return words;
}

static char *times(double value, char *words)
{
    snprintf(words, TLC_WORDS, isfinite(value) ? "%.2f" : "-", value);
    return words;
}

static char *whole(double value, char *words)
{
    snprintf(words, TLC_WORDS, isfinite(value) ? "%.0f" : "-", value);
    return words;
}

// "0.42 (0.41 to 0.43)" of the full handshake that the arm is divided by.
static char *share_words(const struct tlc_report_arm *arm, char *words)
{
    char estimate[TLC_WORDS], range[TLC_WORDS];
    if (!arm->accepted || !isfinite(arm->ratio.estimate))
        snprintf(words, TLC_WORDS, "-");
    else
        snprintf(words, TLC_WORDS, "%.50s (%.80s)", tlc_words_ratio(arm->ratio.estimate, estimate),
                 tlc_words_ratio_range(arm->ratio, range));
    return words;
}

static void tell_costs(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},          {"answer", false, 0}, {"cost", true, 0}, {"95 %", true, 0},
        {"of full, 95 %", true, 0}, {"client", true, 1},  {"CPU x", true, 1}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++) {
        const struct tlc_report_arm *arm = &model->arms[i];
        const json_t *unfinished = unfinished_of(model, i);
        char words[6][TLC_WORDS];
        if (!unfinished)
            continue;
        const json_t *client = json_object_get(unfinished, "client_us");
        const json_t *ratio = json_object_get(unfinished, "cpu_ratio");
        tlc_tell_row(telling, &table,
                     (const char *const[]){
                         arm->name, answer_words(json_object_get(unfinished, "answers"), words[0]),
                         tlc_words_figure(arm->accepted ? arm->cost_us.estimate : NAN, words[1]),
                         tlc_words_figure_range(arm->cost_us, words[2]), share_words(arm, words[3]),
                         tlc_words_figure(tlc_json_number(client, "estimate"), words[4]),
                         times(tlc_json_number(ratio, "estimate"), words[5])});
    }
    tlc_tell_table(telling, &table);
}

static void tell_bytes(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0}, {"bytes in", true, 0}, {"bytes out", true, 0}, {"bytes x", true, 0}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++) {
        const json_t *unfinished = unfinished_of(model, i), *half_open = half_open_of(model, i);
        char words[3][TLC_WORDS];
        if (!unfinished)
            continue;
        // Of connections that were kept, all that the server sent was read.
        double in = tlc_json_number(half_open ? half_open : unfinished, "bytes_in");
        double out = tlc_json_number(half_open ? half_open : unfinished, "bytes_out");
        tlc_tell_row(telling, &table,
                     (const char *const[]){model->arms[i].name, whole(in, words[0]),
                                           whole(out, words[1]), times(out / in, words[2])});
    }
    tlc_tell_table(telling, &table);
}

// "all after 10.0 s", "40 of 100 after 0.5 to 1.9 s", "none within 2 s".
static char *patience_words(const json_t *half_open, char *words)
{
    double held = tlc_json_number(half_open, "held"), closed = tlc_json_number(half_open, "closed");
    double first = tlc_json_number(half_open, "first_us") / 1e6;
    double last = tlc_json_number(half_open, "last_us") / 1e6;
    if (!(closed > 0))
        snprintf(words, TLC_WORDS, "none within %.3g s",
                 tlc_json_number(half_open, "waited_us") / 1e6);
    else if (closed < held)
        snprintf(words, TLC_WORDS, "%.0f of %.0f after %.2f to %.2f s", closed, held, first, last);
    else
        snprintf(words, TLC_WORDS, "all after %.2f to %.2f s", first, last);
    return words;
}

static char *timeout_words(const struct tlc_report_arm *arm, char *words)
{
    double asked_us = tlc_json_number(arm->settings, "handshake_timeout_us");
    if (asked_us > 0)
        snprintf(words, TLC_WORDS, "%.3g s", asked_us / 1e6);
    else
        snprintf(words, TLC_WORDS, "its own");
    return words;
}

static void tell_half_open(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    static const struct tlc_table_column columns[] = {
        {"arm", false, 0},     {"allocations", true, 0},         {"bytes", true, 0},
        {"held", true, 0},     {"heap bytes each", true, 0},     {"memory bytes each", true, 0},
        {"time-out", true, 1}, {"ended by the server", false, 1}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++) {
        const json_t *half_open = half_open_of(model, i);
        char words[7][TLC_WORDS];
        if (!half_open)
            continue;
        const json_t *allocations = json_object_get(half_open, "allocations");
        tlc_tell_row(
            telling, &table,
            (const char *const[]){
                model->arms[i].name, whole(tlc_json_number(allocations, "count"), words[0]),
                whole(tlc_json_number(allocations, "bytes"), words[1]),
                whole(tlc_json_number(half_open, "held"), words[2]),
                whole(tlc_json_number(half_open, "heap_bytes"), words[3]),
                whole(tlc_json_number(half_open, "memory_bytes"), words[4]),
                timeout_words(&model->arms[i], words[5]), patience_words(half_open, words[6])});
    }
    tlc_tell_section(telling, "half-open handshakes",
                     "allocations, bytes: what the server asked its allocator for in each "
                     "unfinished handshake; heap, memory: what it held more for each connection "
                     "that was kept half-open, by its allocator ('-': not counted) and by the "
                     "memory of its processes; the kernel's buffers are not in it; time-out: what "
                     "the server was "
                     "told, and when it ended them. Counted once, in processes of their own.",
                     &table);
}

// ---- what the ML-KEM part of a hybrid share makes the server do

static bool same_but_groups(const struct tlc_report_arm *one, const struct tlc_report_arm *other)
{
    static const char *const keys[] = {
        "stack", "server",  "certificate", "stop", "share",       "version", "network",
        "split", "padding", "workers",     "pace", "hello_retry", "cookie",  NULL};
    return tlc_json_alike(one->settings, other->settings, keys);
}

// The arm with the same ClientHello but for the ML-KEM part; arm_count: there is none.
static size_t without_kem(const struct tlc_report_model *model, size_t index)
{
    static const struct {
        const char *hybrid, *curve;
    } pairs[] = {{"X25519MLKEM768", "X25519"},
                 {"SecP256r1MLKEM768", "secp256r1"},
                 {"SecP384r1MLKEM1024", "secp384r1"}};
    const struct tlc_report_arm *arm = &model->arms[index];
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        for (size_t i = 0; !strcmp(setting(arm, "groups"), pairs[k].hybrid) && i < model->arm_count;
             i++)
            if (unfinished_of(model, i) && model->arms[i].accepted &&
                !strcmp(setting(&model->arms[i], "groups"), pairs[k].curve) &&
                same_but_groups(arm, &model->arms[i]))
                return i;
    return model->arm_count;
}

static double allocated(const struct tlc_report_model *model, size_t index, const char *member)
{
    return tlc_json_number(json_object_get(half_open_of(model, index), "allocations"), member);
}

// Published figures of the same work, one line a source.
static void tell_published(struct tlc_telling *telling, const struct tlc_published *published)
{
    for (size_t i = 0; i < json_array_size(published->sources); i++) {
        const json_t *found =
            json_object_get(json_array_get(published->sources, i), "pre_authentication");
        const char *group = json_string_value(json_object_get(found, "groups"));
        if (group)
            tlc_tell_item(
                telling, "published",
                "%s, %s: ML-KEM part %.1f %s (encapsulate %.1f, parse the key %.1f) and "
                "%.0f bytes allocated, by %s on %s; absolute figures belong to their "
                "machine",
                tlc_published_text(published, i, "title"), group, tlc_json_number(found, "cpu_us"),
                telling->emitter->microseconds, tlc_json_number(found, "encapsulate_us"),
                tlc_json_number(found, "parse_us"), tlc_json_number(found, "allocated_bytes"),
                tlc_published_text(published, i, "system"),
                tlc_published_text(published, i, "host"));
    }
}

static void tell_kem(struct tlc_telling *telling, const struct tlc_report_model *model,
                     const struct tlc_published *published)
{
    static const struct tlc_table_column columns[] = {{"arm", false, 0},
                                                      {"whole hello", true, 0},
                                                      {"ML-KEM part, 95 % (derived)", true, 0},
                                                      {"bytes", true, 1},
                                                      {"allocations, bytes (derived)", true, 1}};
    struct tlc_table table;
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->arm_count; i++) {
        size_t less = without_kem(model, i);
        char words[4][TLC_WORDS];
        json_t *answers = json_object_get(unfinished_of(model, i), "answers");
        // A refused hello has no such part: nothing was encapsulated for it.
        bool answered =
            json_object_get(answers, "ServerHello") || json_object_get(answers, "server-flight");
        if (!answered || !model->arms[i].accepted || less == model->arm_count)
            continue;
        double count = allocated(model, i, "count") - allocated(model, less, "count");
        double bytes = allocated(model, i, "bytes") - allocated(model, less, "bytes");
        if (isfinite(bytes))
            snprintf(words[3], TLC_WORDS, "%.1f, %.0f", count, bytes);
        else
            snprintf(words[3], TLC_WORDS, "-");
        tlc_tell_row(
            telling, &table,
            (const char *const[]){
                model->arms[i].name, tlc_words_figure(model->arms[i].cost_us.estimate, words[0]),
                tlc_paired_words(tlc_paired_difference(&model->arms[i], &model->arms[less]),
                                 words[1]),
                whole(tlc_json_number(unfinished_of(model, i), "bytes_in") -
                          tlc_json_number(unfinished_of(model, less), "bytes_in"),
                      words[2]),
                words[3]});
    }
    bool any = table.row_count > 0;
    tlc_tell_section(
        telling, "the ML-KEM part of a hello",
        "Derived: the arm less the one with the curve alone and all else equal, paired "
        "by block. The whole hello is measured. The part holds the encapsulation, the "
        "parsing of the key and the bytes and framing of a larger hello and flight.",
        &table);
    if (any && published)
        tell_published(telling, published);
}

bool tlc_pre_authentication_write(const struct tlc_report_model *model,
                                  const struct tlc_published *published,
                                  const struct tlc_emitter *emitter)
{
    struct tlc_telling telling = {.emitter = emitter};
    bool any = false;
    for (size_t i = 0; i < model->arm_count; i++)
        any = any || unfinished_of(model, i);
    if (!any)
        return true;
    tlc_tell_heading(&telling, 2, "before authentication");
    tlc_tell_paragraph(
        &telling,
        "Of clients that leave before the handshake is complete. cost: server CPU in %s for each "
        "ClientHello that was answered as it should be (answer: how); of full: as a share of the "
        "full handshake that the arm is divided by; client: CPU of the generator for each; CPU x: "
        "server over client; bytes x: TLS bytes from the server over those to it (arms that were "
        "not held may have left some unread).",
        emitter->microseconds);
    tell_costs(&telling, model);
    tell_bytes(&telling, model);
    tell_half_open(&telling, model);
    tell_kem(&telling, model, published);
    return !telling.broken;
}
