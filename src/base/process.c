#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/monotonic.h"
#include "base/process_marked.h"

const char *tlc_program_path(void)
{
    static char path[4096];
    if (!path[0]) {
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
    }
    return path;
}

// Signals and descriptors of the child between fork and exec; only async-signal-safe calls.
static void child_set_up(const struct tlc_process_options *options, pid_t parent, int control,
                         int log, int output)
{
    setpgid(0, 0);
    // No child may outlive its orchestrator, however that ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(125);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (options->cpus && sched_setaffinity(0, sizeof *options->cpus, options->cpus))
        _exit(125);
    if (log >= 0) {
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
    }
    if (output >= 0)
        dup2(output, STDOUT_FILENO);
    if (control >= 0) {
        if (control == TLC_CONTROL_FD)
            fcntl(control, F_SETFD, 0);
        else
            dup2(control, TLC_CONTROL_FD);
    }
    if (options->working_directory && chdir(options->working_directory))
        _exit(125);
}

static bool child_join(const int *namespaces)
{
    for (const int *at = namespaces; at && *at >= 0; at++)
        if (setns(*at, 0))
            return false;
    return true;
}

static void child_exec(const struct tlc_process_options *options, char *mark)
{
    if (options->mark)
        putenv(mark);
    for (const char *const *pair = options->environment; pair && *pair; pair++)
        putenv((char *)(uintptr_t)*pair);
    execvp(options->arguments[0], (char *const *)(uintptr_t)options->arguments);
}

static enum tlc_status reap_failed_exec(const char *name, pid_t pid, int code,
                                        struct tlc_error *error)
{
    waitpid(pid, NULL, 0);
    return tlc_fail(error, TLC_ENVIRONMENT, "start: %s: %s", name, strerror(code));
}

static enum tlc_status open_log(const struct tlc_process_options *options, const char *path,
                                int how, int *fd, struct tlc_error *error)
{
    if (!path)
        return TLC_OK;
    *fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0600);
    return *fd < 0 ? tlc_fail_errno(error, "start: %s: log %s", options->arguments[0], path)
                   : TLC_OK;
}

enum tlc_status tlc_process_start(const struct tlc_process_options *options,
                                  struct tlc_process *process, struct tlc_error *error)
{
    char variable[64] = "";
    unsigned mark = options->mark ? tlc_process_mark(variable, sizeof variable) : 0;
    int control[2] = {-1, -1}, failed[2] = {-1, -1}, log = -1, output = -1;
    enum tlc_status status = TLC_OK;
    *process = (struct tlc_process){.pid = 0, .control = -1};
    if (options->control && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control))
        return tlc_fail_errno(error, "start: %s: socketpair", options->arguments[0]);
    if (pipe2(failed, O_CLOEXEC)) {
        status = tlc_fail_errno(error, "start: %s: pipe", options->arguments[0]);
        goto out;
    }
    status = open_log(options, options->log, O_APPEND, &log, error);
    if (status == TLC_OK)
        status = open_log(options, options->output, O_TRUNC, &output, error);
    if (status != TLC_OK)
        goto out;
    // The pipe that reports a failed exec must not sit where the control socket goes.
    while (failed[1] >= 0 && failed[1] <= TLC_CONTROL_FD) {
        int moved = fcntl(failed[1], F_DUPFD_CLOEXEC, TLC_CONTROL_FD + 1);
        if (moved < 0) {
            status = tlc_fail_errno(error, "start: %s: dup", options->arguments[0]);
            goto out;
        }
        close(failed[1]);
        failed[1] = moved;
    }
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
        status = tlc_fail_errno(error, "start: %s: fork", options->arguments[0]);
        goto out;
    }
    if (pid == 0) {
        // Before the rest: joining may take the parent-death signal away (prctl(2)).
        if (child_join(options->namespaces)) {
            child_set_up(options, parent, control[1], log, output);
            child_exec(options, variable);
        }
        int code = errno;
        if (write(failed[1], &code, sizeof code) < 0)
            _exit(126);
        _exit(127);
    }
    setpgid(pid, pid);
    close(failed[1]);
    failed[1] = -1;
    int code = 0;
    ssize_t got;
    do
        got = read(failed[0], &code, sizeof code);
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof code) {
        status = reap_failed_exec(options->arguments[0], pid, code, error);
        goto out;
    }
    process->pid = pid;
    process->mark = mark;
    process->stop_signal = options->stop_signal;
    process->control = control[0];
    control[0] = -1;
