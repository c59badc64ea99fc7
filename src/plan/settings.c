#include "plan/settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const resumptions[] = {"none",   "psk_dhe_ke", "psk_ke",
                                          "ticket", "session-id", NULL};
static const char *const accepts[] = {"shared", "reuseport", NULL};
static const char *const engines[] = {"lean", "full", NULL};
static const char *const shares[] = {"honest", "reused", "cheap", "unreduced", "low-order", NULL};
static const char *const closes[] = {"reset", "fin", "close-notify", NULL};
static const char *const instances[] = {"own", "baseline", NULL};
static const char *const workloads[] = {"network", "memory", "primitive", "connect", NULL};
static const char *const networks[] = {"loopback", "veth", "veth-unsteered", NULL};
static const char *const events[] = {
    "none",        "watch",  "rotate", "rotate-abrupt", "rotate-no-previous",
    "rotate-trap", "reload", NULL};
static const char *const sides[] = {"server", "client", "both", "flight", NULL};
static const char *const visits[] = {"uniform", "zipf", NULL};
static const char *const stops[] = {"complete", "after-client-hello", "after-server-flight",
                                    "after-hello-retry", NULL};
static const char *const traces[] = {"none", "tag", "timed", NULL};
static const char *const burn_places[] = {"state-machine", "signature", "key-generation", NULL};
static const char *const authorities[] = {"rsa-2048", "leaf", NULL};

#define AT(structure, field) #field, offsetof(struct structure, field)
#define TEXT(key, reader, fallback, words, unset)                                                  \
    {                                                                                              \
#key, AT(tlc_arm, key), TLC_MEMBER_TEXT, TLC_UNIT_NONE, reader, fallback, 0, 0, words,     \
            unset                                                                                  \
    }
#define COUNT(structure, key, fallback, low, high)                                                 \
    {                                                                                              \
#key, AT(structure, key), TLC_MEMBER_UNSIGNED, TLC_UNIT_NONE, tlc_read_count, fallback,    \
            low, high, NULL, NULL                                                                  \
    }
#define TIME(key, structure, member, type, fallback, low, high)                                    \
    {                                                                                              \
        key, AT(structure, member), type, TLC_UNIT_MICROSECONDS, tlc_read_time, fallback, low,     \
            high, NULL, NULL                                                                       \
    }
#define SWITCH(structure, key)                                                                     \
    {                                                                                              \
#key, AT(structure, key), TLC_MEMBER_UNSIGNED, TLC_UNIT_SWITCH, tlc_read_switch, "false",  \
            0, 1, NULL, NULL                                                                       \
    }
#define SHARE(structure, key, fallback, high)                                                      \
    {                                                                                              \
#key, AT(structure, key), TLC_MEMBER_DOUBLE, TLC_UNIT_SHARE, tlc_read_share, fallback, 0,  \
            high, NULL, NULL                                                                       \
    }

