#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence/checks.h"

static const struct tlc_check_limits limits = {.generator_busy = 0.9,
                                               .server_busy = 0.8,
                                               .headroom_gain = 0.05,
                                               .steal = 0.02,
                                               .accounting = 0.1};

static struct tlc_sample_facts good_facts(void)
{
    return (struct tlc_sample_facts){.handshakes = 1000,
                                     .started = 1000,
                                     .probe_matches = true,
                                     .certificate_matches = true,
                                     .generator_busy = 0.5,
                                     .server_busy = 0.99,
                                     .headroom_gain = 0.01,
                                     .server_alive = true,
                                     .server_handshakes = 1000,
                                     .server_counts = true,
                                     .steal = 0.001,
                                     .accounting = 0.03};
}

// Runs the checks and demands that exactly `expected` failed, with `words` in its reason.
static struct tlc_check_outcome only_fails(const struct tlc_sample_facts *facts,
                                           enum tlc_check expected, const char *words)
{
    struct tlc_check_outcome outcomes[TLC_CHECK_COUNT];
    size_t failed = tlc_checks_sample(facts, &limits, outcomes);
    for (size_t i = 0; i < TLC_CHECK_COUNT; i++)
        if (outcomes[i].failed != (i == expected))
            fail_msg("check %s: failed %d: %s", tlc_check_name((enum tlc_check)i),
                     outcomes[i].failed, outcomes[i].reason);
    assert_int_equal(failed, 1);
    if (!strstr(outcomes[expected].reason, words))
        fail_msg("'%s' is not in '%s'", words, outcomes[expected].reason);
    return outcomes[expected];
}

static void names_and_remedies_are_complete_and_unique(void **state)
{
    (void)state;
    for (int i = 0; i < TLC_CHECK_COUNT; i++) {
        assert_true(strlen(tlc_check_name((enum tlc_check)i)) > 3);
        assert_true(strlen(tlc_check_remedy((enum tlc_check)i)) > 20);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(tlc_check_name((enum tlc_check)i),
                                    tlc_check_name((enum tlc_check)j));
    }
    assert_string_equal(tlc_check_name(TLC_CHECK_SERVER_ALIVE), "server-alive");
    assert_string_equal(tlc_check_name(TLC_CHECK_NEGATIVE_CONTROL), "negative-control");
    assert_string_equal(tlc_check_name(TLC_CHECK_COUNT), "unknown");
}

static void the_documentation_tells_every_check(void **state)
{
    (void)state;
    FILE *file = fopen(TLC_TESTS_DIR "/../docs/checks.md", "r");
    assert_non_null(file);
    static char text[65536];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (int i = 0; i < TLC_CHECK_COUNT; i++) {
        char row[512];
        snprintf(row, sizeof row, "| `%s` | %s |", tlc_check_name((enum tlc_check)i),
                 tlc_check_remedy((enum tlc_check)i));
        if (!strstr(text, row))
            fail_msg("docs/checks.md lacks: %s", row);
    }
}

static void a_good_sample_passes_every_check(void **state)
{
    (void)state;
    struct tlc_sample_facts facts = good_facts();
    struct tlc_check_outcome outcomes[TLC_CHECK_COUNT];
    facts.provider = "own";
    facts.provider_work = facts.handshakes;
    facts.cpu_mask = ":~0x80100";
    facts.processor = "0x7:0x0";
    facts.trace = "tag";
    facts.trace_witness = "kdf";
    facts.trace_work = facts.handshakes;
    assert_int_equal(tlc_checks_sample(&facts, &limits, outcomes), 0);
    for (int i = 0; i < TLC_CHECK_WARMED_UP; i++) {
        assert_int_equal(outcomes[i].applied, i != TLC_CHECK_OPERATION);
        assert_string_equal(outcomes[i].reason, "");
    }
    assert_false(outcomes[TLC_CHECK_WARMED_UP].applied);
    assert_false(outcomes[TLC_CHECK_CONTROL_DRIFT].applied);
    assert_false(outcomes[TLC_CHECK_NEGATIVE_CONTROL].applied);
    assert_true(isnan(outcomes[TLC_CHECK_SERVER_ALIVE].value));
    assert_float_equal(outcomes[TLC_CHECK_GENERATOR_HEADROOM].value, 0.5, 0);
    assert_float_equal(outcomes[TLC_CHECK_GENERATOR_HEADROOM].limit, 0.9, 0);
}

