// The exporters, one file each (private to the room).
#ifndef TLC_REPORT_EXPORTERS_H
#define TLC_REPORT_EXPORTERS_H

#include <stdio.h>

#include "report/model.h"
#include "report/published.h"
#include "report/report.h"
#include "report/sections.h"

typedef enum tlc_status tlc_exporter(const struct tlc_report_model *model,
                                     const struct tlc_published *published,
                                     const struct tlc_report_options *options, FILE *to,
                                     struct tlc_error *error);

tlc_exporter tlc_export_terminal, tlc_export_markdown, tlc_export_csv, tlc_export_json,
    tlc_export_benchstat, tlc_export_jmh, tlc_export_folded;

// Says something through an emitter; `what` is the teller's own.
typedef enum tlc_status tlc_teller(const void *what, const struct tlc_emitter *emitter,
                                   struct tlc_error *error);

enum tlc_status tlc_emit_terminal(tlc_teller *tell, const void *what,
                                  const struct tlc_report_options *options, FILE *to,
                                  struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_emit_markdown(tlc_teller *tell, const void *what, FILE *to,
                                  struct tlc_error *error) TLC_CHECKED;
// Either of them by name, with the options that suit `to`. Errors of `to` are reported too.
enum tlc_status tlc_emit(const char *format, tlc_teller *tell, const void *what, FILE *to,
                         struct tlc_error *error) TLC_CHECKED;

// What the report of a `run` says; `what` is one of these.
struct tlc_run_report {
    const struct tlc_report_model *model;
    const struct tlc_published *published;
};
tlc_teller tlc_tell_run;

// Draws the bars of one lever for a terminal of `width` columns.
void tlc_draw_bars(const struct tlc_bar *bars, size_t count, const char *unit, size_t width,
                   bool utf8, FILE *to);

#endif
