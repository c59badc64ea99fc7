#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

#define PLANS TLC_TESTS_DIR "/../plans"

static struct tlc_plan *parse(const char *text)
{
    struct tlc_plan *plan;
    struct tlc_error error = {0};
    if (tlc_plan_parse(text, strlen(text), "test", &plan, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return plan;
}

static struct tlc_plan *read_file(const char *path)
{
    struct tlc_plan *plan;
    struct tlc_error error = {0};
    if (tlc_plan_read(path, &plan, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return plan;
}

static const struct tlc_arm *arm_named(const struct tlc_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->arm_count; i++)
        if (!strcmp(plan->arms[i].name, name))
            return &plan->arms[i];
    fail_msg("no arm '%s'", name);
    return NULL;
}

static void assert_names(const struct tlc_plan *plan, const char *want)
{
    char got[2048] = "";
    for (size_t i = 0; i < plan->arm_count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " | " : "",
                 plan->arms[i].name);
    assert_string_equal(got, want);
}

static void assert_near(double got, double want)
{
    if (fabs(got - want) > 1e-12)
        fail_msg("got %.15g, want %.15g", got, want);
}

static void defaults(void **state)
{
    (void)state;
    struct tlc_plan *plan = parse("name: least\nquestion: What is not written?\n");
    assert_names(plan, "baseline | control");
    const struct tlc_arm *arm = plan->arms;
    assert_string_equal(plan->workload, "network");
    assert_string_equal(plan->file, "test");
    assert_int_equal(plan->control, 1);
    assert_string_equal(arm->stack, "openssl");
    assert_string_equal(arm->certificate, "ecdsa-p256");
    assert_string_equal(arm->groups, "X25519MLKEM768");
    assert_string_equal(arm->version, "TLSv1.3");
    assert_null(arm->cipher);
    assert_string_equal(arm->resumption, "none");
    assert_string_equal(arm->accept, "shared");
    assert_string_equal(arm->engine, "lean");
    assert_string_equal(arm->share, "honest");
    assert_string_equal(arm->close, "reset");
    assert_null(arm->alpn);
    assert_int_equal(arm->tickets, 2);
    assert_int_equal(arm->workers, 1);
    assert_int_equal(arm->concurrency, 16);
    assert_int_equal(plan->schedule.blocks, 8);
    assert_int_equal(plan->schedule.slice_us, 100000);
    assert_near(plan->limits.generator_busy, 0.9);
    assert_near(plan->limits.margin, 0.02);
    tlc_plan_free(plan);
    tlc_plan_free(NULL);
}

static void every_key_arrives(void **state)
{
    (void)state;
    struct tlc_plan *plan = read_file(TLC_TESTS_DIR "/fixtures/plans/everything.yaml");
    assert_names(plan, "baseline | control | ed25519 | rsa-2048 | workers=1 | workers=4 | "
                       "ecdsa-p256+concurrency=64 | baseline again | on the baseline's server | "
                       "tls-1.2 | in memory | without ADX | in turns | key pair");
    const struct tlc_arm *arm = plan->arms;
    assert_string_equal(arm->groups, "X25519MLKEM768:secp256r1"); // the registry's names
    assert_string_equal(arm->version, "TLSv1.3");
    assert_string_equal(arm->cipher, "TLS_AES_256_GCM_SHA384");
    assert_string_equal(arm->resumption, "psk_dhe_ke");
    assert_near(arm->resume_ratio, 0.125);
    assert_int_equal(arm->tickets, 3);
    assert_int_equal(arm->workers, 2);
    assert_string_equal(arm->accept, "reuseport");
    assert_string_equal(arm->share, "cheap");
    assert_string_equal(arm->close, "close-notify");
    assert_string_equal(arm->alpn, "h2");
    assert_int_equal(arm->intermediates, 2);
    assert_int_equal(arm->burn_us, 15);
    assert_int_equal(arm->concurrency, 32);
    assert_int_equal(arm->echo, 32);
    assert_int_equal(arm->allocations, 1);
    static const struct tlc_schedule schedule = {.blocks = 7,
                                                 .rounds = 9,
                                                 .slice_us = 50000,
                                                 .count = 100,
                                                 .warm_up_us = 40000,
                                                 .settle_us = 1500,
                                                 .bookends = 1,
                                                 .until = 0.015,
                                                 .at_most_us = 300000000,
                                                 .connections = 100,
                                                 .pace = 100,
                                                 .sampling_hz = 199};
    assert_memory_equal(&plan->schedule, &schedule, sizeof schedule);
    assert_string_equal(arm->instance, "own");
    assert_string_equal(arm_named(plan, "on the baseline's server")->instance, "baseline");
    const struct tlc_arm *in_memory = arm_named(plan, "in memory");
    assert_string_equal(in_memory->workload, "memory");
    assert_string_equal(in_memory->client_stack, "openssl-3.6");
    assert_string_equal(in_memory->client_auth, "rsa-2048");
    assert_string_equal(in_memory->provider, "/opt/own.so");
    assert_string_equal(in_memory->side, "both");
    assert_string_equal(arm_named(plan, "key pair")->operation, "x25519-keygen");
    assert_int_equal(arm_named(plan, "in turns")->visitors, 500);
    assert_string_equal(arm_named(plan, "in turns")->event, "none");
    assert_string_equal(arm_named(plan, "without ADX")->cpu_mask, ":~0x80100");
    assert_int_equal(arm_named(plan, "without ADX")->equal, 1);
    assert_null(arm->cpu_mask);
    assert_null(arm->operation);
    assert_string_equal(arm->workload, "network");
    assert_near(plan->limits.generator_busy, 0.91);
    assert_near(plan->limits.server_busy, 0.92);
    assert_near(plan->limits.steal, 0.06);
    assert_near(plan->limits.accounting, 0.11);
    assert_near(plan->limits.control_drift, 0.12);
    assert_near(plan->limits.settling, 0.13);
    assert_near(plan->limits.headroom_gain, 0.07);
    assert_near(plan->limits.refused_samples, 0.30);
    assert_int_equal(plan->limits.errors, 4);
    assert_near(plan->limits.margin, 0.03);
    tlc_plan_free(plan);
}

static size_t index_of(const struct tlc_plan *plan, const char *name)
{
    return (size_t)(arm_named(plan, name) - plan->arms);
}

static void an_arm_is_divided_by_what_it_names(void **state)
{
    (void)state;
    struct tlc_plan *plan = parse("name: a\nquestion: q\n"
                                  "baseline: {against: certificate=ecdsa-p256}\n"
                                  "matrix:\n"
                                  "  certificate: [ecdsa-p256, mldsa-65]\n"
                                  "  groups: [X25519MLKEM768, X25519]\n"
                                  "include:\n"
                                  "  - {name: b, workers: 2, against: ecdsa-p256+X25519}\n"
                                  "  - {name: c, workers: 4, against: baseline}\n");
    size_t ecdsa = index_of(plan, "ecdsa-p256+X25519");
    assert_int_equal(tlc_plan_against(plan, 0), 0);
    assert_int_equal(tlc_plan_against(plan, index_of(plan, "control")), 0);
    assert_int_equal(tlc_plan_against(plan, ecdsa), 0);
    assert_int_equal(tlc_plan_against(plan, index_of(plan, "mldsa-65+X25519")), ecdsa);
    assert_int_equal(tlc_plan_against(plan, index_of(plan, "mldsa-65+X25519MLKEM768")), 0);
    assert_int_equal(tlc_plan_against(plan, index_of(plan, "b")), ecdsa);
    assert_int_equal(tlc_plan_against(plan, index_of(plan, "c")), 0);
    tlc_plan_free(plan);
}

static void the_ratio_goes_with_the_resumption(void **state)
{
    (void)state;
    struct tlc_plan *plan = parse(
        "name: a\nquestion: q\n"
        "baseline: {groups: X25519, against: resumption=none}\n"
        "include:\n"
        "  - {name: half, resumption: psk_dhe_ke, resume_ratio: 50%}\n"
        "  - {name: rsa, certificate: rsa-2048, against: baseline}\n"
        "  - {name: rsa half, certificate: rsa-2048, resumption: psk_ke, resume_ratio: 50%}\n");
    assert_int_equal(tlc_plan_against(plan, index_of(plan, "half")), 0);
    assert_int_equal(tlc_plan_against(plan, index_of(plan, "rsa half")), index_of(plan, "rsa"));
    tlc_plan_free(plan);
}

static void levers_change_one_key(void **state)
{
    (void)state;
    struct tlc_plan *plan = read_file(TLC_TESTS_DIR "/fixtures/plans/everything.yaml");
    assert_int_equal(plan->lever_count, 2);
    assert_string_equal(plan->levers[0].pulls, "A new certificate.");
    assert_string_equal(plan->levers[1].name, "workers"); // the key, when no name is given
    assert_null(plan->levers[1].pulls);
    const struct tlc_arm *arm = arm_named(plan, "workers=4");
    assert_string_equal(arm->lever, "workers");
    for (size_t i = 0; tlc_arm_key_at(i); i++) {
        char base[256], value[256];
        assert_true(tlc_arm_value(&plan->arms[0], tlc_arm_key_at(i), base, sizeof base));
        assert_true(tlc_arm_value(arm, tlc_arm_key_at(i), value, sizeof value));
        if (!strcmp(tlc_arm_key_at(i), "workers"))
            assert_string_equal(value, "4");
        else
            assert_string_equal(value, base);
    }
    char value[16];
    assert_false(tlc_arm_value(arm, "colour", value, sizeof value));
    assert_null(arm_named(plan, "baseline again")->lever);
    assert_null(arm_named(plan, "tls-1.2")->cipher); // "any" takes back what the baseline asks
    tlc_plan_free(plan);
}

static void names_stay_unique_between_levers(void **state)
{
    (void)state;
    struct tlc_plan *plan = parse("name: x\nquestion: q\n"
                                  "levers:\n"
                                  "  - {name: from, key: close, values: [fin]}\n"
                                  "  - {name: to, key: stack, values: [fin]}\n");
    assert_names(plan, "baseline | control | fin | stack=fin");
    tlc_plan_free(plan);
}

static void matrix_is_the_product_without_the_baseline(void **state)
{
    (void)state;
    struct tlc_plan *plan = parse("name: x\nquestion: q\ncontrol: false\n"
                                  "matrix:\n"
                                  "  groups: [X25519MLKEM768, X25519]\n"
                                  "  certificate: [ecdsa-p256, ed25519]\n"
                                  "  tickets: [0, 2]\n"
                                  "exclude:\n"
                                  "  - {groups: x25519, tickets: 0}\n");
    assert_names(plan, "baseline | ecdsa-p256+X25519MLKEM768+tickets=0 | "
                       "ecdsa-p256+X25519+tickets=2 | ed25519+X25519MLKEM768+tickets=0 | "
                       "ed25519+X25519MLKEM768+tickets=2 | ed25519+X25519+tickets=2");
    assert_int_equal(plan->control, -1);
    tlc_plan_free(plan);
}

static void what_is_optional_in_the_baseline_is_so_in_all_arms_but_its_equals(void **state)
{
    (void)state;
    struct tlc_plan *plan =
        parse("name: x\nquestion: q?\nbaseline: {optional: true, share: cheap}\n"
              "fair_client: true\nmatrix: {workers: [1, 2]}\n"
              "include: [{name: demanded, workers: 4, optional: false}]\n");
    assert_names(plan, "baseline | control | honest client | workers=2 | demanded");
    const unsigned optional[] = {0, 0, 0, 1, 0};
    for (size_t i = 0; i < plan->arm_count; i++)
        assert_int_equal(plan->arms[i].optional, optional[i]);
    tlc_plan_free(plan);
}

static void assert_same_plan(const struct tlc_plan *a, const struct tlc_plan *b)
{
    json_t *left = tlc_plan_to_json(a), *right = tlc_plan_to_json(b);
    if (!json_equal(left, right))
        fail_msg("got %s\nwant %s", json_dumps(right, 0), json_dumps(left, 0));
    json_decref(left);
    json_decref(right);
    assert_memory_equal(&a->schedule, &b->schedule, sizeof a->schedule);
    assert_memory_equal(&a->limits, &b->limits, sizeof a->limits);
    assert_int_equal(a->control, b->control);
    for (size_t i = 0; i < a->arm_count; i++) {
        assert_true(a->arms[i].resume_ratio == b->arms[i].resume_ratio);
        assert_int_equal(a->arms[i].burn_us, b->arms[i].burn_us);
        assert_true(!a->arms[i].lever == !b->arms[i].lever);
    }
}

// Through text, as a result file does.
static void json_round_trip(void **state)
{
    (void)state;
    static const char *const files[] = {TLC_TESTS_DIR "/fixtures/plans/everything.yaml",
                                        PLANS "/levers.yaml", PLANS "/a-a.yaml"};
    for (size_t i = 0; i < 3; i++) {
        struct tlc_plan *plan = read_file(files[i]), *back;
        struct tlc_error error = {0};
        json_t *json = tlc_plan_to_json(plan);
        char *text = json_dumps(json, 0);
        json_decref(json);
        json = json_loads(text, 0, NULL);
        free(text);
        if (tlc_plan_from_json(json, &back, &error) != TLC_OK)
            fail_msg("%s", error.text);
        json_decref(json);
        assert_same_plan(plan, back);
        tlc_plan_free(plan);
        tlc_plan_free(back);
    }
}

static void stored_plans_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *path[3], *value, *want;
    } table[] = {
        {{"arms", NULL, NULL}, "[]", "arms"},
        {{"arms", "0", "workers"}, "\"two\"", "workers"},
        {{"arms", "0", "workers"}, "-1", "workers"},
        {{"arms", "0", "certificate"}, "null", "certificate"},
        {{"arms", "0", "certificate"}, "\"rsa-1\"", "rsa-1"},
        {{"arms", "0", "version"}, "\"TLSv1.2\"", "lean speaks TLS 1.3"},
        {{"arms", "1", "name"}, "\"baseline\"", "another arm has this name"},
        {{"arms", "1", "name"}, "7", "without a name"},
        {{"schedule", NULL, NULL}, "null", "blocks"},
        {{"schedule", "slice_us", NULL}, "1.5", "slice_us"},
        {{"limits", "margin", NULL}, "\"2%\"", "margin"},
        {{"levers", "0", "key"}, "null", "lever"},
        {{"control", NULL, NULL}, "99", "control"},
        {{"question", NULL, NULL}, "null", "question"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct tlc_plan *plan = read_file(PLANS "/levers.yaml"), *back;
        struct tlc_error error = {0};
        json_t *json = tlc_plan_to_json(plan), *at = json;
        size_t depth = 0;
        for (; depth < 2 && table[i].path[depth + 1]; depth++)
            at = json_is_array(at) ? json_array_get(at, (size_t)atoi(table[i].path[depth]))
                                   : json_object_get(at, table[i].path[depth]);
        json_object_set_new(at, table[i].path[depth],
                            json_loads(table[i].value, JSON_DECODE_ANY, NULL));
        assert_int_equal(tlc_plan_from_json(json, &back, &error), TLC_USAGE);
        assert_null(back);
        if (strncmp(error.text, "plan: stored plan: ", 19) || !strstr(error.text, table[i].want))
            fail_msg("case %zu: %s", i, error.text);
        json_decref(json);
        tlc_plan_free(plan);
    }
}

// A schedule that options of `run` have shortened below what a plan may ask for is read back.
static void shortened_schedules_are_read_back(void **state)
{
    (void)state;
    struct tlc_plan *plan = read_file(PLANS "/a-a.yaml"), *back;
    struct tlc_error error = {0};
    plan->schedule.blocks = 1;
    json_t *json = tlc_plan_to_json(plan);
    assert_int_equal(tlc_plan_from_json(json, &back, &error), TLC_OK);
    assert_int_equal(back->schedule.blocks, 1);
    json_decref(json);
    tlc_plan_free(plan);
    tlc_plan_free(back);
}

// A server that compiles as it runs is warmed as its description says, unless the plan says more.
static void a_server_says_how_long_it_is_warmed(void **state)
{
    (void)state;
    setenv("TLSCOST_PEERS_PATH", PLANS "/../peers", 1);
    static const char text[] =
        "name: t\nquestion: Warm?\nworkload: network\n"
        "control: false\nbaseline: {stack: openssl}\n"
        "include:\n"
        "  - {name: node, server: node}\n"
        "  - {name: short, server: node, warm_up: 1ms}\n"
        "  - {name: nginx, server: nginx}\n"
        "  - {name: hybrid, server: node, groups: P-384, against: server=none}\n"
        "  - {name: plain, groups: P-384}\n";
    struct tlc_plan *plan = parse(text);
    assert_int_equal(plan->arms[0].warm_up_us, 0);
    assert_true(plan->arms[1].warm_up_us >= 1000000);
    assert_int_equal(plan->arms[2].warm_up_us, 1000);
    assert_int_equal(plan->arms[3].warm_up_us, 0);
    assert_int_equal(tlc_plan_against(plan, 4), 5); // the warm-up is no other difference
    tlc_plan_free(plan);
}

// Without the arms that no recipe can bring to a machine.
static void leave_dotnet_out(struct tlc_plan *plan)
{
    struct tlc_error error;
    for (size_t i = plan->arm_count; i-- > 1;)
        if (plan->arms[i].server && !strcmp(plan->arms[i].server, "dotnet"))
            assert_int_equal(tlc_plan_leave_out(plan, i, "no SDK", &error), TLC_OK);
}

static bool compiles(const struct tlc_plan *plan)
{
    bool any = false;
    for (size_t i = 0; i < plan->arm_count; i++)
        any = any || plan->arms[i].warm_up_us >= 5000000;
    return any;
}

static void shipped_plans_answer_in_time(void **state)
{
    (void)state;
    setenv("TLSCOST_PEERS_PATH", PLANS "/../peers", 1);
    setenv("TLSCOST_PLANS", PLANS, 1);
    char **paths = tlc_plan_list();
    size_t count = 0;
    for (; paths[count]; count++) {
        struct tlc_plan *plan = read_file(paths[count]);
        char name[128];
        snprintf(name, sizeof name, "/%s.yaml", plan->name);
        assert_non_null(strstr(paths[count], name)); // a plan is named as its file
        assert_int_equal(plan->question[strlen(plan->question) - 1], '?');
        leave_dotnet_out(plan);
        // Six minutes, and 25 where runtimes must compile before they are measured.
        assert_true(tlc_plan_seconds(plan) <= (compiles(plan) ? 1500 : 361));
        tlc_plan_make_quick(plan);
        // Many arms and long warm-ups leave no more than the fewest rounds.
        assert_true(tlc_plan_seconds(plan) <= 31 || plan->schedule.rounds <= 4);
        tlc_plan_free(plan);
    }
    assert_true(count >= 5);
    tlc_plan_list_free(paths);
}

static void default_plan_has_the_levers(void **state)
{
    (void)state;
    struct tlc_plan *plan = read_file(PLANS "/levers.yaml");
    assert_names(
        plan, "baseline | control | honest client | ecdsa-p384 | ed25519 | rsa-2048 | rsa-3072 | "
              "rsa-4096 | mldsa-65 | X25519 | P-256");
    assert_string_equal(plan->arms[0].certificate, "ecdsa-p256");
    assert_string_equal(plan->arms[0].groups, "X25519MLKEM768");
    assert_string_equal(arm_named(plan, "P-256")->groups, "secp256r1");
    assert_string_equal(arm_named(plan, "rsa-4096")->lever, "certificate");
    assert_non_null(plan->levers[0].pulls);
    assert_true(tlc_plan_seconds(plan) <= 180);
    assert_true(plan->schedule.rounds % (2 * plan->arm_count) == 0); // positions balance
    tlc_plan_free(plan);
}

static void plans_are_found_by_name(void **state)
{
    (void)state;
    char *path;
    struct tlc_error error = {0};
    setenv("TLSCOST_PLANS", PLANS, 1);
    assert_int_equal(tlc_plan_find("levers", &path, &error), TLC_OK);
    assert_string_equal(path, PLANS "/levers.yaml");
    free(path);
    assert_int_equal(tlc_plan_find(PLANS "/a-a.yaml", &path, &error), TLC_OK);
    assert_string_equal(path, PLANS "/a-a.yaml");
    free(path);
    assert_int_equal(tlc_plan_find("lever", &path, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "did you mean 'levers'"));
    assert_int_equal(tlc_plan_find(PLANS, &path, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, ": a folder; write the path of one plan in it"));
    assert_int_equal(tlc_plan_find("./none.yaml", &path, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "./none.yaml: No such file"));
    assert_int_equal(tlc_plan_find("", &path, &error), TLC_USAGE);
    struct tlc_plan *plan;
    assert_int_equal(tlc_plan_read("./none.yaml", &plan, &error), TLC_ENVIRONMENT);
    assert_int_equal(tlc_plan_read(PLANS, &plan, &error), TLC_ENVIRONMENT); // a folder
    assert_null(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(every_key_arrives),
        cmocka_unit_test(an_arm_is_divided_by_what_it_names),
        cmocka_unit_test(the_ratio_goes_with_the_resumption),
        cmocka_unit_test(levers_change_one_key),
        cmocka_unit_test(names_stay_unique_between_levers),
        cmocka_unit_test(matrix_is_the_product_without_the_baseline),
        cmocka_unit_test(what_is_optional_in_the_baseline_is_so_in_all_arms_but_its_equals),
        cmocka_unit_test(a_server_says_how_long_it_is_warmed),
        cmocka_unit_test(json_round_trip),
        cmocka_unit_test(stored_plans_are_checked),
        cmocka_unit_test(shortened_schedules_are_read_back),
        cmocka_unit_test(shipped_plans_answer_in_time),
        cmocka_unit_test(default_plan_has_the_levers),
        cmocka_unit_test(plans_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
