// Readers of single values: text in a plan to a member, or a reason fit for a user.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cpu_mask.h"
#include "base/names.h"
#include "certs/certs.h"
#include "plan/settings.h"

enum { MOST_WORDS = 64, LONGEST_WORD = 64, MOST_GROUPS = 16 };

static bool TLC_PRINTF(3, 4) refuse(char *why, size_t bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, bytes, format, arguments);
    va_end(arguments);
    return false;
}

// Levenshtein distance without regard to case, for words up to LONGEST_WORD.
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST_WORD + 1], n = strlen(b);
    if (n > LONGEST_WORD)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = diagonal + (strncasecmp(a + i - 1, b + j - 1, 1) != 0);
            diagonal = row[j];
            size_t shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = change < shift ? change : shift;
        }
    }
    return row[n];
}

const char *tlc_nearest(const char *word, const char *const *words, size_t count)
{
    const char *nearest = NULL;
    size_t length = strlen(word), least = length / 3 + 2; // further away is another word
    for (size_t i = 0; i < count && length <= LONGEST_WORD; i++) {
        size_t far = distance(word, words[i]);
        if (far < least) {
            least = far;
            nearest = words[i];
        }
    }
    return nearest;
}

const char *tlc_did_you_mean(const char *word, const char *const *words, size_t count, char *text,
                             size_t bytes)
{
    const char *nearest = tlc_nearest(word, words, count);
    if (nearest)
        snprintf(text, bytes, ", did you mean '%s'", nearest);
    else
        *text = '\0';
    return text;
}

static bool refuse_word(const char *what, const char *word, const char *const *words, size_t count,
                        char *why, size_t bytes)
{
    char hint[LONGEST_WORD + 32], known[TLC_WHY_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof known; i++)
        used +=
            (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", words[i]);
    return refuse(why, bytes, "%s '%.64s' is unknown%s; write one of %s", what, word,
                  tlc_did_you_mean(word, words, count, hint, sizeof hint), known);
}

static bool store_text(const struct tlc_setting *setting, const char *text, void *base, char *why,
                       size_t bytes)
{
    char **member = (char **)((char *)base + setting->offset);
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy)
        return refuse(why, bytes, "out of memory");
    free(*member);
    *member = copy;
    return true;
}

static bool store_number(const struct tlc_setting *setting, double number, void *base)
{
    void *member = (char *)base + setting->offset;
    if (setting->type == TLC_MEMBER_DOUBLE)
        *(double *)member = number;
    else if (setting->type == TLC_MEMBER_UNSIGNED)
        *(unsigned *)member = (unsigned)number;
    else if (setting->type == TLC_MEMBER_INT)
        *(int *)member = (int)number;
    else
        *(uint64_t *)member = (uint64_t)number;
    return true;
}

bool tlc_read_word(const struct tlc_setting *setting, const char *text, void *base, char *why,
                   size_t bytes)
{
    size_t count = 0;
    for (; setting->words[count]; count++)
        if (!strcmp(setting->words[count], text))
            return store_text(setting, text, base, why, bytes);
    return refuse_word(setting->name, text, setting->words, count, why, bytes);
}

bool tlc_read_identifier(const struct tlc_setting *setting, const char *text, void *base, char *why,
                         size_t bytes)
{
    size_t length =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    if (!length || text[length] || length >= LONGEST_WORD || *text == '.' || *text == '-')
        return refuse(why, bytes,
                      "%s '%.64s' is no name; write letters, digits, '.', '_' and '-', for example "
                      "openssl",
                      setting->name, text);
    return store_text(setting, text, base, why, bytes);
}

bool tlc_read_certificate(const struct tlc_setting *setting, const char *text, void *base,
                          char *why, size_t bytes)
{
    if (tlc_certs_name_known(text))
        return store_text(setting, text, base, why, bytes);
    const char *words[MOST_WORDS];
    size_t count = 0;
    while (count < MOST_WORDS && (words[count] = tlc_certs_name_at(count)))
        count++;
    return refuse_word("certificate", text, words, count, why, bytes);
}

