// Examinations of processors: frequency, siblings, hypervisor, quota, load.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/doctor_parts.h"
#include "measure/machine.h"
#include "measure/proc.h"
#include "measure/text.h"

enum { LIST_BYTES = 256 };

static bool is_virtual(const struct tlc_patient *patient, char *name, size_t capacity)
{
    json_t *machine = tlc_machine_describe_at(patient->root);
    const char *hypervisor = json_string_value(json_object_get(machine, "hypervisor"));
    bool virtual = json_is_true(json_object_get(machine, "virtual"));
    if (capacity)
        snprintf(name, capacity, "%s", hypervisor ? hypervisor : "");
    json_decref(machine);
    return virtual;
}

static void both_sets(const struct tlc_patient *patient, cpu_set_t *cpus)
{
    CPU_OR(cpus, &patient->server_cpus, &patient->generator_cpus);
}

void tlc_examine_cpus(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    int usable = CPU_COUNT(&patient->usable_cpus);
    char servers[LIST_BYTES], generators[LIST_BYTES];
    tlc_cpus_format(&patient->server_cpus, servers, sizeof servers);
    tlc_cpus_format(&patient->generator_cpus, generators, sizeof generators);
    if (usable < 2)
        tlc_find(finding, TLC_FINDING_SPOILS,
                 "%d CPU usable: a server and its load need a CPU each; use a machine with at "
                 "least 2, or widen the affinity",
                 usable);
    else if (usable == 2)
        tlc_find(finding, TLC_FINDING_NOTE,
                 "2 CPUs: servers get %s, the generator and everything else share %s; no CPU is "
                 "left for other work",
                 servers, generators);
    else
        tlc_find(finding, TLC_FINDING_GOOD, "%d CPUs: servers get %s, the generator %s", usable,
                 servers, generators);
    if (usable < 2)
        tlc_remedy(finding, "taskset --all-tasks --pid --cpu-list 0-1 $$");
}

// --- frequency ---

// Adds a name to a list like "powersave, schedutil" unless it is there.
static void add_name(char *list, size_t capacity, const char *name)
{
    size_t used = strlen(list);
    if (!strstr(list, name))
        snprintf(list + used, capacity - used, "%s%s", used ? ", " : "", name);
}

void tlc_examine_governor(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    char names[LIST_BYTES] = "", path[128];
    size_t slow = 0, known = 0;
    cpu_set_t cpus;
    both_sets(patient, &cpus);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &cpus))
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
        char *governor = tlc_patient_read(patient, "%s", path);
        if (!governor)
            continue;
        known++;
        add_name(names, sizeof names, tlc_first_line(governor));
        if (strcmp(governor, "performance") != 0) {
            slow++;
            tlc_change_add(finding, path, "performance");
        }
        free(governor);
    }
    if (!known && is_virtual(patient, NULL, 0))
        tlc_find(finding, TLC_FINDING_NOTE,
                 "none: a virtual machine whose host sets the frequency; it cannot be fixed here");
    else if (!known)
        tlc_find(finding, TLC_FINDING_NOTE,
                 "none: the kernel has no frequency driver here; firmware sets the frequency");
    else if (!slow)
        tlc_find(finding, TLC_FINDING_GOOD, "performance");
    else {
        tlc_find(finding, TLC_FINDING_SPOILS,
                 "%s: the frequency follows the load, so a cost in us depends on how busy the "
                 "machine was before",
                 names);
        tlc_remedy(finding, "cpupower frequency-set --governor performance");
    }
}

