#include "result/shape.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "result/result.h"

enum kind { OBJECT, ARRAY, STRING, NUMBER, BOOLEAN, INTERVAL };

static const char *const kind_names[] = {"an object",     "an array",
                                         "a string",      "a number",
                                         "true or false", "an object {estimate, low, high}"};

struct member {
    const char *name;
    enum kind kind;
    bool nullable;
    const struct member *inside; // members of an object, or of each object of an array
};

static const struct member slice[] = {{"round", NUMBER, false, NULL},
                                      {"position", NUMBER, false, NULL},
                                      {"handshakes", NUMBER, false, NULL},
                                      {"cost_us", NUMBER, true, NULL},
                                      {NULL, OBJECT, false, NULL}};

static const struct member sample[] = {
    {"block", NUMBER, false, NULL},      {"accepted", BOOLEAN, false, NULL},
    {"refused", ARRAY, false, NULL},     {"reasons", ARRAY, false, NULL},
    {"handshakes", NUMBER, false, NULL}, {"cost_us", NUMBER, true, NULL},
    {"rate", NUMBER, true, NULL},        {"evidence", OBJECT, true, NULL},
    {"counters", OBJECT, true, NULL},    {"slices", ARRAY, false, slice},
    {NULL, OBJECT, false, NULL}};

static const struct member refusal[] = {
    {"check", STRING, false, NULL}, {"count", NUMBER, false, NULL}, {NULL, OBJECT, false, NULL}};

static const struct member arm[] = {
    {"name", STRING, false, NULL},      {"lever", STRING, true, NULL},
    {"role", STRING, false, NULL},      {"accepted", BOOLEAN, false, NULL},
    {"refused", ARRAY, false, refusal}, {"cost_us", INTERVAL, true, NULL},
    {"rate", INTERVAL, true, NULL},     {"ratio", INTERVAL, true, NULL},
    {"verdict", STRING, true, NULL},    {"instances", NUMBER, false, NULL},
    {"samples", ARRAY, false, sample},  {NULL, OBJECT, false, NULL}};

static const struct member check[] = {{"name", STRING, false, NULL},
                                      {"limit", NUMBER, true, NULL},
                                      {"worst", NUMBER, true, NULL},
                                      {"failed", NUMBER, false, NULL},
                                      {NULL, OBJECT, false, NULL}};

static const struct member campaign[] = {{"accepted", BOOLEAN, false, NULL},
                                         {"reasons", ARRAY, false, NULL},
                                         {NULL, OBJECT, false, NULL}};

static const struct member stack[] = {
    {"id", STRING, false, NULL}, {"version", STRING, false, NULL}, {NULL, OBJECT, false, NULL}};

static const struct member setup[] = {{"interrupted", BOOLEAN, false, NULL},
                                      {NULL, OBJECT, false, NULL}};

static const struct member run[] = {
    {"plan", OBJECT, false, NULL},         {"setup", OBJECT, false, setup},
    {"stacks", ARRAY, false, stack},       {"arms", ARRAY, false, arm},
    {"checks", ARRAY, false, check},       {"refused_samples", NUMBER, false, NULL},
    {"campaign", OBJECT, false, campaign}, {NULL, OBJECT, false, NULL}};

static const struct member common[] = {{"schema", STRING, false, NULL},
                                       {"command", STRING, false, NULL},
                                       {"started", STRING, false, NULL},
                                       {"environment", OBJECT, false, NULL},
                                       {NULL, OBJECT, false, NULL}};

static const struct member interval[] = {{"estimate", NUMBER, true, NULL},
                                         {"low", NUMBER, true, NULL},
                                         {"high", NUMBER, true, NULL},
                                         {NULL, OBJECT, false, NULL}};

static bool is_kind(const json_t *value, enum kind kind)
{
    switch (kind) {
    case OBJECT:
    case INTERVAL:
        return json_is_object(value);
    case ARRAY:
        return json_is_array(value);
    case STRING:
        return json_is_string(value);
    case NUMBER:
        return json_is_number(value);
    case BOOLEAN:
        return json_is_boolean(value);
    }
    return false;
}

// Where the walk is: "arms[3].samples[0]", grown and cut back as it goes.
struct place {
    const char *path; // the file
    char text[256];
};

static void descend_member(struct place *place, const char *name)
{
    size_t before = strlen(place->text);
    snprintf(place->text + before, sizeof place->text - before, "%s%s", before ? "." : "", name);
}

static void descend_item(struct place *place, size_t index)
{
    size_t before = strlen(place->text);
    snprintf(place->text + before, sizeof place->text - before, "[%zu]", index);
}

static enum tlc_status check_members(const json_t *object, const struct member *members,
                                     struct place *place, struct tlc_error *error);

static enum tlc_status check_inside(const json_t *value, const struct member *member,
                                    struct place *place, struct tlc_error *error)
{
    if (member->kind == INTERVAL)
        return check_members(value, interval, place, error);
    if (!member->inside)
        return TLC_OK;
    if (member->kind == OBJECT)
        return check_members(value, member->inside, place, error);
    size_t index;
    json_t *item;
    json_array_foreach(value, index, item)
    {
        size_t before = strlen(place->text);
        descend_item(place, index);
        if (!json_is_object(item))
            return tlc_fail(error, TLC_USAGE, "read result: %s: %s: not an object", place->path,
                            place->text);
        enum tlc_status status = check_members(item, member->inside, place, error);
        if (status != TLC_OK)
            return status;
        place->text[before] = '\0';
    }
    return TLC_OK;
}

static enum tlc_status check_members(const json_t *object, const struct member *members,
                                     struct place *place, struct tlc_error *error)
{
    for (const struct member *member = members; member->name; member++) {
        const json_t *value = json_object_get(object, member->name);
        size_t before = strlen(place->text);
        descend_member(place, member->name);
        if (!value)
            return tlc_fail(error, TLC_USAGE, "read result: %s: %s: missing", place->path,
                            place->text);
        if (!(json_is_null(value) && member->nullable)) {
            if (!is_kind(value, member->kind))
                return tlc_fail(error, TLC_USAGE, "read result: %s: %s: not %s%s", place->path,
                                place->text, kind_names[member->kind],
                                member->nullable ? " or null" : "");
            enum tlc_status status = check_inside(value, member, place, error);
            if (status != TLC_OK)
                return status;
        }
        place->text[before] = '\0';
    }
    return TLC_OK;
}

enum tlc_status tlc_shape_check(const json_t *document, const char *path, struct tlc_error *error)
{
    struct place place = {.path = path};
    if (!json_is_object(document))
        return tlc_fail(error, TLC_USAGE, "read result: %s: not a JSON object", path);
    enum tlc_status status = check_members(document, common, &place, error);
    if (status != TLC_OK)
        return status;
    const char *schema = json_string_value(json_object_get(document, "schema"));
    if (strcmp(schema, TLC_RESULT_SCHEMA))
        return tlc_fail(error, TLC_USAGE,
                        "read result: %s: schema '%.100s': unknown; this tlscost reads %s", path,
                        schema, TLC_RESULT_SCHEMA);
    if (strcmp(json_string_value(json_object_get(document, "command")), "run"))
        return TLC_OK;
    status = check_members(document, run, &place, error);
    if (status == TLC_OK && !json_array_size(json_object_get(document, "arms")))
        return tlc_fail(error, TLC_USAGE,
                        "read result: %s: arms: none; a result of 'tlscost run' has its baseline "
                        "at least",
                        path);
    return status;
}