// clang-format off: one setting a line
const struct tlc_setting tlc_arm_settings[TLC_ARM_KEY_COUNT] = {
    TEXT(stack, tlc_read_identifier, "openssl", NULL, NULL),
    TEXT(certificate, tlc_read_certificate, "ecdsa-p256", NULL, NULL),
    TEXT(groups, tlc_read_groups, "X25519MLKEM768", NULL, NULL),
    TEXT(version, tlc_read_version, "TLSv1.3", NULL, NULL),
    TEXT(cipher, tlc_read_cipher, NULL, NULL, "any"),
    TEXT(resumption, tlc_read_word, "none", resumptions, NULL),
    SHARE(tlc_arm, resume_ratio, "0%", 1),
    {"tickets", AT(tlc_arm, tickets), TLC_MEMBER_INT, TLC_UNIT_NONE, tlc_read_tickets, "2", -1, 16,
     NULL, NULL},
    COUNT(tlc_arm, workers, "1", 1, 256),
    TEXT(accept, tlc_read_word, "shared", accepts, NULL),
    TEXT(engine, tlc_read_word, "lean", engines, NULL),
    TEXT(share, tlc_read_word, "honest", shares, NULL),
    TEXT(close, tlc_read_word, "reset", closes, NULL),
    TEXT(alpn, tlc_read_alpn, NULL, NULL, "none"),
    COUNT(tlc_arm, intermediates, "0", 0, 6),
    TIME("burn", tlc_arm, burn_us, TLC_MEMBER_UNSIGNED, "0us", 0, 1e6),
    COUNT(tlc_arm, concurrency, "16", 1, 10000),
    TIME("timeout", tlc_arm, timeout_us, TLC_MEMBER_UNSIGNED, "10s", 10e3, 60e6),
    TEXT(instance, tlc_read_word, "own", instances, NULL),
    TEXT(serve_options, tlc_read_options, NULL, NULL, "none"),
    TEXT(workload, tlc_read_word, "network", workloads, NULL),
    TEXT(provider, tlc_read_visible, NULL, NULL, "none"),
    TEXT(client_stack, tlc_read_other_stack, NULL, NULL, "same"),
    TEXT(client_auth, tlc_read_client_certificate, NULL, NULL, "none"),
    TEXT(side, tlc_read_word, "server", sides, NULL),
    TEXT(operation, tlc_read_visible, NULL, NULL, "none"),
    TEXT(against, tlc_read_visible, NULL, NULL, "baseline"),
    TEXT(network, tlc_read_word, "loopback", networks, NULL),
    TEXT(server, tlc_read_visible, NULL, NULL, "none"),
    TIME("warm_up", tlc_arm, warm_up_us, TLC_MEMBER_UNSIGNED, "0us", 0, 600e6),
    TEXT(authority, tlc_read_word, "rsa-2048", authorities, NULL),
    TEXT(rtt, tlc_read_times, NULL, NULL, "none"),
    TIME("jitter", tlc_arm, jitter_us, TLC_MEMBER_UNSIGNED, "0us", 0, 10e6),
    SHARE(tlc_arm, loss, "0%", 0.5),
    {"rate", AT(tlc_arm, rate_bits), TLC_MEMBER_UINT64, TLC_UNIT_RATE, tlc_read_rate, "unlimited",
     0, 1e12, NULL, NULL},
    COUNT(tlc_arm, initial_window, "10", 1, 1000),
    SWITCH(tlc_arm, hello_retry),
    SWITCH(tlc_arm, upgrade),
    TEXT(event, tlc_read_word, "none", events, NULL),
    COUNT(tlc_arm, visitors, "0", 0, 100000),
    COUNT(tlc_arm, echo, "0", 0, 65536),
    SWITCH(tlc_arm, allocations),
    SWITCH(tlc_arm, optional),
    COUNT(tlc_arm, names, "0", 0, 20000),
    TEXT(visits, tlc_read_word, "uniform", visits, NULL),
    TEXT(stop, tlc_read_word, "complete", stops, NULL),
    COUNT(tlc_arm, split, "0", 0, 16384),
    COUNT(tlc_arm, padding, "0", 0, 12288),
    COUNT(tlc_arm, hold, "0", 0, 1000),
    TIME("hold_for", tlc_arm, hold_for_us, TLC_MEMBER_UNSIGNED, "2s", 1e4, 120e6),
    COUNT(tlc_arm, pace, "0", 0, TLC_MOST_PACE),
    SHARE(tlc_arm, offered, "0%", 10),
    TEXT(cpu_mask, tlc_read_cpu_mask, NULL, NULL, "none"),
    SWITCH(tlc_arm, equal),
    SWITCH(tlc_arm, attribute),
    TEXT(trace, tlc_read_word, "none", traces, NULL),
    TEXT(burn_in, tlc_read_word, "state-machine", burn_places, NULL),
    SWITCH(tlc_arm, cookie),
    TIME("handshake_timeout", tlc_arm, handshake_timeout_us, TLC_MEMBER_UNSIGNED, "0us", 0, 120e6),
};

const struct tlc_setting tlc_schedule_settings[TLC_SCHEDULE_KEY_COUNT] = {
    COUNT(tlc_schedule, blocks, "8", 6, 200), // 6: the least that give an interval at 95 %
    COUNT(tlc_schedule, rounds, "8", 1, 10000),
    TIME("slice", tlc_schedule, slice_us, TLC_MEMBER_UINT64, "100ms", 1e3, 60e6),
    {"count", AT(tlc_schedule, count), TLC_MEMBER_UINT64, TLC_UNIT_NONE, tlc_read_count, "0", 0,
     1e9, NULL, NULL},
    TIME("warm_up", tlc_schedule, warm_up_us, TLC_MEMBER_UINT64, "100ms", 0, 60e6),
    TIME("settle", tlc_schedule, settle_us, TLC_MEMBER_UINT64, "0ms", 0, 10e6),
    SWITCH(tlc_schedule, bookends),
    SWITCH(tlc_schedule, duet),
    SHARE(tlc_schedule, until, "0%", 1),
    TIME("at_most", tlc_schedule, at_most_us, TLC_MEMBER_UINT64, "0s", 0, 86400e6),
    COUNT(tlc_schedule, connections, "100", 1, 1000000),
    COUNT(tlc_schedule, pace, "100", 1, 10000),
    {"sampling", AT(tlc_schedule, sampling_hz), TLC_MEMBER_UNSIGNED, TLC_UNIT_NONE, tlc_read_count,
     "199", 20, 1000, NULL, NULL},
};