// Raw operations have no peer: what they skip is not applied, however bad its facts are.
static void an_operation_has_checks_of_its_own(void **state)
{
    (void)state;
    struct tlc_sample_facts facts = good_facts();
    struct tlc_check_outcome outcomes[TLC_CHECK_COUNT];
    facts.is_operation = true;
    facts.probe_matches = facts.certificate_matches = false;
    facts.skips = 1u << TLC_CHECK_NEGOTIATED | 1u << TLC_CHECK_CERTIFICATE;
    assert_int_equal(tlc_checks_sample(&facts, &limits, outcomes), 0);
    assert_true(outcomes[TLC_CHECK_OPERATION].applied);
    assert_false(outcomes[TLC_CHECK_NEGOTIATED].applied || outcomes[TLC_CHECK_CERTIFICATE].applied);
    facts.operation_difference = "provider: asked adx, got limbs51";
    assert_int_equal(tlc_checks_sample(&facts, &limits, outcomes), 1);
    assert_string_equal(outcomes[TLC_CHECK_OPERATION].reason, "provider: asked adx, got limbs51");
    facts.operation_difference = NULL;
    facts.handshakes = facts.resumed = 0;
    facts.server_handshakes = 100;
    tlc_checks_sample(&facts, &limits, outcomes);
    assert_string_equal(outcomes[TLC_CHECK_OPERATION].reason, "no operation was completed");
    assert_string_equal(outcomes[TLC_CHECK_COUNTS].reason,
                        "the worker did 0 operations, asked were 100");
}

static void each_protocol_fault_fails_its_own_check(void **state)
{
    (void)state;
    struct tlc_check_outcome outcomes[TLC_CHECK_COUNT];
    struct tlc_sample_facts facts = good_facts();
    facts.mismatches = 3;
    only_fails(&facts, TLC_CHECK_NEGOTIATED, "3 of 1000 handshakes were not as the arm asked");
    facts = good_facts();
    facts.hello_retry_requests = 1000;
    only_fails(&facts, TLC_CHECK_NEGOTIATED, "1000 of 1000 handshakes had a HelloRetryRequest");
    facts = good_facts();
    facts.probe_matches = false;
    facts.probe_difference = "group: asked X25519, got secp256r1";
    only_fails(&facts, TLC_CHECK_NEGOTIATED, "group: asked X25519, got secp256r1");
    facts = good_facts();
    facts.certificate_matches = false;
    facts.certificate_difference = "key type: asked rsa-4096, got ecdsa-p256";
    only_fails(&facts, TLC_CHECK_CERTIFICATE, "asked rsa-4096, got ecdsa-p256");
    facts = good_facts();
    facts.certificate_matches = false;
    only_fails(&facts, TLC_CHECK_CERTIFICATE, "not the certificate that the arm asked for");
    facts = good_facts();
    facts.client_certificate_asked = true;
    facts.client_certificates = facts.handshakes - 1;
    only_fails(&facts, TLC_CHECK_CERTIFICATE, "in 999 of 1000 full handshakes");
    facts.client_certificates++;
    assert_int_equal(tlc_checks_sample(&facts, &limits, outcomes), 0);
}

static void a_provider_has_to_work_in_every_full_handshake(void **state)
{
    (void)state;
    struct tlc_sample_facts facts = good_facts();
    struct tlc_check_outcome outcomes[TLC_CHECK_COUNT];
    facts.provider = "own";
    only_fails(&facts, TLC_CHECK_PROVIDER, "own worked in 0 of 1000 handshakes");
    facts.provider_work = 999;
    only_fails(&facts, TLC_CHECK_PROVIDER, "asked at least 1000");
    facts.provider_work = 1000;
    assert_int_equal(tlc_checks_sample(&facts, &limits, outcomes), 0);
    assert_true(outcomes[TLC_CHECK_PROVIDER].applied);
    // Resumed without a key exchange, a handshake need not reach the provider; one has to.
    facts.resumed = 1000;
    facts.resume_ratio = 1;
    facts.provider_work = 0;
    only_fails(&facts, TLC_CHECK_PROVIDER, "asked at least 1");
    facts.provider = NULL;
    assert_int_equal(tlc_checks_sample(&facts, &limits, outcomes), 0);
    assert_false(outcomes[TLC_CHECK_PROVIDER].applied);
}

