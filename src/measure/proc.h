// Readers of /proc. Every parser takes a text buffer, so that fixtures of real machines test it;
// the tlc_read_* functions fetch the file and parse it.
#ifndef TLC_MEASURE_PROC_H
#define TLC_MEASURE_PROC_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

// Sums over a set of CPUs of /proc/stat (proc(5)), in microseconds. The kernel gives steps of one
// tick of sysconf(_SC_CLK_TCK), usually 10 ms, for each CPU and field.
struct tlc_cpu_times {
    uint64_t user_us, nice_us, system_us, idle_us, iowait_us, irq_us, softirq_us, steal_us,
        guest_us;
    unsigned cpus; // how many CPUs of the set were found
};
enum tlc_status tlc_parse_cpu_times(const char *stat_text, const cpu_set_t *cpus,
                                    struct tlc_cpu_times *times,
                                    struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_read_cpu_times(const cpu_set_t *cpus, struct tlc_cpu_times *times,
                                   struct tlc_error *error) TLC_CHECKED;
struct tlc_cpu_times tlc_cpu_times_since(const struct tlc_cpu_times *later,
                                         const struct tlc_cpu_times *earlier);

// TcpExt counters of /proc/net/netstat, of one network namespace since its start. `retransmits`
// sums the causes listed there (TCPFastRetrans, TCPSlowStartRetrans, TCPTimeouts, TCPLossProbes).
struct tlc_tcp_counters {
    uint64_t listen_overflows, listen_drops, retransmits;
};
enum tlc_status tlc_parse_tcp_counters(const char *netstat_text, struct tlc_tcp_counters *counters,
                                       struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_read_tcp_counters(struct tlc_tcp_counters *counters,
                                      struct tlc_error *error) TLC_CHECKED;

// The counters of the network namespace that a process lives in.
enum tlc_status tlc_read_tcp_counters_of(pid_t pid, struct tlc_tcp_counters *counters,
                                         struct tlc_error *error) TLC_CHECKED;

// The begin of /proc/PID/stat.
struct tlc_process_stat {
    pid_t pid, parent;
    char name[64]; // as the kernel gives it; may hold spaces, parentheses and newlines
    char state;    // 'R', 'S', 'Z', ...
};
// False when the text is damaged or cut off.
bool tlc_parse_process_stat(const char *stat_text, struct tlc_process_stat *process);

// A process and its parent, and which of a list descend from `root`. Sorts `links`; writes at most
// `capacity` pids, parents before children, `root` first and only if it is in the list; returns how
// many there are.
struct tlc_process_link {
    pid_t pid, parent;
};
size_t tlc_process_descendants(struct tlc_process_link *links, size_t count, pid_t root,
                               pid_t *pids, size_t capacity);

// A process tree that is read many times. A read costs a few system calls as long as no process was
// created on the machine since the last one; only then are descendants looked for. What a process
// was seen to use stays in the sum after its end, and a member stays one when its parent ends, so
// that the sum never falls. What a process uses between the last read and its end is lost unless it
// is still a zombie then; a process whose parent ended before it was ever seen is not found.
struct tlc_tree;
struct tlc_tree *tlc_tree_open(pid_t root); // NULL when it is gone or memory runs out
// Run time (ns) of the tree; *processes (may be NULL) gets how many of it live now.
uint64_t tlc_tree_read_ns(struct tlc_tree *tree, unsigned *processes);
// The pids of its members at the last read, at most `capacity`; returns how many there are.
size_t tlc_tree_pids(const struct tlc_tree *tree, pid_t *pids, size_t capacity);
// From now on look through all processes of the machine, as is done anyway where the kernel does
// not list children (proc(5), /proc/PID/task/TID/children). Slower, but exact when many children
// end while it looks, where the kernel's lists may skip one until the next look.
void tlc_tree_scan(struct tlc_tree *tree);
void tlc_tree_close(struct tlc_tree *tree); // NULL is allowed

// Run time (ns) of a process and all its descendants that live now, ended threads of each included.
// *processes (may be NULL) gets how many there were; 0 when `root` is gone.
uint64_t tlc_tree_cpu_ns(pid_t root, unsigned *processes);
// Proportional set size of the same tree in bytes (Pss of smaps_rollup), 0 when unreadable.
uint64_t tlc_tree_memory_bytes(pid_t root);

// "0-3,8" <-> CPU set. Errors name the offending part.
enum tlc_status tlc_cpus_parse(const char *list, cpu_set_t *cpus,
                               struct tlc_error *error) TLC_CHECKED;
void tlc_cpus_format(const cpu_set_t *cpus, char *text, size_t capacity);
// A CPU mask as the kernel prints it ("ff", "3,00000000"); false when it is none.
bool tlc_mask_parse(const char *text, cpu_set_t *cpus);
// The smallest mask of a set, in the same notation.
void tlc_mask_format(const cpu_set_t *cpus, char *text, size_t capacity);

#endif
