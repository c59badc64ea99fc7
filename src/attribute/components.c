#include "attribute/components.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/table.h"
#include "base/directory.h"
#include "plan/yaml.h"

struct tlc_components {
    struct tlc_component_table **tables;
    size_t count;
};

// ---- tables

struct tlc_components *tlc_components_new(void)
{
    return calloc(1, sizeof(struct tlc_components));
}

void tlc_components_free(struct tlc_components *components)
{
    if (!components)
        return;
    for (size_t i = 0; i < components->count; i++)
        tlc_component_table_free(components->tables[i]);
    free(components->tables);
    free(components);
}

static size_t count_cuts(const struct tlc_components *components)
{
    size_t cuts = 0;
    for (size_t i = 0; i < components->count; i++)
        cuts += components->tables[i]->cut_count;
    return cuts;
}

static bool has_name(const struct tlc_components *components, const char *name)
{
    for (size_t i = 0; i < components->count; i++)
        if (!strcmp(components->tables[i]->name, name))
            return true;
    return false;
}

enum tlc_status tlc_components_add(struct tlc_components *components, const char *text,
                                   size_t count, const char *path, struct tlc_error *error)
{
    struct tlc_component_table *table;
    enum tlc_status status = tlc_component_table_parse(text, count, path, &table, error);
    if (status != TLC_OK)
        return status;
    struct tlc_component_table **grown =
        realloc(components->tables, (components->count + 1) * sizeof(*grown));
    if (grown)
        components->tables = grown;
    if (!grown)
        status = tlc_fail(error, TLC_ENVIRONMENT, "components: out of memory");
    else if (has_name(components, table->name))
        status = tlc_fail(error, TLC_USAGE,
                          "components: %s: name: another table is called '%.64s' too; give each a "
                          "name of its own",
                          path, table->name);
    else if (count_cuts(components) + table->cut_count > TLC_MOST_CUTS)
        status = tlc_fail(error, TLC_USAGE, "components: %s: more than %d cuts in all tables", path,
                          TLC_MOST_CUTS);
    if (status == TLC_OK)
        components->tables[components->count++] = table;
    else
        tlc_component_table_free(table);
    return status;
}

static int is_table(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 && !strcmp(entry->d_name + length - 5, ".yaml");
}

static enum tlc_status read_one(struct tlc_components *components, const char *folder,
                                const char *name, struct tlc_error *error)
{
    static const struct tlc_yaml_kind kind = {"components", "docs/attribute.md", NULL};
    char path[PATH_MAX + 256], *text;
    size_t count;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    enum tlc_status status = tlc_yaml_text(&kind, path, &text, &count, error);
    if (status == TLC_OK)
        status = tlc_components_add(components, text, count, path, error);
    free(text);
    return status;
}

enum tlc_status tlc_components_read(const char *folder, struct tlc_components **components,
                                    struct tlc_error *error)
{
    char found[PATH_MAX];
    struct dirent **entries = NULL;
    *components = NULL;
    if (!folder)
        folder = getenv("TLSCOST_COMPONENTS");
    if ((!folder || !*folder) && tlc_directory_shipped("components", found, sizeof found))
        folder = found;
    int count = folder && *folder ? scandir(folder, &entries, is_table, alphasort) : 0;
    if (count <= 0)
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "components: %s: no tables there; run from a source tree or an "
                        "installation, or name their folder in TLSCOST_COMPONENTS",
                        folder && *folder ? folder : "the folder components");
    *components = tlc_components_new();
    enum tlc_status status =
        *components ? TLC_OK : tlc_fail(error, TLC_ENVIRONMENT, "components: out of memory");
    for (int i = 0; i < count; i++) {
        if (status == TLC_OK)
            status = read_one(*components, folder, entries[i]->d_name, error);
        free(entries[i]);
    }
    free(entries);
    if (status != TLC_OK) {
        tlc_components_free(*components);
        *components = NULL;
    }
    return status;
}

// ---- one chain

static bool any_fits(const struct tlc_patterns *patterns, const char *text)
{
    for (unsigned i = 0; i < patterns->count; i++)
        if (tlc_pattern_fits(patterns->words[i], text))
            return true;
    return false;
}

static bool is_of(const struct tlc_component_table *table, const struct tlc_frame *frame)
{
    return !table->files.count || any_fits(&table->files, frame->file);
}

