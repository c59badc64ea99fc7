#include "plan/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

enum tlc_status tlc_yaml_parse(const struct tlc_yaml_kind *kind, const char *text, size_t count,
                               const char *path, void **data, struct tlc_error *error)
{
    struct log log = {0};
    cyaml_config_t config = quiet;
    config.log_fn = take_log;
    config.log_ctx = &log;
    *data = NULL;
    cyaml_err_t code =
        cyaml_load_data((const uint8_t *)text, count, &config, kind->schema, data, NULL);
    if (code != CYAML_OK)
        return tlc_fail(error, TLC_USAGE, "%s: %s:%zu: %s; write it as in %s", kind->what, path,
                        log.line ? log.line : 1, *log.reason ? log.reason : cyaml_strerror(code),
                        kind->page);
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
