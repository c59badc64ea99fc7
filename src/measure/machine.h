// What machine this is: the `environment` of every result document.
#ifndef TLC_MEASURE_MACHINE_H
#define TLC_MEASURE_MACHINE_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

// {cpu_model, cpus, cores, smt, governor, boost, hypervisor, virtual, kernel, architecture,
//  distribution, memory_bytes, clock_source, cpu_accounting, fd_limit, somaxconn, port_range,
//  load_average, tlscost:{version, libcrypto}}; what the machine does not tell is null, never
//  guessed. The caller
// owns the reference.
json_t *tlc_machine_describe(void);
// The same of a machine whose /proc, /sys and /etc files lie under `root` ("": this one). What only
// a running process can ask (fd_limit, CPUID) is null for another root.
json_t *tlc_machine_describe_at(const char *root);

// SHA-256, as 64 hexadecimal digits, of those facts of an environment that make figures comparable:
// processor, kernel, hypervisor, memory, clock source, governor, boost; not load or limits. False
// when libcrypto fails.
enum { TLC_MACHINE_IDENTITY_BYTES = 65 };
bool tlc_machine_identity(const json_t *environment, char hex[TLC_MACHINE_IDENTITY_BYTES]);

// Where a CPU is: for pure decisions on pinning.
struct tlc_cpu_place {
    int cpu;
    int core;     // lowest numbered CPU of its core (SMT siblings have the same); -1: not known
    int capacity; // larger is faster; equal on machines with one kind of core
};
// Places of the CPUs of a set, read from /sys under `root`. `places` has room for CPU_SETSIZE;
// returns how many there are.
size_t tlc_read_places(const char *root, const cpu_set_t *cpus, struct tlc_cpu_place *places);
// The CPUs that are switched on; false when /sys does not tell.
bool tlc_read_online(const char *root, cpu_set_t *cpus);

// Splits CPUs for a campaign. The server gets whole cores, as many as fit a third of the CPUs, at
// least one: of the fastest kind, the highest numbered. The generator gets the rest. Only on a
// machine of one core are SMT siblings divided between them. Fails with fewer than 2 CPUs: nothing
// measured there would be the server's.
enum tlc_status tlc_split_places(const struct tlc_cpu_place *places, size_t count,
                                 cpu_set_t *server, cpu_set_t *generator,
                                 struct tlc_error *error) TLC_CHECKED;
// The same over the CPUs that this process may use; the orchestrator shares the generator's.
enum tlc_status tlc_machine_split_cpus(cpu_set_t *server, cpu_set_t *generator,
                                       struct tlc_error *error) TLC_CHECKED;

#endif
