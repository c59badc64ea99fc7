#include "workload/network_accounting.h"

#include <math.h>

enum { FIELDS = 8 }; // of /proc/stat in total_us

static enum tlc_status read_set(const cpu_set_t *cpus, const struct tlc_cpu_events *events,
                                struct tlc_set_reading *reading, struct tlc_error *error)
{
    tlc_cpu_events_read(events, &reading->events);
    enum tlc_status status = tlc_read_cpu_times(cpus, &reading->times, error);
    if (status == TLC_OK)
        status = tlc_read_softirqs(cpus, &reading->softirqs, error);
    return status;
}

enum tlc_status tlc_take_readings(const struct tlc_observed *observed,
                                  struct tlc_readings *readings, struct tlc_error *error)
{
    readings->server_ns = observed->tree ? tlc_tree_read_ns(observed->tree, NULL)
                                         : tlc_tree_cpu_ns(observed->server, NULL);
    enum tlc_status status =
        read_set(observed->server_cpus, observed->server_events, &readings->server, error);
    if (status == TLC_OK)
        status = read_set(observed->generator_cpus, observed->generator_events,
                          &readings->generator, error);
    // A namespace of its own is seen only through its server; what a dead one left is in no sum.
    struct tlc_error dead;
    if (status == TLC_OK && observed->apart) {
        if (tlc_read_tcp_counters_of(observed->server, &readings->tcp, &dead) != TLC_OK)
            readings->tcp = (struct tlc_tcp_counters){0};
    } else if (status == TLC_OK) {
        status = tlc_read_tcp_counters(&readings->tcp, error);
    }
    return status;
}

static void add_times(struct tlc_cpu_times *sum, const struct tlc_cpu_times *later,
                      const struct tlc_cpu_times *earlier)
{
    struct tlc_cpu_times part = tlc_cpu_times_since(later, earlier);
    sum->user_us += part.user_us;
    sum->nice_us += part.nice_us;
    sum->system_us += part.system_us;
    sum->idle_us += part.idle_us;
    sum->iowait_us += part.iowait_us;
    sum->irq_us += part.irq_us;
    sum->softirq_us += part.softirq_us;
    sum->steal_us += part.steal_us;
    sum->guest_us += part.guest_us;
    sum->cpus = part.cpus;
}

static void add_set(struct tlc_set_reading *sum, const struct tlc_set_reading *later,
                    const struct tlc_set_reading *earlier)
{
    struct tlc_softirqs softirqs = tlc_softirqs_since(&later->softirqs, &earlier->softirqs);
    struct tlc_cpu_event_sums events = tlc_cpu_events_since(&later->events, &earlier->events);
    add_times(&sum->times, &later->times, &earlier->times);
    sum->softirqs.net_rx += softirqs.net_rx;
    sum->softirqs.net_tx += softirqs.net_tx;
    for (int event = 0; event < TLC_EVENT_COUNT; event++) {
        sum->events.of[event] += events.of[event];
        sum->events.counted[event] = events.counted[event];
    }
}

static uint64_t grown(uint64_t later, uint64_t earlier)
{
    return later > earlier ? later - earlier : 0;
}

double tlc_cpu_share(double cost_us, double together_us, unsigned workers, unsigned cpus)
{
    if (cost_us <= 0 || cost_us >= together_us)
        return 1;
    unsigned could_use = workers < cpus ? workers : cpus;
    double share = (double)cpus * cost_us / together_us / could_use;
    return share < 1 ? share : 1;
}

void tlc_sums_add(struct tlc_sums *sums, const struct tlc_readings *before,
                  const struct tlc_readings *after, double cost_us, double together_us,
                  double span_s)
{
    sums->slices++;
    sums->cost_us += cost_us;
    sums->together_us += together_us;
    sums->span_s += span_s;
    add_set(&sums->server, &after->server, &before->server);
    add_set(&sums->generator, &after->generator, &before->generator);
    sums->listen_overflows += grown(after->tcp.listen_overflows, before->tcp.listen_overflows);
    sums->listen_drops += grown(after->tcp.listen_drops, before->tcp.listen_drops);
}

