// Parsers of /proc against text of real and of broken machines, and lists of CPUs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/clock.h"
#include "measure/proc.h"
#include "measure/softirq.h"

#define FIXTURES TLC_TESTS_DIR "/fixtures/proc/"

static char *fixture(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, FIXTURES "%s", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s: cannot be opened", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
    fclose(file);
    return text;
}

static cpu_set_t cpu_set(const char *list)
{
    cpu_set_t cpus;
    struct tlc_error error = {0};
    if (tlc_cpus_parse(list, &cpus, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return cpus;
}

static struct tlc_cpu_times cpu_times(const char *file, const char *list)
{
    cpu_set_t cpus = cpu_set(list);
    struct tlc_cpu_times times;
    struct tlc_error error = {0};
    char *text = fixture(file);
    if (tlc_parse_cpu_times(text, &cpus, &times, &error) != TLC_OK)
        fail_msg("%s: %s", file, error.text);
    free(text);
    return times;
}

static uint64_t ticks(uint64_t count)
{
    return count * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void cpu_times_sum_over_the_set(void **state)
{
    (void)state;
    struct tlc_cpu_times one = cpu_times("small-vm/proc/stat", "1");
    assert_int_equal(one.cpus, 1);
    assert_int_equal(one.user_us, ticks(9234));
    assert_int_equal(one.system_us, ticks(6686));
    assert_int_equal(one.idle_us, ticks(182913));
    assert_int_equal(one.iowait_us, ticks(1245));
    assert_int_equal(one.softirq_us, ticks(203));
    struct tlc_cpu_times both = cpu_times("small-vm/proc/stat", "0-1");
    assert_int_equal(both.cpus, 2);
    assert_int_equal(both.user_us, ticks(7199 + 9234));

    struct tlc_cpu_times many = cpu_times("smt-server/proc/stat", "40-63,104-127");
    assert_int_equal(many.cpus, 48);
    assert_int_equal(many.user_us, ticks(256094505));
    assert_int_equal(many.nice_us, ticks(102871));
    assert_int_equal(many.system_us, ticks(80735809));
    assert_int_equal(many.idle_us, ticks(17519805155));
    assert_int_equal(many.softirq_us, ticks(16778206));
}

static void cpu_times_of_old_kernels_have_fewer_fields(void **state)
{
    (void)state;
    struct tlc_cpu_times times = cpu_times("old-kernels/stat-4-fields", "1");
    assert_int_equal(times.user_us, ticks(42104));
    assert_int_equal(times.idle_us, ticks(451232));
    assert_int_equal(times.iowait_us, 0);
    times = cpu_times("old-kernels/stat-7-fields", "0");
    assert_int_equal(times.softirq_us, ticks(3301));
    assert_int_equal(times.steal_us, 0);
    times = cpu_times("old-kernels/stat-8-fields", "0");
    assert_int_equal(times.steal_us, ticks(77));
    assert_int_equal(times.guest_us, 0);
}

static void cpus_that_are_off_are_not_counted(void **state)
{
    (void)state;
    assert_int_equal(cpu_times("small-vm/proc/stat", "1-7").cpus, 1);
    cpu_set_t absent = cpu_set("5-7");
    struct tlc_cpu_times times;
    struct tlc_error error;
    char *text = fixture("small-vm/proc/stat");
    assert_int_equal(tlc_parse_cpu_times(text, &absent, &times, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "5-7"));
    free(text);
}

static void cpu_time_differences_do_not_wrap(void **state)
{
    (void)state;
    // The kernel's idle and iowait can step back (proc(5)).
    struct tlc_cpu_times earlier = {.user_us = 100, .idle_us = 500, .iowait_us = 70, .cpus = 2};
    struct tlc_cpu_times later = {.user_us = 350, .idle_us = 490, .iowait_us = 70, .cpus = 2};
    struct tlc_cpu_times between = tlc_cpu_times_since(&later, &earlier);
    assert_int_equal(between.user_us, 250);
    assert_int_equal(between.idle_us, 0);
    assert_int_equal(between.iowait_us, 0);
    assert_int_equal(between.cpus, 2);
}

static struct tlc_tcp_counters tcp_counters(const char *file)
{
    struct tlc_tcp_counters counters;
    struct tlc_error error = {0};
    char *text = fixture(file);
    if (tlc_parse_tcp_counters(text, &counters, &error) != TLC_OK)
        fail_msg("%s: %s", file, error.text);
    free(text);
    return counters;
}

static void tcp_counters_are_found_by_name(void **state)
{
    (void)state;
    struct tlc_tcp_counters old = tcp_counters("old-kernels/netstat");
    assert_int_equal(old.listen_overflows, 17);
    assert_int_equal(old.listen_drops, 19);
    assert_int_equal(old.retransmits, 5 + 2 + 40);
    struct tlc_tcp_counters now = tcp_counters("small-vm/proc/net/netstat");
    assert_int_equal(now.listen_overflows, 0);
    assert_int_equal(now.listen_drops, 0);
}

static void softirqs_sum_over_the_columns(void **state)
{
    (void)state;
    struct tlc_softirqs sums;
    struct tlc_error error;
    cpu_set_t cpus = cpu_set("40-63,104-127");
    char *text = fixture("smt-server/proc/softirqs");
    assert_int_equal(tlc_parse_softirqs(text, &cpus, &sums, &error), TLC_OK);
    assert_int_equal(sums.net_rx, 104468247520);
    assert_int_equal(sums.net_tx, 23050034);
    assert_int_equal(sums.cpus, 48);
    free(text);
    // A CPU that is off has no column, so columns are not CPU numbers.
    text = fixture("old-kernels/softirqs-offline-cpu");
    cpus = cpu_set("2-3");
    assert_int_equal(tlc_parse_softirqs(text, &cpus, &sums, &error), TLC_OK);
    assert_int_equal(sums.net_rx, 400);
    assert_int_equal(sums.net_tx, 11);
    assert_int_equal(sums.cpus, 1);
    cpus = cpu_set("2");
    assert_int_equal(tlc_parse_softirqs(text, &cpus, &sums, &error), TLC_ENVIRONMENT);
    free(text);
}

static void softirq_counters_may_wrap(void **state)
{
    (void)state;
    struct tlc_softirqs earlier = {.net_rx = 4294967290u + 10u, .net_tx = 3, .cpus = 2};
    struct tlc_softirqs later = {.net_rx = 4 + 10, .net_tx = 8, .cpus = 2};
    struct tlc_softirqs between = tlc_softirqs_since(&later, &earlier);
    assert_int_equal(between.net_rx, 10);
    assert_int_equal(between.net_tx, 5);
}

static enum tlc_status parse_hostile(const char *name, const char *text, struct tlc_error *error)
{
    cpu_set_t cpus = cpu_set("0-1");
    struct tlc_cpu_times times;
    struct tlc_tcp_counters counters;
    struct tlc_softirqs sums;
    if (!strncmp(name, "stat-", 5))
        return tlc_parse_cpu_times(text, &cpus, &times, error);
    if (!strncmp(name, "netstat-", 8))
        return tlc_parse_tcp_counters(text, &counters, error);
    if (!strncmp(name, "softirqs-", 9))
        return tlc_parse_softirqs(text, &cpus, &sums, error);
    fail_msg("%s: no parser for it", name);
    return TLC_OK;
}

static void hostile_text_is_refused(void **state)
{
    (void)state;
    DIR *folder = opendir(FIXTURES "hostile");
    assert_non_null(folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[300];
        struct tlc_error error = {0};
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "hostile/%s", entry->d_name);
        char *text = fixture(name);
        if (parse_hostile(entry->d_name, text, &error) != TLC_ENVIRONMENT)
            fail_msg("%s: was not refused", name);
        assert_non_null(strstr(error.text, "/proc/"));
        free(text);
        count++;
    }
    closedir(folder);
    assert_true(count >= 21);
}

// Every prefix of a good file is either refused or gives the right answer, never a wrong one.
static void cut_text_never_gives_a_wrong_sum(void **state)
{
    (void)state;
    cpu_set_t cpus = cpu_set("1");
    char *text = fixture("small-vm/proc/stat");
    size_t accepted = 0;
    for (size_t length = strcspn(text, "i"); length > 0; length--) {
        struct tlc_cpu_times times;
        text[length] = '\0';
        if (tlc_parse_cpu_times(text, &cpus, &times, NULL) != TLC_OK)
            continue;
        assert_int_equal(times.user_us, ticks(9234));
        assert_int_equal(times.softirq_us, ticks(203));
        accepted++;
    }
    assert_int_equal(accepted, 1);
    free(text);
}

static void this_machine_is_readable(void **state)
{
    (void)state;
    struct tlc_error error = {0};
    cpu_set_t cpus;
    struct tlc_cpu_times first, second;
    struct tlc_tcp_counters counters, same;
    struct tlc_softirqs sums;
    assert_int_equal(sched_getaffinity(0, sizeof cpus, &cpus), 0);
    assert_int_equal(tlc_read_cpu_times(&cpus, &first, &error), TLC_OK);
    assert_int_equal(tlc_read_cpu_times(&cpus, &second, &error), TLC_OK);
    assert_int_equal(first.cpus, CPU_COUNT(&cpus));
    assert_true(second.user_us >= first.user_us);
    assert_true(first.user_us + first.system_us > 0);
    assert_int_equal(tlc_read_tcp_counters(&counters, &error), TLC_OK);
    assert_int_equal(tlc_read_tcp_counters_of(getpid(), &same, &error), TLC_OK);
    assert_true(same.listen_drops >= counters.listen_drops);
    assert_int_equal(tlc_read_tcp_counters_of(-1, &same, &error), TLC_ENVIRONMENT);
    assert_int_equal(tlc_read_softirqs(&cpus, &sums, &error), TLC_OK);
    assert_int_equal(sums.cpus, CPU_COUNT(&cpus));
}

static void cpu_lists_round_trip(void **state)
{
    (void)state;
    static const char *const lists[] = {"0", "0-3,8", "0-1023", "1,3,5,7", "1022-1023"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char text[64];
        cpu_set_t cpus = cpu_set(lists[i]);
        tlc_cpus_format(&cpus, text, sizeof text);
        assert_string_equal(text, lists[i]);
    }
    char text[64];
    cpu_set_t cpus = cpu_set("2,0-1,1\n");
    tlc_cpus_format(&cpus, text, sizeof text);
    assert_string_equal(text, "0-2");
    cpus = cpu_set("0-3,8");
    tlc_cpus_format(&cpus, text, 5);
    assert_string_equal(text, "0-3");
    CPU_ZERO(&cpus);
    tlc_cpus_format(&cpus, text, sizeof text);
    assert_string_equal(text, "");
}

static void wrong_cpu_lists_name_the_part(void **state)
{
    (void)state;
    static const struct {
        const char *list, *part;
    } wrong[] = {{"", "''"},
                 {"a", "'a'"},
                 {"0,x,2", "'x'"},
                 {"3-1", "'3-1'"},
                 {"0-", "'0-'"},
                 {"-1", "'-1'"},
                 {"1024", "'1024'"},
                 {"0-4096", "'0-4096'"},
                 {"0,,1", "''"},
                 {"0,", "''"},
                 {"0 1", "'0 1'"},
                 {"1\n2", "more than"},
                 {"99999999999999999999", "'99999999999999999999'"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cpu_set_t cpus;
        struct tlc_error error = {0};
        if (tlc_cpus_parse(wrong[i].list, &cpus, &error) != TLC_USAGE)
            fail_msg("'%s': was not refused", wrong[i].list);
        if (!strstr(error.text, wrong[i].part))
            fail_msg("'%s': %s: does not name %s", wrong[i].list, error.text, wrong[i].part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_times_sum_over_the_set),
        cmocka_unit_test(cpu_times_of_old_kernels_have_fewer_fields),
        cmocka_unit_test(cpus_that_are_off_are_not_counted),
        cmocka_unit_test(cpu_time_differences_do_not_wrap),
        cmocka_unit_test(tcp_counters_are_found_by_name),
        cmocka_unit_test(softirqs_sum_over_the_columns),
        cmocka_unit_test(softirq_counters_may_wrap),
        cmocka_unit_test(hostile_text_is_refused),
        cmocka_unit_test(cut_text_never_gives_a_wrong_sum),
        cmocka_unit_test(this_machine_is_readable),
        cmocka_unit_test(cpu_lists_round_trip),
        cmocka_unit_test(wrong_cpu_lists_name_the_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
