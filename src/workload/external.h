// Servers that are not ours, run from their description (plan/server.h): what is known of them is
// their address, their process tree and what they print; private to the room.
#ifndef TLC_WORKLOAD_EXTERNAL_H
#define TLC_WORKLOAD_EXTERNAL_H

#include <jansson.h>
#include <sched.h>

#include "base/error.h"
#include "base/process.h"
#include "plan/plan.h"
#include "plan/server.h"

// A description made ready: its runtime fetched, its parts built, its version asked.
struct tlc_external {
    struct tlc_server *server;
    char *prefix;  // of its recipe; "" without one
    char *build;   // folder of what was built
    char *version; // as the server prints it, one line; "" when it does not tell
};

// Reads the description, refuses what the arm asks and the server lacks, by name.
enum tlc_status tlc_external_check(const struct tlc_arm *arm, struct tlc_error *error) TLC_CHECKED;
// Brings the runtime by its recipe and builds, once for all instances. `log` takes what the builds
// print; its last lines are in the error of one that fails.
enum tlc_status tlc_external_open(const struct tlc_arm *arm, const char *log,
                                  struct tlc_external *external,
                                  struct tlc_error *error) TLC_CHECKED;
void tlc_external_close(struct tlc_external *external);
// The same without keeping it; nothing for arms whose server is ours.
enum tlc_status tlc_external_bring(const struct tlc_arm *arm, const char *log,
                                   struct tlc_error *error) TLC_CHECKED;

struct tlc_external_run {
    const struct tlc_arm *arm;
    const struct tlc_external *external;
    const char *certificates; // folder of the arm's test certificates
    const char *work;         // folder of this instance, which is made
    const char *log;
    const char *trace_file; // for the arm's trace; NULL: none
    const cpu_set_t *cpus;
    const char *const *environment; // more "NAME=value" than the description has; NULL: none
};

// Has a server that makes its functions while it runs name them where perf looks, and removes that
// again; nothing for others. `log` takes what is said.
enum tlc_status tlc_external_name_functions(const struct tlc_arm *arm,
                                            const struct tlc_external *external, pid_t pid,
                                            const char *log, struct tlc_error *error) TLC_CHECKED;
void tlc_external_forget_functions(const struct tlc_external *external, pid_t pid);

// Starts the server on a free port of 127.0.0.1 and waits until it listens. *command (the caller's)
// is the command line as it was run.
enum tlc_status tlc_external_start(const struct tlc_external_run *run, struct tlc_process *process,
                                   char *address, size_t capacity, json_t **command,
                                   struct tlc_error *error) TLC_CHECKED;
// Waits until the process tree uses no more CPU time, or the time is over.
void tlc_external_settle(pid_t root, unsigned timeout_ms);

#endif
