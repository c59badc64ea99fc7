// What the tracing provider (docs/trace.md) counted and timed in another process, read from the
// page it shares through a file.
#ifndef TLC_MEASURE_TRACE_H
#define TLC_MEASURE_TRACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "measure/trace_page.h"

struct tlc_trace;      // a page, and what it said when it was marked
struct tlc_trace_sums; // sums of differences, which may be those of several pages

// Makes the file (0600) that a server is to share, or opens it.
enum tlc_status tlc_trace_open(const char *path, struct tlc_trace **trace,
                               struct tlc_error *error) TLC_CHECKED;
void tlc_trace_close(struct tlc_trace *trace); // NULL is allowed
// From now on the work of the component takes `us` longer; TLC_NO_COMPONENT: nothing does.
void tlc_trace_burn(struct tlc_trace *trace, unsigned component, unsigned us);
void tlc_trace_mark(struct tlc_trace *trace);

struct tlc_trace_sums *tlc_trace_sums_new(void); // NULL: out of memory
void tlc_trace_sums_free(struct tlc_trace_sums *sums);
void tlc_trace_sums_clear(struct tlc_trace_sums *sums);
// Adds what has happened since the mark.
void tlc_trace_sums_add(struct tlc_trace_sums *sums, const struct tlc_trace *trace);
// Calls that did a component's work, and those that could not be timed.
uint64_t tlc_trace_done(const struct tlc_trace_sums *sums, unsigned component);
uint64_t tlc_trace_lost(const struct tlc_trace_sums *sums);
uint64_t tlc_trace_burnt_ns(const struct tlc_trace_sums *sums);
// {handshakes, done{NAME: n}, burns{NAME: n}, components{NAME: {own_us, trimmed_us}},
// operations[{component, algorithm, calls, us, own_us, trimmed_us, median_us, nested[]}]} for one
// handshake; docs/trace.md explains them. Without times `components` and `operations` are empty.
// NULL: no handshakes. The caller's.
json_t *tlc_trace_sums_json(const struct tlc_trace_sums *sums, uint64_t handshakes);

#endif
