// Seats of a slice of the network workload: a server's instance and the generator that drives it;
// private to the room.
#ifndef TLC_WORKLOAD_NETWORK_SEAT_H
#define TLC_WORKLOAD_NETWORK_SEAT_H

#include "generator/generator.h"
#include "workload/network_state.h"

// Wake-ups that connections share.
enum { TLC_SEAT_BATCH = 32 };

// One arm in a slice: on which server, driven by which generator.
struct tlc_seat {
    struct network_arm *state;
    struct instance *instance;
    struct tlc_arm_generator *generator;
    json_int_t target;
    unsigned concurrency;
    bool closed; // in a closed loop, whatever the arm's pace
    uint64_t served, burnt_ns, provider_work,
        client_certificates; // of the server, before the slice
    double cost_us;
    struct tlc_readings before, after;
    struct tlc_counters counters;
};

// The arm's instance, or its other one, driven by the generator `load`.
struct tlc_seat tlc_seat_of(struct tlc_workload *workload, size_t arm, bool other, size_t load,
                            unsigned concurrency);
// One slice of one arm, or of two at once. `buckets` NULL: neither event nor buckets.
enum tlc_status tlc_seats_run(struct tlc_workload *workload, struct tlc_seat *seats, size_t count,
                              uint64_t duration_us, uint64_t asked, json_t **buckets,
                              struct tlc_slice *slices, struct tlc_error *error) TLC_CHECKED;
// What the clients counted and the server cost, as a slice.
void tlc_seat_slice(const struct tlc_arm *arm, const struct tlc_counters *counters, double cost_us,
                    double burnt_us, struct tlc_slice *slice);
// Merging is for parts side by side; these follow each other, so their times add up.
enum tlc_status tlc_seat_add_counters(struct tlc_counters *whole, const struct tlc_counters *more,
                                      struct tlc_error *error) TLC_CHECKED;

#endif
