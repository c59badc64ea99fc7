// What `tlscost pair` prints of a `run` result: refusals and both sides. The whole report of the
// same result is tlc_report_write's.
#ifndef TLC_REPORT_PAIR_H
#define TLC_REPORT_PAIR_H

#include <jansson.h>
#include <stdio.h>

#include "base/error.h"

enum tlc_status tlc_pair_report_write(const json_t *result, FILE *to,
                                      struct tlc_error *error) TLC_CHECKED;

#endif
