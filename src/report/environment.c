#include "report/environment.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
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

// What ran an arm that is not tlscost's own, as its first sample tells; NULL for others.
static const json_t *server_of(const struct tlc_report_arm *arm)
{
    const json_t *server = NULL;
    for (size_t i = 0; !server && i < json_array_size(arm->sample_list); i++)
        server =
            json_object_get(json_object_get(json_array_get(arm->sample_list, i), "stay"), "server");
    return json_is_object(server) ? server : NULL;
}

// Each server once, with the settings that its description admits to.
static void tell_servers(struct tlc_telling *telling, const struct tlc_report_model *model)
{
    static const char *const members[] = {"name", "about", "version", NULL};
    for (size_t i = 0; i < model->arm_count; i++) {
        const json_t *server = server_of(&model->arms[i]);
        bool told = !server;
        for (size_t before = 0; !told && before < i; before++) {
            const json_t *other = server_of(&model->arms[before]);
            told = other && tlc_json_alike(server, other, members);
        }
        if (!told)
            tlc_tell_item(telling, "server", "%s: %s; %s", text_of(server, "name"),
                          text_of(server, "version"), text_of(server, "about"));
    }
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
    tell_servers(&telling, model);
    return !telling.broken;
}
