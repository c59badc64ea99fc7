#include "measure/cpu_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/instructions.h"

static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
} kinds[TLC_EVENT_COUNT] = {
    [TLC_EVENT_CPU_CLOCK] = {"cpu_clock_ns", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    [TLC_EVENT_CONTEXT_SWITCHES] = {"context_switches", PERF_TYPE_SOFTWARE,
                                    PERF_COUNT_SW_CONTEXT_SWITCHES},
    [TLC_EVENT_CYCLES] = {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [TLC_EVENT_INSTRUCTIONS] = {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
};

struct tlc_cpu_events {
    size_t cpus;
    int *fds; // by event, then CPU; -1: missing
    bool counted[TLC_EVENT_COUNT];
};

const char *tlc_cpu_event_name(enum tlc_cpu_event event)
{
    return kinds[event].name;
}

static int open_event(enum tlc_cpu_event event, int cpu)
{
    struct perf_event_attr attributes = {
        .type = kinds[event].type,
        .size = sizeof attributes,
        .config = kinds[event].config,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool open_kind(struct tlc_cpu_events *events, const cpu_set_t *cpus,
                      enum tlc_cpu_event event)
{
    int *fds = events->fds + (size_t)event * events->cpus;
    size_t at = 0;
    bool whole = true;
    for (int cpu = 0; cpu < CPU_SETSIZE && at < events->cpus; cpu++) {
        if (!CPU_ISSET((size_t)cpu, cpus))
            continue;
        fds[at] = whole ? open_event(event, cpu) : -1;
        whole = whole && fds[at] >= 0;
        at++;
    }
    return whole;
}

struct tlc_cpu_events *tlc_cpu_events_open(const cpu_set_t *cpus, const char **reason)
{
    struct tlc_cpu_events *events = calloc(1, sizeof *events);
    bool any = false;
    if (reason)
        *reason = "out of memory";
    if (!events)
        return NULL;
    events->cpus = (size_t)CPU_COUNT(cpus);
    events->fds = calloc(TLC_EVENT_COUNT * events->cpus + 1, sizeof *events->fds);
    if (!events->fds) {
        free(events);
        return NULL;
    }
    for (size_t i = 0; i < TLC_EVENT_COUNT * events->cpus; i++)
        events->fds[i] = -1;
    for (int event = 0; event < TLC_EVENT_COUNT && events->cpus; event++) {
        events->counted[event] = open_kind(events, cpus, (enum tlc_cpu_event)event);
        any = any || events->counted[event];
        if (!any && reason)
            *reason = tlc_perf_reason(errno);
    }
    if (any)
        return events;
    tlc_cpu_events_close(events);
    return NULL;
}

// perf_event_open(2): where more events than counters are open, the kernel lets them take turns and
// tells how long each ran.
static uint64_t scaled(const uint64_t *told)
{
    if (!told[2] || told[2] >= told[1])
        return told[0];
    return (uint64_t)((double)told[0] * ((double)told[1] / (double)told[2]));
}

void tlc_cpu_events_read(const struct tlc_cpu_events *events, struct tlc_cpu_event_sums *sums)
{
    *sums = (struct tlc_cpu_event_sums){.of = {0}};
    for (int event = 0; events && event < TLC_EVENT_COUNT; event++) {
        sums->counted[event] = events->counted[event];
        for (size_t i = 0; sums->counted[event] && i < events->cpus; i++) {
            uint64_t told[3];
            int fd = events->fds[(size_t)event * events->cpus + i];
            if (read(fd, told, sizeof told) == sizeof told)
                sums->of[event] += scaled(told);
            else
                sums->counted[event] = false;
        }
    }
}

void tlc_cpu_events_close(struct tlc_cpu_events *events)
{
    if (!events)
        return;
    for (size_t i = 0; i < TLC_EVENT_COUNT * events->cpus; i++)
        if (events->fds[i] >= 0)
            close(events->fds[i]);
    free(events->fds);
    free(events);
}

struct tlc_cpu_event_sums tlc_cpu_events_since(const struct tlc_cpu_event_sums *later,
                                               const struct tlc_cpu_event_sums *earlier)
{
    struct tlc_cpu_event_sums since = {.of = {0}};
    for (int event = 0; event < TLC_EVENT_COUNT; event++) {
        since.counted[event] = later->counted[event] && earlier->counted[event];
        // A scaled count is an estimate and may fall.
        if (since.counted[event] && later->of[event] > earlier->of[event])
            since.of[event] = later->of[event] - earlier->of[event];
    }
    return since;
}
