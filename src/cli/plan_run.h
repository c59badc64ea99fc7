// What `run` and its short ways share: a plan's campaign, its result file and its report.
#ifndef TLC_CLI_PLAN_RUN_H
#define TLC_CLI_PLAN_RUN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cli/arguments.h"
#include "plan/plan.h"

struct tlc_plan_run {
    struct tlc_plan *plan; // optional arms that cannot run here are taken out of it
    const char *output;    // result file; OUTPUT.journal keeps finished samples until it is there
    bool go_on;            // the campaign of the journal is continued
    bool keep_logs;
    const struct tlc_measuring_options *measuring; // but for its output
    // Another format of the result, of what is finished where the campaign was interrupted; NULL:
    // none. It is written to this file.
    const char *format, *format_to;
};

// Runs the plan, writes the result and prints the report; returns the exit code. `error` is where
// the reason of a failure is kept, which has been told already.
int tlc_plan_run(const struct tlc_plan_run *run, struct tlc_error *error);
// Writes the result and prints it, or says why there is none; returns the exit code.
int tlc_finish_run(enum tlc_status status, json_t *result, const char *output, bool json,
                   struct tlc_error *error);
// Whether a result can go to this file: found out before minutes of measuring, not after.
enum tlc_status tlc_can_be_written(const char *command, const char *option, const char *path,
                                   struct tlc_error *error) TLC_CHECKED;
// The result file: `given`, or for NULL a dated file of the plan's name in the state directory.
enum tlc_status tlc_choose_output(const char *given, const char *plan, char *path, size_t capacity,
                                  struct tlc_error *error) TLC_CHECKED;

#endif
