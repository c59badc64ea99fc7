#include <stdlib.h>
#include <string.h>

#include "generator/generator.h"

// The plain counts of a slice: name in JSON and place in the struct, in one list for merging and
// both conversions.
static const struct {
    const char *name;
    size_t offset;
} counts[] = {
#define COUNT(name)                                                                                \
    {                                                                                              \
#name, offsetof(struct tlc_counters, name)                                                 \
    }
    COUNT(started),    COUNT(handshakes), COUNT(resumed),    COUNT(hello_retry_requests),
    COUNT(mismatches), COUNT(tickets),    COUNT(in_window),  COUNT(signatures_verified),
    COUNT(offered),    COUNT(stopped),    COUNT(bytes_sent), COUNT(bytes_received),
    COUNT(missed),     COUNT(cookies),
#undef COUNT
};

static const struct {
    const char *name;
    size_t offset;
    bool longest; // merging keeps the longer one: slices of several loops run side by side
} times[] = {
    {"window_s", offsetof(struct tlc_counters, window_s), true},
    {"span_s", offsetof(struct tlc_counters, span_s), true},
    {"cpu_user_us", offsetof(struct tlc_counters, cpu_user_us), false},
    {"cpu_system_us", offsetof(struct tlc_counters, cpu_system_us), false},
};

static const struct {
    const char *name;
    size_t offset, count;
} latencies[] = {
    {"connect", offsetof(struct tlc_counters, latency_connect_us),
     offsetof(struct tlc_counters, latency_connect_count)},
    {"server_hello", offsetof(struct tlc_counters, latency_hello_us),
     offsetof(struct tlc_counters, latency_count)},
    {"finished", offsetof(struct tlc_counters, latency_done_us),
     offsetof(struct tlc_counters, latency_count)},
    {"echoed", offsetof(struct tlc_counters, latency_echo_us),
     offsetof(struct tlc_counters, latency_echo_count)},
};

#define LENGTH(array)                (sizeof(array) / sizeof *(array))
#define FIELD(type, base, offset)    ((type *)(void *)((char *)(base) + (offset)))
#define FIELD_OF(type, base, offset) ((const type *)(const void *)((const char *)(base) + (offset)))

void tlc_counters_free(struct tlc_counters *counters)
{
    for (size_t i = 0; i < LENGTH(latencies); i++)
        free(*FIELD(uint32_t *, counters, latencies[i].offset));
    json_decref(counters->errors);
    json_decref(counters->negotiated);
    memset(counters, 0, sizeof *counters);
}

// Adds every number of `from` to the same member of *into, objects recursively.
static bool merge_json(json_t **into, const json_t *from)
{
    if (!from)
        return true;
    if (!*into)
        return (*into = json_deep_copy(from)) != NULL;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)from, key, value)
    {
        json_t *mine = json_object_get(*into, key);
        if (!mine) {
            if (json_object_set_new(*into, key, json_deep_copy(value)))
                return false;
        } else if (json_is_object(value)) {
            if (!merge_json(&mine, value))
                return false;
        } else if (json_integer_set(mine, json_integer_value(mine) + json_integer_value(value))) {
            return false;
        }
    }
    return true;
}

static bool append_latencies(struct tlc_counters *into, const struct tlc_counters *from)
{
    if (!from->latency_count)
        return true;
    size_t total = into->latency_count + from->latency_count;
    for (size_t i = 0; i < LENGTH(latencies); i++) {
        uint32_t **list = FIELD(uint32_t *, into, latencies[i].offset);
        const uint32_t *more = *FIELD_OF(uint32_t *, from, latencies[i].offset);
        size_t have = *FIELD(size_t, into, latencies[i].count);
        size_t count = *FIELD_OF(size_t, from, latencies[i].count);
        if (total > into->latency_capacity) {
            uint32_t *grown = realloc(*list, total * sizeof *grown);
            if (!grown)
                return false;
            *list = grown;
        }
        memcpy(*list + have, more, count * sizeof *more);
    }
    if (total > into->latency_capacity)
        into->latency_capacity = total;
    into->latency_count = total;
    into->latency_connect_count += from->latency_connect_count;
    into->latency_echo_count += from->latency_echo_count;
    return true;
}

enum tlc_status tlc_counters_merge(struct tlc_counters *into, const struct tlc_counters *from,
                                   struct tlc_error *error)
{
    for (size_t i = 0; i < LENGTH(counts); i++)
        *FIELD(uint64_t, into, counts[i].offset) += *FIELD_OF(uint64_t, from, counts[i].offset);
    for (size_t i = 0; i < LENGTH(times); i++) {
        double *mine = FIELD(double, into, times[i].offset);
        double other = *FIELD_OF(double, from, times[i].offset);
        *mine = times[i].longest ? (other > *mine ? other : *mine) : *mine + other;
    }
    if (!merge_json(&into->errors, from->errors) ||
        !merge_json(&into->negotiated, from->negotiated) || !append_latencies(into, from))
        return tlc_fail(error, TLC_ENVIRONMENT, "merge counters: out of memory");
    return TLC_OK;
}

