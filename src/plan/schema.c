#include "plan/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plan/yaml.h"

enum { LONGEST_TEXT = 1000, MOST_ENTRIES = 256 };

#define OPTIONAL_TEXT(key, structure, member)                                                      \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, structure, member, 0,    \
                           LONGEST_TEXT)
#define REQUIRED_TEXT(key, structure, member)                                                      \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, structure, member, 0, LONGEST_TEXT)

static const cyaml_schema_value_t text_value = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 0, LONGEST_TEXT)};

#define ARM_FIELD(id, key) OPTIONAL_TEXT(key, struct tlc_raw_arm, values[TLC_KEY_##id]),
static const cyaml_schema_field_t arm_fields[] = {TLC_ARM_KEYS(ARM_FIELD) CYAML_FIELD_END};
static const cyaml_schema_field_t include_fields[] = {
    REQUIRED_TEXT("name", struct tlc_raw_arm, name), TLC_ARM_KEYS(ARM_FIELD) CYAML_FIELD_END};
static const cyaml_schema_value_t exclude_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tlc_raw_arm, arm_fields)};
static const cyaml_schema_value_t include_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tlc_raw_arm, include_fields)};

#define AXIS_FIELD(id, key)                                                                        \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct tlc_raw_matrix,     \
                         axes[TLC_KEY_##id].values, &text_value, 1, MOST_ENTRIES),
static const cyaml_schema_field_t matrix_fields[] = {TLC_ARM_KEYS(AXIS_FIELD) CYAML_FIELD_END};

static const cyaml_schema_field_t lever_fields[] = {
    OPTIONAL_TEXT("name", struct tlc_raw_lever, name),
    REQUIRED_TEXT("key", struct tlc_raw_lever, key),
    CYAML_FIELD_SEQUENCE("values", CYAML_FLAG_POINTER, struct tlc_raw_lever, values, &text_value, 1,
                         MOST_ENTRIES),
    OPTIONAL_TEXT("pulls", struct tlc_raw_lever, pulls), CYAML_FIELD_END};
static const cyaml_schema_value_t lever_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct tlc_raw_lever, lever_fields)};

#define SCHEDULE_FIELD(id, key) OPTIONAL_TEXT(key, struct tlc_raw_schedule, values[TLC_KEY_##id]),
static const cyaml_schema_field_t schedule_fields[] = {TLC_SCHEDULE_KEYS(SCHEDULE_FIELD)
                                                           CYAML_FIELD_END};
#define CHECKS_FIELD(id, key) OPTIONAL_TEXT(key, struct tlc_raw_checks, values[TLC_KEY_##id]),
static const cyaml_schema_field_t checks_fields[] = {TLC_LIMIT_KEYS(CHECKS_FIELD) CYAML_FIELD_END};

enum { MAYBE = CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL };
static const cyaml_schema_field_t plan_fields[] = {
    REQUIRED_TEXT("name", struct tlc_raw_plan, name),
    REQUIRED_TEXT("question", struct tlc_raw_plan, question),
    OPTIONAL_TEXT("workload", struct tlc_raw_plan, workload),
    CYAML_FIELD_MAPPING_PTR("baseline", MAYBE, struct tlc_raw_plan, baseline, arm_fields),
    OPTIONAL_TEXT("control", struct tlc_raw_plan, control),
    OPTIONAL_TEXT("fair_client", struct tlc_raw_plan, fair_client),
    CYAML_FIELD_SEQUENCE("levers", MAYBE, struct tlc_raw_plan, levers, &lever_value, 0,
                         MOST_ENTRIES),
    CYAML_FIELD_MAPPING_PTR("matrix", MAYBE, struct tlc_raw_plan, matrix, matrix_fields),
    CYAML_FIELD_SEQUENCE("exclude", MAYBE, struct tlc_raw_plan, exclude, &exclude_value, 0,
                         MOST_ENTRIES),
    CYAML_FIELD_SEQUENCE("include", MAYBE, struct tlc_raw_plan, include, &include_value, 0,
                         MOST_ENTRIES),
    CYAML_FIELD_MAPPING_PTR("schedule", MAYBE, struct tlc_raw_plan, schedule, schedule_fields),
    CYAML_FIELD_MAPPING_PTR("checks", MAYBE, struct tlc_raw_plan, checks, checks_fields),
    CYAML_FIELD_END};
static const cyaml_schema_value_t plan_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct tlc_raw_plan, plan_fields)};

