// A plan file as written: values still text, and the lines they stand on. Private to the room.
#ifndef TLC_PLAN_DOCUMENT_H
#define TLC_PLAN_DOCUMENT_H

#include <stddef.h>

#include "base/error.h"
#include "plan/settings.h"

// What libcyaml fills. A NULL text was not written.
struct tlc_raw_arm {
    char *name; // include only
    char *values[TLC_ARM_KEY_COUNT];
};

struct tlc_raw_values {
    char **values;
    unsigned values_count;
};

struct tlc_raw_matrix {
    struct tlc_raw_values axes[TLC_ARM_KEY_COUNT];
};

struct tlc_raw_lever {
    char *name, *key, *pulls;
    char **values;
    unsigned values_count;
};

struct tlc_raw_schedule {
    char *values[TLC_SCHEDULE_KEY_COUNT];
};

struct tlc_raw_checks {
    char *values[TLC_LIMIT_KEY_COUNT];
};

struct tlc_raw_plan {
    char *name, *question, *workload, *control, *fair_client;
    struct tlc_raw_arm *baseline;
    struct tlc_raw_lever *levers;
    unsigned levers_count;
    struct tlc_raw_matrix *matrix;
    struct tlc_raw_arm *exclude, *include;
    unsigned exclude_count, include_count;
    struct tlc_raw_schedule *schedule;
    struct tlc_raw_checks *checks;
};

struct tlc_document {
    const char *name; // of the file, for errors; the caller's
    struct tlc_raw_plan *plan;
    void *nodes; // libyaml's document, which knows the lines
};

// Parses the text and checks it against the schema. Free with tlc_document_free, also on failure.
enum tlc_status tlc_document_parse(const char *text, size_t count, const char *name,
                                   struct tlc_document *document,
                                   struct tlc_error *error) TLC_CHECKED;
void tlc_document_free(struct tlc_document *document);

// Sets "plan: FILE:LINE: ..." for the value at `path`, such as "levers/0/values/2": keys and
// indexes. Where the path leads nowhere, the line is that of the last step that exists.
enum tlc_status tlc_document_fail(const struct tlc_document *document, const char *path,
                                  struct tlc_error *error, const char *format, ...)
    TLC_PRINTF(4, 5);

// The line of the first mapping that has the key (`present`: of the key itself) or lacks it.
// `group` names the plan's key whose value is that mapping, or a list of such; empty: the plan
// itself.
size_t tlc_document_line_of_key(const struct tlc_document *document, const char *group,
                                const char *key, bool present);

#endif
