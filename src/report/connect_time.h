// What a result of `connect-time` says (private to the room).
#ifndef TLC_REPORT_CONNECT_TIME_H
#define TLC_REPORT_CONNECT_TIME_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

bool tlc_is_connect_time(const json_t *result);
// As text in a format of tlc_emit, or all times as CSV.
enum tlc_status tlc_connect_time_write(const json_t *result, const char *format, FILE *to,
                                       struct tlc_error *error) TLC_CHECKED;

#endif
