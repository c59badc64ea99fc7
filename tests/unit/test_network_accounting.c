// What the readings of a slice become: sums over sets of CPUs, and how far accountings lie apart.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "measure/cpu_events.h"
#include "workload/network_accounting.h"

// A second of one CPU: 600 ms user, 100 system, 200 softirq, 100 idle; 3000 receive softirqs.
static struct tlc_set_reading second_later(struct tlc_set_reading from)
{
    from.times.cpus = 1;
    from.times.user_us += 600000;
    from.times.system_us += 100000;
    from.times.softirq_us += 200000;
    from.times.idle_us += 100000;
    from.softirqs.net_rx += 3000;
    from.events.counted[TLC_EVENT_CPU_CLOCK] = true;
    from.events.of[TLC_EVENT_CPU_CLOCK] += 1000000000;
    return from;
}

static json_t *stay_of(uint64_t clock_ns, double cost_us, struct tlc_stay *stay)
{
    struct tlc_readings before = {.server.times.cpus = 1}, after;
    struct tlc_sums sums = {0};
    before.server.events.counted[TLC_EVENT_CPU_CLOCK] = true;
    // A 32-bit counter of the kernel that wraps within the slice.
    before.server.softirqs.net_rx = UINT32_MAX - 10;
    after = before;
    after.server = second_later(before.server);
    after.server.softirqs.net_rx %= UINT64_C(1) << 32;
    after.generator = second_later(before.generator);
    after.server.events.of[TLC_EVENT_CPU_CLOCK] = clock_ns;
    tlc_sums_add(&sums, &before, &after, cost_us, cost_us, 1);
    tlc_sums_stay(&sums, 1, stay);
    return stay->detail;
}

static void softirqs_are_told_by_set(void **state)
{
    (void)state;
    struct tlc_stay stay;
    json_t *detail = stay_of(1000000000, 900000, &stay);
    const json_t *server = json_object_get(detail, "server_cpu");
    assert_int_equal(json_integer_value(json_object_get(server, "softirq_us")), 200000);
    assert_int_equal(json_integer_value(json_object_get(server, "net_rx")), 3000);
    const json_t *generator = json_object_get(detail, "generator_cpu");
    assert_int_equal(json_integer_value(json_object_get(generator, "net_rx")), 3000);
    // What no counter gave is no 0.
    assert_true(json_is_null(json_object_get(server, "cycles")));
    assert_true(stay.accounting < 1e-9);
    assert_true(json_real_value(json_object_get(detail, "clock_gap")) < 1e-9);
    tlc_stay_clear(&stay);
}

static void accountings_that_differ_are_seen(void **state)
{
    (void)state;
    struct tlc_stay stay;
    // The process tree tells half of what the CPUs did.
    json_t *detail = stay_of(1000000000, 450000, &stay);
    assert_true(stay.accounting > 0.9);
    assert_true(json_real_value(json_object_get(detail, "clock_gap")) < 1e-9);
    tlc_stay_clear(&stay);
    // The CPU's clock ran twice as long as /proc/stat tells.
    detail = stay_of(2000000000, 900000, &stay);
    double gap = json_real_value(json_object_get(detail, "clock_gap"));
    assert_true(gap > 0.4 && gap < 0.5);
    tlc_stay_clear(&stay);
}

static void events_of_cpus_only_grow(void **state)
{
    (void)state;
    cpu_set_t usable;
    const char *reason = NULL;
    assert_int_equal(sched_getaffinity(0, sizeof usable, &usable), 0);
    struct tlc_cpu_events *events = tlc_cpu_events_open(&usable, &reason);
    if (!events) {
        print_message("skipped: no events over whole CPUs: %s\n", reason);
        skip();
    }
    struct tlc_cpu_event_sums before, after;
    tlc_cpu_events_read(events, &before);
    usleep(2000);
    tlc_cpu_events_read(events, &after);
    struct tlc_cpu_event_sums since = tlc_cpu_events_since(&after, &before);
    for (int event = 0; event < TLC_EVENT_COUNT; event++) {
        assert_true(after.of[event] >= before.of[event] || !after.counted[event]);
        assert_true(since.counted[event] || since.of[event] == 0);
    }
    // Each CPU's clock ran for as long as the sleep took, at least.
    if (since.counted[TLC_EVENT_CPU_CLOCK])
        assert_true(since.of[TLC_EVENT_CPU_CLOCK] >= 2000000u * (unsigned)CPU_COUNT(&usable));
    tlc_cpu_events_close(events);
}

static void no_cpu_has_no_events(void **state)
{
    (void)state;
    cpu_set_t none;
    CPU_ZERO(&none);
    assert_null(tlc_cpu_events_open(&none, NULL));
    struct tlc_cpu_event_sums sums;
    tlc_cpu_events_read(NULL, &sums);
    for (int event = 0; event < TLC_EVENT_COUNT; event++)
        assert_false(sums.counted[event]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softirqs_are_told_by_set),
        cmocka_unit_test(accountings_that_differ_are_seen),
        cmocka_unit_test(events_of_cpus_only_grow),
        cmocka_unit_test(no_cpu_has_no_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
