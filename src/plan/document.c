#include "plan/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/schema.h"
#include "plan/yaml.h"

enum { MOST_BYTES = 1 << 20, MOST_DEPTH = 16 };

// ---- lines

static yaml_node_t *node_at(yaml_document_t *nodes, int index)
{
    return yaml_document_get_node(nodes, index);
}

static bool is_text(const yaml_node_t *node, const char *text, size_t length)
{
    return node && node->type == YAML_SCALAR_NODE && node->data.scalar.length == length &&
           !memcmp(node->data.scalar.value, text, length);
}

static yaml_node_t *step_into(yaml_document_t *nodes, yaml_node_t *node, const char *step,
                              size_t length)
{
    if (node->type == YAML_SEQUENCE_NODE) {
        yaml_node_item_t *item = node->data.sequence.items.start + strtoul(step, NULL, 10);
        return item < node->data.sequence.items.top ? node_at(nodes, *item) : NULL;
    }
    if (node->type == YAML_MAPPING_NODE)
        for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
             pair < node->data.mapping.pairs.top; pair++)
            if (is_text(node_at(nodes, pair->key), step, length))
                return node_at(nodes, pair->value);
    return NULL;
}

static size_t line_of(yaml_document_t *nodes, const char *path)
{
    yaml_node_t *node = yaml_document_get_root_node(nodes), *next = node;
    while (next) {
        node = next;
        size_t length = strcspn(path, "/");
        next = length ? step_into(nodes, node, path, length) : NULL;
        path += length + (path[length] == '/');
    }
    return node ? node->start_mark.line + 1 : 1;
}

// The line of the key in the mapping, 0 when it is not there.
static size_t line_in_mapping(yaml_document_t *nodes, const yaml_node_t *mapping, const char *key)
{
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++)
        if (is_text(node_at(nodes, pair->key), key, strlen(key)))
            return node_at(nodes, pair->key)->start_mark.line + 1;
    return 0;
}

size_t tlc_document_line_of_key(const struct tlc_document *document, const char *group,
                                const char *key, bool present)
{
    yaml_document_t *nodes = document->nodes;
    yaml_node_t *root = yaml_document_get_root_node(nodes), *node = root;
    if (*group)
        node = step_into(nodes, root, group, strlen(group));
    yaml_node_item_t *item = NULL, *end = NULL;
    if (node && node->type == YAML_SEQUENCE_NODE) {
        item = node->data.sequence.items.start;
        end = node->data.sequence.items.top;
    }
    while (node) {
        if (node->type == YAML_MAPPING_NODE) {
            size_t line = line_in_mapping(nodes, node, key);
            if (present ? line > 0 : line == 0)
                return present ? line : node->start_mark.line + 1;
        }
        node = item && item < end ? node_at(nodes, *item++) : NULL;
    }
    return line_of(nodes, group);
}

static enum tlc_status fail_at(const char *file, size_t line, struct tlc_error *error,
                               const char *text)
{
    if (!strpbrk(file, "./")) // made of the options of a command, whose lines nobody has seen
        return tlc_fail(error, TLC_USAGE, "%s: %s", file, text);
    return tlc_fail(error, TLC_USAGE, "plan: %s:%zu: %s", file, line, text);
}

enum tlc_status tlc_document_fail(const struct tlc_document *document, const char *path,
                                  struct tlc_error *error, const char *format, ...)
{
    char text[sizeof error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!document)
        return tlc_fail(error, TLC_USAGE, "plan: stored plan: %s", text);
    return fail_at(document->name, line_of(document->nodes, path), error, text);
}

// ---- what the schema does not see

static enum tlc_status fail_syntax(const yaml_parser_t *parser, const char *file,
                                   struct tlc_error *error)
{
    char text[512];
    tlc_yaml_problem(parser, "docs/plan.md", text, sizeof text);
    return fail_at(file, parser->problem_mark.line + 1, error, text);
}

// Walks the tree once: no key twice in a mapping, no anchors used, nothing nested deeply.
static enum tlc_status check_node(const char *file, yaml_document_t *nodes, yaml_node_t *node,
                                  unsigned depth, struct tlc_error *error);

static enum tlc_status check_pairs(const char *file, yaml_document_t *nodes, yaml_node_t *node,
                                   unsigned depth, struct tlc_error *error)
{
    yaml_node_pair_t *first = node->data.mapping.pairs.start;
    for (yaml_node_pair_t *pair = first; pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = node_at(nodes, pair->key);
        char text[160];
        for (yaml_node_pair_t *earlier = first; earlier < pair; earlier++)
            if (key->type == YAML_SCALAR_NODE &&
                is_text(node_at(nodes, earlier->key), (const char *)key->data.scalar.value,
                        key->data.scalar.length)) {
                snprintf(text, sizeof text, "'%.64s' is given twice; remove one of them",
                         (const char *)key->data.scalar.value);
                return fail_at(file, key->start_mark.line + 1, error, text);
            }
        enum tlc_status status =
            check_node(file, nodes, node_at(nodes, pair->value), depth + 1, error);
        if (status)
            return status;
    }
    return TLC_OK;
}

