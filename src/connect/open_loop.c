#include "connect/open_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "measure/clock.h"

enum { EVENTS = 64, MAX_REASONS = 16, CHECK_MS = 50 };

static const uint64_t NS_PER_S = 1000000000, NS_PER_MS = 1000000;

void tlc_open_loop_schedule(uint64_t seed, size_t spot_count, unsigned connections, unsigned pace,
                            uint64_t *due_ns, size_t *spots)
{
    struct tlc_dice dice = {seed};
    double at = 0;
    for (unsigned sweep = 0; sweep < connections; sweep++) {
        size_t *order = spots + sweep * spot_count;
        for (size_t i = 0; i < spot_count; i++) { // Fisher and Yates, inside out
            size_t j = (size_t)(tlc_dice_roll(&dice) * (double)(i + 1));
            order[i] = order[j];
            order[j] = i;
        }
    }
    for (size_t i = 0; i < spot_count * connections; i++) {
        at -= log1p(-tlc_dice_roll(&dice)) / pace;
        due_ns[i] = (uint64_t)(at * (double)NS_PER_S);
    }
}

// A visit under way; the ring holds all of them.
struct flight {
    struct flight *next, *before;
    struct tlc_connect_spot *spot;
    uint64_t deadline_ns;
    struct tlc_visit visit;
};

struct loop {
    struct tlc_connect *connect;
    int epoll;
    struct flight flights; // head of the ring
    uint64_t *due_ns, start_ns, last_told_ns, last_checked_ns;
    size_t *spots, next, total;
};

static void count_failure(struct tlc_connect_spot *spot, const char *reason)
{
    json_t *known = json_object_get(spot->errors, reason);
    const char *name = known || json_object_size(spot->errors) < MAX_REASONS ? reason : "other";
    json_int_t count = json_integer_value(json_object_get(spot->errors, name));
    json_object_set_new(spot->errors, name, json_integer(count + 1));
    spot->failed++;
}

static void land(struct flight *flight)
{
    struct tlc_connect_spot *spot = flight->spot;
    if (flight->visit.state == TLC_VISIT_DONE) {
        for (int phase = 0; phase < TLC_PHASES; phase++)
            spot->us[phase][spot->count] = (double)flight->visit.phase_ns[phase] / 1000;
        spot->count++;
    } else {
        count_failure(spot, flight->visit.failure);
    }
    tlc_visit_end(&flight->visit);
    flight->before->next = flight->next;
    flight->next->before = flight->before;
    free(flight);
}

static void go_on(struct flight *flight)
{
    if (tlc_visit_go_on(&flight->visit))
        land(flight);
}

static void begin(struct loop *loop)
{
    struct tlc_connect *connect = loop->connect;
    struct tlc_connect_spot *spot = &connect->spots[loop->spots[loop->next]];
    uint64_t due = loop->start_ns + loop->due_ns[loop->next++];
    spot->begun++;
    connect->late_us[connect->late_count++] = (double)(tlc_now_ns() - due) / 1000;
    struct flight *flight = malloc(sizeof *flight);
    if (!flight) {
        count_failure(spot, "out of memory");
        return;
    }
    flight->spot = spot;
    flight->deadline_ns = due + (uint64_t)spot->arm->arm->timeout_us * 1000;
    flight->next = &loop->flights;
    flight->before = loop->flights.before;
    flight->before->next = flight->next->before = flight;
    tlc_visit_begin(&flight->visit, &spot->target, due);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = flight};
    if (flight->visit.state != TLC_VISIT_FAILED &&
        epoll_ctl(loop->epoll, EPOLL_CTL_ADD, flight->visit.fd, &event))
        tlc_visit_fail(&flight->visit, "epoll takes no more sockets");
    go_on(flight);
}

static void check_deadlines(struct loop *loop, uint64_t now)
{
    if (now - loop->last_checked_ns < CHECK_MS * NS_PER_MS)
        return;
    loop->last_checked_ns = now;
    for (struct flight *flight = loop->flights.next, *next; flight != &loop->flights;
         flight = next) {
        next = flight->next;
        if (now > flight->deadline_ns) {
            tlc_visit_fail(&flight->visit, "timeout");
            land(flight);
        }
    }
}

static void tell(struct loop *loop, uint64_t now)
{
    const struct tlc_connect_options *options = loop->connect->options;
    if (!options->progress || now - loop->last_told_ns < NS_PER_S / 2)
        return;
    loop->last_told_ns = now;
    double left = (double)loop->due_ns[loop->total - 1] - (double)(now - loop->start_ns);
    options->progress(options->user, (double)loop->next / (double)loop->total,
                      left > 0 ? left / (double)NS_PER_S : 0);
}

static void wait_for_events(struct loop *loop)
{
    struct epoll_event events[EVENTS];
    uint64_t now = tlc_now_ns(), wait = CHECK_MS * NS_PER_MS;
    if (loop->next < loop->total) {
        uint64_t due = loop->start_ns + loop->due_ns[loop->next];
        uint64_t left = due > now ? due - now : 0;
        wait = left < wait ? left : wait;
    }
    struct timespec timeout = {.tv_nsec = (long)wait};
    int ready = epoll_pwait2(loop->epoll, events, EVENTS, &timeout, NULL);
    for (int i = 0; i < ready; i++)
        go_on(events[i].data.ptr);
}

static enum tlc_status run(struct loop *loop, struct tlc_error *error)
{
    const struct tlc_connect_options *options = loop->connect->options;
    loop->start_ns = tlc_now_ns();
    while (loop->next < loop->total || loop->flights.next != &loop->flights) {
        if (options->stop && options->stop())
            return tlc_fail(error, TLC_INTERRUPTED, "connect: interrupted");
        wait_for_events(loop);
        uint64_t now = tlc_now_ns();
        if (loop->next < loop->total && loop->start_ns + loop->due_ns[loop->next] <= now)
            begin(loop);
        check_deadlines(loop, now);
        tell(loop, now);
    }
    return TLC_OK;
}

enum tlc_status tlc_open_loop_run(struct tlc_connect *connect, struct tlc_error *error)
{
    const struct tlc_schedule *schedule = &connect->options->plan->schedule;
    struct loop loop = {.connect = connect,
                        .total = connect->spot_count * schedule->connections,
                        .epoll = epoll_create1(EPOLL_CLOEXEC)};
    loop.flights.next = loop.flights.before = &loop.flights;
    loop.due_ns = calloc(loop.total, sizeof *loop.due_ns);
    loop.spots = calloc(loop.total, sizeof *loop.spots);
    enum tlc_status status;
    if (loop.epoll < 0)
        status = tlc_fail_errno(error, "connect: epoll");
    else if (!loop.due_ns || !loop.spots)
        status = tlc_fail(error, TLC_ENVIRONMENT, "connect: out of memory");
    else {
        tlc_open_loop_schedule(connect->options->seed, connect->spot_count, schedule->connections,
                               schedule->pace, loop.due_ns, loop.spots);
        (void)prctl(PR_SET_TIMERSLACK, 1UL);
        status = run(&loop, error);
        (void)prctl(PR_SET_TIMERSLACK, 0UL); // the default again
    }
    while (loop.flights.next != &loop.flights) {
        tlc_visit_fail(&loop.flights.next->visit, "interrupted");
        land(loop.flights.next);
    }
    if (loop.epoll >= 0)
        close(loop.epoll);
    free(loop.due_ns);
    free(loop.spots);
    return status;
}
