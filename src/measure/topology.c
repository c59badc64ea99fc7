// Which CPUs share a core, and how a campaign splits them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/machine.h"
#include "measure/proc.h"
#include "measure/text.h"

static bool read_cpu_file(const char *root, int cpu, const char *file, char **text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/%s", root, cpu, file);
    *text = tlc_text_read(path);
    return *text != NULL;
}

static bool read_set(const char *path, cpu_set_t *cpus)
{
    char *text = tlc_text_read(path);
    bool good = text && *text != '\n' && tlc_cpus_parse(text, cpus, NULL) == TLC_OK;
    free(text);
    return good;
}

static int first_sibling(const char *root, int cpu)
{
    char *text;
    cpu_set_t siblings;
    int first = -1;
    if (!read_cpu_file(root, cpu, "topology/thread_siblings_list", &text))
        return -1;
    if (tlc_cpus_parse(text, &siblings, NULL) == TLC_OK && CPU_ISSET((size_t)cpu, &siblings))
        for (first = 0; !CPU_ISSET((size_t)first, &siblings);)
            first++;
    free(text);
    return first;
}

// How fast a kind of core is, where one machine has several: Arm tells a number, hybrid x86 a list
// of the fast ones.
static int read_capacity(const char *root, int cpu)
{
    char *text, path[512];
    uint64_t capacity = 0;
    if (read_cpu_file(root, cpu, "cpu_capacity", &text)) {
        const char *at = text;
        if (!tlc_text_number(&at, 1 << 20, &capacity))
            capacity = 0;
        free(text);
        return (int)capacity;
    }
    cpu_set_t fast;
    snprintf(path, sizeof path, "%s/sys/devices/cpu_core/cpus", root);
    return read_set(path, &fast) && CPU_ISSET((size_t)cpu, &fast);
}

size_t tlc_read_places(const char *root, const cpu_set_t *cpus, struct tlc_cpu_place *places)
{
    size_t count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, cpus))
            places[count++] = (struct tlc_cpu_place){
                .cpu = cpu, .core = first_sibling(root, cpu), .capacity = read_capacity(root, cpu)};
    return count;
}

bool tlc_read_online(const char *root, cpu_set_t *cpus)
{
    char path[512];
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/online", root);
    return read_set(path, cpus);
}

// A core and those of its CPUs that may be used.
struct core {
    int id, capacity, highest;
    size_t cpus;
};

static bool same_core(const struct core *core, const struct tlc_cpu_place *place)
{
    // A CPU whose siblings are not known counts as a core of its own.
    return place->core >= 0 && core->id == place->core;
}

static size_t gather_cores(const struct tlc_cpu_place *places, size_t count, struct core *cores)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < used && !same_core(&cores[at], &places[i]))
            at++;
        if (at == used)
            cores[used++] =
                (struct core){.id = places[i].core >= 0 ? places[i].core : -1 - places[i].cpu,
                              .capacity = places[i].capacity};
        cores[at].cpus++;
        if (places[i].cpu > cores[at].highest)
            cores[at].highest = places[i].cpu;
    }
    return used;
}

// The fastest first, of those the highest numbered first.
static int by_preference(const void *left, const void *right)
{
    const struct core *a = left, *b = right;
    if (a->capacity != b->capacity)
        return b->capacity - a->capacity;
    return b->highest - a->highest;
}

static bool is_taken(const struct core *cores, size_t taken, const struct tlc_cpu_place *place)
{
    for (size_t i = 0; i < taken; i++)
        if (same_core(&cores[i], place) || cores[i].id == -1 - place->cpu)
            return true;
    return false;
}

// Whole cores of one kind, as many as fit a third of the CPUs, at least one and never all.
static size_t cores_to_take(const struct core *cores, size_t count, size_t cpus)
{
    size_t taken = 1, sum = cores[0].cpus;
    while (taken + 1 < count && cores[taken].capacity == cores[0].capacity &&
           sum + cores[taken].cpus <= cpus / 3)
        sum += cores[taken++].cpus;
    return taken;
}

static void split_by_core(const struct tlc_cpu_place *places, size_t count, struct core *cores,
                          size_t core_count, cpu_set_t *server, cpu_set_t *generator)
{
    qsort(cores, core_count, sizeof *cores, by_preference);
    size_t taken = cores_to_take(cores, core_count, count);
    for (size_t i = 0; i < count; i++)
        CPU_SET((size_t)places[i].cpu, is_taken(cores, taken, &places[i]) ? server : generator);
}

// One core only, so its threads must be divided: the highest numbered serve.
static void split_one_core(const struct tlc_cpu_place *places, size_t count, cpu_set_t *server,
                           cpu_set_t *generator)
{
    size_t servers = count / 3 ? count / 3 : 1;
    for (size_t i = 0; i < count; i++) {
        size_t higher = 0;
        for (size_t j = 0; j < count; j++)
            higher += places[j].cpu > places[i].cpu;
        CPU_SET((size_t)places[i].cpu, higher < servers ? server : generator);
    }
}

enum tlc_status tlc_split_places(const struct tlc_cpu_place *places, size_t count,
                                 cpu_set_t *server, cpu_set_t *generator, struct tlc_error *error)
{
    CPU_ZERO(server);
    CPU_ZERO(generator);
    if (count < 2)
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "cpus: %zu usable: a server and its load need a CPU each; use a machine "
                        "with at least 2, or widen the affinity (taskset)",
                        count);
    struct core *cores = calloc(count, sizeof *cores);
    if (!cores)
        return tlc_fail(error, TLC_ENVIRONMENT, "cpus: split: out of memory");
    size_t core_count = gather_cores(places, count, cores);
    if (core_count > 1)
        split_by_core(places, count, cores, core_count, server, generator);
    else
        split_one_core(places, count, server, generator);
    free(cores);
    return TLC_OK;
}

enum tlc_status tlc_machine_split_cpus(cpu_set_t *server, cpu_set_t *generator,
                                       struct tlc_error *error)
{
    cpu_set_t usable;
    struct tlc_cpu_place *places = calloc(CPU_SETSIZE, sizeof *places);
    if (!places)
        return tlc_fail(error, TLC_ENVIRONMENT, "cpus: split: out of memory");
    enum tlc_status status;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        status = tlc_fail_errno(error, "cpus: read the affinity");
    else
        status = tlc_split_places(places, tlc_read_places("", &usable, places), server, generator,
                                  error);
    free(places);
    return status;
}
