// Counting what a handshake takes of both sides: under callgrind or with performance events.
#ifndef TLC_CLI_COUNT_H
#define TLC_CLI_COUNT_H

#include <jansson.h>
#include <stdint.h>

#include "base/error.h"
#include "measure/process_events.h"

struct tlc_count_method;
// "callgrind" or "perf"; NULL for any other name.
const struct tlc_count_method *tlc_count_method(const char *name);

struct tlc_count_options {
    const char *stack, *certificate, *groups, *share;
    const char *tickets; // of `serve`; NULL: the library's number
    const struct tlc_count_method *method;
    struct tlc_process_event event; // kind NULL: the method's own
    uint64_t handshakes; // of the shorter of two runs; the longer has three times as many;
                         // 0: the method's number
    uint64_t repeats, top;
    int timeout_ms; // of each step
};

// The method and event of these options into `document`; kind and handshakes that were not given
// into `options`. TLC_USAGE when they do not fit each other.
enum tlc_status tlc_count_settle(struct tlc_count_options *options, json_t *document,
                                 struct tlc_error *error) TLC_CHECKED;
// Whether this machine can count that way; adds `space`, and what tells it apart. TLC_ENVIRONMENT
// names what is missing.
enum tlc_status tlc_count_require(struct tlc_count_options *options, json_t *document,
                                  struct tlc_error *error) TLC_CHECKED;
// Adds `sides` {server, client} to `document`.
enum tlc_status tlc_count_run(const struct tlc_count_options *options, json_t *document,
                              struct tlc_error *error) TLC_CHECKED;

// The names of `sides`, and a side of a document (NULL when it has none).
extern const char *const tlc_count_sides[2];
const json_t *tlc_count_side(const json_t *document, const char *side);
// The unit of the document's event in words.
const char *tlc_count_unit(const json_t *document);
void tlc_count_print(const json_t *document);

// Whether a stored document can be set beside `document`, before it has counts; `path` names it.
enum tlc_status tlc_count_check_stored(const json_t *document, const json_t *stored,
                                       const char *path, struct tlc_error *error) TLC_CHECKED;
// The same for what only tlc_count_require tells: whether the kernel was counted.
enum tlc_status tlc_count_check_space(const json_t *document, const json_t *stored,
                                      const char *path, struct tlc_error *error) TLC_CHECKED;
// Adds `against`; `fail_above` NAN: no gate.
void tlc_count_compare(json_t *document, const json_t *stored, const char *path, double fail_above);
enum tlc_status tlc_count_gate(const json_t *document, const char *path, double fail_above,
                               struct tlc_error *error) TLC_CHECKED;

#endif
