// Small YAML files of one schema, read with errors that name file and line.
#ifndef TLC_PLAN_YAML_H
#define TLC_PLAN_YAML_H

#include <cyaml/cyaml.h>
#include <stddef.h>
#include <yaml.h>

#include "base/error.h"

struct tlc_yaml_kind {
    const char *what;                   // "server": begins every error
    const char *page;                   // "docs/servers.md": tells how such a file is written
    const cyaml_schema_value_t *schema; // of a pointer to a mapping
};

// What libcyaml says of a value in a wrong form, in our words and with what to write instead.
void tlc_yaml_explain(const char *reason, const char *page, char *text, size_t bytes);
// The same of a text that libyaml cannot parse: tabs, unbalanced quotes and the like.
void tlc_yaml_problem(const yaml_parser_t *parser, const char *page, char *text, size_t bytes);

// *data is the mapping, whose memory is malloc's: freed member by member, or by tlc_yaml_free.
enum tlc_status tlc_yaml_parse(const struct tlc_yaml_kind *kind, const char *text, size_t count,
                               const char *path, void **data, struct tlc_error *error) TLC_CHECKED;
void tlc_yaml_free(const struct tlc_yaml_kind *kind, void *data);
// The whole text of a file (the caller's to free) of less than 64 KiB.
enum tlc_status tlc_yaml_text(const struct tlc_yaml_kind *kind, const char *path, char **text,
                              size_t *count, struct tlc_error *error) TLC_CHECKED;

#endif
