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

// TcpExt counters of /proc/net/netstat.
struct tlc_tcp_counters {
    uint64_t listen_overflows, listen_drops, retransmits;
};
enum tlc_status tlc_parse_tcp_counters(const char *netstat_text, struct tlc_tcp_counters *counters,
                                       struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_read_tcp_counters(struct tlc_tcp_counters *counters,
                                      struct tlc_error *error) TLC_CHECKED;

// Run time (ns) of a process and all its descendants that live now, ended threads of each included.
// *processes (may be NULL) gets how many there were; 0 when `root` is gone.
uint64_t tlc_tree_cpu_ns(pid_t root, unsigned *processes);
// Proportional set size of the same tree in bytes (Pss of smaps_rollup), 0 when unreadable.
uint64_t tlc_tree_memory_bytes(pid_t root);

// "0-3,8" <-> CPU set. Errors name the offending part.
enum tlc_status tlc_cpus_parse(const char *list, cpu_set_t *cpus,
                               struct tlc_error *error) TLC_CHECKED;
void tlc_cpus_format(const cpu_set_t *cpus, char *text, size_t capacity);

#endif
