#include "attribute/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process.h"
#include "measure/clock.h"

enum {
    ANSWER_MS = 30000,
    END_MS = 60000,
    SCRIPT_MS = 600000,
    STACK_BYTES = 16384, // dumped with a sample, for DWARF
    PATH = 640
};

struct tlc_sampler {
    struct tlc_process process;
    char data[PATH], log[PATH], text[PATH];
};

// perf's own settings of the user would change what it prints.
static const char *const environment[] = {"PERF_CONFIG=/dev/null", "LC_ALL=C", NULL};

static int64_t now_ms(void)
{
    return (int64_t)(tlc_now_ns() / 1000000);
}

// ---- what the machine permits

static enum tlc_status check_perf(struct tlc_error *error)
{
    const char *const arguments[] = {"perf", "--version", NULL};
    char *text = NULL;
    int code = 0;
    struct tlc_error ignored;
    bool there = tlc_process_output(arguments, ANSWER_MS, &text, &code, &ignored) == TLC_OK;
    free(text);
    if (there && code == 0)
        return TLC_OK;
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "attribute: perf: not found, or it does not run; install the package "
                    "linux-perf (Debian) or linux-tools-generic (Ubuntu)");
}

static enum tlc_status check_kernel(struct tlc_error *error)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_SW_CPU_CLOCK,
                                         .disabled = 1};
    long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0) {
        close((int)fd);
        return TLC_OK;
    }
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "attribute: perf_event_open: %s; the kernel lets this user sample with 'sysctl "
                    "kernel.perf_event_paranoid=1' or lower, and a container needs the right to it",
                    strerror(errno));
}

enum tlc_status tlc_sampler_check(struct tlc_error *error)
{
    enum tlc_status status = check_kernel(error);
    return status == TLC_OK ? check_perf(error) : status;
}

// ---- orders to perf

// The last line that perf printed; "" for none.
static void last_words(const struct tlc_sampler *sampler, char *text, size_t capacity)
{
    FILE *log = fopen(sampler->log, "re");
    *text = '\0';
    while (log && fgets(text, (int)capacity, log))
        text[strcspn(text, "\n")] = '\0';
    if (log)
        fclose(log);
}

static enum tlc_status fail_perf(const struct tlc_sampler *sampler, const char *what,
                                 struct tlc_error *error)
{
    char words[300];
    last_words(sampler, words, sizeof words);
    return tlc_fail(error, TLC_REFUSED, "attribute: perf %s: %s", what,
                    *words ? words : "it does not answer");
}

