// Times by CPU of /proc/stat (proc(5)).
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/proc.h"
#include "measure/text.h"

// user nice system idle [iowait irq softirq steal guest]: the kernel grew them one by one.
enum { FIELDS = 9, LEAST_FIELDS = 4 };

// Above any uptime in ticks, and small enough that the sum over all CPUs fits in microseconds.
#define MAX_TICKS UINT64_C(1000000000000)

static uint64_t tick_us(void)
{
    long hertz = sysconf(_SC_CLK_TCK);
    return hertz > 0 ? 1000000u / (uint64_t)hertz : 10000u;
}

static bool parse_fields(const char *at, uint64_t *ticks)
{
    size_t count = 0;
    while (count < FIELDS && tlc_text_number(&at, MAX_TICKS, &ticks[count]))
        count++;
    while (*at == ' ')
        at++;
    return count >= LEAST_FIELDS && (count == FIELDS || *at == '\n');
}

static void add_fields(struct tlc_cpu_times *times, const uint64_t *ticks)
{
    uint64_t *const to[FIELDS] = {&times->user_us,    &times->nice_us,   &times->system_us,
                                  &times->idle_us,    &times->iowait_us, &times->irq_us,
                                  &times->softirq_us, &times->steal_us,  &times->guest_us};
    uint64_t unit = tick_us();
    for (size_t i = 0; i < FIELDS; i++)
        *to[i] += ticks[i] * unit;
    times->cpus++;
}

// "cpu12 ..." of a CPU in the set; the first line, "cpu", is the sum of all.
static bool is_wanted(const char *line, const cpu_set_t *cpus, const char **fields, uint64_t *cpu)
{
    *fields = line + 3;
    return isdigit((unsigned char)line[3]) && tlc_text_number(fields, CPU_SETSIZE - 1, cpu) &&
           CPU_ISSET(*cpu, cpus);
}

enum tlc_status tlc_parse_cpu_times(const char *stat_text, const cpu_set_t *cpus,
                                    struct tlc_cpu_times *times, struct tlc_error *error)
{
    cpu_set_t seen;
    CPU_ZERO(&seen);
    *times = (struct tlc_cpu_times){0};
    for (const char *line = stat_text; line && !strncmp(line, "cpu", 3);) {
        const char *next = tlc_text_next_line(line), *at;
        uint64_t ticks[FIELDS] = {0}, cpu = 0;
        if (is_wanted(line, cpus, &at, &cpu)) {
            if (!next || CPU_ISSET(cpu, &seen) || !parse_fields(at, ticks))
                return tlc_fail(error, TLC_ENVIRONMENT,
                                "/proc/stat: cpu%u: line is damaged or cut off", (unsigned)cpu);
            CPU_SET(cpu, &seen);
            add_fields(times, ticks);
        }
        line = next;
    }
    if (times->cpus == 0) {
        char list[128];
        tlc_cpus_format(cpus, list, sizeof list);
        return tlc_fail(error, TLC_ENVIRONMENT, "/proc/stat: CPUs '%s': none of them is listed",
                        list);
    }
    return TLC_OK;
}

enum tlc_status tlc_read_cpu_times(const cpu_set_t *cpus, struct tlc_cpu_times *times,
                                   struct tlc_error *error)
{
    char *text;
    enum tlc_status status = tlc_text_fetch("/proc/stat", &text, error);
    if (status != TLC_OK)
        return status;
    status = tlc_parse_cpu_times(text, cpus, times, error);
    free(text);
    return status;
}

static uint64_t since(uint64_t later, uint64_t earlier)
{
    return later > earlier ? later - earlier : 0;
}

struct tlc_cpu_times tlc_cpu_times_since(const struct tlc_cpu_times *later,
                                         const struct tlc_cpu_times *earlier)
{
    return (struct tlc_cpu_times){
        .user_us = since(later->user_us, earlier->user_us),
        .nice_us = since(later->nice_us, earlier->nice_us),
        .system_us = since(later->system_us, earlier->system_us),
        .idle_us = since(later->idle_us, earlier->idle_us),
        .iowait_us = since(later->iowait_us, earlier->iowait_us),
        .irq_us = since(later->irq_us, earlier->irq_us),
        .softirq_us = since(later->softirq_us, earlier->softirq_us),
        .steal_us = since(later->steal_us, earlier->steal_us),
        .guest_us = since(later->guest_us, earlier->guest_us),
        .cpus = later->cpus,
    };
}