const struct tlc_setting tlc_limit_settings[TLC_LIMIT_KEY_COUNT] = {
    SHARE(tlc_limits, generator_busy, "90%", 1),
    SHARE(tlc_limits, server_busy, "90%", 1),
    SHARE(tlc_limits, steal, "5%", 1),
    SHARE(tlc_limits, accounting, "10%", 1000),
    SHARE(tlc_limits, control_drift, "50%", 1000),
    SHARE(tlc_limits, headroom_gain, "5%", 10),
    SHARE(tlc_limits, refused_samples, "25%", 1),
    {"errors", AT(tlc_limits, errors), TLC_MEMBER_UINT64, TLC_UNIT_NONE, tlc_read_count, "0", 0,
     1e9, NULL, NULL},
    SHARE(tlc_limits, margin, "2%", 1),
    SHARE(tlc_limits, settling, "5%", 10),
};
// clang-format on

static void *member_of(const struct tlc_setting *setting, void *base)
{
    return (char *)base + setting->offset;
}

static char *text_of(const struct tlc_setting *setting, const void *base)
{
    return *(char *const *)((const char *)base + setting->offset);
}

static double number_of(const struct tlc_setting *setting, const void *base)
{
    const void *member = (const char *)base + setting->offset;
    switch (setting->type) {
    case TLC_MEMBER_DOUBLE:
        return *(const double *)member;
    case TLC_MEMBER_UNSIGNED:
        return *(const unsigned *)member;
    case TLC_MEMBER_INT:
        return *(const int *)member;
    case TLC_MEMBER_UINT64:
        return (double)*(const uint64_t *)member;
    case TLC_MEMBER_TEXT:
        break;
    }
    return NAN;
}

bool tlc_settings_default(const struct tlc_setting *settings, size_t count, void *base)
{
    char why[TLC_WHY_BYTES];
    for (size_t i = 0; i < count; i++)
        if (settings[i].fallback &&
            !settings[i].read(&settings[i], settings[i].fallback, base, why, sizeof why))
            return false;
    return true;
}

void tlc_format_time(uint64_t us, char *text, size_t bytes)
{
    if (us && us % 1000000 == 0)
        snprintf(text, bytes, "%llus", (unsigned long long)(us / 1000000));
    else if (us && us % 1000 == 0)
        snprintf(text, bytes, "%llums", (unsigned long long)(us / 1000));
    else
        snprintf(text, bytes, "%lluus", (unsigned long long)us);
}

// "10mbit": the largest unit that gives a whole number.
static void format_rate(double bits, char *text, size_t bytes)
{
    static const char *const units[] = {"bit", "kbit", "mbit", "gbit"};
    size_t unit = 0;
    for (; unit < 3 && fmod(bits, 1000) == 0; unit++)
        bits /= 1000;
    if (bits > 0)
        snprintf(text, bytes, "%.0f%s", bits, units[unit]);
    else
        snprintf(text, bytes, "unlimited");
}

void tlc_setting_format(const struct tlc_setting *setting, const void *base, char *text,
                        size_t bytes)
{
    double number = number_of(setting, base);
    if (setting->type == TLC_MEMBER_TEXT)
        snprintf(text, bytes, "%s",
                 text_of(setting, base) ? text_of(setting, base) : setting->unset);
    else if (setting->unit == TLC_UNIT_SHARE)
        snprintf(text, bytes, "%.10g%%", number * 100);
    else if (setting->unit == TLC_UNIT_MICROSECONDS)
        tlc_format_time((uint64_t)number, text, bytes);
    else if (setting->unit == TLC_UNIT_RATE)
        format_rate(number, text, bytes);
    else if (setting->unit == TLC_UNIT_SWITCH)
        snprintf(text, bytes, "%s", number > 0 ? "true" : "false");
    else if (number < 0)
        snprintf(text, bytes, "default");
    else
        snprintf(text, bytes, "%.0f", number);
}

