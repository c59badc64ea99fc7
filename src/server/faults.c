#include "server/faults.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum tlc_status tlc_server_fault_parse(const char *text, struct tlc_server_faults *faults,
                                       struct tlc_error *error)
{
    const struct {
        const char *name;
        uint64_t *value;
    } known[] = {{"reset-1-in=", &faults->reset_1_in},
                 {"stall-1-in=", &faults->stall_1_in},
                 {"die-after=", &faults->die_after}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].name);
        if (strncmp(text, known[i].name, length) != 0 || !isdigit((unsigned char)text[length]))
            continue;
        char *end;
        errno = 0;
        unsigned long long value = strtoull(text + length, &end, 10);
        if (errno || *end || !value)
            break;
        *known[i].value = value;
        return TLC_OK;
    }
    return tlc_fail(error, TLC_USAGE,
                    "fault: '%s': unknown; write reset-1-in=N, stall-1-in=N or die-after=N with N "
                    "at least 1",
                    text);
}

bool tlc_faults_asked(const struct tlc_server_faults *faults)
{
    return faults->reset_1_in || faults->stall_1_in || faults->die_after;
}

enum tlc_fault tlc_fault_of_connection(struct tlc_faults *faults)
{
    uint64_t number = atomic_fetch_add(&faults->connections, 1) + 1;
    if (faults->asked.reset_1_in && number % faults->asked.reset_1_in == 0)
        return TLC_FAULT_RESET;
    if (faults->asked.stall_1_in && number % faults->asked.stall_1_in == 0)
        return TLC_FAULT_STALL;
    return TLC_FAULT_NONE;
}

void tlc_fault_of_handshake(struct tlc_faults *faults)
{
    uint64_t number = atomic_fetch_add(&faults->handshakes, 1) + 1;
    // SIGKILL, as the kernel's memory killer would: nothing is flushed, nobody is told.
    if (faults->asked.die_after && number >= faults->asked.die_after)
        raise(SIGKILL);
}

void tlc_fault_reset(int fd)
{
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1, .l_linger = 0},
               sizeof(struct linger));
}
