// What a slice runs, behind one contract. The orchestrator, schedule, checks, journal, statistics
// and reports know workloads only through it.
#ifndef TLC_WORKLOAD_WORKLOAD_H
#define TLC_WORKLOAD_WORKLOAD_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "plan/plan.h"

// A workload opened for a plan serves the plan's arms of its kind and leaves the others alone.
struct tlc_workload_setup {
    const struct tlc_plan *plan;
    const char *work_directory;        // logs; exists, 0700
    const char *certificate_directory; // test certificates are made and kept below it
    cpu_set_t server_cpus, generator_cpus;
    unsigned idle_connections; // memory: so many are held once, to tell what one takes; 0: none
};

// Figures of one slice. Sums over slices are sums of these.
struct tlc_slice {
    // Of an arm whose clients leave early, `handshakes` are those that the server has answered.
    uint64_t started, handshakes, in_window, resumed, hello_retry_requests, mismatches, errors;
    uint64_t given_up; // where more is offered than the server can do: time-outs, no errors then
    double window_s, span_s;
    double cost_us;   // server CPU charged to the slice: the process tree's run time, whole
                      // microseconds not rounded
    double client_us; // CPU of the client side in the slice
    // Both sides in one process: the CPU time of the server and of neither side, and of the whole
    // slice, which is the sum of server, client and rest; 0 where there is no such whole.
    double server_us, rest_us, total_us;
    double wall_us;       // the same whole by the wall clock, as if nothing had interrupted it
    uint64_t interrupted; // handshakes that another thread's use of the CPU made far longer
    double burnt_us;      // server CPU burnt on purpose, by the server's own clock; part of cost_us
    double burnt_charge;  // what the idle server was charged for such work, over it; 0: not asked
    // Of an attributed arm: the same time again with the server sampled, in no other figure.
    uint64_t sampled_handshakes, sampled_faults;
    double sampled_us; // server CPU in it
    // Error kinds, negotiated counts, latencies: a tlc_counters of generator/generator.h as JSON,
    // or NULL; owned.
    json_t *detail;
    // Where the arm's event asks for it, the slice cut into TLC_BUCKET_US: {event_bucket (null: no
    // event), handshakes:[], resumed:[], cost_us:[]}; else NULL. Owned.
    json_t *buckets;
};

// Facts of one arm's stay in a block, taken over all its slices (see evidence/checks.h for their
// meaning).
struct tlc_stay {
    double server_busy, generator_busy, steal, accounting;
    // The server's own count; of an arm whose clients leave early, of the connections it accepted.
    uint64_t server_handshakes, listen_overflows, listen_drops;
    uint64_t client_certificates; // handshakes in which the client sent one, as the server counts
    uint64_t provider_work;       // what the arm's crypto provider did, at most once in a handshake
    // By the tracing provider: how often it saw the component that the arm's handshakes cannot do
    // without, and the calls it lost.
    uint64_t trace_work, trace_lost;
    const char *trace_witness; // name of that component; NULL: nothing is traced
    bool server_counts, server_alive;
    json_t *detail; // server counters, CPU times by field, memory; owned
};

struct tlc_workload; // state of one kind

// Two arms at once.
struct tlc_duet {
    size_t arms[2];
    unsigned concurrency[2];
    uint64_t duration_us, count; // of each, as of a slice
    unsigned turn;               // counts up: what two arms can change, they change with it
};

struct tlc_workload_kind {
    const char *name; // "network", "memory", "primitive"
    bool concurrent;  // more concurrency might raise the rate: the headroom check applies
    unsigned skips; // bits 1 << enum tlc_check (evidence/checks.h) of the checks of one sample that
                    // make no sense for it
    // How the evidence of prepare differs from what the arm asked for, empty when it does not; it
    // feeds the check "operation". NULL: the evidence is a probe's, which "negotiated" and
    // "certificate" judge.
    void (*compare)(const struct tlc_arm *arm, const json_t *evidence, char *difference,
                    size_t capacity);
    // Refuses arms that cannot run, by name, before anything is started.
    enum tlc_status (*check)(const struct tlc_workload_setup *setup, struct tlc_error *error);
    // Fetches and builds what is not ours and the arm needs, so that whether it can run is known
    // before a campaign opens. `log` takes what the builds print. NULL: an arm needs nothing.
    enum tlc_status (*bring)(const struct tlc_arm *arm, const char *log, struct tlc_error *error);
    enum tlc_status (*open)(const struct tlc_workload_setup *setup, struct tlc_workload **workload,
                            struct tlc_error *error);
    // Starts a fresh instance of the arm, warms it up and takes its evidence. The arm stays idle
    // until a slice. TLC_REFUSED when it runs and cannot be measured; another failure when it
    // cannot run at all, which ends a campaign that has not measured anything yet.
    enum tlc_status (*prepare)(struct tlc_workload *workload, size_t arm, json_t **evidence,
                               struct tlc_error *error);
    // One measured window, drained at its end. A dead server is an error; failed handshakes are
    // counts.
    enum tlc_status (*slice)(struct tlc_workload *workload, size_t arm, uint64_t duration_us,
                             uint64_t count, unsigned concurrency, struct tlc_slice *slice,
                             struct tlc_error *error);
    // The same of two arms at once, on the same CPUs. Each one's span is that in which the CPUs
    // were its own. NULL: the kind cannot.
    enum tlc_status (*duet)(struct tlc_workload *workload, const struct tlc_duet *duet,
                            struct tlc_slice slices[2], struct tlc_error *error);
    // Facts over the slices since prepare.
    enum tlc_status (*stay)(struct tlc_workload *workload, size_t arm, struct tlc_stay *stay,
                            struct tlc_error *error);
    void (*release)(struct tlc_workload *workload, size_t arm); // ends the instance
    void (*close)(struct tlc_workload *workload); // ends everything, children included
};

const struct tlc_workload_kind *tlc_workload_kind(const char *name); // NULL: unknown
void tlc_slice_clear(struct tlc_slice *slice);
void tlc_stay_clear(struct tlc_stay *stay);

#endif