// ---- libcyaml's log as one error

struct log {
    char reason[256]; // the first line that says what is wrong
    unsigned steps;   // lines of the backtrace, which goes from the inside out
    size_t line;      // of the first step
    char group[64];   // key of the plan whose value the failing mapping is in; empty: the plan
};

static void TLC_PRINTF(3, 0)
    take_log(cyaml_log_t level, void *context, const char *format, va_list arguments)
{
    struct log *log = context;
    char text[512], key[64];
    (void)level;
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    const char *line = strstr(text, "(line: ");
    if (!line) {
        const char *reason = strncmp(text, "Load: ", 6) ? text : text + 6;
        if (!*log->reason && !strstr(reason, "Backtrace"))
            snprintf(log->reason, sizeof log->reason, "%.250s", reason);
        return;
    }
    if (!log->steps)
        sscanf(line, "(line: %zu", &log->line);
    else if (sscanf(text, "  in mapping field '%63[^']'", key) == 1)
        memcpy(log->group, key, sizeof key);
    log->steps++;
}

static const cyaml_schema_field_t *fields_of(const char *group)
{
    static const struct {
        const char *key;
        const cyaml_schema_field_t *fields;
    } mappings[] = {{"baseline", arm_fields},    {"exclude", arm_fields},
                    {"include", include_fields}, {"levers", lever_fields},
                    {"matrix", matrix_fields},   {"schedule", schedule_fields},
                    {"checks", checks_fields}};
    for (size_t i = 0; i < sizeof mappings / sizeof *mappings; i++)
        if (!strcmp(group, mappings[i].key))
            return mappings[i].fields;
    return plan_fields;
}

static void explain_unknown_key(const struct log *log, const char *key, char *text, size_t bytes)
{
    const char *words[64];
    size_t count = 0, used = 0;
    char hint[128], known[400] = "";
    for (const cyaml_schema_field_t *field = fields_of(log->group); field->key && count < 64;
         field++)
        words[count++] = field->key;
    for (size_t i = 0; i < count && used < sizeof known; i++)
        used +=
            (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", words[i]);
    snprintf(text, bytes, "unknown key '%.64s'%s; write one of %s", key,
             tlc_did_you_mean(key, words, count, hint, sizeof hint), known);
}

// The backtrace tells the line of the key before an unknown one (libcyaml 1.3) and of the last key
// of a mapping that lacks one, so the lines of these two are looked up.
static enum tlc_status explain(const struct log *log, const struct tlc_document *document,
                               struct tlc_error *error)
{
    static const char unknown[] = "Unexpected key: ",
                      missing[] = "Missing required mapping field: ";
    const char *reason = log->reason;
    size_t line = log->line ? log->line : 1;
    char text[768];
    if (!strncmp(reason, unknown, sizeof unknown - 1)) {
        const char *key = reason + sizeof unknown - 1;
        line = tlc_document_line_of_key(document, log->group, key, true);
        explain_unknown_key(log, key, text, sizeof text);
    } else if (!strncmp(reason, missing, sizeof missing - 1)) {
        const char *key = reason + sizeof missing - 1;
        line = tlc_document_line_of_key(document, log->group, key, false);
        snprintf(text, sizeof text, "'%s' is missing; add it", key);
    } else {
        tlc_yaml_explain(reason, "docs/plan.md", text, sizeof text);
    }
    return tlc_fail(error, TLC_USAGE, "plan: %s:%zu: %s", document->name, line, text);
}

static const cyaml_config_t quiet = {
    .log_fn = NULL, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR, .flags = CYAML_CFG_NO_ALIAS};

enum tlc_status tlc_schema_load(const char *text, size_t count, struct tlc_document *document,
                                struct tlc_error *error)
{
    struct log log = {0};
    cyaml_config_t config = quiet;
    config.log_fn = take_log;
    config.log_ctx = &log;
    cyaml_data_t *data = NULL;
    cyaml_err_t code =
        cyaml_load_data((const uint8_t *)text, count, &config, &plan_value, &data, NULL);
    if (code == CYAML_OK) {
        document->plan = data;
        return TLC_OK;
    }
    if (code == CYAML_ERR_OOM)
        return tlc_fail(error, TLC_ENVIRONMENT, "plan: %s: out of memory", document->name);
    return explain(&log, document, error);
}

void tlc_schema_free(struct tlc_raw_plan *plan)
{
    (void)cyaml_free(&quiet, &plan_value, plan, 0);
}
