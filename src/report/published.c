#include "report/published.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/names.h"

// The ratio of cost of a comparison: given as such, or as a ratio of rates; NaN when neither is.
static double ratio_cost_of(const json_t *comparison)
{
    double cost = json_number_value(json_object_get(comparison, "ratio_cost"));
    double rate = json_number_value(json_object_get(comparison, "ratio_rate"));
    return cost > 0 ? cost : rate > 0 ? 1 / rate : NAN;
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static enum tlc_status check_source(const json_t *source, const char *path, struct tlc_error *error)
{
    static const char *const texts[] = {"title", "system", "host", "method", "measures"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!*text_of(source, texts[i]))
            return tlc_fail(error, TLC_USAGE, "references: %s: %s: missing", path, texts[i]);
    size_t index;
    json_t *comparison;
    json_array_foreach(json_object_get(source, "comparisons"), index, comparison)
    {
        if (!*text_of(comparison, "lever") || !*text_of(comparison, "value") ||
            !*text_of(comparison, "baseline") || isnan(ratio_cost_of(comparison)))
            return tlc_fail(error, TLC_USAGE,
                            "references: %s: comparisons[%zu]: lever, value, baseline and one of "
                            "ratio_cost and ratio_rate are needed",
                            path, index);
    }
    return TLC_OK;
}

static enum tlc_status read_source(const char *folder, const char *name,
                                   struct tlc_published *published, struct tlc_error *error)
{
    char path[4096];
    json_error_t reason;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    json_t *source = json_load_file(path, JSON_REJECT_DUPLICATES, &reason);
    if (!source)
        return tlc_fail(error, TLC_USAGE, "references: %s:%d: %s", path, reason.line, reason.text);
    enum tlc_status status = check_source(source, path, error);
    // What measures a server alone is nearest to what we measure, and stands first.
    size_t place = json_array_size(published->sources);
    if (json_is_true(json_object_get(source, "server_alone")))
        place = published->server_alone++;
    if (status == TLC_OK && json_array_insert(published->sources, place, source))
        status = tlc_fail(error, TLC_ENVIRONMENT, "references: out of memory");
    json_decref(source);
    return status;
}

static int is_json(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 && !strcmp(entry->d_name + length - 5, ".json");
}

enum tlc_status tlc_published_read(const char *folder, struct tlc_published *published,
                                   struct tlc_error *error)
{
    struct dirent **entries = NULL;
    int count = folder ? scandir(folder, &entries, is_json, alphasort) : 0;
    *published = (struct tlc_published){.sources = json_array()};
    enum tlc_status status = TLC_OK;
    if (!published->sources)
        status = tlc_fail(error, TLC_ENVIRONMENT, "references: out of memory");
    else if (count < 0 && errno != ENOENT)
        status = tlc_fail_errno(error, "references: %s", folder);
    for (int i = 0; i < count; i++) {
        if (status == TLC_OK)
            status = read_source(folder, entries[i]->d_name, published, error);
        free(entries[i]);
    }
    free(entries);
    if (status != TLC_OK)
        tlc_published_free(published);
    return status;
}

void tlc_published_free(struct tlc_published *published)
{
    json_decref(published->sources);
    published->sources = NULL;
}

// Groups have several usual names (P-256, secp256r1).
static bool is_same(const char *one, const char *other)
{
    uint16_t code = tlc_code(TLC_NAME_GROUP, one);
    return !strcasecmp(one, other) || (code && code == tlc_code(TLC_NAME_GROUP, other));
}

static double ratio_for(const json_t *comparison, const char *key, const char *value,
                        const char *baseline)
{
    const char *their_value = text_of(comparison, "value");
    const char *their_baseline = text_of(comparison, "baseline");
    if (strcmp(text_of(comparison, "lever"), key))
        return NAN;
    if (is_same(their_value, value) && is_same(their_baseline, baseline))
        return ratio_cost_of(comparison);
    if (is_same(their_value, baseline) && is_same(their_baseline, value))
        return 1 / ratio_cost_of(comparison);
    return NAN;
}

// Whether what the comparison holds fixed ({"groups": "X25519"}) is so in these settings.
static bool holds_for(const json_t *comparison, const json_t *settings)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(comparison, "holds"), key, value)
    {
        if (!json_is_string(value) || !is_same(json_string_value(value), text_of(settings, key)))
            return false;
    }
    return true;
}

size_t tlc_published_find(const struct tlc_published *published, const char *key, const json_t *arm,
                          const json_t *baseline, struct tlc_published_match *matches,
                          size_t capacity)
{
    size_t found = 0, source, index;
    json_t *file, *comparison;
    if (!key)
        return 0;
    const char *value = text_of(arm, key), *against = text_of(baseline, key);
    if (!*value || !*against)
        return 0;
    json_array_foreach(published->sources, source, file)
    {
        json_array_foreach(json_object_get(file, "comparisons"), index, comparison)
        {
            double ratio = ratio_for(comparison, key, value, against);
            if (isnan(ratio) || !holds_for(comparison, baseline))
                continue;
            if (found < capacity)
                matches[found] = (struct tlc_published_match){source, ratio};
            found++;
        }
    }
    return found;
}

const char *tlc_published_text(const struct tlc_published *published, size_t source,
                               const char *member)
{
    return text_of(json_array_get(published->sources, source), member);
}

const char *tlc_published_note(const struct tlc_published *published, size_t source,
                               const char *key)
{
    const json_t *notes = json_object_get(json_array_get(published->sources, source), "notes");
    return key ? text_of(notes, key) : "";
}
