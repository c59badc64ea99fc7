// A network namespace of our own whose loopback device the kernel's netem makes a long path. Needs
// root (CAP_SYS_ADMIN, CAP_NET_ADMIN), the commands ip and tc, and a kernel with
// CONFIG_NET_SCH_NETEM. Nothing outside of the namespace changes; it goes when the last process in
// it ends.
#ifndef TLC_RELAY_NAMESPACE_H
#define TLC_RELAY_NAMESPACE_H

#include "base/error.h"
#include "relay/path.h"

struct tlc_namespace {
    int own, home; // descriptors of it and of where the caller came from; -1: none
};

// The arguments that `tc` gets for a path, NULL-terminated: pure, so that they can be checked where
// no netem is. `store` keeps the texts.
struct tlc_netem_arguments {
    const char *list[24];
    char store[6][32];
};
void tlc_netem_arguments(const struct tlc_path *path, struct tlc_netem_arguments *arguments);

enum tlc_status tlc_namespace_open(const struct tlc_path *path, struct tlc_namespace *made,
                                   struct tlc_error *error) TLC_CHECKED;
void tlc_namespace_close(struct tlc_namespace *namespace);
// The calling thread's sockets and children belong to the namespace between the two.
enum tlc_status tlc_namespace_enter(const struct tlc_namespace *namespace,
                                    struct tlc_error *error) TLC_CHECKED;
void tlc_namespace_leave(const struct tlc_namespace *namespace);

// Whether this machine has what it takes; otherwise `error` says what is missing.
enum tlc_status tlc_netem_here(struct tlc_error *error) TLC_CHECKED;

#endif
