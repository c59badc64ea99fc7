// The server of the TCP floor, `tlscost load --serve-floor`: connections with the byte counts of a
// handshake, without TLS, and CPU time burnt in its place.
#ifndef TLC_BENCH_FLOOR_H
#define TLC_BENCH_FLOOR_H

#include "bench/rig.h"

struct floor_server {
    struct tlc_process process;
    char address[32]; // ADDR:PORT
    double burn_us;   // burnt per connection
};

// On the CPUs of the rig's server.
enum tlc_status floor_start(struct floor_server *server, const struct rig_options *options,
                            double burn_us, struct tlc_error *error) TLC_CHECKED;
void floor_stop(struct floor_server *server);

#endif
