// Examinations of limits, clock, performance events and memory.
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/doctor_parts.h"
#include "measure/text.h"

enum { LEAST_FILES = 1024, GOOD_FILES = 4096, LEAST_MEMORY_MIB = 1024 };

void tlc_examine_fd_limit(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    if (!patient->fd_limit)
        return;
    if (patient->fd_limit >= GOOD_FILES) {
        tlc_find(finding, TLC_FINDING_GOOD, "%" PRIu64 " open files", patient->fd_limit);
        return;
    }
    tlc_find(finding, patient->fd_limit < LEAST_FILES ? TLC_FINDING_SPOILS : TLC_FINDING_NOTE,
             "%" PRIu64 " open files: an arm whose concurrency comes near it fails",
             patient->fd_limit);
    tlc_remedy(finding, "ulimit -n 65536");
}

void tlc_examine_clock_source(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    // Sources that a process cannot read by itself: each look at the clock is slow, and what looks
    // at it often pays for it.
    static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies",
                                       "pit",  "xen"};
    static const char folder[] = "/sys/devices/system/clocksource/clocksource0";
    char *now = tlc_patient_read(patient, "%s/current_clocksource", folder);
    char *others = tlc_patient_read(patient, "%s/available_clocksource", folder);
    if (now && *tlc_first_line(now)) {
        tlc_find(finding, TLC_FINDING_GOOD, "%.60s", now);
        for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
            if (!strcmp(now, slow[i]))
                tlc_find(finding, TLC_FINDING_SPOILS,
                         "%.60s: reading the time is a slow system call, and servers do it often",
                         now);
        if (finding->state == TLC_FINDING_SPOILS && others && strstr(others, "tsc"))
            tlc_remedy(finding, "echo tsc | sudo tee %s/current_clocksource", folder);
        else if (finding->state == TLC_FINDING_SPOILS)
            tlc_remedy(finding, "sudo dmesg | grep -i -e clocksource -e tsc");
    }
    free(others);
    free(now);
}

static bool is_cpu_unit(const char *name)
{
    return !strcmp(name, "cpu") || !strncmp(name, "cpu_", 4) || !strncmp(name, "cpum_", 5) ||
           !strncmp(name, "armv", 4) || !strncmp(name, "riscv", 5);
}

void tlc_examine_counters(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    char path[1024];
    bool found = false;
    snprintf(path, sizeof path, "%s/sys/bus/event_source/devices", patient->root);
    DIR *devices = opendir(path);
    if (!devices)
        return;
    for (struct dirent *entry; (entry = readdir(devices)) != NULL;)
        found = found || is_cpu_unit(entry->d_name);
    closedir(devices);
    if (found)
        tlc_find(finding, TLC_FINDING_GOOD, "the CPUs' performance counters are there");
    else
        tlc_find(finding, TLC_FINDING_NOTE,
                 "none: cycles and instructions cannot be counted here; CPU time is measured "
                 "without them");
}

void tlc_examine_perf_permission(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
    char *text = tlc_patient_read(patient, "%s", path);
    char *end = text;
    long level = text ? strtol(text, &end, 10) : 0;
    bool known = text && end != text;
    free(text);
    if (!known)
        return;
    if (level <= 1) {
        tlc_find(finding, TLC_FINDING_GOOD, "perf_event_paranoid is %ld", level);
        return;
    }
    tlc_find(finding, TLC_FINDING_NOTE,
             "perf_event_paranoid is %ld: an ordinary user may not count events of the kernel%s; "
             "costs do not need them, profiles do",
             level, patient->privileged ? " (this one may)" : "");
    tlc_remedy(finding, "sudo sysctl -w kernel.perf_event_paranoid=1");
    tlc_change_add(finding, path, "1");
}

// "Name:   number kB" of /proc/meminfo.
static bool meminfo(const char *text, const char *name, uint64_t *mebibytes)
{
    size_t length = strlen(name);
    for (const char *line = text; line && *line; line = tlc_text_next_line(line))
        if (!strncmp(line, name, length) && line[length] == ':') {
            const char *at = line + length + 1;
            bool good = tlc_text_number(&at, INT64_MAX, mebibytes);
            *mebibytes /= 1024;
            return good;
        }
    return false;
}

void tlc_examine_memory(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    char *text = tlc_patient_read(patient, "/proc/meminfo");
    uint64_t available, total;
    if (text && meminfo(text, "MemTotal", &total) && meminfo(text, "MemAvailable", &available)) {
        bool little = available < LEAST_MEMORY_MIB;
        tlc_find(finding, little ? TLC_FINDING_SPOILS : TLC_FINDING_GOOD,
                 "%" PRIu64 " of %" PRIu64 " MiB available%s", available, total,
                 little ? ": servers and samples may be swapped out or killed" : "");
        if (little)
            tlc_remedy(finding, "ps -eo pid,rss,args --sort=-rss | head");
    }
    free(text);
}
