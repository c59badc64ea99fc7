// What the self-test said of a plug-in's file, kept for the user, so that a stack is tested once
// and not before every run.
#ifndef TLC_STACKS_VERDICT_H
#define TLC_STACKS_VERDICT_H

#include "base/error.h"
#include "stacks/loader.h"

// Records the outcome of a self-test of this file: TLC_OK, or the error that ended it. Where it
// cannot be kept, the next use tests again.
void tlc_stack_keep_verdict(const struct tlc_stack_plugin *plugin, enum tlc_status status,
                            const struct tlc_error *error);
// TLC_OK when the file has passed its self-test, now or earlier; else why it is not to be measured.
enum tlc_status tlc_stack_require_verdict(const struct tlc_stack_plugin *plugin,
                                          struct tlc_error *error) TLC_CHECKED;

#endif
