#include "measure/softirq.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "measure/text.h"

// The kernel's counters are 32 bits wide.
#define MODULUS (UINT64_C(1) << 32)

// The head names the CPU of each column; CPUs that never were are left out.
static size_t parse_head(const char *line, uint16_t *columns)
{
    size_t count = 0;
    uint64_t cpu;
    for (;;) {
        line += strspn(line, " ");
        if (*line == '\n')
            return count;
        if (strncmp(line, "CPU", 3) != 0 || line[3] == ' ' || count == CPU_SETSIZE)
            return 0;
        line += 3;
        if (!tlc_text_number(&line, CPU_SETSIZE - 1, &cpu))
            return 0;
        columns[count++] = (uint16_t)cpu;
    }
}

static bool sum_line(const char *at, const uint16_t *columns, size_t count, const cpu_set_t *cpus,
                     uint64_t *sum)
{
    uint64_t value;
    *sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (!tlc_text_number(&at, MODULUS - 1, &value))
            return false;
        if (CPU_ISSET(columns[i], cpus))
            *sum += value;
    }
    at += strspn(at, " ");
    return *at == '\n';
}

static bool parse_body(const char *line, const uint16_t *columns, size_t count,
                       const cpu_set_t *cpus, struct tlc_softirqs *sums)
{
    bool rx = false, tx = false;
    for (; line && *line; line = tlc_text_next_line(line)) {
        const char *name = line + strspn(line, " ");
        if (!strncmp(name, "NET_RX:", 7))
            rx = sum_line(name + 7, columns, count, cpus, &sums->net_rx);
        else if (!strncmp(name, "NET_TX:", 7))
            tx = sum_line(name + 7, columns, count, cpus, &sums->net_tx);
    }
    return rx && tx;
}

enum tlc_status tlc_parse_softirqs(const char *softirqs_text, const cpu_set_t *cpus,
                                   struct tlc_softirqs *sums, struct tlc_error *error)
{
    uint16_t columns[CPU_SETSIZE];
    *sums = (struct tlc_softirqs){0};
    const char *body = tlc_text_next_line(softirqs_text);
    size_t count = body ? parse_head(softirqs_text, columns) : 0;
    if (count == 0 || !parse_body(body, columns, count, cpus, sums))
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "/proc/softirqs: no whole NET_RX and NET_TX lines under a head of CPUs");
    for (size_t i = 0; i < count; i++)
        sums->cpus += CPU_ISSET(columns[i], cpus) != 0;
    if (sums->cpus == 0)
        return tlc_fail(error, TLC_ENVIRONMENT, "/proc/softirqs: none of the CPUs has a column");
    return TLC_OK;
}

enum tlc_status tlc_read_softirqs(const cpu_set_t *cpus, struct tlc_softirqs *sums,
                                  struct tlc_error *error)
{
    char *text;
    enum tlc_status status = tlc_text_fetch("/proc/softirqs", &text, error);
    if (status != TLC_OK)
        return status;
    status = tlc_parse_softirqs(text, cpus, sums, error);
    free(text);
    return status;
}

struct tlc_softirqs tlc_softirqs_since(const struct tlc_softirqs *later,
                                       const struct tlc_softirqs *earlier)
{
    // A wrapped counter of one CPU shows as a sum that fell; modulo 2^32 it is right again as long
    // as fewer than 2^32 happened in between.
    return (struct tlc_softirqs){
        .net_rx = (later->net_rx - earlier->net_rx) % MODULUS,
        .net_tx = (later->net_tx - earlier->net_tx) % MODULUS,
        .cpus = later->cpus,
    };
}
