// Figures of a trace from a page as a traced server leaves it.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "measure/trace.h"

static char path[] = "/tmp/tlscost-test-trace-XXXXXX";
static struct tlc_trace_page *page; // as the server sees it

static int open_page(void **state)
{
    (void)state;
    int file = mkstemp(path);
    assert_int_equal(ftruncate(file, sizeof *page), 0);
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return page == MAP_FAILED;
}

static int close_page(void **state)
{
    (void)state;
    munmap(page, sizeof *page);
    return remove(path);
}

static void assert_near(double value, double wanted, double apart)
{
    assert_true(fabs(value - wanted) <= apart);
}

static void buckets_cover_all_times_in_order(void **state)
{
    (void)state;
    unsigned last = 0;
    for (uint64_t ticks = 0; ticks < 1 << 16; ticks++) {
        unsigned bucket = tlc_trace_bucket(ticks);
        assert_true(bucket == last || bucket == last + 1);
        last = bucket;
    }
    for (uint64_t ticks = 1; ticks; ticks <<= 1) {
        assert_true(tlc_trace_bucket(ticks) < TLC_TRACE_BUCKETS);
        assert_true(tlc_trace_bucket(ticks) >= tlc_trace_bucket(ticks - 1));
    }
    assert_int_equal(tlc_trace_bucket(UINT64_MAX), TLC_TRACE_BUCKETS - 1);
}

static void describe(uint32_t at, uint32_t parent, enum tlc_component component,
                     const char *algorithm)
{
    page->nodes[at].key = 1000 + at;
    page->nodes[at].parent = parent;
    page->nodes[at].component = (uint16_t)component;
    page->nodes[at].whole = 1;
    snprintf(page->nodes[at].algorithm, sizeof page->nodes[at].algorithm, "%s", algorithm);
}

static void add(struct tlc_trace_bucket *buckets, uint64_t count, uint64_t ticks)
{
    buckets[tlc_trace_bucket(ticks)].count += count;
    buckets[tlc_trace_bucket(ticks)].ticks += count * ticks;
}

static void pass(uint32_t at, uint64_t count, uint64_t ticks, uint64_t nested)
{
    struct tlc_trace_node *node = &page->nodes[at];
    add(nested ? node->around : node->alone, count, ticks);
    if (nested)
        add(node->own, count, ticks - nested);
}

static double number(const json_t *object, const char *name)
{
    assert_true(json_is_number(json_object_get(object, name)));
    return json_number_value(json_object_get(object, name));
}

// 100 encapsulations of a hybrid, each with one nested key pair; one of them was interrupted.
static void nested_operations_are_taken_apart(void **state)
{
    (void)state;
    struct tlc_error error;
    struct tlc_trace *trace;
    struct tlc_trace_sums *sums = tlc_trace_sums_new();
    assert_int_equal(tlc_trace_open(path, &trace, &error), TLC_OK);
    describe(7, TLC_TRACE_NODES, TLC_COMPONENT_ENCAPSULATE, "HYBRID");
    pass(7, 50, 4000, 0); // before the mark: not part of the figures
    page->done[TLC_COMPONENT_ENCAPSULATE] = 50;
    tlc_trace_mark(trace);
    describe(3, 7, TLC_COMPONENT_KEY_GENERATION, "X25519");
    pass(7, 99, 4000, 1000);
    pass(7, 1, 4000000, 3997000);
    pass(3, 99, 1000, 0);
    pass(3, 1, 3997000, 0);
    page->done[TLC_COMPONENT_ENCAPSULATE] += 100;
    page->done[TLC_COMPONENT_KEY_GENERATION] += 100;
    usleep(1000); // both clocks go on
    tlc_trace_sums_add(sums, trace);
    json_t *json = tlc_trace_sums_json(sums, 100);
    assert_int_equal(tlc_trace_done(sums, TLC_COMPONENT_ENCAPSULATE), 100);
    const json_t *operations = json_object_get(json, "operations");
    assert_int_equal(json_array_size(operations), 1);
    const json_t *hybrid = json_array_get(operations, 0);
    const json_t *nested = json_array_get(json_object_get(hybrid, "nested"), 0);
    assert_string_equal(json_string_value(json_object_get(nested, "algorithm")), "X25519");
    assert_string_equal(json_string_value(json_object_get(nested, "component")), "key_generation");
    assert_near(number(hybrid, "calls"), 1, 1e-9);
    assert_near(number(nested, "calls"), 1, 1e-9);
    // The interrupted call is in the sums and not in what is trimmed.
    double unit = number(hybrid, "median_us") / 4000;
    assert_true(unit > 0);
    assert_near(number(hybrid, "trimmed_us") / unit, 4000, 1e-3);
    assert_near(number(nested, "trimmed_us") / unit, 1000, 1e-3);
    assert_near(number(hybrid, "us") / unit, 43960, 1e-1);
    assert_near(number(hybrid, "own_us") / unit, 3000, 1e-1);
    const json_t *components = json_object_get(json, "components");
    assert_near(number(json_object_get(components, "encapsulate"), "trimmed_us") / unit, 3000,
                1e-3);
    assert_near(number(json_object_get(components, "key_generation"), "own_us") / unit, 40960,
                1e-1);
    json_decref(json);
    tlc_trace_sums_free(sums);
    tlc_trace_close(trace);
}

