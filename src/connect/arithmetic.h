// What a connection should take by arithmetic, in whole round trips; private to the room. Pure.
#ifndef TLC_CONNECT_ARITHMETIC_H
#define TLC_CONNECT_ARITHMETIC_H

#include <stdbool.h>

#include "connect/visit.h"
#include "evidence/wire.h"
#include "relay/path.h"

// Round trips from the start until each phase, when nobody computes and nothing is lost: from the
// bytes of the flights, which are a fact of the wire. TLS 1.2 is told by a server's Finished behind
// the client's.
void tlc_connect_round_trips(const struct tlc_wire *wire, const struct tlc_path *path, bool upgrade,
                             unsigned trips[TLC_PHASES]);

#endif
