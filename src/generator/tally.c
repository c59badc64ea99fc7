#include "generator/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "generator/expectation.h"

void tlc_tally_begin(struct tlc_tally *tally, struct tlc_counters *counters, bool keep_latencies,
                     uint64_t window_end_ns)
{
    memset(tally, 0, sizeof *tally);
    tally->counters = counters;
    tally->keep_latencies = keep_latencies;
    tally->window_end_ns = window_end_ns;
}

static void count_code(struct tlc_tally_codes *codes, uint16_t code)
{
    for (unsigned i = 0; i < codes->used; i++)
        if (codes->of[i].code == code) {
            codes->of[i].count++;
            return;
        }
    // A peer that makes up more codes than fit shares the last entry as code 0, "other".
    if (codes->used == TLC_TALLY_CODES) {
        codes->of[TLC_TALLY_CODES - 1].code = 0;
        codes->of[TLC_TALLY_CODES - 1].count++;
        return;
    }
    codes->of[codes->used].code = code;
    codes->of[codes->used++].count = 1;
}

static void count_alpn(struct tlc_tally *tally, const char *from_peer)
{
    char name[sizeof tally->alpn[0].name] = "";
    for (size_t i = 0; i < sizeof name - 1 && from_peer[i]; i++)
        name[i] = from_peer[i] >= ' ' && from_peer[i] <= '~' ? from_peer[i] : '?';
    unsigned i = 0;
    while (i < tally->alpn_used && strcmp(tally->alpn[i].name, name))
        i++;
    if (i == TLC_TALLY_WORDS)
        i = TLC_TALLY_WORDS - 1;
    else if (i == tally->alpn_used)
        memcpy(tally->alpn[tally->alpn_used++].name, name, sizeof name);
    tally->alpn[i].count++;
}

static void count_kind(struct tlc_tally_kinds *kinds, const char *kind)
{
    unsigned i = 0;
    while (i < kinds->used && strcmp(kinds->of[i].kind, kind))
        i++;
    if (i == TLC_TALLY_ERRORS)
        i = TLC_TALLY_ERRORS - 1;
    else if (i == kinds->used) {
        kinds->used++;
        snprintf(kinds->of[i].kind, sizeof kinds->of[i].kind, "%s",
                 i == TLC_TALLY_ERRORS - 1 ? "other" : kind);
    }
    kinds->of[i].count++;
}

void tlc_tally_error(struct tlc_tally *tally, const char *kind)
{
    count_kind(&tally->errors, kind);
}

