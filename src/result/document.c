#include "result/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "result/file.h"
#include "result/shape.h"

// Twelve digits keep every counter and time exactly enough and print 0.1 as 0.1.
#define NUMBER_FORMAT JSON_REAL_PRECISION(12)

json_t *tlc_result_now(void)
{
    char text[32];
    time_t now = time(NULL);
    struct tm fields;
    gmtime_r(&now, &fields);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &fields);
    return json_string(text);
}

json_t *tlc_result_new(const char *command, json_t *environment)
{
    return json_pack("{s:s, s:s, s:o, s:o}", "schema", TLC_RESULT_SCHEMA, "command", command,
                     "started", tlc_result_now(), "environment", environment);
}

enum tlc_status tlc_result_write(const json_t *result, const char *path, struct tlc_error *error)
{
    char *text = json_dumps(result, JSON_INDENT(2) | NUMBER_FORMAT);
    size_t count = text ? strlen(text) : 0;
    char *line = text ? realloc(text, count + 2) : NULL;
    if (!line) {
        free(text);
        return tlc_fail(error, TLC_ENVIRONMENT, "write result: %s: cannot be written as JSON",
                        path);
    }
    memcpy(line + count, "\n", 2);
    enum tlc_status status = strcmp(path, "-") ? tlc_file_replace(path, line, count + 1, error)
                                               : tlc_file_write_all(STDOUT_FILENO, line, count + 1,
                                                                    "standard output", error);
    free(line);
    return status;
}

enum tlc_status tlc_result_read(const char *path, json_t **result, struct tlc_error *error)
{
    json_error_t reason;
    *result = !strcmp(path, "-") ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &reason)
                                 : json_load_file(path, JSON_REJECT_DUPLICATES, &reason);
    if (!*result && reason.line < 1 && strcmp(path, "-") && access(path, R_OK))
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "read result: %s: %s; name a file that 'tlscost run -o FILE' wrote", path,
                        strerror(errno));
    if (!*result && reason.line < 1)
        return tlc_fail(error, TLC_ENVIRONMENT, "read result: %s: %s", path, reason.text);
    if (!*result)
        return tlc_fail(error, TLC_USAGE, "read result: %s:%d: not JSON: %s", path, reason.line,
                        reason.text);
    enum tlc_status status = tlc_shape_check(*result, path, error);
    if (status != TLC_OK) {
        json_decref(*result);
        *result = NULL;
    }
    return status;
}
