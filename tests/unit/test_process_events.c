// Events of processes: what is pure, and the one event that every machine has. How large a count is
// is not tested.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/process_events.h"

static void kinds_have_names(void **state)
{
    (void)state;
    char names[] = TLC_EVENT_KINDS, *rest = NULL;
    unsigned found = 0;
    for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        const struct tlc_event_kind *kind = tlc_event_kind(name);
        assert_non_null(kind);
        assert_string_equal(kind->name, name);
        found++;
    }
    assert_int_equal(found, 6);
    assert_false(tlc_event_kind("task-clock")->divided);
    assert_true(tlc_event_kind("instructions")->divided);
    assert_null(tlc_event_kind("instruction"));
    assert_null(tlc_event_kind(""));
}

static const struct tlc_process_reading earlier = {{1000, 50, 50}, {100, 50, 50}};

static void counts_are_differences(void **state)
{
    (void)state;
    const struct tlc_process_reading later = {{4000, 90, 90}, {700, 90, 90}};
    struct tlc_process_event event = {tlc_event_kind("instructions"), true};
    struct tlc_process_counts counts;
    struct tlc_error error = {0};
    assert_int_equal(tlc_process_counts_between(event, &earlier, &later, &counts, &error), TLC_OK);
    assert_true(counts.user == 3000 && counts.kernel == 600 && counts.total == 3600);
    event.kernel = false;
    assert_int_equal(tlc_process_counts_between(event, &earlier, &later, &counts, &error), TLC_OK);
    assert_true(counts.user == 3000 && isnan(counts.kernel) && counts.total == 3000);
    event.kind = tlc_event_kind("task-clock");
    assert_int_equal(tlc_process_counts_between(event, &earlier, &later, &counts, &error), TLC_OK);
    assert_true(isnan(counts.user) && isnan(counts.kernel) && counts.total == 3000);
}

static void shared_counters_are_refused(void **state)
{
    (void)state;
    const struct tlc_process_event event = {tlc_event_kind("cycles"), true};
    const struct tlc_process_reading user = {{4000, 90, 80}, {700, 90, 90}},
                                     kernel = {{4000, 90, 90}, {700, 90, 50}},
                                     never = {{1000, 90, 50}, {100, 90, 50}};
    const struct tlc_process_reading *shared[] = {&user, &kernel, &never};
    const char *told[] = {"25.0 %", "100.0 %", "100.0 %"};
    for (size_t i = 0; i < 3; i++) {
        struct tlc_process_counts counts;
        struct tlc_error error = {0};
        assert_int_equal(tlc_process_counts_between(event, &earlier, shared[i], &counts, &error),
                         TLC_REFUSED);
        assert_non_null(strstr(error.text, "cycles"));
        assert_non_null(strstr(error.text, told[i]));
    }
}

static void refusals_say_what_would_help(void **state)
{
    (void)state;
    const struct {
        struct tlc_event_refusal refusal;
        const char *says, *never_says;
    } cases[] = {
        {{ENOENT, false, 2, true}, "it is a virtual machine: ", "sysctl"},
        {{EOPNOTSUPP, false, 0, false}, "no counter of branch misses", "it is a virtual machine: "},
        {{EACCES, false, 4, false}, "sysctl -w kernel.perf_event_paranoid=1", "virtual"},
        {{EACCES, true, 2, false}, "kernel.perf_event_paranoid is 2", "container"},
        {{EACCES, false, 2, false}, "container", "sysctl"},
        {{EPERM, true, 1, false}, "CAP_PERFMON", "sysctl"},
        {{EPERM, true, -2, false}, "container", "sysctl"},
        {{EMFILE, false, 1, false}, "files", "sysctl"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        tlc_event_refusal_text(tlc_event_kind("branch-misses"), &cases[i].refusal, text,
                               sizeof text);
        if (!strstr(text, cases[i].says) || strstr(text, cases[i].never_says))
            fail_msg("case %zu: %s", i, text);
    }
}

static volatile unsigned spent;

// A program that has work to do and ends.
static void run_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", ":", (char *)NULL);
        _exit(127);
    }
    int how = 1;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
}

static struct tlc_process_event clock_event(void)
{
    struct tlc_process_event event;
    struct tlc_error error = {0};
    char without[512] = "?";
    if (tlc_process_event_find(tlc_event_kind("task-clock"), &event, without, sizeof without,
                               &error) != TLC_OK) {
        print_message("%s\n", error.text);
        skip();
    }
    assert_string_equal(without, "");
    assert_false(event.kernel);
    return event;
}

static double total_now(struct tlc_process_event event, const struct tlc_process_events *events)
{
    const struct tlc_process_reading nothing = {{0}, {0}};
    struct tlc_process_reading reading;
    struct tlc_process_counts counts = {.total = 0};
    struct tlc_error error = {0};
    if (tlc_process_events_read(events, &reading, &error) != TLC_OK ||
        tlc_process_counts_between(event, &nothing, &reading, &counts, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return counts.total;
}

static void a_child_is_counted_and_nothing_else(void **state)
{
    (void)state;
    struct tlc_process_event event = clock_event();
    // More than one, one after another: each is counted by events of its own.
    for (unsigned child = 0; child < 50; child++) {
        struct tlc_process_events *events = NULL;
        struct tlc_error error = {0};
        assert_int_equal(tlc_process_events_of_child(event, &events, &error), TLC_OK);
        for (unsigned i = 0; i < 100000; i++)
            spent++;
        double before = total_now(event, events);
        run_child();
        double after = total_now(event, events);
        tlc_process_events_close(events);
        assert_true(before == 0);
        assert_true(after > 0);
    }
}

static void a_running_process_is_counted(void **state)
{
    (void)state;
    struct tlc_process_event event = clock_event();
    struct tlc_process_events *events = NULL;
    struct tlc_error error = {0};
    assert_int_equal(tlc_process_events_of(event, getpid(), &events, &error), TLC_OK);
    for (unsigned i = 0; i < 1000000; i++)
        spent++;
    double first = total_now(event, events);
    assert_true(first > 0);
    for (unsigned i = 0; i < 1000000; i++)
        spent++;
    assert_true(total_now(event, events) > first);
    tlc_process_events_close(events);
    tlc_process_events_close(NULL);
}

static void a_process_that_is_gone_is_an_error(void **state)
{
    (void)state;
    struct tlc_process_event event = clock_event();
    struct tlc_process_events *events = NULL;
    struct tlc_error error = {0};
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(tlc_process_events_of(event, child, &events, &error), TLC_ENVIRONMENT);
    assert_null(events);
    assert_non_null(strstr(error.text, "/task"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(counts_are_differences),
        cmocka_unit_test(shared_counters_are_refused),
        cmocka_unit_test(refusals_say_what_would_help),
        cmocka_unit_test(a_child_is_counted_and_nothing_else),
        cmocka_unit_test(a_running_process_is_counted),
        cmocka_unit_test(a_process_that_is_gone_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
