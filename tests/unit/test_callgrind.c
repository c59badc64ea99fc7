#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/callgrind.h"

static const char text[] = "# callgrind format\nversion: 1\npositions: line\nevents: Ir\n"
                           "summary: 1000\n\n"
                           "ob=(1) /usr/lib/libone.so\nfl=(1) one.c\nfn=(1) first\n16 400\n"
                           "+4 10\ncfn=(2) second\ncalls=3 50\n16 700\n* 5\n\n"
                           "fn=(2)\nfi=(9) inlined.h\n51 100\nfe=(1)\n-1 20\n\n"
                           "ob=(2) /usr/lib/libtwo.so\nfn=(3) second\n7 60\n\n"
                           "ob=(1)\nfn=(1)\n20 1\n\ntotals: 1000\n";

static void self_costs_leave_out_calls(void **state)
{
    (void)state;
    struct tlc_callgrind counts;
    struct tlc_error error = {0};
    assert_int_equal(tlc_callgrind_parse(text, &counts, &error), TLC_OK);
    assert_int_equal(counts.total, 1000);
    assert_int_equal(counts.count, 3);
    assert_int_equal(tlc_callgrind_self(&counts, "first", "libone.so"), 416);
    assert_int_equal(tlc_callgrind_self(&counts, "second", "libone.so"), 120);
    assert_int_equal(tlc_callgrind_self(&counts, "second", "libtwo.so"), 60);
    assert_int_equal(tlc_callgrind_self(&counts, "third", "libtwo.so"), 0);
    tlc_callgrind_free(&counts);
}

static void instructions_are_found_among_other_events(void **state)
{
    (void)state;
    struct tlc_callgrind counts;
    struct tlc_error error = {0};
    assert_int_equal(tlc_callgrind_parse("events: Bc Ir\nfn=(1) f\n1 5 70\n2 5\ntotals: 10 70\n",
                                         &counts, &error),
                     TLC_OK);
    assert_int_equal(counts.total, 70);
    assert_int_equal(tlc_callgrind_self(&counts, "f", "?"), 70);
    tlc_callgrind_free(&counts);
}

static void many_functions_fit(void **state)
{
    (void)state;
    enum { FUNCTIONS = 5000 };
    char *many = calloc(FUNCTIONS + 1, 64);
    size_t used = (size_t)sprintf(many, "events: Ir\nob=(1) a\n");
    for (int i = 0; i < FUNCTIONS; i++)
        used += (size_t)sprintf(many + used, "fn=(%d) f%d\n1 %d\n", i + 1, i, i);
    sprintf(many + used, "totals: 1\n");
    struct tlc_callgrind counts;
    struct tlc_error error = {0};
    assert_int_equal(tlc_callgrind_parse(many, &counts, &error), TLC_OK);
    assert_int_equal(counts.count, FUNCTIONS);
    assert_int_equal(tlc_callgrind_self(&counts, "f4321", "a"), 4321);
    tlc_callgrind_free(&counts);
    free(many);
}

static void broken_files_are_refused(void **state)
{
    (void)state;
    struct tlc_callgrind counts;
    struct tlc_error error = {0};
    assert_int_equal(tlc_callgrind_parse("", &counts, &error), TLC_ENVIRONMENT);
    assert_int_equal(tlc_callgrind_parse("events: Dr\ntotals: 1\n", &counts, &error),
                     TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "no instructions"));
    char torn[sizeof text];
    for (size_t length = 0; length + 13 < sizeof text; length++) {
        memcpy(torn, text, length);
        torn[length] = '\0';
        assert_int_equal(tlc_callgrind_parse(torn, &counts, &error), TLC_ENVIRONMENT);
    }
    // Numbers out of range and names that were never told are no reason to fall.
    assert_int_equal(tlc_callgrind_parse("events: Ir\nfn=(99999999999) f\n1 5\nfn=(7)\n1 6\nob=(\n"
                                         "fn=x\n1\n+\ntotals: 11\n",
                                         &counts, &error),
                     TLC_OK);
    assert_int_equal(counts.total, 11);
    tlc_callgrind_free(&counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(self_costs_leave_out_calls),
        cmocka_unit_test(instructions_are_found_among_other_events),
        cmocka_unit_test(many_functions_fit),
        cmocka_unit_test(broken_files_are_refused),
    };
    return cmocka_run_group_tests_name("callgrind", tests, NULL, NULL);
}