static bool refuse_name(enum tlc_name_kind kind, const char *what, const char *word, char *why,
                        size_t bytes)
{
    const char *words[MOST_WORDS] = {"P-256", "P-384", "P-521"}; // the usual names of the curves
    size_t count = kind == TLC_NAME_GROUP ? 3 : 0;
    for (size_t i = 0; count < MOST_WORDS && (words[count] = tlc_name_at(kind, i)); i++)
        count++;
    return refuse_word(what, word, words, count, why, bytes);
}

// One name of a kind, stored as the registry spells it, so that equal settings are equal texts.
static bool read_name(enum tlc_name_kind kind, const struct tlc_setting *setting, const char *text,
                      void *base, char *why, size_t bytes)
{
    uint16_t code = tlc_code(kind, text);
    if (!code)
        return refuse_name(kind, setting->name, text, why, bytes);
    return store_text(setting, tlc_name(kind, code), base, why, bytes);
}

bool tlc_read_version(const struct tlc_setting *setting, const char *text, void *base, char *why,
                      size_t bytes)
{
    return read_name(TLC_NAME_VERSION, setting, text, base, why, bytes);
}

bool tlc_read_cipher(const struct tlc_setting *setting, const char *text, void *base, char *why,
                     size_t bytes)
{
    if (!strcmp(text, setting->unset))
        return store_text(setting, NULL, base, why, bytes);
    return read_name(TLC_NAME_CIPHER, setting, text, base, why, bytes);
}

bool tlc_read_groups(const struct tlc_setting *setting, const char *text, void *base, char *why,
                     size_t bytes)
{
    uint16_t codes[MOST_GROUPS];
    char names[MOST_GROUPS * LONGEST_WORD] = "";
    size_t count = 0, used = 0;
    for (const char *at = text;; at++) {
        char word[LONGEST_WORD];
        size_t length = strcspn(at, ":");
        snprintf(word, sizeof word, "%.*s", (int)(length < LONGEST_WORD ? length : LONGEST_WORD),
                 at);
        uint16_t code = length < sizeof word ? tlc_code(TLC_NAME_GROUP, word) : 0;
        if (!code)
            return refuse_name(TLC_NAME_GROUP, "group", word, why, bytes);
        for (size_t i = 0; i < count; i++)
            if (codes[i] == code)
                return refuse(why, bytes, "group '%s' is listed twice; write it once", word);
        if (count == MOST_GROUPS)
            return refuse(why, bytes, "more than %d groups; write fewer", MOST_GROUPS);
        codes[count++] = code;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ":" : "",
                                 tlc_name(TLC_NAME_GROUP, code));
        at += length;
        if (!*at)
            return store_text(setting, names, base, why, bytes);
    }
}

// RFC 7301, 3.1: a protocol name has 1 to 255 bytes; here one name of visible characters.
bool tlc_read_alpn(const struct tlc_setting *setting, const char *text, void *base, char *why,
                   size_t bytes)
{
    if (!strcmp(text, setting->unset))
        return store_text(setting, NULL, base, why, bytes);
    size_t length = strlen(text), visible = 0;
    while (text[visible] > ' ' && text[visible] < 0x7f && text[visible] != ',')
        visible++;
    if (!length || length > 255 || visible != length)
        return refuse(why, bytes, "alpn '%.64s' is no protocol name; write for example h2", text);
    return store_text(setting, text, base, why, bytes);
}

// Words parted by single spaces; they reach a command line, never a shell.
bool tlc_read_options(const struct tlc_setting *setting, const char *text, void *base, char *why,
                      size_t bytes)
{
    if (!strcmp(text, setting->unset))
        return store_text(setting, NULL, base, why, bytes);
    size_t visible = 0;
    while (text[visible] >= ' ' && text[visible] < 0x7f)
        visible++;
    if (text[0] != '-' || text[visible] || visible > 400)
        return refuse(why, bytes,
                      "serve_options '%.64s' are no options; write for example --backlog 128",
                      text);
    return store_text(setting, text, base, why, bytes);
}