void tlc_examine_boost(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    static const struct {
        const char *path, *off;
        uint64_t on;
    } switches[] = {{"/sys/devices/system/cpu/cpufreq/boost", "0", 1},
                    {"/sys/devices/system/cpu/intel_pstate/no_turbo", "1", 0}};
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        uint64_t value;
        if (!tlc_patient_number(patient, switches[i].path, &value))
            continue;
        if (value != switches[i].on) {
            tlc_find(finding, TLC_FINDING_GOOD, "off");
            return;
        }
        tlc_find(finding, TLC_FINDING_SPOILS,
                 "on: how fast a CPU runs depends on heat and on how many others are busy; ratios "
                 "hold, costs in us drift");
        tlc_remedy(finding, "echo %s | sudo tee %s", switches[i].off, switches[i].path);
        tlc_change_add(finding, switches[i].path, switches[i].off);
        return;
    }
    tlc_find(finding, is_virtual(patient, NULL, 0) ? TLC_FINDING_NOTE : TLC_FINDING_UNKNOWN,
             "this machine has no switch for it; whether the CPUs boost cannot be told");
}

// --- siblings ---

struct siblings {
    bool known, shared;
    cpu_set_t idle; // on a server's core, used by neither set
};

static void read_siblings(const struct tlc_patient *patient, struct siblings *siblings)
{
    *siblings = (struct siblings){.known = true};
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        cpu_set_t core;
        if (!CPU_ISSET((size_t)cpu, &patient->server_cpus))
            continue;
        char *text = tlc_patient_read(
            patient, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
        if (!text || tlc_cpus_parse(tlc_first_line(text), &core, NULL) != TLC_OK)
            siblings->known = false;
        else {
            siblings->shared = siblings->shared || tlc_sets_meet(&core, &patient->generator_cpus);
            CPU_OR(&siblings->idle, &siblings->idle, &core);
        }
        free(text);
    }
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &patient->server_cpus) || CPU_ISSET(cpu, &patient->generator_cpus))
            CPU_CLR(cpu, &siblings->idle);
}

// Another split of the usable CPUs that keeps cores whole, as options; empty when there is none.
static void better_split(const struct tlc_patient *patient, char *options, size_t capacity)
{
    struct tlc_patient other = *patient;
    struct siblings siblings;
    char servers[LIST_BYTES], generators[LIST_BYTES];
    struct tlc_cpu_place *places = calloc(CPU_SETSIZE, sizeof *places);
    options[0] = '\0';
    if (!places)
        return;
    size_t count = tlc_read_places(patient->root, &patient->usable_cpus, places);
    enum tlc_status status =
        tlc_split_places(places, count, &other.server_cpus, &other.generator_cpus, NULL);
    free(places);
    if (status != TLC_OK)
        return;
    read_siblings(&other, &siblings);
    if (!siblings.known || siblings.shared)
        return;
    tlc_cpus_format(&other.server_cpus, servers, sizeof servers);
    tlc_cpus_format(&other.generator_cpus, generators, sizeof generators);
    snprintf(options, capacity, "--server-cpus %s --generator-cpus %s", servers, generators);
}

void tlc_examine_smt(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    struct siblings siblings;
    char options[2 * LIST_BYTES + 64], idle[LIST_BYTES];
    read_siblings(patient, &siblings);
    tlc_cpus_format(&siblings.idle, idle, sizeof idle);
    if (!siblings.known)
        tlc_find(finding, TLC_FINDING_UNKNOWN, "which CPUs share a core is not told");
    else if (siblings.shared) {
        better_split(patient, options, sizeof options);
        tlc_find(finding, TLC_FINDING_SPOILS,
                 "a server's CPU and a generator's share a core: each slows the other%s",
                 *options ? "" : "; this machine has no second core to move to");
        if (*options)
            tlc_remedy(finding, "tlscost run %.400s", options);
    } else if (CPU_COUNT(&siblings.idle)) {
        tlc_find(
            finding, TLC_FINDING_NOTE,
            "CPUs %.100s share cores with the servers' and are used by neither side: what runs "
            "there slows the servers",
            idle);
        int first = 0;
        while (!CPU_ISSET((size_t)first, &siblings.idle))
            first++;
        tlc_remedy(finding, "echo 0 | sudo tee /sys/devices/system/cpu/cpu%d/online", first);
    } else {
        tlc_find(finding, TLC_FINDING_GOOD, "servers and generator share no core%s",
                 is_virtual(patient, NULL, 0)
                     ? ", as far as the hypervisor tells; 'tlscost calibrate' measures it"
                     : "");
    }
}

