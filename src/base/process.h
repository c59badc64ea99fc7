// Child processes without a shell: own process group, pinned CPUs, ended with their parent.
#ifndef TLC_BASE_PROCESS_H
#define TLC_BASE_PROCESS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct tlc_process {
    pid_t pid;       // leader of its own process group; 0: none
    int control;     // our end of the control socket; -1: none
    int stop_signal; // of the option
    unsigned mark;   // of the option `mark`; 0: none
};

struct tlc_process_options {
    const char *const *arguments; // NULL-terminated; arguments[0] is a path or a name found in PATH
    const char *const *environment; // "NAME=value" put over the parent's environment; NULL: none
    const char *working_directory;  // NULL: the parent's
    const cpu_set_t *cpus;          // NULL: the parent's
    const int *namespaces; // descriptors of those to join first, in order, ended by -1; NULL: none
    int stop_signal;       // what tlc_process_stop sends first; 0: SIGTERM
    bool mark;    // tlc_process_stop also ends what it started in groups and sessions of their own
    bool control; // make a control socket; the child finds its end as descriptor TLC_CONTROL_FD
    const char *log;    // file that takes the child's standard output and error; NULL: inherited
    const char *output; // file that takes its standard output alone instead; NULL: as `log` says
};

#define TLC_CONTROL_FD 3

enum tlc_status tlc_process_start(const struct tlc_process_options *options,
                                  struct tlc_process *process, struct tlc_error *error) TLC_CHECKED;
// True while the child runs. When it has ended, *how (may be NULL) gets its wait status.
bool tlc_process_alive(struct tlc_process *process, int *how);
// Ends the whole process group: SIGTERM, or the signal of the option, up to `grace_ms`, then
// SIGKILL; reaps; closes the control socket.
void tlc_process_stop(struct tlc_process *process, int grace_ms);
// Runs a command to its end and takes its standard output and error together as one NUL-terminated
// text (caller frees). *code is its exit code, or 128 + signal, of a command that came to its end.
enum tlc_status tlc_process_output(const char *const *arguments, int timeout_ms, char **text,
                                   int *code, struct tlc_error *error) TLC_CHECKED;
// Absolute path of the running program (static).
const char *tlc_program_path(void);

#endif
