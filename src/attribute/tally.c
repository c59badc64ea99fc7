#include "attribute/tally.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 4096, MOST_STACKS = 4096, MOST_UNKNOWN = 200, STACK_TEXT = 2048 };

struct tlc_tally {
    const struct tlc_components *components;
    bool tagged;
    uint64_t samples, left_out;
    uint64_t of[TLC_PART_COUNT], allocation[TLC_PART_COUNT];
    uint64_t cut[TLC_MOST_CUTS];
    uint64_t like[TLC_MOST_CUTS][TLC_PART_COUNT];
    json_t *unknown;     // by frame
    json_t *frames;      // names, each once
    json_t *frame_index; // name to place in `frames`
    json_t *stacks;
};

struct tlc_tally *tlc_tally_new(const struct tlc_components *components, bool tagged)
{
    struct tlc_tally *tally = calloc(1, sizeof *tally);
    if (!tally)
        return NULL;
    *tally = (struct tlc_tally){.components = components,
                                .tagged = tagged,
                                .unknown = json_object(),
                                .frames = json_array(),
                                .frame_index = json_object(),
                                .stacks = json_object()};
    if (tally->unknown && tally->frames && tally->frame_index && tally->stacks)
        return tally;
    tlc_tally_free(tally);
    return NULL;
}

void tlc_tally_free(struct tlc_tally *tally)
{
    if (!tally)
        return;
    json_decref(tally->unknown);
    json_decref(tally->frames);
    json_decref(tally->frame_index);
    json_decref(tally->stacks);
    free(tally);
}

// One more under a key; false when the object is full or the key is no UTF-8.
static bool count_one(json_t *object, const char *key, size_t most)
{
    json_t *value = json_object_get(object, key);
    if (value)
        return !json_integer_set(value, json_integer_value(value) + 1);
    return json_object_size(object) < most && !json_object_set_new(object, key, json_integer(1));
}

// A function's name, or its file's where it has none. Symbols are bytes of somebody's file: what
// is not printable ASCII becomes '?', and the folded format's separators something else.
static const char *name_of(const struct tlc_frame *frame, char text[256])
{
    if (*frame->symbol)
        snprintf(text, 256, "%s", frame->symbol);
    else
        snprintf(text, 256, "[%s]", *frame->file ? frame->file : "unknown");
    for (char *at = text; *at; at++) {
        if (*at < ' ' || *at > '~')
            *at = '?';
        else if (*at == ';')
            *at = ':';
    }
    return text;
}

// The number of a frame's name; -1 when there is no more room.
static int number_of(struct tlc_tally *tally, const char *name)
{
    const json_t *known = json_object_get(tally->frame_index, name);
    if (known)
        return (int)json_integer_value(known);
    size_t index = json_array_size(tally->frames);
    if (index >= MOST_FRAMES || json_array_append_new(tally->frames, json_string(name)) ||
        json_object_set_new(tally->frame_index, name, json_integer((json_int_t)index)))
        return -1;
    return (int)index;
}

static bool keep_stack(struct tlc_tally *tally, const struct tlc_chain *chain,
                       enum tlc_part component)
{
    char key[STACK_TEXT], name[256];
    size_t used =
        (size_t)snprintf(key, sizeof key, "%d", number_of(tally, tlc_part_name(component)));
    for (size_t i = chain->count; i-- > 0;) {
        int number = number_of(tally, name_of(&chain->frames[i], name));
        if (number < 0 || sizeof key - used < 16)
            return false;
        used += (size_t)snprintf(key + used, sizeof key - used, " %d", number);
    }
    return count_one(tally->stacks, key, MOST_STACKS);
}

static void note_unknown(struct tlc_tally *tally, const struct tlc_chain *chain)
{
    char name[256];
    static const struct tlc_frame nothing = {"", ""};
    const struct tlc_frame *leaf = chain->count ? &chain->frames[0] : &nothing;
    if (!count_one(tally->unknown, name_of(leaf, name), MOST_UNKNOWN))
        count_one(tally->unknown, "others", MOST_UNKNOWN + 1);
}

void tlc_tally_take(void *user, const struct tlc_chain *chain)
{
    struct tlc_tally *tally = user;
    struct tlc_place place = tlc_components_place(tally->components, chain, tally->tagged);
    tally->samples++;
    if (place.cut != TLC_NOT_CUT) {
        tally->cut[place.cut]++;
    } else {
        tally->of[place.component]++;
        tally->allocation[place.component] += place.allocation;
        for (int i = 0; i < TLC_MOST_CUTS; i++)
            tally->like[i][place.component] += place.like >> i & 1;
        if (place.component == TLC_PART_UNKNOWN)
            note_unknown(tally, chain);
    }
    if (!keep_stack(tally, chain, place.component))
        tally->left_out++;
}

// Samples whose callers are hidden go where the samples with the same functions went whose callers
// are known; without any such they stay unknown.
static double shared_out(const struct tlc_tally *tally, enum tlc_part component)
{
    double sum = 0;
    for (int i = 0; i < TLC_MOST_CUTS; i++) {
        uint64_t alike = 0;
        for (int part = 0; part < TLC_PART_COUNT; part++)
            alike += tally->like[i][part];
        if (alike)
            sum += (double)tally->cut[i] * (double)tally->like[i][component] / (double)alike;
        else if (component == TLC_PART_UNKNOWN)
            sum += (double)tally->cut[i];
    }
    return sum;
}

json_t *tlc_tally_json(const struct tlc_tally *tally)
{
    uint64_t cut = 0;
    json_t *components = json_object();
    for (int i = 0; i < TLC_MOST_CUTS; i++)
        cut += tally->cut[i];
    for (int i = 0; i < TLC_PART_COUNT; i++) {
        enum tlc_part part = (enum tlc_part)i;
        json_object_set_new(components, tlc_part_name(part),
                            json_pack("{s:f, s:I}", "samples",
                                      (double)tally->of[i] + shared_out(tally, part), "allocation",
                                      (json_int_t)tally->allocation[i]));
    }
    return json_pack("{s:I, s:o, s:I, s:O, s:O, s:O, s:I}", "samples", (json_int_t)tally->samples,
                     "components", components, "cut", (json_int_t)cut, "unknown", tally->unknown,
                     "frames", tally->frames, "stacks", tally->stacks, "stacks_left_out",
                     (json_int_t)tally->left_out);
}
