// Results of the same plan over time: a trend for each arm, with its change points. Reads results
// only.
#ifndef TLC_REPORT_HISTORY_H
#define TLC_REPORT_HISTORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct tlc_history_options {
    const char *plan;        // name of the plan; NULL: that of the newest result
    const char *relative_to; // arm that the others are divided by; NULL: the control
    bool absolute;           // divide by nothing
    double alpha;            // a change is marked where its p is at most this
};

// One result of a folder.
struct tlc_history_entry {
    const char *file;
    const json_t *result; // borrowed; its shape was checked
};

// Builds the history (docs/compare.md) of the entries, in any order; those of other commands and
// plans are listed as left out. The document is the caller's. TLC_USAGE when nothing remains.
enum tlc_status tlc_history_build(const struct tlc_history_entry *entries, size_t count,
                                  const struct tlc_history_options *options, json_t **history,
                                  struct tlc_error *error) TLC_CHECKED;
// Writes the history; `format` is "terminal" or "markdown".
enum tlc_status tlc_history_write(const json_t *history, const char *format, FILE *to,
                                  struct tlc_error *error) TLC_CHECKED;

#endif
