// A plan: which arms, in which order, how often, and which checks. Read from YAML with file:line
// errors. Pure data: no sockets, no clocks. The format is described in docs/plan.md.
#ifndef TLC_PLAN_PLAN_H
#define TLC_PLAN_PLAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

// One complete configuration under comparison. Strings are owned by the plan and never NULL unless
// noted.
struct tlc_arm {
    char *name;        // unique in the plan: "ed25519", "X25519", "baseline", "control"
    char *lever;       // the lever it pulls; NULL for baseline, control and arms of a matrix
    char *stack;       // plug-in id, "openssl"
    char *certificate; // key type name of certs.h
    char *groups; // server's groups in order, "X25519MLKEM768" or "A:B"; the client offers the same
    char *version;    // "TLSv1.3", "TLSv1.2"
    char *cipher;     // NULL: the library's choice
    char *resumption; // "none", "psk_dhe_ke", "psk_ke", "ticket", "session-id"
    double resume_ratio;
    char *accept; // "shared", "reuseport"
    unsigned workers;
    int tickets;  // per full handshake; -1: the library's default
    char *engine; // "lean", "full"
    char *share;  // "honest", "reused", "cheap"; "unreduced", "low-order": servers must refuse it
    char *close;  // "reset", "fin", "close-notify"
    char *alpn;   // NULL: none
    unsigned intermediates;
    unsigned burn_us;
    unsigned concurrency;
    unsigned timeout_us; // of one handshake, on the client's side
    char *instance; // "own": a server process of its own; "baseline": measured on the baseline's
    // What happens to the server at half of each slice: "none"; "watch" (nothing, but the slice is
    // cut into buckets all the same); "rotate", "rotate-abrupt", "rotate-no-previous",
    // "rotate-trap", "reload".
    char *event;
    unsigned visitors;   // clients that take turns, each with the ticket of its last visit; 0: any
    char *serve_options; // more options of `tlscost serve`, words parted by spaces; NULL: none
    char *workload;      // what its slices run: "network", "memory", "primitive", "connect"
    char *provider;      // of cryptography, by name or path, in the server's library; NULL: none
    char *client_stack;  // plug-in of the client in memory; NULL: the arm's stack
    char *client_auth;   // key type of the client's certificate; NULL: the client has none
    char *side;          // whose CPU time is the cost in memory: "server", "client", "both";
                         // "flight": the server's up to its first flight, by a recorded ClientHello
    char *operation;     // of a primitive arm, "x25519-keygen"; NULL: none
    unsigned warm_up_us; // instead of the schedule's: the plan's, else the server's; 0: neither
    char *server;        // a server that is not ours, by the name of its description; NULL: ours
    char *against;       // the arm it is divided by, see tlc_plan_against; NULL: the baseline
    char *network;       // between server and client: "loopback", "veth", "veth-unsteered"
    char *authority;     // who signs: "rsa-2048" CAs, or "leaf": CAs of the certificate's key type
    // The workload `connect` (docs/connect-time.md).
    char *rtt; // round-trip times of the path, "1ms:150ms"; NULL: not told
    unsigned jitter_us;
    double loss;        // of each segment
    uint64_t rate_bits; // in a second, of each direction; 0: without limit
    unsigned initial_window;
    unsigned hello_retry; // 1: the client's first key share is of a group that the server lacks
    unsigned upgrade;     // 1: the protocol is changed by a request after the handshake
    unsigned echo;        // bytes sent, echoed and compared after each handshake; 0: none
    unsigned allocations; // 1: memory allocations of both sides are counted, in a run of their own
    unsigned optional;    // 1: left out, with the reason, where this machine cannot run it
    unsigned names;       // server names, each with a certificate of its own; 0: one for all
    unsigned attribute;   // 1: its server is sampled, to tell which part of it takes the time
    char *visits;         // how clients choose among them: "uniform", "zipf"
    // Before authentication (docs/pre-authentication.md): where clients leave: "complete",
    // "after-client-hello", "after-server-flight", "after-hello-retry".
    char *stop;
    unsigned split;       // the ClientHello in writes of this many bytes; 0: in one
    unsigned padding;     // bytes of padding in it
    unsigned hold;        // half-open connections kept once, to tell what one takes; 0: none
    unsigned hold_for_us; // so long, or until the server ends them
    unsigned pace;   // handshakes begun in a second, whether the server follows; 0: as it follows
    double offered;  // the same as a share of the capacity that the warm-up found; 0: not so
    char *cpu_mask;  // what OPENSSL_ia32cap takes away in the server's process; NULL: nothing
    unsigned equal;  // 1: must not differ from the arm it is divided by ("negative-control")
    char *trace;     // of the server's cryptography: "none", "tag", "timed" (docs/trace.md)
    char *burn_in;   // where burn_us is burnt: "state-machine", "signature", "key-generation"
    unsigned cookie; // 1: the server answers first hellos with a cookie, clients bring it back
    unsigned handshake_timeout_us; // after which the server ends a handshake; 0: its own
};

