// Windows of fixed work; how long they take is not tested.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <string.h>

#include "measure/interference.h"
#include "measure/machine.h"

static void windows_give_a_cost(void **state)
{
    (void)state;
    cpu_set_t usable;
    double ns;
    struct tlc_error error = {0};
    assert_int_equal(sched_getaffinity(0, sizeof usable, &usable), 0);
    for (unsigned busy = 0; busy < 2; busy++) {
        ns = 0;
        if (tlc_interference_window(&usable, &usable, busy, 20, &ns, &error) != TLC_OK)
            fail_msg("%s", error.text);
        assert_true(ns > 0);
    }
}

static void absent_cpus_are_an_error(void **state)
{
    (void)state;
    cpu_set_t none, usable, absent;
    double ns = 0;
    struct tlc_error error = {0};
    CPU_ZERO(&none);
    CPU_ZERO(&absent);
    CPU_SET(CPU_SETSIZE - 1, &absent);
    assert_int_equal(sched_getaffinity(0, sizeof usable, &usable), 0);
    if (CPU_ISSET(CPU_SETSIZE - 1, &usable))
        skip();
    assert_int_equal(tlc_interference_window(&none, &usable, false, 20, &ns, &error),
                     TLC_ENVIRONMENT);
    assert_int_equal(tlc_interference_window(&absent, &usable, false, 20, &ns, &error),
                     TLC_ENVIRONMENT);
    assert_int_equal(tlc_interference_window(&usable, &absent, true, 20, &ns, &error),
                     TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "interference: "));
}

static void identity_is_of_lasting_facts(void **state)
{
    (void)state;
    char first[TLC_MACHINE_IDENTITY_BYTES], second[TLC_MACHINE_IDENTITY_BYTES];
    json_t *machine = tlc_machine_describe();
    assert_true(tlc_machine_identity(machine, first));
    assert_int_equal(strlen(first), 64);
    assert_int_equal(strspn(first, "0123456789abcdef"), 64);
    json_object_set_new(machine, "load_average", json_null());
    json_object_set_new(machine, "somaxconn", json_integer(1));
    assert_true(tlc_machine_identity(machine, second));
    assert_string_equal(first, second);
    json_object_set_new(machine, "kernel", json_string("another"));
    assert_true(tlc_machine_identity(machine, second));
    assert_string_not_equal(first, second);
    json_decref(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_give_a_cost),
        cmocka_unit_test(absent_cpus_are_an_error),
        cmocka_unit_test(identity_is_of_lasting_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