static double busy_us(const struct tlc_cpu_times *times)
{
    return (double)(times->user_us + times->nice_us + times->system_us + times->irq_us +
                    times->softirq_us);
}

static double total_us(const struct tlc_cpu_times *times)
{
    return busy_us(times) + (double)(times->idle_us + times->iowait_us + times->steal_us);
}

// What the steps of /proc/stat can hide: each reading of a field is cut down to a tick of 10 ms, so
// a sum over slices carries a random error of about 10 ms * sqrt(2 * slices * CPUs / 12); twice
// that is allowed for.
static double tick_error_us(const struct tlc_sums *sums)
{
    return 2 * 10000 * sqrt((double)sums->slices * sums->server.times.cpus / 6.0);
}

// The disagreement of the two accountings beyond that.
static double accounting_gap(const struct tlc_sums *sums)
{
    if (sums->cost_us <= 0)
        return 1;
    double gap = fabs(busy_us(&sums->server.times) - sums->together_us) - tick_error_us(sums);
    return gap > 0 ? gap / sums->together_us : 0;
}

// The time that the CPUs were there, by their clock against the sum of all fields of /proc/stat:
// the third accounting's check of the first. Null where events cannot be counted.
static json_t *clock_gap(const struct tlc_sums *sums)
{
    const struct tlc_cpu_event_sums *events = &sums->server.events;
    double clock_us = (double)events->of[TLC_EVENT_CPU_CLOCK] / 1000;
    if (!events->counted[TLC_EVENT_CPU_CLOCK] || clock_us <= 0)
        return json_null();
    // Each of the fields is cut down to a tick by itself.
    double gap =
        fabs(total_us(&sums->server.times) - clock_us) - tick_error_us(sums) * sqrt(FIELDS);
    return json_real(gap > 0 ? gap / clock_us : 0);
}

static json_t *set_json(const struct tlc_set_reading *set)
{
    const struct tlc_cpu_times *times = &set->times;
    json_t *json = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:I, s:I}", "user_us",
        (json_int_t)(times->user_us + times->nice_us), "system_us", (json_int_t)times->system_us,
        "idle_us", (json_int_t)(times->idle_us + times->iowait_us), "irq_us",
        (json_int_t)times->irq_us, "softirq_us", (json_int_t)times->softirq_us, "steal_us",
        (json_int_t)times->steal_us, "cpus", (int)times->cpus, "net_rx",
        (json_int_t)set->softirqs.net_rx, "net_tx", (json_int_t)set->softirqs.net_tx);
    for (int event = 0; event < TLC_EVENT_COUNT; event++)
        json_object_set_new(json, tlc_cpu_event_name((enum tlc_cpu_event)event),
                            set->events.counted[event]
                                ? json_integer((json_int_t)set->events.of[event])
                                : json_null());
    return json;
}

void tlc_sums_stay(const struct tlc_sums *sums, unsigned workers, struct tlc_stay *stay)
{
    const struct tlc_cpu_times *server = &sums->server.times, *generator = &sums->generator.times;
    unsigned cpus = server->cpus < workers ? server->cpus : workers;
    double generator_wall = total_us(generator), server_wall = total_us(server);
    double capacity_us = sums->span_s * 1e6 * cpus;
    *stay = (struct tlc_stay){
        .server_busy = capacity_us > 0 ? sums->cost_us / capacity_us : 0,
        .generator_busy = generator_wall > 0 ? busy_us(generator) / generator_wall : 0,
        .steal = server_wall > 0 ? (double)server->steal_us / server_wall : 0,
        .accounting = accounting_gap(sums),
        .listen_overflows = sums->listen_overflows,
        .listen_drops = sums->listen_drops,
        .detail =
            json_pack("{s:o, s:o, s:o}", "server_cpu", set_json(&sums->server), "generator_cpu",
                      set_json(&sums->generator), "clock_gap", clock_gap(sums)),
    };
}