// 100 signatures of which half have a slow hash in them: the trimmed time is what the parts add up
// to, and trimming leaves nothing of what is nested with the operation around it.
static void times_of_two_kinds_of_calls_add_up(void **state)
{
    (void)state;
    struct tlc_error error;
    struct tlc_trace *trace;
    struct tlc_trace_sums *sums = tlc_trace_sums_new();
    memset(page, 0, sizeof *page);
    assert_int_equal(tlc_trace_open(path, &trace, &error), TLC_OK);
    tlc_trace_mark(trace);
    describe(7, TLC_TRACE_NODES, TLC_COMPONENT_SIGN, "OUTER");
    describe(3, 7, TLC_COMPONENT_DIGEST, "INNER");
    pass(7, 50, 3000, 0);
    pass(7, 50, 4000, 1000);
    pass(3, 50, 1000, 0);
    usleep(1000);
    tlc_trace_sums_add(sums, trace);
    json_t *json = tlc_trace_sums_json(sums, 100);
    const json_t *outer = json_array_get(json_object_get(json, "operations"), 0);
    const json_t *inner = json_array_get(json_object_get(outer, "nested"), 0);
    double unit = number(inner, "median_us") / 1000;
    assert_true(unit > 0);
    assert_near(number(outer, "us") / unit, 3500, 1e-3);
    assert_near(number(outer, "own_us") / unit, 3000, 1e-3);
    assert_near(number(outer, "trimmed_us") / unit, 3500, 1e-3);
    const json_t *components = json_object_get(json, "components");
    assert_near(number(json_object_get(components, "sign"), "trimmed_us") / unit, 3000, 1e-3);
    json_decref(json);
    tlc_trace_sums_free(sums);
    tlc_trace_close(trace);
}

static void a_page_of_nonsense_does_no_harm(void **state)
{
    (void)state;
    struct tlc_error error;
    struct tlc_trace *trace;
    struct tlc_trace_sums *sums = tlc_trace_sums_new();
    memset(page, 0, sizeof *page);
    assert_int_equal(tlc_trace_open(path, &trace, &error), TLC_OK);
    tlc_trace_mark(trace);
    memset(page, 0xa5, sizeof *page);
    for (uint32_t i = 0; i < TLC_TRACE_NODES; i++) {
        page->nodes[i].key = 1 + i;
        page->nodes[i].parent = (i + 1) % TLC_TRACE_NODES; // a ring
    }
    tlc_trace_sums_add(sums, trace);
    json_t *json = tlc_trace_sums_json(sums, 10);
    assert_int_equal(json_array_size(json_object_get(json, "operations")), 0);
    json_decref(json);
    assert_null(tlc_trace_sums_json(sums, 0));
    tlc_trace_sums_free(sums);
    tlc_trace_close(trace);
}

static void a_burn_is_told_and_taken_back(void **state)
{
    (void)state;
    struct tlc_error error;
    struct tlc_trace *trace;
    assert_int_equal(tlc_trace_open(path, &trace, &error), TLC_OK);
    tlc_trace_burn(trace, TLC_COMPONENT_SIGN, 20);
    assert_int_equal(page->burn_component, TLC_COMPONENT_SIGN);
    assert_int_equal(page->burn_us, 20);
    tlc_trace_burn(trace, TLC_NO_COMPONENT, 0);
    assert_int_equal(page->burn_component, TLC_NO_COMPONENT);
    tlc_trace_close(trace);
    assert_int_equal(tlc_trace_open("/nonexistent/trace", &trace, &error), TLC_ENVIRONMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_cover_all_times_in_order),
        cmocka_unit_test(nested_operations_are_taken_apart),
        cmocka_unit_test(times_of_two_kinds_of_calls_add_up),
        cmocka_unit_test(a_page_of_nonsense_does_no_harm),
        cmocka_unit_test(a_burn_is_told_and_taken_back),
    };
    return cmocka_run_group_tests(tests, open_page, close_page);
}
