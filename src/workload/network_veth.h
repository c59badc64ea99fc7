// Two network namespaces joined by a veth pair: a server's side and a client's side, each with its
// receive work steered to its own CPUs (receive packet steering, the kernel's
// Documentation/networking/scaling.rst) or, unsteered, left to the sender's CPU as on loopback.
// They have no names: descriptors and the processes inside hold them, and when the last of these
// ends, however it ends, the kernel removes them. Private to the room.
#ifndef TLC_WORKLOAD_NETWORK_VETH_H
#define TLC_WORKLOAD_NETWORK_VETH_H

#include <sched.h>

#include "base/error.h"

#define TLC_VETH_SERVER "10.77.0.1"
#define TLC_VETH_CLIENT "10.77.0.2"

enum tlc_veth_side { TLC_VETH_OF_SERVER, TLC_VETH_OF_CLIENT };

// Namespaces in the order in which a process joins them, each list ended by -1: as an ordinary user
// first the user namespace that owns the network ones.
struct tlc_veth {
    int namespaces[2][3]; // by enum tlc_veth_side
};

// No steering without CPUs (both NULL). TLC_ENVIRONMENT where the kernel does not permit it, with
// what is needed.
enum tlc_status tlc_veth_open(const cpu_set_t *server_cpus, const cpu_set_t *client_cpus,
                              struct tlc_veth **veth, struct tlc_error *error) TLC_CHECKED;
// As socket(2), on the client's side: a socket stays in the namespace that it was made in.
int tlc_veth_client_socket(const struct tlc_veth *veth, int domain, int type, int protocol);
void tlc_veth_close(struct tlc_veth *veth); // NULL is allowed

#endif
