// What is compared: our clients, the TCP floor and the peers, each with its samples.
#ifndef TLC_BENCH_ARMS_H
#define TLC_BENCH_ARMS_H

#include "bench/peers.h"
#include "bench/rig.h"

enum { ROUNDS_MAX = 64, ARMS_MAX = 64, ROUNDS_MIN = 6 }; // fewer rounds give no 95 % interval

enum arm_kind { ARM_LEAN, ARM_FULL, ARM_FLOOR, ARM_PEER };

// Which event loop, and how many events it waits for.
struct arm_loop {
    const char *name;   // in reports
    const char *choice; // `loop_choice` of a target
    unsigned batch;     // 0: the loop's default
    bool fresh;         // a new socket for every connection
};

struct sample {
    bool there;
    double client_us, server_us; // CPU per handshake that the server counted
    uint64_t handshakes, resumed, retries, failed;
    double server_busy_us, server_cpu_us; // of the CPUs during the slice: at work, and all of it
    double generator_busy_us, generator_cpu_us;
};

struct arm {
    enum arm_kind kind;
    const char *group, *share; // share: of engine lean, else NULL
    const struct arm_loop *loop;
    const struct peer *peer;
    unsigned id;      // of the target at the generator
    char reason[512]; // why it is left out; empty: it is not
    struct sample samples[ROUNDS_MAX];
};

struct bench {
    struct rig_options rig;   // `group` changes
    const char *openssl_conf; // file for peer_job
    const char *groups[8];
    size_t group_count;
    struct peer_list peers;
    struct arm arms[ARMS_MAX];
    size_t arm_count;
    bool uring; // the kernel gives it
    bool floor_told;
    double floor_server_us; // CPU of the floor's server per connection beside what it burns
    unsigned rounds;        // finished
    uint64_t slice_us;
    unsigned concurrency, peer_concurrency, peer_handshakes;
    json_t *stack; // the server's library
    char server_list[64], generator_list[64];
};

extern const struct arm_loop loop_uring, loop_epoll, loop_epoll_plain, loop_epoll_fresh;

// Fills the list of arms, in the order of reports.
enum tlc_status bench_list_arms(struct bench *bench, struct tlc_error *error) TLC_CHECKED;
// Whether the kernel gives io_uring, and what the server says about its library.
enum tlc_status bench_find_loop(struct bench *bench, struct tlc_error *error) TLC_CHECKED;
// One round over all groups and arms, on fresh processes. Peers that cannot serve a group are left
// out from then on, with the reason; a fault of our own clients is an error.
enum tlc_status bench_round(struct bench *bench, struct tlc_error *error) TLC_CHECKED;
// The loop that others are judged by: io_uring where it is there.
const struct arm_loop *bench_main_loop(const struct bench *bench);

#endif
