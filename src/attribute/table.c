#include "attribute/table.h"

#include <stdlib.h>
#include <string.h>

#include "plan/yaml.h"

enum { LONGEST = 200, MOST_WORDS = 1000, MOST_PARTS = TLC_PART_COUNT };

static const char *const names[TLC_PART_COUNT] = {
    [TLC_PART_AGREEMENT] = "key agreement",
    [TLC_PART_GENERATION] = "key generation",
    [TLC_PART_ENCAPSULATION] = "encapsulate",
    [TLC_PART_PEER_KEY] = "peer's key",
    [TLC_PART_SIGNATURE] = "signature",
    [TLC_PART_SCHEDULE] = "key schedule",
    [TLC_PART_TRANSCRIPT] = "transcript",
    [TLC_PART_RECORD] = "record layer",
    [TLC_PART_HELLO] = "state machine",
    [TLC_PART_SESSION] = "session, ticket",
    [TLC_PART_CERTIFICATE] = "certificate",
    [TLC_PART_SYSTEM] = "system calls, TCP",
    [TLC_PART_SOFTIRQ] = "softirq, interrupts",
    [TLC_PART_RUNTIME] = "runtime",
    [TLC_PART_SERVER] = "server loop",
    [TLC_PART_BURN] = "burn",
    [TLC_PART_UNKNOWN] = "unknown",
};

const char *tlc_part_name(enum tlc_part component)
{
    return names[component];
}

// ---- the schema

enum { MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL };
static const cyaml_schema_value_t word_value = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, LONGEST)};

#define PATTERNS(key, structure, member)                                                           \
    CYAML_FIELD_SEQUENCE_COUNT(key, MAYBE, struct structure, member.words, member.count,           \
                               &word_value, 0, MOST_WORDS)

static const cyaml_schema_field_t part_fields[] = {
    CYAML_FIELD_STRING_PTR("part", CYAML_FLAG_POINTER, struct tlc_table_part, name, 1, LONGEST),
    PATTERNS("anchors", tlc_table_part, anchors), PATTERNS("helpers", tlc_table_part, helpers),
    PATTERNS("around", tlc_table_part, around), CYAML_FIELD_END};
static const cyaml_schema_value_t part_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tlc_table_part, part_fields)};
static const cyaml_schema_field_t cut_fields[] = {PATTERNS("leaves", tlc_table_cut, leaves),
                                                  PATTERNS("like", tlc_table_cut, like),
                                                  CYAML_FIELD_END};
static const cyaml_schema_value_t cut_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tlc_table_cut, cut_fields)};

static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, struct tlc_component_table, name, 1,
                           LONGEST),
    CYAML_FIELD_STRING_PTR("about", MAYBE, struct tlc_component_table, about, 1, 1000),
    PATTERNS("files", tlc_component_table, files),
    CYAML_FIELD_STRING_PTR("nameless", MAYBE, struct tlc_component_table, nameless, 1, LONGEST),
    PATTERNS("allocation", tlc_component_table, allocation),
    CYAML_FIELD_SEQUENCE_COUNT("components", MAYBE, struct tlc_component_table, parts, part_count,
                               &part_value, 0, MOST_PARTS),
    CYAML_FIELD_SEQUENCE_COUNT("cut", MAYBE, struct tlc_component_table, cuts, cut_count,
                               &cut_value, 0, TLC_MOST_CUTS),
    CYAML_FIELD_END};
static const cyaml_schema_value_t table_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct tlc_component_table, fields)};

static const struct tlc_yaml_kind kind = {"components", "docs/attribute.md", &table_value};

// ---- names of components

static enum tlc_status find(const char *name, const char *path, enum tlc_part *component,
                            struct tlc_error *error)
{
    for (int i = 0; i < TLC_PART_COUNT; i++)
        if (!strcmp(names[i], name)) {
            *component = (enum tlc_part)i;
            return TLC_OK;
        }
    return tlc_fail(error, TLC_USAGE,
                    "components: %s: '%.64s': there is no such component; docs/attribute.md lists "
                    "them",
                    path, name);
}

// ---- what says nothing

static enum tlc_status check_parts(const struct tlc_component_table *table, const char *path,
                                   struct tlc_error *error)
{
    for (unsigned i = 0; i < table->part_count; i++) {
        const struct tlc_table_part *part = &table->parts[i];
        if (!part->anchors.count && !part->helpers.count && !part->around.count)
            return tlc_fail(error, TLC_USAGE,
                            "components: %s: '%.64s': nothing belongs to it; write patterns of "
                            "function names as anchors, helpers or around, or leave it out",
                            path, part->name);
    }
    for (unsigned i = 0; i < table->cut_count; i++)
        if (!table->cuts[i].leaves.count || !table->cuts[i].like.count)
            return tlc_fail(error, TLC_USAGE,
                            "components: %s: cut %u: write both leaves (functions that hide their "
                            "callers) and like (those whose callers tell instead)",
                            path, i + 1);
    return TLC_OK;
}

enum tlc_status tlc_component_table_parse(const char *text, size_t count, const char *path,
                                          struct tlc_component_table **table,
                                          struct tlc_error *error)
{
    void *data = NULL;
    *table = NULL;
    enum tlc_status status = tlc_yaml_parse(&kind, text, count, path, &data, error);
    if (status != TLC_OK)
        return status;
    struct tlc_component_table *read = data;
    if (read->nameless)
        status = find(read->nameless, path, &read->nameless_component, error);
    for (unsigned i = 0; status == TLC_OK && i < read->part_count; i++)
        status = find(read->parts[i].name, path, &read->parts[i].component, error);
    if (status == TLC_OK)
        status = check_parts(read, path, error);
    if (status == TLC_OK)
        *table = read;
    else
        tlc_component_table_free(read);
    return status;
}

void tlc_component_table_free(struct tlc_component_table *table)
{
    if (table)
        tlc_yaml_free(&kind, table);
}
