// The examinations behind tlc_doctor_examine; private to the room.
#ifndef TLC_MEASURE_DOCTOR_PARTS_H
#define TLC_MEASURE_DOCTOR_PARTS_H

#include "measure/doctor.h"

// Each fills state, text, remedy and changes of a finding whose name is set.
typedef void tlc_examination(const struct tlc_patient *patient, struct tlc_finding *finding);

// doctor_cpu.c, doctor_quota.c
tlc_examination tlc_examine_cpus, tlc_examine_governor, tlc_examine_boost, tlc_examine_smt,
    tlc_examine_hypervisor, tlc_examine_steal, tlc_examine_quota, tlc_examine_load;
// doctor_network.c
tlc_examination tlc_examine_irqs, tlc_examine_softirqs, tlc_examine_rps, tlc_examine_ports,
    tlc_examine_somaxconn;
// doctor_system.c
tlc_examination tlc_examine_fd_limit, tlc_examine_clock_source, tlc_examine_counters,
    tlc_examine_perf_permission, tlc_examine_memory;

// State and text of a finding.
void tlc_find(struct tlc_finding *finding, enum tlc_finding_state state, const char *format, ...)
    TLC_PRINTF(3, 4);
void tlc_remedy(struct tlc_finding *finding, const char *format, ...) TLC_PRINTF(2, 3);
// Adds a file for --apply to write.
void tlc_change_add(struct tlc_finding *finding, const char *path, const char *value);

// Text of root + file, the caller's; NULL when it cannot be read.
char *tlc_patient_read(const struct tlc_patient *patient, const char *format, ...) TLC_PRINTF(2, 3);
// The number such a file holds; false when it holds none.
bool tlc_patient_number(const struct tlc_patient *patient, const char *file, uint64_t *number);
// The first line of a text in place, without spaces at its end.
char *tlc_first_line(char *text);
bool tlc_sets_meet(const cpu_set_t *a, const cpu_set_t *b);

#endif
