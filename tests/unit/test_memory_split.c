// Shares of CPU time from the wall times of single handshakes.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "workload/memory_split.h"

static void assert_near(double got, double expected)
{
    if (!(fabs(got - expected) <= 1e-6 * (1 + fabs(expected))))
        fail_msg("%.9g, not %.9g", got, expected);
}

static void parts_are_the_whole_cpu_time(void **state)
{
    (void)state;
    const struct tlc_memory_lap laps[] = {{30000, 60000, 10000, false},
                                          {50000, 40000, 10000, false}};
    struct tlc_memory_split split;
    assert_true(tlc_memory_split(laps, 2, 100, &split)); // the thread had the CPU half of the time
    assert_near(split.server_us, 40);
    assert_near(split.client_us, 50);
    assert_near(split.rest_us, 10);
    assert_near(split.wall_us, 200);
    assert_int_equal(split.interrupted, 0);
}

static void an_interrupted_lap_moves_no_share(void **state)
{
    (void)state;
    struct tlc_memory_lap laps[21];
    for (size_t i = 0; i < 21; i++)
        laps[i] = (struct tlc_memory_lap){10000, 30000, 0, false};
    laps[7].server_ns += 4e6; // another thread ran for 4 ms in the server's time
    struct tlc_memory_split split;
    assert_true(tlc_memory_split(laps, 21, 840, &split));
    assert_int_equal(split.interrupted, 1);
    assert_near(split.server_us, 210);
    assert_near(split.client_us, 630);
    assert_near(split.wall_us, 840); // the lap counts as the others do
}

// Full handshakes among resumed ones are long by nature.
static void full_and_resumed_are_judged_apart(void **state)
{
    (void)state;
    struct tlc_memory_lap laps[22];
    for (size_t i = 0; i < 20; i++)
        laps[i] = (struct tlc_memory_lap){10000, 10000, 0, true};
    laps[20] = laps[21] = (struct tlc_memory_lap){100000, 300000, 0, false};
    struct tlc_memory_split split;
    assert_true(tlc_memory_split(laps, 22, 1200, &split));
    assert_int_equal(split.interrupted, 0);
    assert_near(split.server_us, 400);
    assert_near(split.client_us, 800);
}

static void nothing_gives_no_share(void **state)
{
    (void)state;
    struct tlc_memory_split split;
    const struct tlc_memory_lap empty = {0, 0, 0, false};
    assert_false(tlc_memory_split(NULL, 0, 100, &split));
    assert_false(tlc_memory_split(&empty, 1, 100, &split));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_whole_cpu_time),
        cmocka_unit_test(an_interrupted_lap_moves_no_share),
        cmocka_unit_test(full_and_resumed_are_judged_apart),
        cmocka_unit_test(nothing_gives_no_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
