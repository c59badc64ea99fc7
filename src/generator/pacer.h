// When handshakes of a slice start. Knows no clock: the time is handed in.
#ifndef TLC_GENERATOR_PACER_H
#define TLC_GENERATOR_PACER_H

#include <stdbool.h>
#include <stdint.h>

struct tlc_pacer {
    uint64_t begin_ns, stop_ns; // stop_ns UINT64_MAX: the count decides
    uint64_t count;             // starts allowed in all; UINT64_MAX: the time decides
    uint64_t taken;
    double rate;  // open loop: starts a second at the beginning; 0: closed loop
    double slope; // by how much the rate changes a second
    bool open_loop, stopped;
};

#define TLC_PACER_NEVER UINT64_MAX

// What a slice is asked to start.
struct tlc_pace {
    uint64_t duration_us, count; // 0: no limit
    bool open_loop;
    double rate, rate_end; // starts a second, changing evenly over the duration
};

void tlc_pacer_begin(struct tlc_pacer *pacer, uint64_t now_ns, const struct tlc_pace *pace);
// Takes one start when it is due; *intended_ns gets when it should have been.
bool tlc_pacer_take(struct tlc_pacer *pacer, uint64_t now_ns, uint64_t *intended_ns);
// When the next start is due (in the past: at once), TLC_PACER_NEVER after the last.
uint64_t tlc_pacer_next_ns(const struct tlc_pacer *pacer, uint64_t now_ns);
void tlc_pacer_stop(struct tlc_pacer *pacer);
// Open loop: starts that were due until `now_ns` and were not taken.
uint64_t tlc_pacer_missed(const struct tlc_pacer *pacer, uint64_t now_ns);

#endif
