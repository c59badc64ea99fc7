// Lists of CPUs as the kernel writes them: "0-3,8".
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/proc.h"

static bool parse_cpu(const char **at, int *cpu)
{
    if (!isdigit((unsigned char)**at))
        return false;
    long value = 0;
    for (; isdigit((unsigned char)**at) && value < CPU_SETSIZE; (*at)++)
        value = value * 10 + (**at - '0');
    *cpu = (int)value;
    return value < CPU_SETSIZE;
}

// One "3" or "0-3" up to the next comma.
static bool parse_range(const char *part, size_t length, cpu_set_t *cpus)
{
    const char *at = part;
    int low, high;
    if (!parse_cpu(&at, &low))
        return false;
    high = low;
    if (*at == '-') {
        at++;
        if (!parse_cpu(&at, &high))
            return false;
    }
    if (at != part + length || high < low)
        return false;
    for (int cpu = low; cpu <= high; cpu++)
        CPU_SET((size_t)cpu, cpus);
    return true;
}

enum tlc_status tlc_cpus_parse(const char *list, cpu_set_t *cpus, struct tlc_error *error)
{
    CPU_ZERO(cpus);
    const char *part = list;
    for (;;) {
        size_t length = strcspn(part, ",\n");
        if (!parse_range(part, length, cpus))
            return tlc_fail(error, TLC_USAGE,
                            "cpus: '%.*s' in '%.100s': not a CPU or range below %d; write for "
                            "example 0-3,8",
                            (int)(length < 40 ? length : 40), part, list, CPU_SETSIZE);
        part += length;
        if (*part != ',')
            break;
        part++;
    }
    // The kernel ends its lists with a newline.
    if (*part == '\n' && part[1])
        return tlc_fail(error, TLC_USAGE, "cpus: '%.100s': more than one line", list);
    return TLC_OK;
}

void tlc_cpus_format(const cpu_set_t *cpus, char *text, size_t capacity)
{
    size_t used = 0;
    if (capacity > 0)
        text[0] = '\0';
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, cpus))
            continue;
        int last = cpu;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET((size_t)last + 1, cpus))
            last++;
        char part[32];
        int length = last > cpu ? snprintf(part, sizeof part, "%s%d-%d", used ? "," : "", cpu, last)
                                : snprintf(part, sizeof part, "%s%d", used ? "," : "", cpu);
        if (used + (size_t)length >= capacity)
            return; // cut between parts, so that what is there is still true
        memcpy(text + used, part, (size_t)length + 1);
        used += (size_t)length;
        cpu = last;
    }
}

bool tlc_mask_parse(const char *text, cpu_set_t *cpus)
{
    size_t digits = strspn(text, "0123456789abcdefABCDEF,"), bit = 0;
    CPU_ZERO(cpus);
    if (!digits || (text[digits] && !isspace((unsigned char)text[digits])))
        return false;
    for (size_t i = digits; i-- > 0;) {
        if (text[i] == ',')
            continue;
        char digit[2] = {text[i], '\0'};
        unsigned long value = strtoul(digit, NULL, 16);
        for (size_t k = 0; k < 4; k++, bit++)
            if ((value >> k & 1) && bit < CPU_SETSIZE)
                CPU_SET(bit, cpus);
    }
    return true;
}

void tlc_mask_format(const cpu_set_t *cpus, char *text, size_t capacity)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t word = CPU_SETSIZE / 32; word-- > 0;) {
        unsigned value = 0;
        for (size_t bit = 0; bit < 32; bit++)
            value |= CPU_ISSET(word * 32 + bit, cpus) ? 1u << bit : 0;
        if (!value && !used && word)
            continue;
        used += (size_t)snprintf(text + used, used < capacity ? capacity - used : 0,
                                 used ? ",%08x" : "%x", value);
    }
}