bool tlc_read_visible(const struct tlc_setting *setting, const char *text, void *base, char *why,
                      size_t bytes)
{
    if (!strcmp(text, setting->unset))
        return store_text(setting, NULL, base, why, bytes);
    size_t visible = 0;
    while (text[visible] >= ' ' && text[visible] < 0x7f)
        visible++;
    if (!visible || text[visible] || visible > 400 || *text == ' ')
        return refuse(why, bytes,
                      "%s '%.64s' is no name; write up to 400 visible characters, or %s",
                      setting->name, text, setting->unset);
    return store_text(setting, text, base, why, bytes);
}

bool tlc_read_other_stack(const struct tlc_setting *setting, const char *text, void *base,
                          char *why, size_t bytes)
{
    return strcmp(text, setting->unset) ? tlc_read_identifier(setting, text, base, why, bytes)
                                        : store_text(setting, NULL, base, why, bytes);
}

bool tlc_read_client_certificate(const struct tlc_setting *setting, const char *text, void *base,
                                 char *why, size_t bytes)
{
    return strcmp(text, setting->unset) ? tlc_read_certificate(setting, text, base, why, bytes)
                                        : store_text(setting, NULL, base, why, bytes);
}

bool tlc_read_cpu_mask(const struct tlc_setting *setting, const char *text, void *base, char *why,
                       size_t bytes)
{
    if (!strcmp(text, setting->unset))
        return store_text(setting, NULL, base, why, bytes);
    if (strlen(text) > 200 || !tlc_cpu_mask_known(text))
        return refuse(why, bytes,
                      "cpu_mask '%.64s' is no value of OPENSSL_ia32cap; write for example "
                      "'~0x200000200000000:~0x0', or none",
                      text);
    return store_text(setting, text, base, why, bytes);
}

// A finite number at the start of the text, *rest what follows it. False without one.
static bool leading_number(const char *text, double *number, const char **rest)
{
    size_t digits = strspn(text, "0123456789.");
    char *end;
    *number = strtod(text, &end);
    *rest = end;
    return digits && end == text + digits && isfinite(*number);
}

bool tlc_read_share(const struct tlc_setting *setting, const char *text, void *base, char *why,
                    size_t bytes)
{
    double number;
    const char *rest;
    if (!leading_number(text, &number, &rest) || strcmp(rest, "%") || number / 100 < setting->low ||
        number / 100 > setting->high)
        return refuse(why, bytes,
                      "%s '%.64s' is not a percentage from %g%% to %g%%; write for "
                      "example 5%%",
                      setting->name, text, setting->low * 100, setting->high * 100);
    return store_number(setting, number / 100, base);
}

bool tlc_read_count(const struct tlc_setting *setting, const char *text, void *base, char *why,
                    size_t bytes)
{
    double number = -1;
    size_t digits = strspn(text, "0123456789");
    if (digits && !text[digits] && digits < 16)
        number = strtod(text, NULL);
    if (number < setting->low || number > setting->high || number < 0)
        return refuse(why, bytes, "%s '%.64s' cannot be; write a whole number from %.0f to %.0f",
                      setting->name, text, setting->low, setting->high);
    return store_number(setting, number, base);
}

bool tlc_read_switch(const struct tlc_setting *setting, const char *text, void *base, char *why,
                     size_t bytes)
{
    if (!strcmp(text, "true") || !strcmp(text, "yes") || !strcmp(text, "on"))
        return store_number(setting, 1, base);
    if (!strcmp(text, "false") || !strcmp(text, "no") || !strcmp(text, "off"))
        return store_number(setting, 0, base);
    return refuse(why, bytes, "%s '%.64s' is not a choice; write true or false", setting->name,
                  text);
}