const struct tlc_setting *tlc_setting_named(const struct tlc_setting *settings, size_t count,
                                            const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(settings[i].name, name))
            return &settings[i];
    return NULL;
}

json_t *tlc_settings_to_json(const struct tlc_setting *settings, size_t count, const void *base)
{
    json_t *json = json_object();
    for (size_t i = 0; i < count; i++) {
        const struct tlc_setting *setting = &settings[i];
        json_t *value;
        if (setting->type == TLC_MEMBER_TEXT)
            value = text_of(setting, base) ? json_string(text_of(setting, base)) : json_null();
        else if (setting->type == TLC_MEMBER_DOUBLE)
            value = json_real(number_of(setting, base));
        else
            value = json_integer((json_int_t)number_of(setting, base));
        json_object_set_new(json, setting->member, value);
    }
    return json;
}

static bool number_from_json(const struct tlc_setting *setting, const json_t *value, void *base,
                             char *why, size_t bytes)
{
    // Wider than what a plan may spell: `run --blocks` overrides the plan, and its result is read
    // too.
    double number = json_number_value(value);
    double low = fmin(setting->low, 1), high = fmax(setting->high, 1000);
    if (!json_is_number(value) || (setting->type != TLC_MEMBER_DOUBLE && !json_is_integer(value)) ||
        !(number >= low) || !(number <= high)) {
        snprintf(why, bytes, "%s: not a number from %g to %g", setting->member, low, high);
        return false;
    }
    void *member = member_of(setting, base);
    if (setting->type == TLC_MEMBER_DOUBLE)
        *(double *)member = number;
    else if (setting->type == TLC_MEMBER_UNSIGNED)
        *(unsigned *)member = (unsigned)json_integer_value(value);
    else if (setting->type == TLC_MEMBER_INT)
        *(int *)member = (int)json_integer_value(value);
    else
        *(uint64_t *)member = (uint64_t)json_integer_value(value);
    return true;
}

bool tlc_settings_from_json(const struct tlc_setting *settings, size_t count, const json_t *json,
                            void *base, char *why, size_t bytes)
{
    if (!json_is_object(json)) {
        snprintf(why, bytes, "%s and others: missing", settings->member);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct tlc_setting *setting = &settings[i];
        const json_t *value = json_object_get(json, setting->member);
        if (!value) {
            if (setting->fallback && !setting->read(setting, setting->fallback, base, why, bytes))
                return false;
        } else if (setting->type == TLC_MEMBER_TEXT) {
            const char *text = json_is_null(value) ? setting->unset : json_string_value(value);
            if (!text) {
                snprintf(why, bytes, "%s: missing or not text", setting->member);
                return false;
            }
            if (!setting->read(setting, text, base, why, bytes))
                return false;
        } else if (!number_from_json(setting, value, base, why, bytes)) {
            return false;
        }
    }
    return true;
}

void tlc_settings_free(const struct tlc_setting *settings, size_t count, void *base)
{
    for (size_t i = 0; i < count; i++)
        if (settings[i].type == TLC_MEMBER_TEXT)
            free(text_of(&settings[i], base));
}

bool tlc_settings_copy(const struct tlc_setting *settings, size_t count, const void *from,
                       void *into)
{
    bool copied = true;
    for (size_t i = 0; i < count; i++)
        if (settings[i].type == TLC_MEMBER_TEXT && text_of(&settings[i], from)) {
            char *text = strdup(text_of(&settings[i], from));
            *(char **)member_of(&settings[i], into) = text;
            copied = copied && text;
        } else if (settings[i].type == TLC_MEMBER_DOUBLE) {
            *(double *)member_of(&settings[i], into) = number_of(&settings[i], from);
        } else if (settings[i].type == TLC_MEMBER_UINT64) {
            *(uint64_t *)member_of(&settings[i], into) = (uint64_t)number_of(&settings[i], from);
        } else if (settings[i].type != TLC_MEMBER_TEXT) {
            // unsigned and int have one size and representation here
            memcpy(member_of(&settings[i], into), (const char *)from + settings[i].offset,
                   sizeof(int));
        }
    return copied;
}
