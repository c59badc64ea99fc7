// The shape of a plan file, for libcyaml. Private to the room.
#ifndef TLC_PLAN_SCHEMA_H
#define TLC_PLAN_SCHEMA_H

#include "plan/document.h"

// Loads the text into document->plan. What libcyaml logs becomes one error with its line.
enum tlc_status tlc_schema_load(const char *text, size_t count, struct tlc_document *document,
                                struct tlc_error *error) TLC_CHECKED;
void tlc_schema_free(struct tlc_raw_plan *plan); // NULL is allowed

#endif