uint64_t tlc_counters_errors(const struct tlc_counters *counters)
{
    uint64_t sum = 0;
    const char *key;
    json_t *value;
    json_object_foreach(counters->errors, key, value)
    {
        if (strncmp(key, "mismatch-", 9) != 0)
            sum += (uint64_t)json_integer_value(value);
    }
    return sum;
}

static json_t *latencies_to_json(const struct tlc_counters *counters)
{
    json_t *object = json_object();
    for (size_t i = 0; i < LENGTH(latencies); i++) {
        const uint32_t *values = *FIELD_OF(uint32_t *, counters, latencies[i].offset);
        json_t *list = json_array();
        for (size_t k = 0; k < *FIELD_OF(size_t, counters, latencies[i].count); k++)
            json_array_append_new(list, json_integer(values[k]));
        json_object_set_new(object, latencies[i].name, list);
    }
    return object;
}

json_t *tlc_counters_to_json(const struct tlc_counters *counters)
{
    json_t *json = json_object();
    for (size_t i = 0; i < LENGTH(counts); i++)
        json_object_set_new(
            json, counts[i].name,
            json_integer((json_int_t)*FIELD_OF(uint64_t, counters, counts[i].offset)));
    for (size_t i = 0; i < LENGTH(times); i++)
        json_object_set_new(json, times[i].name,
                            json_real(*FIELD_OF(double, counters, times[i].offset)));
    json_object_set_new(json, "errors",
                        counters->errors ? json_deep_copy(counters->errors) : json_object());
    json_object_set_new(json, "negotiated",
                        counters->negotiated ? json_deep_copy(counters->negotiated)
                                             : json_object());
    if (counters->latency_count)
        json_object_set_new(json, "latency_us", latencies_to_json(counters));
    return json;
}

static enum tlc_status read_list(const json_t *list, const char *name, uint32_t *values,
                                 struct tlc_error *error)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);
        json_int_t us = json_integer_value(value);
        if (!json_is_integer(value) || us < 0 || us > UINT32_MAX)
            return tlc_fail(error, TLC_ENVIRONMENT, "read counters: latency_us: %s: out of range",
                            name);
        values[i] = (uint32_t)us;
    }
    return TLC_OK;
}

static enum tlc_status read_latencies(const json_t *json, struct tlc_counters *counters,
                                      struct tlc_error *error)
{
    size_t count = json_array_size(json_object_get(json, "finished"));
    for (size_t i = 0; i < LENGTH(latencies); i++) {
        const char *name = latencies[i].name;
        const json_t *list = json_object_get(json, name);
        size_t size = json_array_size(list);
        size_t *counted = FIELD(size_t, counters, latencies[i].count);
        bool may_be_shorter = counted != &counters->latency_count;
        if (size > count || (size < count && !may_be_shorter))
            return tlc_fail(error, TLC_ENVIRONMENT,
                            "read counters: latency_us: %s: %zu values, not %zu", name, size,
                            count);
        uint32_t *values = malloc((count + 1) * sizeof *values);
        *FIELD(uint32_t *, counters, latencies[i].offset) = values;
        if (!values)
            return tlc_fail(error, TLC_ENVIRONMENT, "read counters: out of memory");
        enum tlc_status status = read_list(list, name, values, error);
        if (status != TLC_OK)
            return status;
        *counted = size;
    }
    counters->latency_capacity = count;
    return TLC_OK;
}

static json_t *object_copy(const json_t *json, const char *name)
{
    const json_t *object = json_object_get(json, name);
    return json_is_object(object) ? json_deep_copy(object) : json_object();
}

enum tlc_status tlc_counters_from_json(const json_t *json, struct tlc_counters *counters,
                                       struct tlc_error *error)
{
    memset(counters, 0, sizeof *counters);
    for (size_t i = 0; i < LENGTH(counts); i++) {
        const json_t *value = json_object_get(json, counts[i].name);
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return tlc_fail(error, TLC_ENVIRONMENT, "read counters: %s: missing or not a count",
                            counts[i].name);
        *FIELD(uint64_t, counters, counts[i].offset) = (uint64_t)json_integer_value(value);
    }
    for (size_t i = 0; i < LENGTH(times); i++) {
        const json_t *value = json_object_get(json, times[i].name);
        if (!json_is_number(value))
            return tlc_fail(error, TLC_ENVIRONMENT, "read counters: %s: missing or not a number",
                            times[i].name);
        *FIELD(double, counters, times[i].offset) = json_number_value(value);
    }
    counters->errors = object_copy(json, "errors");
    counters->negotiated = object_copy(json, "negotiated");
    enum tlc_status status = read_latencies(json_object_get(json, "latency_us"), counters, error);
    if (status != TLC_OK)
        tlc_counters_free(counters);
    return status;
}
