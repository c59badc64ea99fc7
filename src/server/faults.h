// Misbehaviour on purpose (serve --fault); not looked at unless asked for.
// It is private to the room.
#ifndef TLC_SERVER_FAULTS_H
#define TLC_SERVER_FAULTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "server/server.h"

enum tlc_fault { TLC_FAULT_NONE, TLC_FAULT_RESET, TLC_FAULT_STALL };

struct tlc_faults {
    struct tlc_server_faults asked;
    _Atomic uint64_t connections, handshakes; // over all workers
};

bool tlc_faults_asked(const struct tlc_server_faults *faults);
// What shall happen to a connection just accepted.
enum tlc_fault tlc_fault_of_connection(struct tlc_faults *faults);
// Called after each handshake; does not return once the process has to die.
void tlc_fault_of_handshake(struct tlc_faults *faults);
// Makes close(2) send a reset.
void tlc_fault_reset(int fd);

#endif
