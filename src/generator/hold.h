// Half-open connections that are kept: each gets the server's answer to its ClientHello, and then
// waits for the server to lose patience.
#ifndef TLC_GENERATOR_HOLD_H
#define TLC_GENERATOR_HOLD_H

#include <stdint.h>

#include "generator/address.h"
#include "generator/generator.h"

enum { TLC_MOST_HELD = 1000, TLC_LONGEST_HOLD_US = 120000000 };

struct tlc_hold;

struct tlc_hold_facts {
    unsigned open;   // connections the server answered
    unsigned closed; // of these, ended by the server so far
    uint64_t bytes_sent, bytes_received;
    uint64_t first_us, median_us, last_us; // from a connection's answer to its end, over those
};

// Opens `count` connections one after the other by the options of a target whose handshakes stop
// early. A connection that fails is an error that names its kind.
enum tlc_status tlc_hold_open(const struct tlc_target_options *options,
                              const struct tlc_target_address *address, unsigned count,
                              struct tlc_hold **hold, struct tlc_error *error) TLC_CHECKED;
// Waits until the server has ended all of them, or the time is over.
void tlc_hold_wait(struct tlc_hold *hold, uint64_t duration_us);
void tlc_hold_facts(struct tlc_hold *hold, struct tlc_hold_facts *facts);
// Ends those still open by reset.
void tlc_hold_free(struct tlc_hold *hold);

#endif
