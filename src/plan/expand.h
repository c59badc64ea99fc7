// From a plan as written to its arms, and what arms may not ask for. Private to the room.
#ifndef TLC_PLAN_EXPAND_H
#define TLC_PLAN_EXPAND_H

#include "plan/document.h"

enum { TLC_MOST_ARMS = 128, TLC_MOST_PRODUCT = 4096 };

// Where an arm was written, a path for tlc_document_fail.
struct tlc_origin {
    char path[64];
};

// Fills the arms, levers and control of `plan` from the document, whose limits are set already.
enum tlc_status tlc_plan_expand(const struct tlc_document *document, struct tlc_plan *plan,
                                struct tlc_error *error) TLC_CHECKED;
// What holds for every plan, from a file or a result: unique names, no contradictory settings.
// `document` and `origins` are NULL for a plan from a result.
enum tlc_status tlc_plan_check(const struct tlc_plan *plan, const struct tlc_document *document,
                               const struct tlc_origin *origins,
                               struct tlc_error *error) TLC_CHECKED;
bool tlc_arm_same(const struct tlc_arm *a, const struct tlc_arm *b, size_t key); // one setting
bool tlc_arm_equal(const struct tlc_arm *a, const struct tlc_arm *b); // settings, not names
void tlc_arm_clear(struct tlc_arm *arm);

#endif