out:
    for (int i = 0; i < 2; i++) {
        if (control[i] >= 0)
            close(control[i]);
        if (failed[i] >= 0)
            close(failed[i]);
    }
    if (log >= 0)
        close(log);
    if (output >= 0)
        close(output);
    return status;
}

bool tlc_process_alive(struct tlc_process *process, int *how)
{
    if (process->pid <= 0)
        return false;
    int state = 0;
    pid_t ended = waitpid(process->pid, &state, WNOHANG);
    if (ended == 0)
        return true;
    if (how)
        *how = state;
    // What the leader left behind in its group goes with it.
    kill(-process->pid, SIGKILL);
    process->pid = 0;
    return false;
}

void tlc_process_stop(struct tlc_process *process, int grace_ms)
{
    if (process->pid > 0) {
        pid_t group = process->pid;
        int64_t deadline = tlc_monotonic_ms() + grace_ms;
        kill(-group, process->stop_signal ? process->stop_signal : SIGTERM);
        while (tlc_process_alive(process, NULL) && tlc_monotonic_ms() < deadline)
            poll(NULL, 0, 2);
        if (process->pid > 0) {
            kill(-group, SIGKILL);
            while (waitpid(group, NULL, 0) < 0 && errno == EINTR)
                ;
            process->pid = 0;
        }
    }
    if (process->mark)
        tlc_process_end_marked(process->mark);
    process->mark = 0;
    if (process->control >= 0)
        close(process->control);
    process->control = -1;
}

// Reads `fd` to its end; false on the deadline, or an interruption.
static bool collect(int fd, int64_t deadline, char **text, size_t *used)
{
    enum { LOOK_MS = 100 };
    size_t capacity = 4096;
    *used = 0;
    *text = malloc(capacity);
    while (*text) {
        int64_t left = deadline - tlc_monotonic_ms();
        struct pollfd waited = {.fd = fd, .events = POLLIN};
        int ready = poll(&waited, 1, left > LOOK_MS ? LOOK_MS : left > 0 ? (int)left : 0);
        if ((ready == 0 && left <= LOOK_MS) || tlc_interrupted())
            return false;
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        if (capacity - *used < 2048) {
            char *grown = realloc(*text, capacity *= 2);
            if (!grown)
                break;
            *text = grown;
        }
        ssize_t got = read(fd, *text + *used, capacity - *used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        *used += (size_t)got;
    }
    if (*text)
        (*text)[*used] = '\0';
    return true;
}

enum tlc_status tlc_process_output(const char *const *arguments, int timeout_ms, char **text,
                                   int *code, struct tlc_error *error)
{
    enum { GRACE_MS = 2000 };
    int out[2];
    *text = NULL;
    if (pipe2(out, O_CLOEXEC))
        return tlc_fail_errno(error, "run: %s: pipe", arguments[0]);
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        close(out[0]);
        close(out[1]);
        return tlc_fail_errno(error, "run: %s: fork", arguments[0]);
    }
    if (pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int null = open("/dev/null", O_RDONLY);
        dup2(null, STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        execvp(arguments[0], (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    close(out[1]);
    size_t used;
    bool whole = collect(out[0], tlc_monotonic_ms() + timeout_ms, text, &used);
    close(out[0]);
    int state = 0;
    if (!whole) // a script may have to clean up before it ends
        tlc_process_stop(&(struct tlc_process){.pid = pid, .control = -1}, GRACE_MS);
    while (whole && waitpid(pid, &state, 0) < 0 && errno == EINTR)
        ;
    *code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    if (!*text)
        return tlc_fail(error, TLC_ENVIRONMENT, "run: %s: out of memory", arguments[0]);
    if (whole && *code != 127)
        return TLC_OK;
    free(*text);
    *text = NULL;
    if (!whole && tlc_interrupted())
        return tlc_fail(error, TLC_INTERRUPTED, "run: %s: interrupted", arguments[0]);
    return whole ? tlc_fail(error, TLC_ENVIRONMENT, "run: %s: not found; install it", arguments[0])
                 : tlc_fail(error, TLC_ENVIRONMENT, "run: %s: no end after %d ms", arguments[0],
                            timeout_ms);
}
