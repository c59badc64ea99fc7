// The generator process of one network: its start, control messages and end; private to the room.
#ifndef TLC_WORKLOAD_NETWORK_GENERATOR_H
#define TLC_WORKLOAD_NETWORK_GENERATOR_H

#include <jansson.h>
#include <sched.h>

#include "base/error.h"
#include "base/process.h"

enum { TLC_ANSWER_MARGIN_MS = 15000 };

struct tlc_arm_generator {
    struct tlc_process process;
    char log[600];
    unsigned owed; // answers that came too late to be heard; they are thrown away
};

// `namespaces` as in tlc_process_options.
enum tlc_status tlc_arm_generator_start(const cpu_set_t *cpus, const int *namespaces,
                                        const char *log, struct tlc_arm_generator *generator,
                                        struct tlc_error *error) TLC_CHECKED;
// Sends a command (whose reference it takes), and takes the answer to one; an "error" member
// becomes the error. What was told must be heard, in that order. An answer that does not come in
// time is still to come: it is thrown away before the next one is heard.
enum tlc_status tlc_arm_generator_tell(struct tlc_arm_generator *generator, json_t *command,
                                       struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_arm_generator_hear(struct tlc_arm_generator *generator, int timeout_ms,
                                       json_t **answer, struct tlc_error *error) TLC_CHECKED;
// Both.
enum tlc_status tlc_arm_generator_ask(struct tlc_arm_generator *generator, json_t *command,
                                      int timeout_ms, json_t **answer,
                                      struct tlc_error *error) TLC_CHECKED;
void tlc_arm_generator_stop(struct tlc_arm_generator *generator);

#endif
