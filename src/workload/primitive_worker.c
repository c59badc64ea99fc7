#include "workload/primitive_worker.h"

#include <string.h>

#include "base/message.h"
#include "base/process.h"
#include "measure/clock.h"
#include "workload/arm_mask.h"
#include "workload/operations.h"

struct worker {
    struct tlc_library library;
    struct tlc_stack_operation *operation;
    uint64_t batch; // operations between two looks at the clock
};

enum { BATCH_NS = 500000 };

struct done {
    uint64_t operations, cpu_ns, span_ns;
};

static bool run(struct worker *worker, uint64_t count, struct done *done,
                struct tlc_stack_error *error)
{
    uint64_t span = tlc_now_ns(), cpu = tlc_thread_cpu_ns();
    bool good = worker->library.operations->run(worker->operation, count, error);
    done->cpu_ns += tlc_thread_cpu_ns() - cpu;
    done->span_ns += tlc_now_ns() - span;
    done->operations += good ? count : 0;
    return good;
}

// Batches grow until one takes long enough that reading the clock weighs nothing.
static bool run_for(struct worker *worker, uint64_t duration_ns, struct done *done,
                    struct tlc_stack_error *error)
{
    while (done->span_ns < duration_ns) {
        uint64_t before = done->span_ns;
        if (!run(worker, worker->batch, done, error))
            return false;
        if (done->span_ns - before < BATCH_NS)
            worker->batch *= 2;
    }
    return true;
}

static uint64_t whole(const json_t *command, const char *member)
{
    json_int_t value = json_integer_value(json_object_get(command, member));
    return value > 0 ? (uint64_t)value : 0;
}

static json_t *answer_slice(struct worker *worker, const json_t *command)
{
    struct done done = {0};
    struct tlc_stack_error why = {{0}};
    uint64_t thread_ns = tlc_thread_cpu_ns();
    uint64_t count = whole(command, "count");
    bool good = count ? run(worker, count, &done, &why)
                      : run_for(worker, whole(command, "duration_us") * 1000, &done, &why);
    // Outside of the measured time: checking one result can cost as much as making several.
    if (good && done.operations)
        good = worker->library.operations->check(worker->operation, &why);
    if (!good)
        return json_pack("{s:s}", "error", why.text[0] ? why.text : "a wrong result");
    return json_pack("{s:I, s:I, s:I, s:I}", "operations", (json_int_t)done.operations, "cpu_ns",
                     (json_int_t)done.cpu_ns, "span_ns", (json_int_t)done.span_ns, "thread_ns",
                     (json_int_t)(tlc_thread_cpu_ns() - thread_ns));
}

static enum tlc_status say_ready(const struct worker *worker,
                                 const struct tlc_primitive_options *options,
                                 struct tlc_error *error)
{
    json_t *ready =
        json_pack("{s:s, s:s, s:s, s:s, s:o*}", "stack", worker->library.id, "library_version",
                  worker->library.version, "operation", options->operation, "provider",
                  worker->library.operations->provider(worker->operation), "processor",
                  tlc_arm_processor(worker->library.build));
    enum tlc_status status = ready ? tlc_message_send(TLC_CONTROL_FD, ready, error)
                                   : tlc_fail(error, TLC_ENVIRONMENT, "operation: out of memory");
    json_decref(ready);
    return status;
}

static enum tlc_status serve(struct worker *worker, struct tlc_error *error)
{
    for (;;) {
        json_t *command, *answer;
        // The orchestrator that has gone ends its workers.
        if (tlc_message_receive(TLC_CONTROL_FD, -1, &command, error) != TLC_OK)
            return TLC_OK;
        const char *name = json_string_value(json_object_get(command, "command"));
        bool stop = name && !strcmp(name, "stop");
        if (name && !strcmp(name, "slice"))
            answer = answer_slice(worker, command);
        else
            answer = json_pack("{s:s}", "error", "unknown command");
        json_decref(command);
        enum tlc_status status = stop ? TLC_OK : tlc_message_send(TLC_CONTROL_FD, answer, error);
        json_decref(answer);
        if (stop || status != TLC_OK)
            return status;
    }
}

enum tlc_status tlc_primitive_serve(const struct tlc_primitive_options *options,
                                    struct tlc_error *error)
{
    struct worker worker = {.batch = 8};
    struct tlc_stack_error why = {{0}};
    enum tlc_status status = tlc_library_find(options->stack, &worker.library, error);
    if (status != TLC_OK)
        return status;
    worker.operation =
        tlc_library_operation(&worker.library, options->operation, options->provider, &why);
    if (!worker.operation)
        return tlc_fail(error, TLC_ENVIRONMENT, "operation %s: stack %s: %s", options->operation,
                        worker.library.id, why.text);
    status = say_ready(&worker, options, error);
    if (status == TLC_OK)
        status = serve(&worker, error);
    worker.library.operations->operation_free(worker.operation);
    return status;
}
