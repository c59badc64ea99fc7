#include "generator/lane.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "generator/interrupt.h"
#include "measure/clock.h"

enum {
    DEFAULT_TIMEOUT_MS = 10000,
    DEFAULT_BATCH = 32,
    DEFAULT_BATCH_WAIT_US = 6000,
    AFTER_INTERRUPT_MS = 3000, // for connections that are open then
    OPEN_AT_ONCE = 512,
    OPEN_MORE_EACH_MS = 8
};

static const struct tlc_engine_kind *engine_of(enum tlc_engine engine)
{
    switch (engine) {
    case TLC_ENGINE_FULL:
        return &tlc_engine_full;
    case TLC_ENGINE_TCP:
        return &tlc_engine_tcp;
    case TLC_ENGINE_LEAN:
        break;
    }
    return &tlc_engine_lean;
}

static unsigned tickets_after_resumption(const struct tlc_target_options *target)
{
    if (target->tickets_resumed_known)
        return target->tickets_expected_resumed;
    // Servers that renew tickets send one at least.
    return target->resume_ratio > 0 && target->tickets_expected > 1 ? 1 : target->tickets_expected;
}

static void life_set_up(struct tlc_lane *lane)
{
    const struct tlc_target_options *target = lane->options.target;
    unsigned timeout_ms = target->timeout_ms ? target->timeout_ms : DEFAULT_TIMEOUT_MS;
    lane->life = (struct tlc_life){
        .close = target->close,
        .stop = target->stop,
        .tickets_expected = target->tickets_expected,
        .tickets_expected_resumed = tickets_after_resumption(target),
        .echo = lane->options.echo,
        .echo_bytes = target->echo_bytes,
        .split_at = target->split_at,
        .split_every = target->split_every,
        .timeout_ns = (uint64_t)timeout_ms * 1000000,
        .expect = &target->expect,
        .tally = &lane->tally,
    };
}

// io_uring where the kernel gives it, unless a loop was asked for.
static enum tlc_status open_loop(struct tlc_lane *lane, struct tlc_error *error)
{
    enum tlc_loop_choice choice = lane->options.target->loop;
#ifdef TLC_HAVE_URING
    lane->kind = &tlc_loop_uring;
    if (choice != TLC_LOOP_EPOLL) {
        enum tlc_status status = lane->kind->open(lane, &lane->loop, error);
        if (status == TLC_OK || choice == TLC_LOOP_URING)
            return status;
    }
#else
    if (choice == TLC_LOOP_URING)
        return tlc_fail(error, TLC_USAGE,
                        "io_uring loop: this build has none (it was made without liburing); use "
                        "--loop epoll");
#endif
    lane->kind = &tlc_loop_epoll;
    return lane->kind->open(lane, &lane->loop, error);
}

enum tlc_status tlc_lane_new(const struct tlc_lane_options *options, struct tlc_lane **lane,
                             struct tlc_error *error)
{
    struct tlc_lane *made = calloc(1, sizeof *made);
    if (!made)
        return tlc_fail(error, TLC_ENVIRONMENT, "target: out of memory");
    made->options = *options;
    enum tlc_status status =
        engine_of(options->target->engine)->context_new(options->target, &made->context, error);
    if (status == TLC_OK)
        status = open_loop(made, error);
    if (status != TLC_OK) {
        tlc_lane_free(made);
        return status;
    }
    *lane = made;
    return TLC_OK;
}

void tlc_lane_free(struct tlc_lane *lane)
{
    if (!lane)
        return;
    if (lane->loop)
        lane->kind->close(lane->loop);
    for (unsigned i = 0; i < lane->capacity; i++) {
        if (!lane->connections[i])
            continue;
        lane->connections[i]->session->kind->session_free(lane->connections[i]->session);
        free(lane->connections[i]);
    }
    free(lane->connections);
    free(lane->idle);
    if (lane->context)
        lane->context->kind->context_free(lane->context);
    free(lane);
}

static struct tlc_load_connection *connection_new(struct tlc_lane *lane)
{
    struct tlc_load_connection *connection = calloc(1, sizeof *connection);
    if (!connection)
        return NULL;
    connection->life = &lane->life;
    connection->session = lane->context->kind->session_new(lane->context);
    if (connection->session)
        return connection;
    free(connection);
    return NULL;
}