static void a_mask_has_to_be_seen_by_the_library(void **state)
{
    (void)state;
    struct tlc_sample_facts facts = good_facts();
    struct tlc_check_outcome outcomes[TLC_CHECK_COUNT];
    facts.cpu_mask = ":~0x80100";
    only_fails(&facts, TLC_CHECK_CPU_MASK, "does not tell what processor");
    facts.processor = "0x7:0x100";
    only_fails(&facts, TLC_CHECK_CPU_MASK, "0x100 are still there");
    facts.processor = "0x7:0x0";
    assert_int_equal(tlc_checks_sample(&facts, &limits, outcomes), 0);
    assert_true(outcomes[TLC_CHECK_CPU_MASK].applied);
}

static void reasons_hold_no_control_characters(void **state)
{
    (void)state;
    struct tlc_sample_facts facts = good_facts();
    facts.probe_matches = false;
    facts.probe_difference = "alpn: asked h2, got \x1b[2J\xc3\n";
    struct tlc_check_outcome outcome = only_fails(&facts, TLC_CHECK_NEGOTIATED, "got ?[2J??");
    assert_null(strchr(outcome.reason, '\x1b'));
}

static void each_load_fault_fails_its_own_check(void **state)
{
    (void)state;
    struct tlc_sample_facts facts = good_facts();
    facts.errors = 1;
    only_fails(&facts, TLC_CHECK_ERRORS, "1 of 1000 handshakes failed, at most 0 allowed");
    facts = good_facts();
    facts.handshakes = facts.server_handshakes = 0;
    only_fails(&facts, TLC_CHECK_ERRORS, "no handshake was completed (1000 started)");
    facts = good_facts();
    facts.server_handshakes = 1001;
    only_fails(&facts, TLC_CHECK_COUNTS, "the server counted 1001 handshakes, the client 1000");
    facts = good_facts();
    facts.server_handshakes = 998;
    only_fails(&facts, TLC_CHECK_COUNTS, "the server counted 998");
    facts = good_facts();
    facts.listen_overflows = 2;
    only_fails(&facts, TLC_CHECK_LISTEN_OVERFLOW, "ListenOverflows +2, ListenDrops +0");
    facts = good_facts();
    facts.listen_drops = 1;
    only_fails(&facts, TLC_CHECK_LISTEN_OVERFLOW, "ListenDrops +1");
    facts = good_facts();
    facts.server_alive = false;
    facts.server_handshakes = 17;
    only_fails(&facts, TLC_CHECK_SERVER_ALIVE, "ended before");
}

static void each_machine_fault_fails_its_own_check(void **state)
{
    (void)state;
    struct tlc_sample_facts facts = good_facts();
    facts.generator_busy = 0.996;
    only_fails(&facts, TLC_CHECK_GENERATOR_HEADROOM, "99.6 % busy, at most 90.0 % allowed");
    facts = good_facts();
    facts.headroom_gain = 0.2;
    only_fails(&facts, TLC_CHECK_GENERATOR_LIMITED, "raised the rate by 20.0 %, at most 5.0 %");
    facts = good_facts();
    facts.server_busy = 0.4;
    only_fails(&facts, TLC_CHECK_SERVER_SATURATED, "40.0 % busy, at least 80.0 % asked");
    facts = good_facts();
    facts.steal = 0.03;
    only_fails(&facts, TLC_CHECK_STEAL, "3.00 % of the server's CPU time was stolen");
    facts = good_facts();
    facts.accounting = 0.25;
    only_fails(&facts, TLC_CHECK_ACCOUNTING, "differ by 25.0 %, at most 10.0 % allowed");
}

static void a_value_at_its_limit_passes(void **state)
{
    (void)state;
    struct tlc_sample_facts facts = good_facts();
    struct tlc_check_outcome outcomes[TLC_CHECK_COUNT];
    facts.generator_busy = limits.generator_busy;
    facts.server_busy = limits.server_busy;
    facts.headroom_gain = limits.headroom_gain;
    facts.steal = limits.steal;
    facts.accounting = limits.accounting;
    assert_int_equal(tlc_checks_sample(&facts, &limits, outcomes), 0);
}

static void what_was_not_measured_does_not_pass(void **state)
{
    (void)state;
    struct tlc_sample_facts facts = good_facts();
    facts.generator_busy = -1;
    only_fails(&facts, TLC_CHECK_GENERATOR_HEADROOM, "not measured");
    facts = good_facts();
    facts.server_busy = -1;
    only_fails(&facts, TLC_CHECK_SERVER_SATURATED, "not measured");
    facts = good_facts();
    facts.steal = -1;
    only_fails(&facts, TLC_CHECK_STEAL, "not measured");
    facts = good_facts();
    facts.accounting = -1;
    only_fails(&facts, TLC_CHECK_ACCOUNTING, "not both measured");
}

