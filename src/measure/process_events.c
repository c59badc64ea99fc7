#include "measure/process_events.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/instructions.h"
#include "measure/machine.h"
#include "measure/text.h"

static const struct tlc_event_kind kinds[] = {
    {"instructions", "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true},
    {"cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true},
    {"branches", "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, true},
    {"branch-misses", "branch misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, true},
    {"cache-misses", "cache misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, true},
    // The kernel reads a clock for it, and does not look whose work the time was for.
    {"task-clock", "ns of CPU time", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false},
};

enum { USER, KERNEL, SPACES, PARANOID_UNKNOWN = -2 };

struct tlc_process_events {
    int (*fds)[SPACES]; // of each thread; -1: not counted
    size_t count, capacity;
};

const struct tlc_event_kind *tlc_event_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

// --- refusals ---

void tlc_event_refusal_text(const struct tlc_event_kind *kind,
                            const struct tlc_event_refusal *refusal, char *text, size_t bytes)
{
    // perf_event_open(2): 2 and less allow user space, 1 and less the kernel as well.
    bool level_forbids = refusal->paranoid > (refusal->kernel ? 1 : 2);
    switch (refusal->code) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
        snprintf(text, bytes,
                 "this machine has no counter of %s; %sits host must give it the processor's "
                 "performance counters (a vPMU; QEMU: -cpu host,pmu=on)",
                 kind->unit,
                 refusal->virtual ? "it is a virtual machine: "
                                  : "where it is a virtual machine, ");
        return;
    case EACCES:
    case EPERM:
        if (level_forbids)
            snprintf(text, bytes,
                     "kernel.perf_event_paranoid is %ld; allow it: "
                     "sudo sysctl -w kernel.perf_event_paranoid=1",
                     refusal->paranoid);
        else
            snprintf(text, bytes,
                     "the rules of a container or a security module forbid it; allow it "
                     "perf_event_open(2) and the capability CAP_PERFMON");
        return;
    default:
        snprintf(text, bytes, "%s", tlc_perf_reason(refusal->code));
    }
}

static long read_paranoid(void)
{
    char *text = tlc_text_read("/proc/sys/kernel/perf_event_paranoid");
    char *end = text;
    long level = text ? strtol(text, &end, 10) : 0;
    bool known = text && end != text;
    free(text);
    return known ? level : PARANOID_UNKNOWN;
}

static void explain(const struct tlc_event_kind *kind, int code, bool kernel, char *text,
                    size_t bytes)
{
    json_t *machine = tlc_machine_describe();
    const struct tlc_event_refusal refusal = {
        .code = code,
        .kernel = kernel,
        .paranoid = read_paranoid(),
        .virtual = json_is_true(json_object_get(machine, "virtual"))};
    json_decref(machine);
    tlc_event_refusal_text(kind, &refusal, text, bytes);
}

static enum tlc_status refuse(const struct tlc_event_kind *kind, int code, bool kernel,
                              struct tlc_error *error)
{
    char text[512];
    explain(kind, code, kernel, text, sizeof text);
    return tlc_fail(error, TLC_ENVIRONMENT, "perf event %s: %s", kind->name, text);
}

// --- opening ---

static int open_event(const struct tlc_event_kind *kind, int space, pid_t thread, bool from_exec)
{
    struct perf_event_attr attributes = {
        .type = kind->type,
        .size = sizeof attributes,
        .config = kind->config,
        // Also where a kind is not divided: it counts all the same, and needs fewer rights.
        .exclude_kernel = space == USER,
        .exclude_user = space == KERNEL,
        .exclude_hv = 1,
        .inherit = 1,
        .disabled = from_exec,
        .enable_on_exec = from_exec,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool make_room(struct tlc_process_events *events)
{
    if (events->count < events->capacity)
        return true;
    size_t capacity = 2 * events->capacity + 4;
    void *grown = realloc(events->fds, capacity * sizeof *events->fds);
    if (!grown)
        return false;
    events->fds = grown;
    events->capacity = capacity;
    return true;
}

static enum tlc_status add_thread(struct tlc_process_events *events, struct tlc_process_event event,
                                  pid_t thread, bool from_exec, struct tlc_error *error)
{
    if (!make_room(events))
        return tlc_fail(error, TLC_ENVIRONMENT, "perf event %s: out of memory", event.kind->name);
    int *fds = events->fds[events->count++];
    fds[USER] = fds[KERNEL] = -1;
    for (int space = USER; space <= (event.kernel ? KERNEL : USER); space++) {
        fds[space] = open_event(event.kind, space, thread, from_exec);
        // A thread that has ended does nothing more.
        if (fds[space] < 0 && errno != ESRCH)
            return refuse(event.kind, errno, space == KERNEL, error);
    }
    return TLC_OK;
}

enum tlc_status tlc_process_event_find(const struct tlc_event_kind *kind,
                                       struct tlc_process_event *event, char *without_kernel,
                                       size_t bytes, struct tlc_error *error)
{
    *event = (struct tlc_process_event){.kind = kind};
    without_kernel[0] = '\0';
    int fd = open_event(kind, USER, 0, true);
    if (fd < 0)
        return refuse(kind, errno, false, error);
    close(fd);
    if (!kind->divided)
        return TLC_OK;
    fd = open_event(kind, KERNEL, 0, true);
    event->kernel = fd >= 0;
    if (fd >= 0)
        close(fd);
    else
        explain(kind, errno, true, without_kernel, bytes);
    return TLC_OK;
}

// Threads that those already counted start meanwhile inherit the events.
static enum tlc_status add_threads(struct tlc_process_events *events,
                                   struct tlc_process_event event, pid_t pid,
                                   struct tlc_error *error)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    if (!tasks)
        return tlc_fail_errno(error, "perf event %s: %s", event.kind->name, path);
    enum tlc_status status = TLC_OK;
    for (struct dirent *entry; status == TLC_OK && (entry = readdir(tasks)) != NULL;)
        if (isdigit((unsigned char)entry->d_name[0]))
            status =
                add_thread(events, event, (pid_t)strtol(entry->d_name, NULL, 10), false, error);
    closedir(tasks);
    return status;
}

// `pid` 0: of what the calling thread starts next.
static enum tlc_status open_events(struct tlc_process_event event, pid_t pid,
                                   struct tlc_process_events **events, struct tlc_error *error)
{
    *events = calloc(1, sizeof **events);
    if (!*events)
        return tlc_fail(error, TLC_ENVIRONMENT, "perf event %s: out of memory", event.kind->name);
    enum tlc_status status =
        pid ? add_threads(*events, event, pid, error) : add_thread(*events, event, 0, true, error);
    if (status == TLC_OK)
        return TLC_OK;
    tlc_process_events_close(*events);
    *events = NULL;
    return status;
}

enum tlc_status tlc_process_events_of(struct tlc_process_event event, pid_t pid,
                                      struct tlc_process_events **events, struct tlc_error *error)
{
    return open_events(event, pid, events, error);
}

enum tlc_status tlc_process_events_of_child(struct tlc_process_event event,
                                            struct tlc_process_events **events,
                                            struct tlc_error *error)
{
    return open_events(event, 0, events, error);
}

void tlc_process_events_close(struct tlc_process_events *events)
{
    if (!events)
        return;
    for (size_t i = 0; i < events->count; i++)
        for (int space = 0; space < SPACES; space++)
            if (events->fds[i][space] >= 0)
                close(events->fds[i][space]);
    free(events->fds);
    free(events);
}

// --- reading ---

static bool add_reading(int fd, struct tlc_event_reading *sum)
{
    uint64_t told[3];
    if (fd < 0)
        return true;
    if (read(fd, told, sizeof told) != sizeof told)
        return false;
    sum->value += told[0];
    sum->enabled_ns += told[1];
    sum->running_ns += told[2];
    return true;
}

enum tlc_status tlc_process_events_read(const struct tlc_process_events *events,
                                        struct tlc_process_reading *reading,
                                        struct tlc_error *error)
{
    *reading = (struct tlc_process_reading){.user = {0}};
    for (size_t i = 0; i < events->count; i++)
        if (!add_reading(events->fds[i][USER], &reading->user) ||
            !add_reading(events->fds[i][KERNEL], &reading->kernel))
            return tlc_fail_errno(error, "perf event: read");
    return TLC_OK;
}

static bool take_between(const struct tlc_event_reading *earlier,
                         const struct tlc_event_reading *later, double *count, double *missing)
{
    uint64_t enabled = later->enabled_ns - earlier->enabled_ns;
    uint64_t running = later->running_ns - earlier->running_ns;
    *count = (double)(later->value - earlier->value);
    *missing = enabled > running ? (double)(enabled - running) / (double)enabled : 0;
    return enabled == running;
}

enum tlc_status tlc_process_counts_between(struct tlc_process_event event,
                                           const struct tlc_process_reading *earlier,
                                           const struct tlc_process_reading *later,
                                           struct tlc_process_counts *counts,
                                           struct tlc_error *error)
{
    double user, kernel = 0, missing;
    bool whole = take_between(&earlier->user, &later->user, &user, &missing);
    if (whole)
        whole = take_between(&earlier->kernel, &later->kernel, &kernel, &missing);
    if (!whole)
        return tlc_fail(
            error, TLC_REFUSED,
            "perf event %s: not counted for %.1f %% of the time: others use the counter as well, "
            "or the CPUs are of two kinds; end other profilers, switch the watchdog off (sudo "
            "sysctl -w kernel.nmi_watchdog=0), stay on CPUs of one kind (taskset)",
            event.kind->name, 100 * missing);
    *counts = (struct tlc_process_counts){
        .total = user + (event.kernel ? kernel : 0),
        .user = event.kind->divided ? user : NAN,
        .kernel = event.kernel ? kernel : NAN,
    };
    return TLC_OK;
}