// The most handshakes in a second that a plan may ask for; those that stop early have no other.
enum { TLC_MOST_PACE = 20000 };

enum { TLC_BUCKET_US = 100000, TLC_EVENT_SLICE_US = 4 * TLC_BUCKET_US };

struct tlc_schedule {
    unsigned blocks; // fresh servers each; instances of an arm, the unit of inference (at least 6)
    unsigned rounds; // per block
    uint64_t slice_us;
    uint64_t count;      // operations or handshakes a slice does instead of a time; 0: by time
    uint64_t warm_up_us; // per instance, before its first slice, not counted
    uint64_t settle_us;  // extra pause between slices; 0 by default: events decide
    unsigned bookends;   // 1: the baseline stands first and last in every round, the others turn
    unsigned duet;       // 1: a visit serves an arm and the arm it is divided by at once
    double until;        // half-width of every interval at which the campaign ends; 0: see blocks
    uint64_t at_most_us; // no block is begun that would end later, once 6 are done; 0: no limit
    // The workload `connect` has no slices.
    unsigned connections; // of each arm at each round-trip time
    unsigned pace;        // connections begun in a second, of all arms together
    unsigned sampling_hz; // samples in a second of CPU time, of arms that are attributed
};

// Limits of the checks; the names in the YAML, JSON and reports are those of docs/checks.md.
struct tlc_limits {
    double generator_busy;  // largest busy share of the generator's CPUs (0.9)
    double server_busy;     // least busy share of the server's CPUs; 0: need not be saturated
    double steal;           // largest stolen share of the server's CPUs
    double accounting;      // largest relative disagreement of the two CPU accountings
    double control_drift;   // largest coefficient of variation of the control's cost over blocks
    double headroom_gain;   // largest rise of the rate with more concurrency
    double refused_samples; // largest share of an arm's samples that may be refused
    uint64_t errors;        // per sample
    double margin;          // equivalence margin of verdicts
    double settling;        // how far an arm's cost late in a block may be from the whole; 0: off
};

// What one lever changes against the baseline, for the report.
struct tlc_lever {
    char *name;  // as in tlc_arm.lever
    char *key;   // the arm's key it changes: "certificate", "groups", ...
    char *pulls; // what it costs the user to pull it, one sentence; NULL: not told
};

// An optional arm that was left out.
struct tlc_left_out {
    char *arm, *reason;
};

struct tlc_plan {
    char *name, *question, *file;
    char *workload;           // of the arms that do not say their own
    struct tlc_lever *levers; // in the plan's order
    size_t lever_count;
    struct tlc_arm *arms; // arms[0] is the baseline
    size_t arm_count;
    int control;     // index of the control arm; -1: none
    int fair_client; // index of the arm that only has honest key shares instead; -1: none
    struct tlc_schedule schedule;
    struct tlc_limits limits;
    struct tlc_left_out *left_out;
    size_t left_out_count;
};

// Reads and validates a plan file. Errors: "plan: FILE:LINE: what is wrong; what to write instead".
enum tlc_status tlc_plan_read(const char *path, struct tlc_plan **plan,
                              struct tlc_error *error) TLC_CHECKED;
// The same from text; `name` stands for the file in errors. One without '.' and '/' is a command
// that made the text of its options: errors then name it and no line.
enum tlc_status tlc_plan_parse(const char *text, size_t count, const char *name,
                               struct tlc_plan **plan, struct tlc_error *error) TLC_CHECKED;
// Whether a plan could give an arm, or the schedule, this value for a key; the error names `option`
// in place of a line. A key that there is not is TLC_USAGE too.
enum tlc_status tlc_plan_check_value(const char *key, const char *value, const char *option,
                                     struct tlc_error *error) TLC_CHECKED;
