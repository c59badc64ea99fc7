// What machine this is: the `environment` of every result document.
#ifndef TLC_MEASURE_MACHINE_H
#define TLC_MEASURE_MACHINE_H

#include <jansson.h>
#include <sched.h>

#include "base/error.h"

// {cpu_model, cpus, cores, smt, governor, boost, hypervisor, kernel, distribution, memory_bytes,
// clock_source,
//  fd_limit, somaxconn, port_range, virtual, load_average, tlscost:{version, libcrypto}}; what the
//  machine does
// not tell is null, never guessed. The caller owns the reference.
json_t *tlc_machine_describe(void);

// CPUs this process may use, split for a campaign: with 2 or more, `server` gets a third (at least
// one, the highest numbered), `generator` the rest, never SMT siblings of each other where there is
// a choice; the orchestrator shares the generator's. Fails with one CPU: nothing measured there
// would be the server's.
enum tlc_status tlc_machine_split_cpus(cpu_set_t *server, cpu_set_t *generator,
                                       struct tlc_error *error) TLC_CHECKED;

#endif