struct found {
    enum tlc_anchor_kind kind;
    enum tlc_part component;
};

static void improve(struct found *found, enum tlc_anchor_kind kind, enum tlc_part component)
{
    if (kind > found->kind)
        *found = (struct found){kind, component};
}

// What the best of a table's anchors for a frame says.
static void look_up(const struct tlc_component_table *table, const struct tlc_frame *frame,
                    bool tagged, struct found *found)
{
    // Unknown work hides what is around it, unless tags would name it; known work is around others.
    bool unknown = table->nameless_component == TLC_PART_UNKNOWN;
    if (!*frame->symbol && table->nameless && table->files.count && !(unknown && tagged))
        improve(found, unknown ? TLC_ANCHOR_NAMELESS : TLC_ANCHOR_AROUND,
                table->nameless_component);
    for (unsigned i = 0; *frame->symbol && i < table->part_count; i++) {
        const struct tlc_table_part *part = &table->parts[i];
        if (found->kind < TLC_ANCHOR_PART && any_fits(&part->anchors, frame->symbol))
            improve(found, TLC_ANCHOR_PART, part->component);
        else if (found->kind < TLC_ANCHOR_HELPER && any_fits(&part->helpers, frame->symbol))
            improve(found, TLC_ANCHOR_HELPER, part->component);
        else if (found->kind < TLC_ANCHOR_AROUND && any_fits(&part->around, frame->symbol))
            improve(found, TLC_ANCHOR_AROUND, part->component);
    }
}

// Helpers call each other, so the outermost one says what they were called for.
static void take_found(struct found *best, const struct found *found)
{
    if (found->kind == TLC_ANCHOR_HELPER && best->kind == TLC_ANCHOR_HELPER)
        *best = *found;
    else
        improve(best, found->kind, found->component);
}

// A wrong way back leads to addresses of no function, in no file or in memory without one.
static bool leads_nowhere(const struct tlc_frame *frame)
{
    return !*frame->symbol &&
           (!*frame->file || *frame->file == '[' || !strcmp(frame->file, "anon"));
}

// Behind the last frame that tells anything.
static size_t end_of(const struct tlc_chain *chain)
{
    size_t end = chain->count;
    while (end && leads_nowhere(&chain->frames[end - 1]))
        end--;
    return end;
}

static void note_cuts(const struct tlc_components *components, const struct tlc_chain *chain,
                      struct tlc_place *place)
{
    int number = 0;
    size_t end = end_of(chain);
    for (size_t i = 0; i < components->count; i++)
        for (unsigned k = 0; k < components->tables[i]->cut_count; k++, number++) {
            const struct tlc_table_cut *cut = &components->tables[i]->cuts[k];
            for (size_t frame = 0; frame < end; frame++) {
                if (!is_of(components->tables[i], &chain->frames[frame]))
                    continue;
                if (any_fits(&cut->like, chain->frames[frame].symbol))
                    place->like |= 1u << number;
                // Interrupts may stand before it: it is the last one that could be found.
                if (frame + 1 == end && place->cut == TLC_NOT_CUT &&
                    any_fits(&cut->leaves, chain->frames[frame].symbol))
                    place->cut = number;
            }
        }
}

struct tlc_place tlc_components_place(const struct tlc_components *components,
                                      const struct tlc_chain *chain, bool tagged)
{
    struct tlc_place place = {.component = TLC_PART_UNKNOWN, .cut = TLC_NOT_CUT};
    struct found best = {TLC_ANCHOR_NONE, TLC_PART_UNKNOWN};
    for (size_t i = 0; i < chain->count; i++) {
        struct found found = {TLC_ANCHOR_NONE, TLC_PART_UNKNOWN};
        for (size_t k = 0; k < components->count; k++) {
            const struct tlc_component_table *table = components->tables[k];
            if (!is_of(table, &chain->frames[i]))
                continue;
            look_up(table, &chain->frames[i], tagged, &found);
            place.allocation =
                place.allocation || any_fits(&table->allocation, chain->frames[i].symbol);
        }
        take_found(&best, &found);
    }
    note_cuts(components, chain, &place);
    // A part that was found needs no guess.
    if (best.kind == TLC_ANCHOR_PART || best.kind == TLC_ANCHOR_HELPER)
        place.cut = TLC_NOT_CUT;
    place.component = best.component;
    return place;
}
