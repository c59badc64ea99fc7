// What a calibration reads from the slices of a campaign, with costs that are known.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "campaign/calibrate.h"
#include "report/report.h"
#include "result/result.h"

enum { BLOCKS = 8, ROUNDS = 4, HANDSHAKES = 200 };

#define BASE "name: calibration\nquestion: Is it read?\nbaseline: {certificate: ecdsa-p256}\n"
#define ARMS                                                                                       \
    "include:\n  - {name: burn-10, burn: 10us, instance: baseline}\n"                              \
    "  - {name: burn-50, burn: 50us, instance: baseline}\n"                                        \
    "  - {name: cheap, share: cheap, instance: baseline}\n"
#define SCHEDULE "schedule: {blocks: 8, rounds: 4, slice: 50ms, bookends: true, duet: true}\n"

static struct tlc_plan *parse(const char *text)
{
    struct tlc_plan *plan;
    struct tlc_error error = {0};
    if (tlc_plan_parse(text, strlen(text), "test.yaml", &plan, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return plan;
}

// A machine of known properties.
struct machine {
    double read;      // of 1 us burnt, so much is charged
    double a_a;       // cost of the control / baseline
    double position;  // cost of the last / first place
    double cheap;     // cost under cheap / honest clients
    double overshoot; // of what is asked to burn, so much is really burnt
    double charge;    // of 1 us of work, so much is charged to a server that does nothing else
    int refused_arm;  // whose samples fail a check; -1: none, -2: all
    double company;   // what work costs between handshakes in memory, over alone; 0: not known
};

static const struct machine sound = {1, 1, 1, 1, 1, 1, -1, 1};

// Differs from block to block by about `size`, on both sides of 1.
static double luck(unsigned block, size_t salt, double size)
{
    return 1 + size * sin(2.7 * block + 1.3 * (double)salt);
}

static void add_slice(json_t *slices, unsigned round, size_t position, double cost, double burnt,
                      double charge)
{
    json_t *slice =
        json_pack("{s:i, s:i, s:i, s:f, s:f, s:f, s:b}", "round", (int)round, "position",
                  (int)position, "handshakes", HANDSHAKES, "cost_us", HANDSHAKES * cost, "span_s",
                  HANDSHAKES * cost / 1e6, "burnt_us", HANDSHAKES * burnt, "duet", 1);
    if (burnt > 0)
        json_object_set_new(slice, "burnt_charge", json_real(charge));
    json_array_append_new(slices, slice);
}

// The machine's speed differs from visit to visit by far more than what is looked for, and not
// between the last visit of a round and the first of the next.
static double speed_at(unsigned block, unsigned round, size_t position, size_t last)
{
    return 250 *
           luck(block, position == last ? round + 1 : round + (position ? 100 * position : 0), 0.2);
}

static double cost_at(const struct tlc_plan *plan, const struct machine *machine, size_t arm,
                      unsigned block, unsigned round, size_t position)
{
    size_t last = tlc_schedule_visit_count(plan) - 1;
    double own = (int)arm == plan->control ? machine->a_a * luck(block, 7, 0.002) : 1;
    if (!strcmp(plan->arms[arm].share, "cheap"))
        own *= machine->cheap;
    if (position == 0 || position == last)
        own *= position ? sqrt(machine->position) : 1 / sqrt(machine->position);
    return speed_at(block, round, position, last) * own *
               luck(block, 3 * arm + round + position, 0.0003) +
           machine->read * machine->charge * machine->overshoot * plan->arms[arm].burn_us;
}

static json_t *sample_of(const struct tlc_plan *plan, const struct machine *machine, size_t arm,
                         unsigned block)
{
    json_t *slices = json_array();
    size_t order[16];
    double burnt = machine->overshoot * plan->arms[arm].burn_us;
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t visits = tlc_schedule_visits(plan, block, round, order);
        for (size_t i = 0; i < visits; i++)
            if (arm == 0 || order[i] == arm)
                add_slice(slices, round, i, cost_at(plan, machine, arm, block, round, i), burnt,
                          machine->charge);
    }
    bool accepted = (int)arm != machine->refused_arm && machine->refused_arm != -2;
    json_t *refused = json_array();
    if (!accepted)
        json_array_append_new(refused, json_string("steal"));
    return json_pack("{s:s, s:i, s:i, s:b, s:o, s:f, s:f, s:o}", "arm", plan->arms[arm].name,
                     "arm_index", (int)arm, "block", (int)block, "accepted", accepted, "refused",
                     refused, "cost_us", 250.0, "rate", 4000.0, "slices", slices);
}

static json_t *measure(const struct tlc_plan *plan, const struct machine *machine)
{
    json_t *samples = json_array();
    json_t *document =
        json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:s}}", "started", "2026-11-30T10:00:00Z",
                  "finished", "2026-11-30T10:02:00Z", "environment", "cpu_model", "test", "setup",
                  "server_cpus", "1", "generator_cpus", "0");
    struct tlc_error ignored;
    for (unsigned block = 0; block < plan->schedule.blocks; block++)
        for (size_t arm = 0; arm < plan->arm_count; arm++)
            json_array_append_new(samples, sample_of(plan, machine, arm, block));
    // The campaign's own refusal of such arms is not what is tested here.
    if (tlc_campaign_summarise(document, plan, samples, &ignored) != TLC_OK)
        assert_non_null(json_object_get(document, "arms"));
    const double idle[] = {100, 101, 99, 100, 102, 98}, busy[] = {130, 131, 129, 130, 133, 127};
    json_object_set_new(document, "interference", tlc_calibration_interference(idle, busy, 6));
    double company[12];
    for (unsigned i = 0; i < 12; i++)
        company[i] = machine->company * luck(i, 5, 0.004);
    json_object_set_new(document, "company",
                        machine->company > 0 ? tlc_calibration_company(company, 12)
                                             : json_pack("{s:s}", "why", "no memory"));
    json_decref(samples);
    return document;
}