static bool is_open_loop(const struct tlc_slice_options *slice)
{
    return slice->rate > 0 || slice->rate_end > 0;
}

static bool grow(struct tlc_lane *lane, unsigned capacity)
{
    struct tlc_load_connection **connections =
        realloc(lane->connections, capacity * sizeof *connections);
    if (connections)
        lane->connections = connections;
    unsigned *idle = realloc(lane->idle, capacity * sizeof *idle);
    if (idle)
        lane->idle = idle;
    if (!connections || !idle)
        return false;
    while (lane->capacity < capacity) {
        struct tlc_load_connection *connection = connection_new(lane);
        if (!connection)
            return false;
        lane->connections[lane->capacity++] = connection;
    }
    return true;
}

enum tlc_status tlc_lane_prepare(struct tlc_lane *lane, const struct tlc_slice_options *slice,
                                 struct tlc_error *error)
{
    unsigned wanted = slice->concurrency ? slice->concurrency : 1;
    if (wanted > lane->capacity && !grow(lane, wanted))
        return tlc_fail(error, TLC_ENVIRONMENT, "slice: %u connections: out of memory", wanted);
    lane->concurrency = wanted;
    lane->idle_count = 0;
    for (unsigned i = wanted; i > 0; i--)
        lane->idle[lane->idle_count++] = i - 1;
    lane->batch = slice->batch ? slice->batch : is_open_loop(slice) ? 1 : DEFAULT_BATCH;
    // Waiting for more events than connections can give would only wait for the clock.
    if (lane->batch > 1 && lane->batch > wanted / 4)
        lane->batch = wanted / 4 ? wanted / 4 : 1;
    lane->batch_wait_ns =
        (uint64_t)(slice->batch_wait_us ? slice->batch_wait_us : DEFAULT_BATCH_WAIT_US) * 1000;
    life_set_up(lane);
    lane->context->resumption =
        (struct tlc_resumption){.ratio = lane->options.target->resume_ratio};
    return lane->kind->prepare(lane->loop, error);
}

static double between_us(struct timeval from, struct timeval to)
{
    return (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_usec - from.tv_usec);
}

static void count_times(const struct tlc_lane *lane, const struct rusage *before,
                        const struct rusage *after, struct tlc_counters *counters)
{
    uint64_t begin_ns = lane->pacer.begin_ns, end_ns = tlc_now_ns();
    counters->cpu_user_us = between_us(before->ru_utime, after->ru_utime);
    counters->cpu_system_us = between_us(before->ru_stime, after->ru_stime);
    counters->span_s = (double)(end_ns - begin_ns) / 1e9;
    counters->missed = tlc_pacer_missed(&lane->pacer, end_ns);
    // When the count or an interrupt ended the starts, the window is the time it took.
    bool timed = lane->pacer.stop_ns <= end_ns && lane->pacer.taken < lane->pacer.count &&
                 !lane->pacer.stopped;
    uint64_t window_end_ns = timed ? lane->pacer.stop_ns : lane->tally.last_done_ns;
    counters->window_s =
        window_end_ns > begin_ns ? (double)(window_end_ns - begin_ns) / 1e9 : counters->span_s;
}

enum tlc_status tlc_lane_run(struct tlc_lane *lane, const struct tlc_slice_options *slice,
                             struct tlc_counters *counters, struct tlc_error *error)
{
    struct rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    uint64_t now_ns = tlc_now_ns();
    tlc_pacer_begin(&lane->pacer, now_ns,
                    &(struct tlc_pace){
                        .duration_us = slice->duration_us,
                        .count = slice->count,
                        .open_loop = is_open_loop(slice),
                        .rate = slice->rate,
                        .rate_end = slice->rate_end > 0 ? slice->rate_end : slice->rate,
                    });
    tlc_tally_begin(&lane->tally, counters, slice->keep_latencies, lane->pacer.stop_ns);
    lane->next_expiry_ns = 0;
    lane->hasty = slice->hasty;
    lane->interrupted = false;
    enum tlc_status status = lane->kind->run(lane->loop, error);
    getrusage(RUSAGE_THREAD, &after);
    if (status != TLC_OK)
        return status;
    count_times(lane, &before, &after, counters);
    return tlc_tally_finish(&lane->tally, error);
}

