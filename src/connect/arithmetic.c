#include "connect/arithmetic.h"

// A flight takes half a round trip; when it is larger than the sender's window, one more for each
// time that the window must open. A request and its answer are two flights.
void tlc_connect_round_trips(const struct tlc_wire *wire, const struct tlc_path *path, bool upgrade,
                             unsigned trips[TLC_PHASES])
{
    unsigned tcp = 1; // SYN, SYN-ACK
    unsigned retry = wire->hello_retry_request ? 1 : 0;
    unsigned hello = tlc_path_rounds(path, wire->client_hello) + retry;
    unsigned flight = tlc_path_rounds(path, wire->server_flight) - 1;
    unsigned reply = wire->server_finished ? 1 : 0; // RFC 5246, 7.3: the client's Finished is first
    trips[TLC_PHASE_TCP] = tcp;
    trips[TLC_PHASE_SERVER_HELLO] = tcp + hello;
    trips[TLC_PHASE_FINISHED] = tcp + hello + flight + reply;
    trips[TLC_PHASE_FIRST_BYTE] = trips[TLC_PHASE_FINISHED] + (upgrade ? 1 : 0) + 1;
}