static enum tlc_status check_node(const char *file, yaml_document_t *nodes, yaml_node_t *node,
                                  unsigned depth, struct tlc_error *error)
{
    if (depth > MOST_DEPTH)
        return fail_at(file, node->start_mark.line + 1, error,
                       "nested too deeply; write it as in docs/plan.md");
    if (node->type == YAML_MAPPING_NODE)
        return check_pairs(file, nodes, node, depth, error);
    if (node->type == YAML_SCALAR_NODE &&
        strlen((const char *)node->data.scalar.value) != node->data.scalar.length)
        return fail_at(file, node->start_mark.line + 1, error,
                       "a zero character in the text; remove it");
    if (node->type == YAML_SEQUENCE_NODE)
        for (yaml_node_item_t *item = node->data.sequence.items.start;
             item < node->data.sequence.items.top; item++) {
            enum tlc_status status =
                check_node(file, nodes, node_at(nodes, *item), depth + 1, error);
            if (status)
                return status;
        }
    return TLC_OK;
}

// Aliases are refused: they make one node stand in many places, and plans have no use for them.
static enum tlc_status check_events(const char *text, size_t count, const char *file,
                                    struct tlc_error *error)
{
    yaml_parser_t parser;
    enum tlc_status status = TLC_OK;
    unsigned documents = 0, depth = 0;
    bool more = true;
    if (!yaml_parser_initialize(&parser))
        return tlc_fail(error, TLC_ENVIRONMENT, "plan: %s: out of memory", file);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, count);
    while (more && !status) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = fail_syntax(&parser, file, error);
            break;
        }
        size_t line = event.start_mark.line + 1;
        depth += event.type == YAML_MAPPING_START_EVENT || event.type == YAML_SEQUENCE_START_EVENT;
        depth -= event.type == YAML_MAPPING_END_EVENT || event.type == YAML_SEQUENCE_END_EVENT;
        documents += event.type == YAML_DOCUMENT_START_EVENT;
        if (event.type == YAML_ALIAS_EVENT)
            status = fail_at(file, line, error, "an alias (*name); write the value out");
        else if (documents > 1)
            status = fail_at(file, line, error, "a second document; write one plan in a file");
        else if (depth > MOST_DEPTH)
            status = fail_at(file, line, error, "nested too deeply; write it as in docs/plan.md");
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

static enum tlc_status load_nodes(const char *text, size_t count, struct tlc_document *document,
                                  struct tlc_error *error)
{
    yaml_parser_t parser;
    yaml_document_t *nodes = calloc(1, sizeof *nodes);
    if (!nodes || !yaml_parser_initialize(&parser)) {
        free(nodes);
        return tlc_fail(error, TLC_ENVIRONMENT, "plan: %s: out of memory", document->name);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, count);
    enum tlc_status status = TLC_OK;
    if (!yaml_parser_load(&parser, nodes)) {
        status = fail_syntax(&parser, document->name, error);
        free(nodes);
    } else {
        document->nodes = nodes;
    }
    yaml_parser_delete(&parser);
    if (status)
        return status;
    yaml_node_t *root = yaml_document_get_root_node(nodes);
    if (!root || root->type != YAML_MAPPING_NODE)
        return fail_at(document->name, 1, error,
                       "no plan; write keys such as 'name: mine' and 'question: ...', see "
                       "docs/plan.md");
    return check_node(document->name, nodes, root, 0, error);
}

enum tlc_status tlc_document_parse(const char *text, size_t count, const char *name,
                                   struct tlc_document *document, struct tlc_error *error)
{
    *document = (struct tlc_document){.name = name};
    if (count > MOST_BYTES)
        return tlc_fail(error, TLC_USAGE, "plan: %s: larger than 1 MiB; write a shorter plan",
                        name);
    enum tlc_status status = check_events(text, count, name, error);
    if (!status)
        status = load_nodes(text, count, document, error);
    if (!status)
        status = tlc_schema_load(text, count, document, error);
    return status;
}

void tlc_document_free(struct tlc_document *document)
{
    tlc_schema_free(document->plan);
    if (document->nodes)
        yaml_document_delete(document->nodes);
    free(document->nodes);
    *document = (struct tlc_document){0};
}
