// One table of components as its file has it; private to the room.
#ifndef TLC_ATTRIBUTE_TABLE_H
#define TLC_ATTRIBUTE_TABLE_H

#include "attribute/components.h"

struct tlc_patterns {
    char **words;
    unsigned count;
};

// How well a frame tells where its chain belongs; of two kinds the later one decides.
enum tlc_anchor_kind {
    TLC_ANCHOR_NONE,
    TLC_ANCHOR_AROUND, // what runs around the parts: of several, the innermost decides
    TLC_ANCHOR_NAMELESS,
    TLC_ANCHOR_HELPER, // what other parts call as well: of several, the outermost decides
    TLC_ANCHOR_PART    // the part itself: of several, the innermost decides
};

struct tlc_table_part {
    char *name;
    struct tlc_patterns anchors, helpers, around;
    enum tlc_part component; // of the name
};

struct tlc_table_cut {
    struct tlc_patterns leaves, like;
};

struct tlc_component_table {
    char *name, *about;
    struct tlc_patterns files; // that its functions live in; none: any
    char *nameless;            // the part of functions without a name in these files; NULL: none
    struct tlc_patterns allocation; // functions that get and give back memory
    struct tlc_table_part *parts;
    unsigned part_count;
    struct tlc_table_cut *cuts;
    unsigned cut_count;
    enum tlc_part nameless_component;
};

enum tlc_status tlc_component_table_parse(const char *text, size_t count, const char *path,
                                          struct tlc_component_table **table,
                                          struct tlc_error *error) TLC_CHECKED;
void tlc_component_table_free(struct tlc_component_table *table); // NULL is allowed

#endif