static void a_limit_can_switch_a_check_off(void **state)
{
    (void)state;
    struct tlc_check_limits off = {.generator_busy = 1,
                                   .server_busy = 0,
                                   .headroom_gain = INFINITY,
                                   .steal = 1,
                                   .accounting = 1};
    struct tlc_sample_facts facts = good_facts();
    facts.generator_busy = facts.server_busy = facts.steal = facts.accounting = -1;
    facts.headroom_gain = 9;
    facts.server_counts = false;
    facts.server_handshakes = 0;
    struct tlc_check_outcome outcomes[TLC_CHECK_COUNT];
    assert_int_equal(tlc_checks_sample(&facts, &off, outcomes), 0);
    static const enum tlc_check skipped[] = {TLC_CHECK_COUNTS,
                                             TLC_CHECK_GENERATOR_HEADROOM,
                                             TLC_CHECK_GENERATOR_LIMITED,
                                             TLC_CHECK_SERVER_SATURATED,
                                             TLC_CHECK_STEAL,
                                             TLC_CHECK_ACCOUNTING};
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        assert_false(outcomes[skipped[i]].applied);
    facts.headroom_gain = NAN;
    assert_int_equal(tlc_checks_sample(&facts, &limits, outcomes), 4);
    assert_false(outcomes[TLC_CHECK_GENERATOR_LIMITED].applied);
}

static void allowed_errors_may_be_missing_in_either_count(void **state)
{
    (void)state;
    struct tlc_check_limits some = limits;
    some.errors = 5;
    struct tlc_sample_facts facts = good_facts();
    struct tlc_check_outcome outcomes[TLC_CHECK_COUNT];
    facts.errors = 5;
    facts.server_handshakes = 1005;
    assert_int_equal(tlc_checks_sample(&facts, &some, outcomes), 0);
    facts.server_handshakes = 1006;
    assert_int_equal(tlc_checks_sample(&facts, &some, outcomes), 1);
    assert_true(outcomes[TLC_CHECK_COUNTS].failed);
    facts.errors = 6;
    assert_int_equal(tlc_checks_sample(&facts, &some, outcomes), 1);
    assert_true(outcomes[TLC_CHECK_ERRORS].failed);
}

static void resumption_is_exact_at_the_ends_and_fair_between(void **state)
{
    (void)state;
    struct tlc_sample_facts facts = good_facts();
    struct tlc_check_outcome outcomes[TLC_CHECK_COUNT];
    facts.resumed = 1;
    only_fails(&facts, TLC_CHECK_RESUMPTION, "1 of 1000 handshakes were resumed (0.10 %), asked");
    facts.resume_ratio = 1;
    facts.resumed = 999;
    only_fails(&facts, TLC_CHECK_RESUMPTION, "asked 100.00 %");
    facts.resumed = 1000;
    assert_int_equal(tlc_checks_sample(&facts, &limits, outcomes), 0);
    facts.resume_ratio = 0.5;
    facts.resumed = 530; // half a point short of the tolerance of 0.01 + 4 sqrt(0.25 / 1000)
    assert_int_equal(tlc_checks_sample(&facts, &limits, outcomes), 0);
    facts.resumed = 580;
    only_fails(&facts, TLC_CHECK_RESUMPTION, "(58.00 %), asked 50.00 %");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_remedies_are_complete_and_unique),
        cmocka_unit_test(the_documentation_tells_every_check),
        cmocka_unit_test(a_good_sample_passes_every_check),
        cmocka_unit_test(an_operation_has_checks_of_its_own),
        cmocka_unit_test(each_protocol_fault_fails_its_own_check),
        cmocka_unit_test(a_provider_has_to_work_in_every_full_handshake),
        cmocka_unit_test(a_mask_has_to_be_seen_by_the_library),
        cmocka_unit_test(reasons_hold_no_control_characters),
        cmocka_unit_test(each_load_fault_fails_its_own_check),
        cmocka_unit_test(each_machine_fault_fails_its_own_check),
        cmocka_unit_test(a_value_at_its_limit_passes),
        cmocka_unit_test(what_was_not_measured_does_not_pass),
        cmocka_unit_test(a_limit_can_switch_a_check_off),
        cmocka_unit_test(allowed_errors_may_be_missing_in_either_count),
        cmocka_unit_test(resumption_is_exact_at_the_ends_and_fair_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
