// Which client can talk to which server, and at what cost.
#ifndef TLC_REPORT_MATRIX_H
#define TLC_REPORT_MATRIX_H

#include <jansson.h>
#include <stdio.h>

#include "base/error.h"

// Writes the document of `tlscost pair --matrix` (docs/pair.md) for a terminal.
enum tlc_status tlc_matrix_report_write(const json_t *matrix, FILE *to,
                                        struct tlc_error *error) TLC_CHECKED;

#endif
