// Reports: a result document in, text out. Reads results and published references only; measures
// nothing.
#ifndef TLC_REPORT_REPORT_H
#define TLC_REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct tlc_report_options {
    unsigned width;         // columns of the terminal; 0: 100
    bool utf8;              // may use more than ASCII
    bool colour;            // may use colour and bold type
    const char *references; // folder of published results; NULL or missing: none are shown
};

// Writes the report of a `run` result (tlc_result_read has checked its shape). `format` is one of
// tlc_report_format_at: "terminal", "markdown", "csv", "json", "benchstat", "jmh-json", "folded".
// Errors of `to` are reported too.
enum tlc_status tlc_report_write_with(const json_t *result, const char *format,
                                      const struct tlc_report_options *options, FILE *to,
                                      struct tlc_error *error) TLC_CHECKED;
// The same with the options that suit `to`: width, character set and colour of the terminal behind
// it (NO_COLOR is heeded), and the references found in TLSCOST_REFERENCES, beside the program, in
// the checkout, or installed.
enum tlc_status tlc_report_write(const json_t *result, const char *format, FILE *to,
                                 struct tlc_error *error) TLC_CHECKED;
// Names of the formats; NULL past the end.
const char *tlc_report_format_at(size_t index);

// The parts of a document of `calibrate`, their figures and the verdict, as text.
void tlc_calibration_print(const json_t *document, FILE *to);

#endif
