// TcpExt counters of /proc/net/netstat: a line of names and a line of values with equal columns.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/proc.h"
#include "measure/text.h"

#define PREFIX "TcpExt: "

enum column { OTHER, OVERFLOWS, DROPS, RETRANSMITS };

static enum column column_of(const char *name, size_t length)
{
    static const struct {
        const char *name;
        enum column column;
    } known[] = {{"ListenOverflows", OVERFLOWS},  {"ListenDrops", DROPS},
                 {"TCPFastRetrans", RETRANSMITS}, {"TCPSlowStartRetrans", RETRANSMITS},
                 {"TCPTimeouts", RETRANSMITS},    {"TCPLossProbes", RETRANSMITS}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == length && !strncmp(known[i].name, name, length))
            return known[i].column;
    return OTHER;
}

// Takes one name and its value; false when either line ends before the other or is damaged.
static bool take_column(const char **name, const char **value, struct tlc_tcp_counters *counters,
                        unsigned *found)
{
    size_t length = strcspn(*name, " \n");
    uint64_t number;
    const char *sign = *value + strspn(*value, " ");
    bool negative = *sign == '-'; // some gauges of other columns may be
    if (negative)
        *value = sign + 1;
    if (!tlc_text_number(value, UINT64_MAX, &number))
        return false;
    enum column column = column_of(*name, length);
    if (negative && column != OTHER)
        return false;
    if (column == OVERFLOWS)
        counters->listen_overflows = number;
    else if (column == DROPS)
        counters->listen_drops = number;
    else if (column == RETRANSMITS)
        counters->retransmits += number;
    *found |= 1u << column;
    *name += length;
    *name += strspn(*name, " ");
    return true;
}

static bool parse_pair(const char *names, struct tlc_tcp_counters *counters, unsigned *found)
{
    const char *values = tlc_text_next_line(names);
    if (!values || strncmp(values, PREFIX, strlen(PREFIX)) != 0 || !tlc_text_next_line(values))
        return false;
    names += strlen(PREFIX);
    values += strlen(PREFIX);
    while (*names != '\n')
        if (!take_column(&names, &values, counters, found))
            return false;
    values += strspn(values, " ");
    return *values == '\n';
}

enum tlc_status tlc_parse_tcp_counters(const char *netstat_text, struct tlc_tcp_counters *counters,
                                       struct tlc_error *error)
{
    unsigned found = 0;
    *counters = (struct tlc_tcp_counters){0};
    for (const char *line = netstat_text; line; line = tlc_text_next_line(line)) {
        if (strncmp(line, PREFIX, strlen(PREFIX)) != 0)
            continue;
        if (!parse_pair(line, counters, &found))
            return tlc_fail(error, TLC_ENVIRONMENT,
                            "/proc/net/netstat: TcpExt: names and values do not match");
        break;
    }
    if ((found & (1u << OVERFLOWS)) && (found & (1u << DROPS)))
        return TLC_OK;
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "/proc/net/netstat: TcpExt: no ListenOverflows and ListenDrops");
}

static enum tlc_status read_counters(const char *path, struct tlc_tcp_counters *counters,
                                     struct tlc_error *error)
{
    char *text;
    enum tlc_status status = tlc_text_fetch(path, &text, error);
    if (status != TLC_OK)
        return status;
    status = tlc_parse_tcp_counters(text, counters, error);
    free(text);
    return status;
}

enum tlc_status tlc_read_tcp_counters(struct tlc_tcp_counters *counters, struct tlc_error *error)
{
    return read_counters("/proc/net/netstat", counters, error);
}

enum tlc_status tlc_read_tcp_counters_of(pid_t pid, struct tlc_tcp_counters *counters,
                                         struct tlc_error *error)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/net/netstat", (int)pid);
    return read_counters(path, counters, error);
}