static uint32_t since_us(uint64_t from_ns, uint64_t to_ns)
{
    uint64_t us = to_ns > from_ns ? (to_ns - from_ns) / 1000 : 0;
    return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

static bool grow(uint32_t **values, size_t capacity)
{
    uint32_t *grown = realloc(*values, capacity * sizeof **values);
    if (grown)
        *values = grown;
    return grown != NULL;
}

static void keep_latency(struct tlc_tally *tally, const struct tlc_times *times)
{
    struct tlc_counters *counters = tally->counters;
    if (counters->latency_count == counters->latency_capacity) {
        size_t capacity = counters->latency_capacity ? counters->latency_capacity * 2 : 1 << 14;
        if (!grow(&counters->latency_connect_us, capacity) ||
            !grow(&counters->latency_hello_us, capacity) ||
            !grow(&counters->latency_done_us, capacity) ||
            !grow(&counters->latency_echo_us, capacity)) {
            tally->out_of_memory = true;
            return;
        }
        counters->latency_capacity = capacity;
    }
    size_t at = counters->latency_count++;
    if (times->connected_ns)
        counters->latency_connect_us[counters->latency_connect_count++] =
            since_us(times->started_ns, times->connected_ns);
    if (times->echoed_ns)
        counters->latency_echo_us[counters->latency_echo_count++] =
            since_us(times->started_ns, times->echoed_ns);
    counters->latency_hello_us[at] = since_us(times->started_ns, times->hello_ns);
    counters->latency_done_us[at] = since_us(times->started_ns, times->done_ns);
}

static void count_mismatches(struct tlc_tally *tally, unsigned bits)
{
    tally->counters->mismatches++;
    for (unsigned bit = 0; bit < TLC_MISMATCH_COUNT; bit++)
        if (bits >> bit & 1u)
            tlc_tally_error(tally, tlc_mismatch_name(bit));
}

static void note_end(struct tlc_tally *tally, uint64_t done_ns)
{
    if (done_ns > tally->last_done_ns)
        tally->last_done_ns = done_ns;
}

// What the first answer told, or the whole flight.
static const char *answer_of(const struct tlc_facts *facts)
{
    if (!facts->partial)
        return "server-flight";
    if (facts->group || facts->resumed)
        return "ServerHello";
    return facts->cookie ? "HelloRetryRequest-cookie" : "HelloRetryRequest";
}

void tlc_tally_answered(struct tlc_tally *tally, const char *answer, uint64_t done_ns)
{
    note_end(tally, done_ns);
    tally->counters->stopped++;
    count_kind(&tally->answers, answer);
}

void tlc_tally_stopped(struct tlc_tally *tally, const struct tlc_expectation *expect,
                       const struct tlc_facts *facts, const struct tlc_times *times)
{
    tlc_tally_answered(tally, answer_of(facts), times->done_ns);
    tally->counters->hello_retry_requests += facts->hello_retry_request;
    tally->counters->cookies += facts->cookie;
    tally->counters->signatures_verified += facts->signature_verified;
    count_code(&tally->version, facts->version);
    count_code(&tally->cipher, facts->cipher);
    count_code(&tally->group, facts->group);
    unsigned bits = tlc_expectation_differs(expect, facts);
    if (bits)
        count_mismatches(tally, bits);
}

void tlc_tally_handshake(struct tlc_tally *tally, const struct tlc_expectation *expect,
                         const struct tlc_facts *facts, const struct tlc_times *times)
{
    struct tlc_counters *counters = tally->counters;
    counters->handshakes++;
    note_end(tally, times->done_ns);
    counters->in_window += times->done_ns <= tally->window_end_ns;
    counters->resumed += facts->resumed;
    counters->hello_retry_requests += facts->hello_retry_request;
    counters->cookies += facts->cookie;
    counters->signatures_verified += facts->signature_verified;
    count_code(&tally->version, facts->version);
    count_code(&tally->cipher, facts->cipher);
    count_code(&tally->group, facts->group);
    if (facts->resumed)
        tally->psk_modes[facts->psk_mode < 0 || facts->psk_mode > 1 ? 0 : facts->psk_mode + 1]++;
    if (facts->alpn[0])
        count_alpn(tally, facts->alpn);
    unsigned bits = tlc_expectation_differs(expect, facts);
    if (bits)
        count_mismatches(tally, bits);
    if (tally->keep_latencies)
        keep_latency(tally, times);
}

static bool add(json_t *object, const char *name, uint64_t count)
{
    json_int_t sum = json_integer_value(json_object_get(object, name)) + (json_int_t)count;
    return !count || json_object_set_new(object, name, json_integer(sum)) == 0;
}

static bool add_codes(json_t *negotiated, const char *what, enum tlc_name_kind kind,
                      const struct tlc_tally_codes *codes)
{
    json_t *object = json_object_get(negotiated, what);
    if (!object) {
        object = json_object();
        if (json_object_set_new(negotiated, what, object))
            return false;
    }
    for (unsigned i = 0; i < codes->used; i++) {
        const char *name = codes->of[i].code ? tlc_name(kind, codes->of[i].code) : "none";
        if (!add(object, name, codes->of[i].count))
            return false;
    }
    return true;
}

static bool add_words(json_t *negotiated, const struct tlc_tally *tally)
{
    static const char *const modes[] = {"not-told", "psk_ke", "psk_dhe_ke"};
    json_t *psk_mode = json_object(), *alpn = json_object(), *answer = json_object();
    bool ok = json_object_set_new(negotiated, "psk_mode", psk_mode) == 0;
    ok = json_object_set_new(negotiated, "answer", answer) == 0 && ok;
    ok = json_object_set_new(negotiated, "alpn", alpn) == 0 && ok;
    for (unsigned i = 0; ok && i < sizeof modes / sizeof *modes; i++)
        ok = add(psk_mode, modes[i], tally->psk_modes[i]);
    for (unsigned i = 0; ok && i < tally->alpn_used; i++)
        ok = add(alpn, tally->alpn[i].name, tally->alpn[i].count);
    for (unsigned i = 0; ok && i < tally->answers.used; i++)
        ok = add(answer, tally->answers.of[i].kind, tally->answers.of[i].count);
    return ok;
}

enum tlc_status tlc_tally_finish(struct tlc_tally *tally, struct tlc_error *error)
{
    struct tlc_counters *counters = tally->counters;
    if (!counters->errors)
        counters->errors = json_object();
    if (!counters->negotiated)
        counters->negotiated = json_object();
    bool ok = counters->errors && counters->negotiated && !tally->out_of_memory;
    for (unsigned i = 0; ok && i < tally->errors.used; i++)
        ok = add(counters->errors, tally->errors.of[i].kind, tally->errors.of[i].count);
    ok = ok && add_codes(counters->negotiated, "version", TLC_NAME_VERSION, &tally->version) &&
         add_codes(counters->negotiated, "cipher", TLC_NAME_CIPHER, &tally->cipher) &&
         add_codes(counters->negotiated, "group", TLC_NAME_GROUP, &tally->group) &&
         add_words(counters->negotiated, tally);
    return ok ? TLC_OK : tlc_fail(error, TLC_ENVIRONMENT, "count handshakes: out of memory");
}
