// What on this machine would spoil a measurement, and the remedy for each. Examinations read files
// below a root and texts, so that fixtures of machines test them; nothing is changed by looking.
#ifndef TLC_MEASURE_DOCTOR_H
#define TLC_MEASURE_DOCTOR_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum tlc_finding_state {
    TLC_FINDING_GOOD,
    TLC_FINDING_NOTE,   // true of this machine and worth knowing; does not spoil by itself
    TLC_FINDING_SPOILS, // would spoil a measurement; has a remedy
    TLC_FINDING_UNKNOWN // the machine does not tell
};
const char *tlc_finding_state_name(enum tlc_finding_state state); // "good", "note", ...

// A file to write for the time of a measurement, and what it held before.
struct tlc_change {
    char path[256];
    char value[64];
};

struct tlc_finding {
    const char *name; // "governor", "boost", ...; static
    enum tlc_finding_state state;
    char text[512];             // what was found, and what follows from it
    char remedy[512];           // a command; empty: none is needed or possible
    struct tlc_change *changes; // what --apply writes; owned
    size_t change_count;
};

// Counters at one moment: texts of /proc/stat, /proc/interrupts and /proc/softirqs; NULL: not read.
struct tlc_counters_text {
    char *stat, *interrupts, *softirqs; // owned
    uint64_t at_ns;
};

struct tlc_patient {
    const char *root; // "" is this machine; else a folder with its /proc and /sys
    cpu_set_t server_cpus, generator_cpus, usable_cpus;
    bool privileged;   // may change system settings and use performance events (root)
    uint64_t fd_limit; // soft limit of open files; 0: not known
    struct tlc_counters_text before, after; // a second or so apart, the machine left alone
};

// Reads the counters below root; what cannot be read is NULL.
void tlc_counters_text_read(const char *root, struct tlc_counters_text *counters);
void tlc_counters_text_free(struct tlc_counters_text *counters);

// All findings, in a fixed order; *count says how many. NULL when memory runs out.
struct tlc_finding *tlc_doctor_examine(const struct tlc_patient *patient, size_t *count);
void tlc_findings_free(struct tlc_finding *findings, size_t count);
// [{name, state, text, remedy, changes[]}]
json_t *tlc_findings_json(const struct tlc_finding *findings, size_t count);

// Changes that were made, in the order in which they were.
struct tlc_applied {
    struct tlc_change *made; // `value` is what the file held before
    size_t count, capacity;
};
// Writes what the findings ask for, below `root`. What cannot be written is told in `told` (may be
// NULL), one line each, and left as it is.
void tlc_doctor_apply(const char *root, const struct tlc_finding *findings, size_t count,
                      struct tlc_applied *applied, char *told, size_t capacity);
// Puts back what was changed, the last change first; returns how many could not be put back.
size_t tlc_doctor_restore(struct tlc_applied *applied);

#endif
