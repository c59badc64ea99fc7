// Which part of a handshake a call chain belongs to, by tables of function names: data files, one a
// library, server or kernel (components/*.yaml). docs/attribute.md explains the format.
#ifndef TLC_ATTRIBUTE_COMPONENTS_H
#define TLC_ATTRIBUTE_COMPONENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "attribute/chain.h"
#include "base/error.h"

// In the order in which reports tell them.
enum tlc_part {
    TLC_PART_AGREEMENT,
    TLC_PART_GENERATION,
    TLC_PART_ENCAPSULATION,
    TLC_PART_PEER_KEY,
    TLC_PART_SIGNATURE,
    TLC_PART_SCHEDULE,
    TLC_PART_TRANSCRIPT,
    TLC_PART_RECORD,
    TLC_PART_HELLO,
    TLC_PART_SESSION,
    TLC_PART_CERTIFICATE,
    TLC_PART_SYSTEM,
    TLC_PART_SOFTIRQ,
    TLC_PART_RUNTIME,
    TLC_PART_SERVER,
    TLC_PART_BURN,
    TLC_PART_UNKNOWN,
    TLC_PART_COUNT
};
const char *tlc_part_name(enum tlc_part component); // "key agreement"

struct tlc_components; // tables

// Reads all tables of a folder; NULL: of the one that TLSCOST_COMPONENTS names, or that came with
// the program.
enum tlc_status tlc_components_read(const char *folder, struct tlc_components **components,
                                    struct tlc_error *error) TLC_CHECKED;
// No tables yet; NULL when memory runs out.
struct tlc_components *tlc_components_new(void);
// Adds a table from YAML text; `path` stands for it in errors.
enum tlc_status tlc_components_add(struct tlc_components *components, const char *text,
                                   size_t count, const char *path,
                                   struct tlc_error *error) TLC_CHECKED;
void tlc_components_free(struct tlc_components *components); // NULL is allowed

// What a chain is.
enum { TLC_NOT_CUT = -1, TLC_MOST_CUTS = 16 };
struct tlc_place {
    enum tlc_part component;
    bool allocation; // of memory, within the component
    int cut;         // the chain ends at a function that hides its callers: the cut's number
    unsigned like;   // bits 1 << number of the cuts whose functions are in this chain
};
// `tagged`: frames of the tracing provider name every call of the cryptography, so that functions
// without a name are none and belong to what is around them.
struct tlc_place tlc_components_place(const struct tlc_components *components,
                                      const struct tlc_chain *chain, bool tagged);

// Whether a text fits a pattern: `*` stands for any characters, all else for itself.
bool tlc_pattern_fits(const char *pattern, const char *text);

#endif