// --- others on the machine ---

void tlc_examine_hypervisor(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    char name[96];
    if (!is_virtual(patient, name, sizeof name)) {
        json_t *machine = tlc_machine_describe_at(patient->root);
        if (json_is_false(json_object_get(machine, "virtual")))
            tlc_find(finding, TLC_FINDING_GOOD, "none");
        else
            tlc_find(finding, TLC_FINDING_UNKNOWN, "this kind of CPU does not tell");
        json_decref(machine);
        return;
    }
    tlc_find(
        finding, TLC_FINDING_NOTE,
        "virtual machine%s%s%s: other guests share its host, and its CPUs may share cores with "
        "them; trust ratios more than costs in us, and calibrate",
        *name ? " that calls itself '" : "", name, *name ? "'" : "");
    tlc_remedy(finding, "tlscost calibrate");
}

static bool times_of(const char *stat, const cpu_set_t *cpus, struct tlc_cpu_times *times)
{
    return stat && tlc_parse_cpu_times(stat, cpus, times, NULL) == TLC_OK;
}

static uint64_t total_us(const struct tlc_cpu_times *times)
{
    return times->user_us + times->nice_us + times->system_us + times->idle_us + times->iowait_us +
           times->irq_us + times->softirq_us + times->steal_us;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

void tlc_examine_steal(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    struct tlc_cpu_times before, after;
    cpu_set_t cpus;
    both_sets(patient, &cpus);
    if (!times_of(patient->before.stat, &cpus, &before) ||
        !times_of(patient->after.stat, &cpus, &after))
        return;
    struct tlc_cpu_times now = tlc_cpu_times_since(&after, &before);
    double recent = 100 * share(now.steal_us, total_us(&now));
    double ever = 100 * share(after.steal_us, total_us(&after));
    if (recent > 1) {
        tlc_find(finding, TLC_FINDING_SPOILS,
                 "the hypervisor took %.1f %% of the CPUs just now, %.2f %% since boot: other "
                 "guests compete; move to dedicated CPUs, or measure at a quieter time",
                 recent, ever);
        tlc_remedy(finding, "vmstat 1 30");
    } else if (ever > 1) {
        tlc_find(finding, TLC_FINDING_NOTE, "%.1f %% just now, but %.2f %% since boot", recent,
                 ever);
        tlc_remedy(finding, "vmstat 1 30");
    } else {
        tlc_find(finding, TLC_FINDING_GOOD, "%.1f %% just now, %.2f %% since boot%s", recent, ever,
                 !after.steal_us && is_virtual(patient, NULL, 0)
                     ? " (a hypervisor need not report it)"
                     : "");
    }
}

void tlc_examine_load(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    struct tlc_cpu_times before[2], after[2];
    if (!times_of(patient->before.stat, &patient->server_cpus, &before[0]) ||
        !times_of(patient->after.stat, &patient->server_cpus, &after[0]) ||
        !times_of(patient->before.stat, &patient->generator_cpus, &before[1]) ||
        !times_of(patient->after.stat, &patient->generator_cpus, &after[1]))
        return;
    double busy[2];
    for (size_t i = 0; i < 2; i++) {
        struct tlc_cpu_times now = tlc_cpu_times_since(&after[i], &before[i]);
        uint64_t idle = now.idle_us + now.iowait_us + now.steal_us;
        busy[i] = 100 * share(total_us(&now) - idle, total_us(&now));
    }
    bool loaded = busy[0] > 5 || busy[1] > 5;
    tlc_find(finding, loaded ? TLC_FINDING_SPOILS : TLC_FINDING_GOOD,
             "other processes keep the servers' CPUs %.0f %% and the generator's %.0f %% busy",
             busy[0], busy[1]);
    if (loaded)
        tlc_remedy(finding, "ps -eo pid,psr,pcpu,args --sort=-pcpu | head");
}
