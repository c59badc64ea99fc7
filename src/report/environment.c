#include "report/environment.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/telling.h"
#include "report/words.h"

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text && *text ? text : "not told";
}

static void tell_value(struct tlc_telling *telling, const char *label, const json_t *value)
{
    if (json_is_string(value)) {
        tlc_tell_item(telling, label, "%s", json_string_value(value));
    } else if (json_is_null(value)) {
        tlc_tell_item(telling, label, "not told");
    } else if (json_is_boolean(value)) {
        tlc_tell_item(telling, label, json_is_true(value) ? "yes" : "no");
    } else {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        telling->broken = telling->broken || !text;
        if (text)
            tlc_tell_item(telling, label, "%s", text);
        free(text);
    }
}

static void tell_stack(struct tlc_telling *telling, const json_t *stack)
{
    char took[TLC_WORDS];
    tlc_tell_item(telling, "stack", "%s: %s; build %s; sha256 %s%s", text_of(stack, "id"),
                  text_of(stack, "version"), text_of(stack, "build"), text_of(stack, "sha256"),
                  tlc_words_made(stack, took));
}

bool tlc_environment_write(const struct tlc_report_model *model, const struct tlc_emitter *emitter)
{
    struct tlc_telling telling = {.emitter = emitter};
    const char *key, *inner;
    json_t *value, *part;
    size_t index;
    tlc_tell_heading(&telling, 2, "environment");
    json_object_foreach(model->environment, key, value)
    {
        if (!json_is_object(value)) {
            tell_value(&telling, key, value);
            continue;
        }
        json_object_foreach(value, inner, part)
        {
            char *label = NULL;
            if (asprintf(&label, "%s %s", key, inner) < 0)
                return false;
            tell_value(&telling, label, part);
            free(label);
        }
    }
    json_array_foreach(model->stacks, index, part) tell_stack(&telling, part);
    return !telling.broken;
}