// A crowd of connections is opened over some time, so that the server can take them from its accept
// queue (4096 long at best) while it works: how many may be open `now_ns`. All lanes open together
// no faster than one would.
static unsigned may_be_open(const struct tlc_lane *lane, uint64_t now_ns)
{
    uint64_t since_ms = (now_ns - lane->pacer.begin_ns) / 1000000;
    uint64_t allowed = (OPEN_AT_ONCE + since_ms * OPEN_MORE_EACH_MS) / lane->options.lanes + 1;
    return allowed < lane->concurrency ? (unsigned)allowed : lane->concurrency;
}

struct tlc_load_connection *tlc_lane_start(struct tlc_lane *lane, uint64_t now_ns, unsigned *index,
                                           enum tlc_ask *ask)
{
    uint64_t intended_ns;
    if (!lane->idle_count || tlc_lane_open(lane) >= may_be_open(lane, now_ns) ||
        !tlc_pacer_take(&lane->pacer, now_ns, &intended_ns))
        return NULL;
    *index = lane->idle[--lane->idle_count];
    struct tlc_load_connection *connection = lane->connections[*index];
    *ask = tlc_load_connection_begin(connection, intended_ns, now_ns);
    return connection;
}

bool tlc_lane_restart(struct tlc_lane *lane, unsigned index, uint64_t now_ns, enum tlc_ask *ask)
{
    uint64_t intended_ns;
    if (!tlc_pacer_take(&lane->pacer, now_ns, &intended_ns))
        return false;
    *ask = tlc_load_connection_begin(lane->connections[index], intended_ns, now_ns);
    return true;
}

void tlc_lane_idle(struct tlc_lane *lane, unsigned index)
{
    lane->idle[lane->idle_count++] = index;
}

void tlc_lane_closed(struct tlc_lane *lane, unsigned index)
{
    tlc_load_connection_closed(lane->connections[index]);
    tlc_lane_idle(lane, index);
}

bool tlc_lane_over(const struct tlc_lane *lane, uint64_t now_ns)
{
    return lane->idle_count == lane->concurrency &&
           tlc_pacer_next_ns(&lane->pacer, now_ns) == TLC_PACER_NEVER;
}

uint64_t tlc_lane_sleep_ns(const struct tlc_lane *lane, uint64_t now_ns)
{
    uint64_t until = lane->next_expiry_ns;
    if (lane->idle_count) {
        uint64_t next = tlc_pacer_next_ns(&lane->pacer, now_ns);
        if (next < now_ns + 1000000 && tlc_lane_open(lane) >= may_be_open(lane, now_ns))
            next = now_ns + 1000000; // when more may be open
        until = next < until ? next : until;
    }
    return until > now_ns ? until - now_ns : 0;
}

bool tlc_lane_expiry_due(struct tlc_lane *lane, uint64_t now_ns)
{
    if (now_ns < lane->next_expiry_ns)
        return false;
    uint64_t step_ns = lane->life.timeout_ns / 8;
    if (step_ns > 250000000)
        step_ns = 250000000; // an interrupt that came just before a sleep is heeded soon
    if (step_ns < 1000000)
        step_ns = 1000000;
    lane->next_expiry_ns = now_ns + step_ns;
    return true;
}

void tlc_lane_heed_interrupt(struct tlc_lane *lane)
{
    if (lane->interrupted || !tlc_generator_interrupted())
        return;
    lane->interrupted = true;
    tlc_pacer_stop(&lane->pacer);
    uint64_t last_ns = tlc_now_ns();
    if (lane->hasty)
        lane->next_expiry_ns = 0;
    else
        last_ns += (uint64_t)AFTER_INTERRUPT_MS * 1000000;
    for (unsigned i = 0; i < lane->concurrency; i++)
        if (lane->connections[i]->deadline_ns > last_ns)
            lane->connections[i]->deadline_ns = last_ns;
}
