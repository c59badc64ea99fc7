// Two campaigns, or two arms of one, set against each other. Reads results only.
#ifndef TLC_REPORT_COMPARE_H
#define TLC_REPORT_COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct tlc_compare_options {
    const char *base_name, *new_name; // how the two are called: file names
    const char *relative_to; // arm that both are divided by; NULL: the control, where both have one
    bool absolute;           // divide by nothing
    double margin;           // of equivalence; NaN: the plan's
    double fail_above;       // gate: a supported rise of cost beyond this share; NaN: none
};

// Compares arms of the same name of two `run` results whose shape was checked. The document
// (docs/compare.md) is the caller's. TLC_USAGE when nothing can be compared.
enum tlc_status tlc_compare_results(const json_t *base, const json_t *new,
                                    const struct tlc_compare_options *options, json_t **comparison,
                                    struct tlc_error *error) TLC_CHECKED;
// Compares arm `second` with arm `first` of one result, paired by round.
enum tlc_status tlc_compare_arms(const json_t *result, const char *first, const char *second,
                                 const struct tlc_compare_options *options, json_t **comparison,
                                 struct tlc_error *error) TLC_CHECKED;
// TLC_GATE, naming the arms, when a supported claim crossed the gate; else TLC_OK.
enum tlc_status tlc_compare_gate(const json_t *comparison, struct tlc_error *error) TLC_CHECKED;
// Writes the comparison; `format` is "terminal" or "markdown".
enum tlc_status tlc_compare_write(const json_t *comparison, const char *format, FILE *to,
                                  struct tlc_error *error) TLC_CHECKED;

#endif
