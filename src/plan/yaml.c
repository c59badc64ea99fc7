#include "plan/yaml.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what the parsers say, in our words

// libcyaml's names of what a schema expects and of what the parser met.
static const char *plain(const char *word)
{
    static const char *const names[][2] = {
        {"STRING", "one value"},        {"SCALAR", "one value"},
        {"SEQUENCE", "a list"},         {"SEQUENCE_START", "a list"},
        {"MAPPING", "a group of keys"}, {"MAPPING_START", "a group of keys"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(word, names[i][0]))
            return names[i][1];
    return word;
}

void tlc_yaml_explain(const char *reason, const char *page, char *text, size_t bytes)
{
    char wanted[32], met[32];
    unsigned least = 0, longest = 0;
    if (sscanf(reason, "Expecting %31[^,], got event: %31s", wanted, met) == 2)
        snprintf(text, bytes, "%s cannot stand here; write %s, see %s", plain(met), plain(wanted),
                 page);
    else if (sscanf(reason, "Insufficient entries (%*u of %u min)", &least) == 1)
        snprintf(text, bytes, "too few entries; write at least %u in the list, see %s", least,
                 page);
    else if (sscanf(reason, "Excessive entries (%u max)", &longest) == 1)
        snprintf(text, bytes, "too many entries; write at most %u in the list, see %s", longest,
                 page);
    else if (sscanf(reason, "STRING length < %u", &least) == 1)
        snprintf(text, bytes, "an empty value; write at least %u character, see %s", least, page);
    else if (sscanf(reason, "STRING length > %u", &longest) == 1)
        snprintf(text, bytes, "too long; write at most %u characters, see %s", longest, page);
    else
        snprintf(text, bytes, "this cannot stand here; write it as in %s", page);
}

void tlc_yaml_problem(const yaml_parser_t *parser, const char *page, char *text, size_t bytes)
{
    snprintf(text, bytes, "not YAML: %s%s%s; write it as in %s",
             parser->problem ? parser->problem : "cannot be read", parser->context ? " " : "",
             parser->context ? parser->context : "", page);
}

// ---- libcyaml's log as one error

struct log {
    char reason[256];
    size_t line;
};

static void TLC_PRINTF(3, 0)
    take_log(cyaml_log_t level, void *context, const char *format, va_list arguments)
{
    struct log *log = context;
    char text[512];
    (void)level;
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    const char *line = strstr(text, "(line: ");
    if (line && !log->line)
        sscanf(line, "(line: %zu", &log->line);
    else if (!line && !strstr(text, "Backtrace") && !*log->reason)
        snprintf(log->reason, sizeof log->reason, "%.250s",
                 strncmp(text, "Load: ", 6) ? text : text + 6);
}

static const cyaml_config_t quiet = {
    .log_fn = NULL, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR, .flags = CYAML_CFG_NO_ALIAS};

struct text {
    const struct tlc_yaml_kind *kind;
    const char *path, *bytes;
    size_t count;
};

static enum tlc_status fail_at(const struct text *text, size_t line, const char *what,
                               struct tlc_error *error)
{
    return tlc_fail(error, TLC_USAGE, "%s: %s:%zu: %s", text->kind->what, text->path, line, what);
}

// Goes through the whole text: whether it is YAML, has no alias, and on which line from `from` on
// the word stands first; 0 when nowhere. A NULL word stands nowhere.
static enum tlc_status scan(const struct text *text, const char *word, size_t from, size_t *found,
                            struct tlc_error *error)
{
    yaml_parser_t parser;
    char what[512];
    enum tlc_status status = TLC_OK;
    bool more = true;
    *found = 0;
    if (!yaml_parser_initialize(&parser))
        return tlc_fail(error, TLC_ENVIRONMENT, "%s: out of memory", text->kind->what);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text->bytes, text->count);
    while (more && status == TLC_OK) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            tlc_yaml_problem(&parser, text->kind->page, what, sizeof what);
            status = fail_at(text, parser.problem_mark.line + 1, what, error);
            break;
        }
        size_t line = event.start_mark.line + 1;
        if (event.type == YAML_ALIAS_EVENT)
            status = fail_at(text, line, "an alias (*name); write the value out", error);
        else if (word && !*found && line >= from && event.type == YAML_SCALAR_EVENT &&
                 !strcmp((const char *)event.data.scalar.value, word))
            *found = line;
        more = event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

static const char *behind(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) ? NULL : text + strlen(start);
}

// The backtrace tells the line of the key before one that is unknown or given again.
static enum tlc_status explain(const struct text *text, const struct log *log,
                               struct tlc_error *error)
{
    char what[512];
    size_t line = log->line ? log->line : 1, found = 0;
    const char *unknown = behind(log->reason, "Unexpected key: ");
    const char *twice = behind(log->reason, "Mapping field already seen: ");
    const char *missing = behind(log->reason, "Missing required mapping field: ");
    const char *page = text->kind->page;
    if (unknown)
        snprintf(what, sizeof what, "unknown key '%.64s'; write it as in %s", unknown, page);
    else if (twice)
        snprintf(what, sizeof what, "'%.64s' is given twice; remove one of them", twice);
    else if (missing)
        snprintf(what, sizeof what, "'%.64s' is missing; add it, see %s", missing, page);
    else
        tlc_yaml_explain(log->reason, page, what, sizeof what);
    enum tlc_status status =
        scan(text, unknown ? unknown : twice, twice ? line + 1 : line, &found, error);
    return status == TLC_OK ? fail_at(text, found ? found : line, what, error) : status;
}

enum tlc_status tlc_yaml_parse(const struct tlc_yaml_kind *kind, const char *text, size_t count,
                               const char *path, void **data, struct tlc_error *error)
{
    const struct text whole = {kind, path, text, count};
    struct log log = {0};
    size_t nowhere;
    cyaml_config_t config = quiet;
    config.log_fn = take_log;
    config.log_ctx = &log;
    *data = NULL;
    enum tlc_status status = scan(&whole, NULL, 0, &nowhere, error);
    if (status != TLC_OK)
        return status;
    cyaml_err_t code =
        cyaml_load_data((const uint8_t *)text, count, &config, kind->schema, data, NULL);
    if (code == CYAML_ERR_OOM)
        return tlc_fail(error, TLC_ENVIRONMENT, "%s: %s: out of memory", kind->what, path);
    if (code != CYAML_OK)
        return explain(&whole, &log, error);
    return *data ? TLC_OK
                 : tlc_fail(error, TLC_USAGE, "%s: %s:1: empty; write it as in %s", kind->what,
                            path, kind->page);
}

void tlc_yaml_free(const struct tlc_yaml_kind *kind, void *data)
{
    (void)cyaml_free(&quiet, kind->schema, data, 0);
}

enum tlc_status tlc_yaml_text(const struct tlc_yaml_kind *kind, const char *path, char **text,
                              size_t *count, struct tlc_error *error)
{
    enum { LIMIT = 1 << 16 };
    *text = NULL;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return tlc_fail_errno(error, "%s: %s", kind->what, path);
    enum tlc_status status = TLC_OK;
    *text = malloc(LIMIT);
    *count = *text ? fread(*text, 1, LIMIT, file) : 0;
    if (!*text)
        status = tlc_fail(error, TLC_ENVIRONMENT, "%s: out of memory", kind->what);
    else if (ferror(file))
        status = tlc_fail_errno(error, "%s: %s", kind->what, path);
    else if (*count == LIMIT)
        status =
            tlc_fail(error, TLC_USAGE, "%s: %s: longer than %d bytes", kind->what, path, LIMIT - 1);
    fclose(file);
    if (status != TLC_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}
