#include "certs/manifest.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MANIFEST "manifest.json"

// 2: ML-DSA keys are seeds alone, which Go reads too. A folder of another format is made again.
enum { FORMAT = 2 };

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

// Sorted and without repeats, so that the order of the hosts does not matter.
static json_t *hosts_json(const char *const *hosts)
{
    size_t count = 0;
    while (hosts && hosts[count])
        count++;
    const char **sorted = calloc(count + 1, sizeof *sorted);
    if (!sorted)
        return NULL;
    if (count > 0) {
        memcpy(sorted, hosts, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_text);
    }
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(sorted[i - 1], sorted[i]) != 0)
            json_array_append_new(list, json_string(sorted[i]));
    free(sorted);
    return list;
}

json_t *tlc_certs_options_json(const struct tlc_certs_options *options)
{
    json_t *json = json_pack("{s:o, s:i, s:i}", "hosts", hosts_json(options->extra_hosts),
                             "intermediates", (int)options->intermediates, "days",
                             (int)(options->days ? options->days : TLC_CERTS_DEFAULT_DAYS));
    if (options->authority && strcmp(options->authority, TLC_CERTS_CA_KEY) != 0)
        json_object_set_new(json, "authority", json_string(options->authority));
    return json;
}

json_t *tlc_certs_manifest_read(const struct tlc_certs_folder *folder)
{
    char *text = tlc_certs_folder_read(folder, MANIFEST, NULL);
    json_t *manifest = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    return manifest;
}

static bool fresh_enough(const struct tlc_certs_validity *validity, time_t now)
{
    time_t third = (validity->not_after - validity->not_before) / 3;
    return validity->not_before <= now && now < validity->not_after - third;
}

bool tlc_certs_manifest_fits(const json_t *manifest, const json_t *options,
                             struct tlc_certs_validity *validity)
{
    int format = 0, complete = 0;
    json_int_t not_before = 0, not_after = 0;
    json_t *made_with = NULL;
    if (json_unpack((json_t *)manifest, "{s:i, s:b, s:o, s:I, s:I}", "format", &format, "complete",
                    &complete, "options", &made_with, "not_before", &not_before, "not_after",
                    &not_after) != 0)
        return false;
    // Bounds keep the arithmetic on a hostile file defined; year 9999 ends X.509's time.
    if (not_before < 0 || not_after < not_before || not_after > INT64_C(253402300799))
        return false;
    *validity = (struct tlc_certs_validity){(time_t)not_before, (time_t)not_after};
    return format == FORMAT && complete && json_equal(made_with, options) &&
           fresh_enough(validity, time(NULL));
}

enum tlc_status tlc_certs_manifest_write(const struct tlc_certs_folder *folder, json_t *options,
                                         const struct tlc_certs_validity *validity, bool complete,
                                         struct tlc_error *error)
{
    json_t *manifest =
        json_pack("{s:i, s:b, s:O, s:I, s:I}", "format", FORMAT, "complete", complete, "options",
                  options, "not_before", (json_int_t)validity->not_before, "not_after",
                  (json_int_t)validity->not_after);
    char *text = manifest ? json_dumps(manifest, JSON_INDENT(2)) : NULL;
    json_decref(manifest);
    if (!text)
        return tlc_fail(error, TLC_ENVIRONMENT, "certs: manifest: out of memory");
    enum tlc_status status = tlc_certs_folder_write(folder, MANIFEST, 0644, text, error);
    free(text);
    return status;
}