// Waits for "ack\n", which perf 6.1 ends with a NUL as well.
static bool await_answer(const struct tlc_sampler *sampler)
{
    int64_t deadline = now_ms() + ANSWER_MS;
    for (;;) {
        int64_t left = deadline - now_ms();
        struct pollfd answer = {.fd = sampler->process.control, .events = POLLIN};
        int ready = left > 0 ? poll(&answer, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        char byte;
        if (ready <= 0 || read(sampler->process.control, &byte, 1) != 1)
            return false;
        if (byte == '\n')
            return true;
    }
}

static enum tlc_status order(struct tlc_sampler *sampler, const char *command,
                             struct tlc_error *error)
{
    size_t bytes = strlen(command);
    if (send(sampler->process.control, command, bytes, MSG_NOSIGNAL) != (ssize_t)bytes ||
        !await_answer(sampler))
        return fail_perf(sampler, "record", error);
    return TLC_OK;
}

enum tlc_status tlc_sampler_enable(struct tlc_sampler *sampler, bool on, struct tlc_error *error)
{
    return order(sampler, on ? "enable\n" : "disable\n", error);
}

// ---- start and end

static char *list_pids(const struct tlc_sampler_options *options)
{
    enum { DIGITS = 12 };
    char *list = malloc(options->pid_count * DIGITS + 1);
    size_t used = 0;
    if (list)
        *list = '\0';
    for (size_t i = 0; list && i < options->pid_count; i++)
        used += (size_t)snprintf(list + used, DIGITS, "%s%d", i ? "," : "", (int)options->pids[i]);
    return list;
}

static enum tlc_status record(struct tlc_sampler *sampler,
                              const struct tlc_sampler_options *options, const char *pids,
                              struct tlc_error *error)
{
    char frequency[16], chains[32], control[32];
    snprintf(frequency, sizeof frequency, "%u", options->frequency_hz);
    snprintf(chains, sizeof chains, "dwarf,%d", STACK_BYTES);
    snprintf(control, sizeof control, "fd:%d,%d", TLC_CONTROL_FD, TLC_CONTROL_FD);
    const char *const arguments[] = {"perf",
                                     "record",
                                     "--quiet",
                                     "--event",
                                     "cpu-clock",
                                     "--freq",
                                     frequency,
                                     "--call-graph",
                                     options->frame_pointers ? "fp" : chains,
                                     "--pid",
                                     pids,
                                     "--delay",
                                     "-1",
                                     "--control",
                                     control,
                                     "--no-buildid",
                                     "--no-buildid-cache",
                                     "--output",
                                     sampler->data,
                                     NULL};
    const struct tlc_process_options process = {
        .arguments = arguments, .environment = environment, .control = true, .log = sampler->log};
    enum tlc_status status = tlc_process_start(&process, &sampler->process, error);
    // It answers once it is attached to the processes.
    return status == TLC_OK ? order(sampler, "ping\n", error) : status;
}

enum tlc_status tlc_sampler_start(const struct tlc_sampler_options *options,
                                  struct tlc_sampler **started, struct tlc_error *error)
{
    struct tlc_sampler *sampler = calloc(1, sizeof *sampler);
    char *pids = list_pids(options);
    *started = NULL;
    if (!sampler || !pids) {
        free(sampler);
        free(pids);
        return tlc_fail(error, TLC_ENVIRONMENT, "attribute: out of memory");
    }
    sampler->process.control = -1;
    snprintf(sampler->data, sizeof sampler->data, "%.600s/perf.data", options->directory);
    snprintf(sampler->log, sizeof sampler->log, "%.600s/perf.log", options->directory);
    snprintf(sampler->text, sizeof sampler->text, "%.600s/perf.txt", options->directory);
    enum tlc_status status = record(sampler, options, pids, error);
    free(pids);
    if (status == TLC_OK)
        *started = sampler;
    else
        tlc_sampler_free(sampler);
    return status;
}

static bool await_end(struct tlc_process *process, int timeout_ms, int *how)
{
    int64_t deadline = now_ms() + timeout_ms;
    while (tlc_process_alive(process, how)) {
        if (now_ms() >= deadline)
            return false;
        poll(NULL, 0, 5);
    }
    return true;
}

// perf finishes its file when it is interrupted.
static enum tlc_status end_recording(struct tlc_sampler *sampler, struct tlc_error *error)
{
    int how = 0;
    if (sampler->process.pid > 0)
        kill(sampler->process.pid, SIGINT);
    bool ended = await_end(&sampler->process, END_MS, &how);
    tlc_process_stop(&sampler->process, 0);
    return ended ? TLC_OK : fail_perf(sampler, "record", error);
}

static enum tlc_status print_samples(const struct tlc_sampler *sampler, struct tlc_error *error)
{
    const char *const arguments[] = {"perf",
                                     "script",
                                     "--input",
                                     sampler->data,
                                     "--no-inline",
                                     "--fields",
                                     "tid,time,ip,sym,dso",
                                     NULL};
    struct tlc_process process;
    const struct tlc_process_options options = {.arguments = arguments,
                                                .environment = environment,
                                                .output = sampler->text,
                                                .log = sampler->log};
    enum tlc_status status = tlc_process_start(&options, &process, error);
    if (status != TLC_OK)
        return status;
    int how = 0;
    bool ended = await_end(&process, SCRIPT_MS, &how);
    tlc_process_stop(&process, 0);
    return ended && how == 0 ? TLC_OK : fail_perf(sampler, "script", error);
}

static enum tlc_status parse(const struct tlc_sampler *sampler, tlc_chain_taker *take, void *user,
                             struct tlc_perf_script_counts *counts, struct tlc_error *error)
{
    char piece[16384];
    FILE *text = fopen(sampler->text, "re");
    if (!text)
        return tlc_fail_errno(error, "attribute: %s", sampler->text);
    struct tlc_perf_script *script = tlc_perf_script_new(take, user);
    enum tlc_status status =
        script ? TLC_OK : tlc_fail(error, TLC_ENVIRONMENT, "attribute: out of memory");
    for (size_t got; script && (got = fread(piece, 1, sizeof piece, text)) > 0;)
        tlc_perf_script_feed(script, piece, got);
    if (status == TLC_OK && ferror(text))
        status = tlc_fail_errno(error, "attribute: %s", sampler->text);
    if (script)
        *counts = tlc_perf_script_end(script);
    tlc_perf_script_free(script);
    fclose(text);
    return status;
}

enum tlc_status tlc_sampler_read(struct tlc_sampler *sampler, tlc_chain_taker *take, void *user,
                                 struct tlc_perf_script_counts *counts, struct tlc_error *error)
{
    *counts = (struct tlc_perf_script_counts){0};
    enum tlc_status status = end_recording(sampler, error);
    if (status == TLC_OK)
        status = print_samples(sampler, error);
    return status == TLC_OK ? parse(sampler, take, user, counts, error) : status;
}

void tlc_sampler_free(struct tlc_sampler *sampler)
{
    if (!sampler)
        return;
    tlc_process_stop(&sampler->process, 0);
    unlink(sampler->data);
    unlink(sampler->text);
    unlink(sampler->log);
    free(sampler);
}
