// Other TLS clients found on the machine, and how each is told to make new connections only.
#ifndef TLC_BENCH_PEERS_H
#define TLC_BENCH_PEERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { PEERS_MAX = 16 };

struct peer_job {
    const char *address; // ADDR:PORT
    const char *group;
    unsigned handshakes, concurrency; // where the tool can be told
    const char *openssl_conf;         // file to write OpenSSL's configuration to
};

struct peer_tool;

struct peer {
    const struct peer_tool *tool;
    char name[96];    // in reports; with the version where a tool is there twice
    char path[4096];  // of the program
    char version[96]; // as it says itself; empty: it does not
};

struct peer_list {
    struct peer peers[PEERS_MAX];
    size_t count;
};

// Adds the program of a tool; NAME is one of those that peer_tools_text lists.
enum tlc_status peers_add(struct peer_list *list, const char *name, const char *path,
                          struct tlc_error *error) TLC_CHECKED;
// Adds every tool that is found on PATH.
enum tlc_status peers_find(struct peer_list *list, struct tlc_error *error) TLC_CHECKED;
const char *peer_tools_text(void); // "openssl, h2load, ..."

// CPU time of one run of a peer, all of its process tree (getrusage(2), RUSAGE_CHILDREN), and what
// it printed (the caller frees it).
struct peer_run {
    double cpu_us;
    int code;
    char *text;
};
// `start_up`: as little work as the tool can do, to see what it spends before its first handshake:
// one handshake, or none at all toward a port where nobody listens.
enum tlc_status peer_execute(const struct peer *peer, const struct peer_job *job, bool start_up,
                             struct peer_run *run, struct tlc_error *error) TLC_CHECKED;
void peer_run_free(struct peer_run *run);

#endif