void tlc_plan_free(struct tlc_plan *plan);
// The short form of a plan for `--quick`: the same arms, about 30 s of measuring. Slices around
// events are 500 ms long, with at most 100 visitors.
void tlc_plan_make_quick(struct tlc_plan *plan);
// Seconds of slices, warm-ups and settle times, for progress and for messages.
double tlc_plan_seconds(const struct tlc_plan *plan);
// What the result stores, and back (for --continue and report).
json_t *tlc_plan_to_json(const struct tlc_plan *plan);
enum tlc_status tlc_plan_from_json(const json_t *json, struct tlc_plan **plan,
                                   struct tlc_error *error) TLC_CHECKED;
// Finds a plan by name in the folders of plans (TLSCOST_PLANS, beside the program, installed);
// *path is the caller's to free. A path to a file is taken as it is.
enum tlc_status tlc_plan_find(const char *name, char **path, struct tlc_error *error) TLC_CHECKED;
// The paths of all plans in those folders, a name once (the first folder wins), sorted by name.
// NULL-terminated; free with tlc_plan_list_free.
char **tlc_plan_list(void);
void tlc_plan_list_free(char **paths);
// The value of an arm's key ("certificate", "workers", ...) as a plan spells it, in `text`. False
// when the arm has no such key.
bool tlc_arm_value(const struct tlc_arm *arm, const char *key, char *text, size_t bytes);
// The index of the arm that `arm` is divided by: the one named by its key `against`, or for
// "KEY=VALUE" the arm that differs from it in that key alone. 0, the baseline, when nothing is
// asked or the arm has the value itself; its own index when no such arm exists (such a plan is
// refused when it is read).
size_t tlc_plan_against(const struct tlc_plan *plan, size_t arm);
// The round-trip times of an arm in microseconds, in the plan's order; returns how many there are.
enum { TLC_MOST_RTTS = 16 };
size_t tlc_arm_rtts(const struct tlc_arm *arm, uint64_t us[TLC_MOST_RTTS]);
// Takes an optional arm out of the plan and keeps why. The baseline and arms that are not optional
// stay, which is TLC_USAGE.
enum tlc_status tlc_plan_leave_out(struct tlc_plan *plan, size_t arm, const char *reason,
                                   struct tlc_error *error) TLC_CHECKED;
// Whether the arm's clients leave before the handshake is complete.
bool tlc_arm_is_unfinished(const struct tlc_arm *arm);
// Whether its rate is set by something else than what the server can do.
bool tlc_arm_is_paced(const struct tlc_arm *arm);
// A group that is not among `groups`, for a first key share that a server of these does not take;
// 0: all those that could be are among them.
uint16_t tlc_group_outside(const uint16_t *groups, size_t count);
// The i-th key of an arm, in the order of docs/plan.md; NULL past the end.
const char *tlc_arm_key_at(size_t index);

// The order of arms in one round: `order[0..arm_count)`. Every second round is reversed and every
// pair of rounds starts one arm further, so that over 2 * arm_count rounds each arm visits each
// position twice and follows each neighbour in both directions. Blocks start at different arms, and
// every second block with a reversed round.
void tlc_schedule_order(size_t arm_count, unsigned block, unsigned round, size_t *order);
// The visits of one round of a plan: that order, or with bookends the baseline, the others in that
// order, and the baseline again. In duets the arms other than the baseline are visited, each
// together with the arm it is divided by, and the bookends are those of the control. `order` has
// room for arm_count + 1; returns how many there are.
size_t tlc_schedule_visits(const struct tlc_plan *plan, unsigned block, unsigned round,
                           size_t *order);
// Whether a duet's two arms take turns on one server: those that differ by a burn, with `instance:
// baseline`. At once, interrupts would be charged to whichever of the two they meet, and the one
// that burns is met more often.
bool tlc_plan_takes_turns(const struct tlc_plan *plan, size_t arm);
// The most blocks a campaign of the plan runs: with `until` as many as it needs.
unsigned tlc_schedule_most_blocks(const struct tlc_plan *plan);
// How many visits a round of the plan has.
size_t tlc_schedule_visit_count(const struct tlc_plan *plan);

#endif
