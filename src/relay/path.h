// One TCP connection over a long path, as a model: bytes and times in, times out. Pure: no sockets,
// no clocks. What is modelled and what is not stands in docs/connect-time.md.
#ifndef TLC_RELAY_PATH_H
#define TLC_RELAY_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes of IPv4 and TCP headers that a segment carries beside its data (RFC 791, RFC 9293).
enum { TLC_SEGMENT_HEADER = 40 };

struct tlc_path {
    uint64_t one_way_ns;     // propagation delay of each direction: half the round-trip time
    uint64_t jitter_ns;      // each segment's delay is drawn evenly from one_way_ns +- this
    double loss;             // the chance of each segment to be lost
    uint64_t rate_bits;      // bits in a second of each direction; 0: without limit
    unsigned mss;            // data bytes of a full segment
    unsigned initial_window; // segments (RFC 6928: 10)
};

// What reaches the receiver in order: so many bytes more, at that time.
struct tlc_delivery {
    size_t bytes;
    uint64_t at_ns;
};

// A seeded sequence of numbers (splitmix64); one a direction makes a connection repeatable.
struct tlc_dice {
    uint64_t state;
};
double tlc_dice_roll(struct tlc_dice *dice); // 0 <= x < 1

struct tlc_ack {
    uint64_t at_ns;
    size_t bytes;
    bool lost; // the segment had to be sent again
};

// One direction: a sender in slow start (RFC 5681, 3.1) with its window counted in bytes.
struct tlc_flow {
    const struct tlc_path *path; // the caller's
    struct tlc_dice dice;
    uint64_t departed_ns;  // the last segment's
    uint64_t link_free_ns; // when the link has sent it
    uint64_t delivered_ns;
    size_t window, threshold, in_flight, most_in_flight; // bytes
    struct tlc_ack *acks;                                // a ring, oldest at `first`
    size_t first, count, capacity;
};

void tlc_flow_init(struct tlc_flow *flow, const struct tlc_path *path, uint64_t seed);
void tlc_flow_free(struct tlc_flow *flow);
// The sender's TCP takes `bytes` at `now_ns` (never before an earlier call's). Calls `deliver` for
// each segment in order. False when memory runs out.
bool tlc_flow_send(struct tlc_flow *flow, uint64_t now_ns, size_t bytes,
                   void (*deliver)(void *user, struct tlc_delivery delivery), void *user);

// From the client's SYN to its established state: a round trip, and a time-out of 1 s, doubling,
// for each SYN or SYN-ACK that is lost (RFC 6298, 2.1 and 5.5).
uint64_t tlc_path_handshake_ns(const struct tlc_path *path, struct tlc_dice *dice);
// The retransmission time-out of an established connection with one sample of the round-trip time R
// (RFC 6298, 2.2): R + 4 R/2, with the least deviation term that Linux has, 200 ms.
uint64_t tlc_path_timeout_ns(const struct tlc_path *path);

// Arithmetic that does not use the model: round trips that a sender in slow start needs until its
// last of `bytes` has left, when nothing but the window holds it back. 1 up to the initial window,
// 2 up to three times as much, 3 up to seven times.
unsigned tlc_path_rounds(const struct tlc_path *path, size_t bytes);

#endif
