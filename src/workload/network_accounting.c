#include "workload/network_accounting.h"

#include <math.h>

enum tlc_status tlc_take_readings(const cpu_set_t *server_cpus, const cpu_set_t *generator_cpus,
                                  struct tlc_readings *readings, struct tlc_error *error)
{
    enum tlc_status status = tlc_read_cpu_times(server_cpus, &readings->server, error);
    if (status == TLC_OK)
        status = tlc_read_cpu_times(generator_cpus, &readings->generator, error);
    if (status == TLC_OK)
        status = tlc_read_tcp_counters(&readings->tcp, error);
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
    add_times(&sums->server, &after->server, &before->server);
    add_times(&sums->generator, &after->generator, &before->generator);
    sums->listen_overflows += after->tcp.listen_overflows - before->tcp.listen_overflows;
    sums->listen_drops += after->tcp.listen_drops - before->tcp.listen_drops;
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

// The disagreement of the two accountings beyond what the steps of /proc/stat can tell: each
// reading of idle time is cut down to a tick of 10 ms, so a sum over slices carries a random error
// of about 10 ms * sqrt(2 * slices * CPUs / 12); twice that is allowed for.
static double accounting_gap(const struct tlc_sums *sums)
{
    if (sums->cost_us <= 0)
        return 1;
    double wall = total_us(&sums->server);
    double busy =
        wall - (double)(sums->server.idle_us + sums->server.iowait_us + sums->server.steal_us);
    double allowed = 2 * 10000 * sqrt((double)sums->slices * sums->server.cpus / 6.0);
    double gap = fabs(busy - sums->together_us) - allowed;
    return gap > 0 ? gap / sums->together_us : 0;
}

static json_t *times_json(const struct tlc_cpu_times *times)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:i}", "user_us",
                     (json_int_t)(times->user_us + times->nice_us), "system_us",
                     (json_int_t)times->system_us, "idle_us",
                     (json_int_t)(times->idle_us + times->iowait_us), "irq_us",
                     (json_int_t)times->irq_us, "softirq_us", (json_int_t)times->softirq_us,
                     "steal_us", (json_int_t)times->steal_us, "cpus", (int)times->cpus);
}

void tlc_sums_stay(const struct tlc_sums *sums, unsigned workers, struct tlc_stay *stay)
{
    unsigned cpus = sums->server.cpus < workers ? sums->server.cpus : workers;
    double generator_wall = total_us(&sums->generator), server_wall = total_us(&sums->server);
    double capacity_us = sums->span_s * 1e6 * cpus;
    *stay = (struct tlc_stay){
        .server_busy = capacity_us > 0 ? sums->cost_us / capacity_us : 0,
        .generator_busy = generator_wall > 0 ? busy_us(&sums->generator) / generator_wall : 0,
        .steal = server_wall > 0 ? (double)sums->server.steal_us / server_wall : 0,
        .accounting = accounting_gap(sums),
        .listen_overflows = sums->listen_overflows,
        .listen_drops = sums->listen_drops,
        .detail = json_pack("{s:o, s:o}", "server_cpu", times_json(&sums->server), "generator_cpu",
                            times_json(&sums->generator)),
    };
}
