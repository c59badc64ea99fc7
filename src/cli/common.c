#include "cli/common.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int tlc_report_error(const struct tlc_error *error)
{
    fflush(stdout);
    // Names of files, plans and peers may hold terminal escapes (ECMA-48: C0, DEL, and C1 in
    // UTF-8).
    fputs("tlscost: ", stderr);
    for (const unsigned char *at = (const unsigned char *)error->text; *at; at++) {
        bool second = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;
        fputc(*at < ' ' || *at == 0x7f || second ? '?' : *at, stderr);
        at += second;
    }
    fputc('\n', stderr);
    return error->status;
}

enum tlc_status tlc_parse_duration(const char *text, uint64_t *microseconds,
                                   struct tlc_error *error)
{
    static const struct {
        const char *unit;
        double us;
    } units[] = {{"us", 1},     {"ms", 1e3}, {"s", 1e6},   {"", 1e6},
                 {"min", 60e6}, {"m", 60e6}, {"h", 3600e6}};
    char *end;
    double value = strtod(text, &end);
    if (end != text && isfinite(value) && value >= 0)
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (!strcmp(end, units[i].unit) && value * units[i].us < 1e15) {
                *microseconds = (uint64_t)(value * units[i].us + 0.5);
                return TLC_OK;
            }
    return tlc_fail(error, TLC_USAGE,
                    "duration: '%s': not a time; write for example 250ms, 2s or 5min", text);
}

enum tlc_status tlc_parse_number(const char *what, const char *text, uint64_t low, uint64_t high,
                                 uint64_t *value, struct tlc_error *error)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || end == text || *end || !isdigit((unsigned char)*text) || number < low ||
        number > high)
        return tlc_fail(error, TLC_USAGE, "%s: '%s': not a whole number from %llu to %llu", what,
                        text, (unsigned long long)low, (unsigned long long)high);
    *value = number;
    return TLC_OK;
}

char **tlc_words(const char *list)
{
    size_t count = 1;
    for (const char *at = list; *at; at++)
        count += *at == ',';
    char **words = calloc(count + 1, sizeof *words);
    size_t used = 0;
    while (words && *list) {
        size_t length = strcspn(list, ",");
        if (length)
            words[used++] = strndup(list, length);
        list += length + (list[length] == ',');
    }
    return words;
}

void tlc_words_free(char **words)
{
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

enum tlc_status tlc_read_text(const char *path, char **text, struct tlc_error *error)
{
    enum { LIMIT = 64 << 20 };
    *text = NULL;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return tlc_fail_errno(error, "read: %s", path);
    size_t used = 0, capacity = 1 << 16;
    char *bytes = malloc(capacity);
    while (bytes && used < LIMIT) {
        size_t got = fread(bytes + used, 1, capacity - used - 1, file);
        used += got;
        if (!got)
            break;
        if (capacity - used < 4096) {
            char *grown = realloc(bytes, capacity *= 2);
            if (!grown) {
                free(bytes);
                bytes = NULL;
                break;
            }
            bytes = grown;
        }
    }
    int broken = ferror(file);
    fclose(file);
    if (!bytes || broken || used >= LIMIT) {
        free(bytes);
        return tlc_fail(error, TLC_ENVIRONMENT, "read: %s: %s", path,
                        used >= LIMIT ? "larger than 64 MiB" : "cannot be read");
    }
    bytes[used] = '\0';
    *text = bytes;
    return TLC_OK;
}

void tlc_print_json(const json_t *json)
{
    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
}

void tlc_put_yaml(FILE *to, const char *text)
{
    json_t *value = json_string(text);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    fputs(quoted ? quoted : "\"\"", to);
    free(quoted);
    json_decref(value);
}
