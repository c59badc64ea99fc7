#include "measure/instructions.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *tlc_perf_reason(int code)
{
    switch (code) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
        return "this machine has none that count instructions (virtual machines often hide them)";
    case EACCES:
    case EPERM:
        return "not allowed; kernel.perf_event_paranoid or a container's rules forbid it";
    case ENOSYS:
        return "the kernel has no perf events";
    default:
        return strerror(code);
    }
}

json_t *tlc_instructions_describe(void)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_HW_INSTRUCTIONS,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1};
    long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return json_pack("{s:b, s:s}", "available", 0, "reason", tlc_perf_reason(errno));
    close((int)fd);
    return json_pack("{s:b, s:n}", "available", 1, "reason");
}