static double number(const json_t *document, const char *figure, const char *name)
{
    const json_t *value = json_object_get(json_object_get(document, figure), name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *outcome(const json_t *document, const char *name)
{
    size_t index;
    json_t *part;
    json_array_foreach(json_object_get(json_object_get(document, "verdict"), "parts"), index, part)
    {
        if (!strcmp(json_string_value(json_object_get(part, "name")), name))
            return json_string_value(json_object_get(part, "outcome"));
    }
    fail_msg("no part '%s'", name);
    return NULL;
}

// Judges such a machine; the document is the caller's.
static json_t *judge(const struct machine *machine, enum tlc_status wanted)
{
    struct tlc_plan *plan = parse(BASE ARMS SCHEDULE);
    struct tlc_error error = {0};
    json_t *document = measure(plan, machine);
    assert_int_equal(tlc_calibration_judge(document, plan, &error), wanted);
    bool passed = json_is_true(json_object_get(json_object_get(document, "verdict"), "passed"));
    assert_int_equal(passed, wanted == TLC_OK);
    if (wanted != TLC_OK)
        assert_non_null(strstr(error.text, "calibrate: "));
    tlc_plan_free(plan);
    return document;
}

static void sound_machine_passes(void **state)
{
    (void)state;
    json_t *document = judge(&sound, TLC_OK);
    assert_true(fabs(number(document, "known_cost", "slope") - 1) < 0.01);
    assert_true(number(document, "known_cost", "low") < 1.003);
    assert_true(number(document, "known_cost", "high") > 0.997);
    assert_true(fabs(number(document, "a_a", "estimate") - 1) < 0.002);
    assert_true(number(document, "a_a", "half_width") > 0);
    assert_true(fabs(number(document, "position", "estimate") - 1) < 0.001);
    assert_true(fabs(number(document, "fair_client", "estimate") - 1) < 0.001);
    assert_true(fabs(number(document, "interference", "estimate") - 1.3) < 0.01);
    assert_string_equal(outcome(document, "interference"), "told");
    const json_t *points = json_object_get(json_object_get(document, "known_cost"), "points");
    assert_int_equal(json_array_size(points), 2);
    const json_t *ten = json_array_get(points, 0);
    assert_true(fabs(json_number_value(json_object_get(ten, "estimate")) - 10) < 0.2);
    assert_true(fabs(json_number_value(json_object_get(ten, "asked_us")) - 10) < 1e-9);
    json_decref(document);
}

// What the server burnt counts, not what it was asked to.
static void overshoot_of_the_burn_is_no_error(void **state)
{
    (void)state;
    struct machine machine = sound;
    machine.overshoot = 1.2;
    json_t *document = judge(&machine, TLC_OK);
    assert_true(fabs(number(document, "known_cost", "slope") - 1) < 0.01);
    const json_t *points = json_object_get(json_object_get(document, "known_cost"), "points");
    const json_t *fifty = json_array_get(points, 1);
    assert_true(fabs(json_number_value(json_object_get(fifty, "injected_us")) - 60) < 0.2);
    json_decref(document);
}

// A machine that charges more than a microsecond for one reads it as it charges it.
static void work_counts_at_what_it_costs_alone(void **state)
{
    (void)state;
    struct machine machine = sound;
    machine.charge = 1.08;
    json_t *document = judge(&machine, TLC_OK);
    assert_true(fabs(number(document, "known_cost", "slope") - 1) < 0.01);
    const json_t *points = json_object_get(json_object_get(document, "known_cost"), "points");
    const json_t *fifty = json_array_get(points, 1);
    assert_true(fabs(json_number_value(json_object_get(fifty, "burnt_us")) - 50) < 1e-6);
    assert_true(fabs(json_number_value(json_object_get(fifty, "injected_us")) - 54) < 0.2);
    assert_true(fabs(json_number_value(json_object_get(fifty, "estimate")) - 54) < 0.5);
    json_decref(document);
}

// Where a longer handshake finds less in the caches, the network and the memory both read it.
static void work_counts_at_what_it_costs_in_company(void **state)
{
    (void)state;
    struct machine machine = sound;
    machine.read = machine.company = 1.06;
    json_t *document = judge(&machine, TLC_OK);
    assert_true(fabs(number(document, "known_cost", "slope") - 1) < 0.01);
    const json_t *points = json_object_get(json_object_get(document, "known_cost"), "points");
    const json_t *fifty = json_array_get(points, 1);
    assert_true(fabs(json_number_value(json_object_get(fifty, "alone_us")) - 50) < 1e-6);
    assert_true(fabs(json_number_value(json_object_get(fifty, "injected_us")) - 53) < 0.2);
    // The interval also holds what is not known of the company.
    double wide = number(document, "known_cost", "high") - number(document, "known_cost", "low");
    json_decref(document);
    machine.company = 0;
    document = judge(&machine, TLC_REFUSED);
    assert_true(fabs(number(document, "known_cost", "slope") - 1.06) < 0.01);
    assert_true(number(document, "known_cost", "high") - number(document, "known_cost", "low") <
                wide);
    json_decref(document);
    // The memory's word does not hide an instrument that reads too much.
    machine.company = 1;
    json_decref(judge(&machine, TLC_REFUSED));
    machine = sound;
    machine.company = 1.1;
    json_decref(judge(&machine, TLC_REFUSED));
}

static void each_fault_fails_its_part(void **state)
{
    (void)state;
    static const struct {
        struct machine machine;
        const char *part;
    } faults[] = {
        {{0.9, 1, 1, 1, 1, 1, -1, 1}, "known_cost"},  {{1.1, 1, 1, 1, 1, 1, -1, 1}, "known_cost"},
        {{1, 1.01, 1, 1, 1, 1, -1, 1}, "a_a"},        {{1, 0.99, 1, 1, 1, 1, -1, 1}, "a_a"},
        {{1, 1, 1.03, 1, 1, 1, -1, 1}, "position"},   {{1, 1, 1, 1.05, 1, 1, -1, 1}, "fair_client"},
        {{1, 1, 1, 0.95, 1, 1, -1, 1}, "fair_client"}};
    static const char *const parts[] = {"a_a", "known_cost", "position", "fair_client"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        json_t *document = judge(&faults[i].machine, TLC_REFUSED);
        for (size_t k = 0; k < 4; k++)
            assert_string_equal(outcome(document, parts[k]),
                                strcmp(parts[k], faults[i].part) ? "passed" : "failed");
        json_decref(document);
    }
}

static void refused_arm_shows_nothing(void **state)
{
    (void)state;
    struct machine machine = sound;
    machine.refused_arm = 1; // the control
    json_t *document = judge(&machine, TLC_REFUSED);
    assert_string_equal(outcome(document, "a_a"), "not-shown");
    assert_string_equal(outcome(document, "known_cost"), "passed");
    assert_true(json_is_null(json_object_get(json_object_get(document, "a_a"), "estimate")));
    json_decref(document);
    machine.refused_arm = 0; // the baseline
    document = judge(&machine, TLC_REFUSED);
    assert_string_equal(outcome(document, "known_cost"), "not-shown");
    assert_string_equal(outcome(document, "position"), "not-shown");
    assert_string_equal(outcome(document, "fair_client"), "not-shown");
    json_decref(document);
}

static void a_calibration_without_a_sample_names_the_checks(void **state)
{
    (void)state;
    struct machine machine = sound;
    machine.refused_arm = -2;
    json_t *document = judge(&machine, TLC_REFUSED);
    json_t *summary = tlc_calibration_summary(document), *steal = json_pack("[s]", "steal");
    assert_true(json_equal(json_object_get(summary, "refused"), steal));
    assert_int_equal(json_integer_value(json_object_get(summary, "accepted_samples")), 0);
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    tlc_calibration_print(document, to);
    fclose(to);
    assert_non_null(strstr(text, "no sample was accepted"));
    assert_non_null(strstr(text, "by checks: steal; docs/checks.md"));
    assert_non_null(strstr(text, "no sample accepted: nothing is known"));
    free(text);
    json_decref(steal);
    json_decref(summary);
    json_decref(document);
}

static void a_plan_must_have_all_parts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *lacks;
    } plans[] = {
        {BASE ARMS "schedule: {blocks: 8}\n", "bookends"},
        {BASE "control: false\n" ARMS SCHEDULE, "control: true"},
        {BASE
         "include:\n  - {name: burn-10, burn: 10us}\n  - {name: cheap, share: cheap}\n" SCHEDULE,
         "at least two arms with a burn"},
        {BASE ARMS "schedule: {blocks: 8, bookends: true}\n", "duet"},
        {BASE "include:\n  - {name: a, burn: 10us}\n  - {name: b, burn: 20us}\n" SCHEDULE,
         "share: cheap"},
    };
    struct tlc_error error = {0};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct tlc_plan *plan = parse(plans[i].text);
        assert_int_equal(tlc_calibration_check_plan(plan, &error), TLC_USAGE);
        if (!strstr(error.text, plans[i].lacks))
            fail_msg("'%s' does not name '%s'", error.text, plans[i].lacks);
        tlc_plan_free(plan);
    }
    struct tlc_plan *plan = parse(BASE ARMS SCHEDULE);
    assert_int_equal(tlc_calibration_check_plan(plan, &error), TLC_OK);
    tlc_plan_free(plan);
}