bool tlc_read_tickets(const struct tlc_setting *setting, const char *text, void *base, char *why,
                      size_t bytes)
{
    if (!strcmp(text, "default"))
        return store_number(setting, -1, base);
    if (tlc_read_count(setting, text, base, why, bytes))
        return true;
    return refuse(why, bytes,
                  "tickets '%.64s' cannot be; write a whole number from 0 to %.0f, or default",
                  text, setting->high);
}

// A time as a plan spells it, in microseconds; negative when it is none.
static double time_us(const char *text)
{
    static const struct {
        const char *unit;
        double us;
    } units[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"min", 60e6}};
    double number;
    const char *rest;
    if (leading_number(text, &number, &rest))
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (!strcmp(rest, units[i].unit))
                return floor(number * units[i].us + 0.5);
    return -1;
}

bool tlc_read_time(const struct tlc_setting *setting, const char *text, void *base, char *why,
                   size_t bytes)
{
    double us = time_us(text);
    if (us >= 0 && us >= setting->low && us <= setting->high)
        return store_number(setting, us, base);
    char low[32], high[32];
    tlc_format_time((uint64_t)setting->low, low, sizeof low);
    tlc_format_time((uint64_t)setting->high, high, sizeof high);
    return refuse(why, bytes, "%s '%.64s' is not a time from %s to %s; write for example 50ms",
                  setting->name, text, low, high);
}

// The times of a list "1ms:150ms"; 0 when it is none, or has too many.
static size_t read_times(const char *text, uint64_t us[TLC_MOST_RTTS])
{
    for (size_t count = 0; count < TLC_MOST_RTTS; count++) {
        char word[LONGEST_WORD];
        size_t length = strcspn(text, ":");
        snprintf(word, sizeof word, "%.*s", (int)(length < LONGEST_WORD ? length : LONGEST_WORD),
                 text);
        double time = time_us(word);
        if (length >= LONGEST_WORD || time < 0 || time > 10e6)
            return 0;
        us[count] = (uint64_t)time;
        for (size_t i = 0; i < count; i++)
            if (us[i] == us[count])
                return 0;
        text += length;
        if (!*text++)
            return count + 1;
    }
    return 0;
}

bool tlc_read_times(const struct tlc_setting *setting, const char *text, void *base, char *why,
                    size_t bytes)
{
    uint64_t us[TLC_MOST_RTTS];
    char names[TLC_MOST_RTTS * 32] = "";
    if (!strcmp(text, setting->unset))
        return store_text(setting, NULL, base, why, bytes);
    size_t count = read_times(text, us), used = 0;
    if (!count)
        return refuse(why, bytes,
                      "%s '%.64s' is no list of up to %d different times up to 10s; write for "
                      "example 1ms:150ms",
                      setting->name, text, TLC_MOST_RTTS);
    for (size_t i = 0; i < count; i++) {
        char time[32];
        tlc_format_time(us[i], time, sizeof time);
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ":" : "", time);
    }
    return store_text(setting, names, base, why, bytes);
}

size_t tlc_arm_rtts(const struct tlc_arm *arm, uint64_t us[TLC_MOST_RTTS])
{
    return arm->rtt ? read_times(arm->rtt, us) : 0;
}

bool tlc_read_rate(const struct tlc_setting *setting, const char *text, void *base, char *why,
                   size_t bytes)
{
    static const struct {
        const char *unit;
        double bits;
    } units[] = {{"bit", 1}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
    double number;
    const char *rest;
    if (!strcmp(text, "unlimited"))
        return store_number(setting, 0, base);
    if (leading_number(text, &number, &rest))
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            double bits = floor(number * units[i].bits + 0.5);
            if (!strcmp(rest, units[i].unit) && bits >= 1000 && bits <= setting->high)
                return store_number(setting, bits, base);
        }
    return refuse(why, bytes,
                  "%s '%.64s' is not a rate from 1kbit to 1000gbit; write for example 10mbit, or "
                  "unlimited",
                  setting->name, text);
}