static void verdict_is_kept_for_its_machine_only(void **state)
{
    (void)state;
    char folder[256], path[512];
    struct tlc_error error = {0};
    assert_int_equal(tlc_directory_temporary("tlscost-test", folder, sizeof folder, &error),
                     TLC_OK);
    setenv("XDG_STATE_HOME", folder, 1);
    json_t *document = judge(&sound, TLC_OK);
    json_t *here = json_object_get(document, "environment");
    json_t *other = json_pack("{s:s}", "cpu_model", "another");
    assert_null(tlc_calibration_find(here));
    assert_int_equal(tlc_calibration_store(document, path, sizeof path, &error), TLC_OK);
    json_t *found = tlc_calibration_find(here), *summary = tlc_calibration_summary(document);
    assert_non_null(found);
    assert_int_equal(json_object_size(found), json_object_size(summary));
    assert_true(json_equal(json_object_get(found, "machine"), json_object_get(summary, "machine")));
    assert_true(
        fabs(number(found, "known_cost", "slope") - number(summary, "known_cost", "slope")) < 1e-6);
    assert_true(json_is_true(json_object_get(found, "passed")));
    assert_string_equal(json_string_value(json_object_get(found, "server_cpus")), "1");
    assert_null(json_object_get(json_object_get(found, "known_cost"), "points"));
    assert_null(tlc_calibration_find(other));
    // Load and limits change from hour to hour; the machine stays the same.
    json_object_set_new(here, "load_average", json_real(3));
    json_object_set_new(here, "fd_limit", json_integer(99));
    json_t *again = tlc_calibration_find(here);
    assert_non_null(again);
    json_decref(again);
    // A damaged file is no calibration.
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"schema\": 1", file);
    fclose(file);
    assert_null(tlc_calibration_find(here));
    json_decref(found);
    json_decref(summary);
    json_decref(other);
    json_decref(document);
    tlc_directory_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_machine_passes),
        cmocka_unit_test(overshoot_of_the_burn_is_no_error),
        cmocka_unit_test(work_counts_at_what_it_costs_alone),
        cmocka_unit_test(work_counts_at_what_it_costs_in_company),
        cmocka_unit_test(each_fault_fails_its_part),
        cmocka_unit_test(refused_arm_shows_nothing),
        cmocka_unit_test(a_calibration_without_a_sample_names_the_checks),
        cmocka_unit_test(a_plan_must_have_all_parts),
        cmocka_unit_test(verdict_is_kept_for_its_machine_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
