// Rotations of ticket keys, the findings of the audit, and clients that take turns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/audit.h"
#include "server/key_ring.h"

static bool same(const struct tlc_ticket_key *a, const struct tlc_ticket_key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static bool holds(const struct tlc_key_ring *ring, const struct tlc_ticket_key *key)
{
    for (size_t i = 0; i < ring->count; i++)
        if (same(&ring->keys[i], key))
            return true;
    return false;
}

// A ring of three keys: the one that encrypts, and two before it.
static void three_keys(struct tlc_key_ring *ring)
{
    ring->count = 3;
    for (size_t i = 0; i < ring->count; i++)
        assert_int_equal(tlc_ticket_key_make(&ring->keys[i], NULL), TLC_OK);
    assert_false(same(&ring->keys[0], &ring->keys[1]));
}

static void safe_rotation_keeps_the_key_that_encrypted(void **state)
{
    (void)state;
    struct tlc_key_ring before, ring;
    three_keys(&before);
    ring = before;
    assert_int_equal(tlc_key_ring_rotate(&ring, TLC_ROTATE_SAFE, 2, NULL), TLC_OK);
    assert_int_equal(ring.count, 3);
    assert_false(holds(&before, &ring.keys[0]));
    assert_true(same(&ring.keys[1], &before.keys[0]));
    assert_true(same(&ring.keys[2], &before.keys[1]));
    assert_false(holds(&ring, &before.keys[2]));
}

static void no_more_keys_are_kept_than_asked_or_fit(void **state)
{
    (void)state;
    struct tlc_key_ring ring;
    three_keys(&ring);
    assert_int_equal(tlc_key_ring_rotate(&ring, TLC_ROTATE_SAFE, 0, NULL), TLC_OK);
    assert_int_equal(ring.count, 1);
    for (int i = 0; i < 2 * TLC_TICKET_KEYS_MAX; i++)
        assert_int_equal(tlc_key_ring_rotate(&ring, TLC_ROTATE_SAFE, 1000, NULL), TLC_OK);
    assert_int_equal(ring.count, TLC_TICKET_KEYS_MAX);
}

static void mistakes_lose_the_key_that_encrypted(void **state)
{
    (void)state;
    const struct {
        enum tlc_rotation how;
        size_t count;     // afterwards
        bool keeps_older; // the key before the one that encrypted
    } mistakes[] = {{TLC_ROTATE_ABRUPT, 3, false},
                    {TLC_ROTATE_NO_PREVIOUS, 3, true},
                    {TLC_ROTATE_TRAP, 3, true}};
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct tlc_key_ring before, ring;
        three_keys(&before);
        ring = before;
        assert_int_equal(tlc_key_ring_rotate(&ring, mistakes[i].how, 2, NULL), TLC_OK);
        assert_int_equal(ring.count, mistakes[i].count);
        assert_false(holds(&before, &ring.keys[0]));
        assert_false(holds(&ring, &before.keys[0]));
        assert_int_equal(holds(&ring, &before.keys[1]), mistakes[i].keeps_older);
    }
}

static void the_trap_keeps_a_key_that_never_encrypted(void **state)
{
    (void)state;
    struct tlc_key_ring before, ring;
    three_keys(&before);
    ring = before;
    assert_int_equal(tlc_key_ring_rotate(&ring, TLC_ROTATE_TRAP, 1, NULL), TLC_OK);
    assert_int_equal(ring.count, 2);
    assert_false(holds(&before, &ring.keys[1]));
}

static struct tlc_ticket_facts resuming(const char *address)
{
    return (struct tlc_ticket_facts){.address = address,
                                     .tls13 = true,
                                     .tickets = 2,
                                     .lifetime_s = 7200,
                                     .ticket_bytes = 192,
                                     .visits = 10,
                                     .offered = 10,
                                     .resumed = 10,
                                     .second_use = TLC_YES};
}

// The code of the first finding; every finding has words, and what is wrong has remedies.
static const char *verdict_of(const struct tlc_ticket_facts *servers, size_t count, size_t index)
{
    static struct tlc_finding findings[TLC_FINDINGS_MAX];
    size_t found = tlc_ticket_findings(servers, count, index, findings);
    assert_in_range(found, 1, TLC_FINDINGS_MAX);
    for (size_t i = 0; i < found; i++) {
        assert_true(findings[i].text[0] != '\0');
        assert_int_equal(findings[i].wrong,
                         findings[i].nginx && findings[i].haproxy && findings[i].go);
    }
    return findings[0].code;
}

static void one_server_at_a_time(void **state)
{
    (void)state;
    struct tlc_ticket_facts facts = resuming("a:1");
    assert_string_equal(verdict_of(&facts, 1, 0), "works");
    facts.resumed = 4;
    assert_string_equal(verdict_of(&facts, 1, 0), "several-keys");
    facts.resumed = 0;
    assert_string_equal(verdict_of(&facts, 1, 0), "never-accepted");
    facts.offered = 0;
    assert_string_equal(verdict_of(&facts, 1, 0), "unusable");
    facts.tickets = 0;
    assert_string_equal(verdict_of(&facts, 1, 0), "off");
}

static void tickets_that_live_for_a_moment_prove_nothing_else(void **state)
{
    (void)state;
    struct tlc_ticket_facts facts = resuming("a:1");
    facts.lifetime_s = 1;
    for (facts.resumed = 0; facts.resumed <= 10; facts.resumed += 5)
        assert_string_equal(verdict_of(&facts, 1, 0), "short-lifetime");
}

static void a_ticket_may_be_refused_once_its_time_is_over(void **state)
{
    (void)state;
    struct tlc_ticket_facts facts = resuming("a:1");
    facts.after_count = 1;
    facts.after[0].us = 7201u * 1000000ull;
    facts.after[0].accepted = TLC_NO;
    assert_string_equal(verdict_of(&facts, 1, 0), "works");
    facts.after[0].us = 7199u * 1000000ull;
    assert_string_equal(verdict_of(&facts, 1, 0), "lost-early");
    facts.after[0].accepted = TLC_YES;
    facts.watch_refused_us = 1000000;
    assert_string_equal(verdict_of(&facts, 1, 0), "lost-early");
}

static void rotations_are_judged_by_old_and_fresh_tickets(void **state)
{
    (void)state;
    struct tlc_ticket_facts facts = resuming("a:1");
    facts.rotation_fresh = TLC_YES;
    facts.rotation_old = TLC_YES;
    assert_string_equal(verdict_of(&facts, 1, 0), "works");
    facts.rotation_old = TLC_NO;
    assert_string_equal(verdict_of(&facts, 1, 0), "rotation-loses");
    facts.rotation_fresh = TLC_NO;
    assert_string_equal(verdict_of(&facts, 1, 0), "rotation-breaks");
}

static void sharing_is_judged_in_both_directions(void **state)
{
    (void)state;
    struct tlc_ticket_facts servers[] = {resuming("a:1"), resuming("b:2"), resuming("c:3")};
    servers[2].tickets = servers[2].offered = servers[2].resumed = 0;
    servers[0].accepted_by[1] = servers[1].accepted_by[0] = TLC_YES;
    // A server that resumes nothing says nothing about keys.
    servers[0].accepted_by[2] = servers[1].accepted_by[2] = TLC_NO;
    assert_string_equal(verdict_of(servers, 3, 0), "works");
    assert_string_equal(verdict_of(servers, 3, 2), "off");
    servers[0].accepted_by[1] = TLC_NO;
    struct tlc_finding findings[TLC_FINDINGS_MAX];
    tlc_ticket_findings(servers, 3, 0, findings);
    assert_string_equal(findings[0].code, "not-shared");
    assert_non_null(strstr(findings[0].text, "one direction"));
    assert_non_null(strstr(findings[0].text, "refused by b:2"));
}

static void properties_are_no_faults(void **state)
{
    (void)state;
    struct tlc_ticket_facts facts = resuming("a:1");
    facts.second_use = TLC_NO;
    facts.ke.accepted = TLC_YES;
    facts.tls12 = true;
    struct tlc_finding findings[TLC_FINDINGS_MAX];
    assert_int_equal(tlc_ticket_findings(&facts, 1, 0, findings), 4);
    assert_string_equal(findings[0].code, "works");
    assert_string_equal(findings[1].code, "single-use");
    assert_string_equal(findings[2].code, "psk-ke");
    assert_string_equal(findings[3].code, "tls12-full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safe_rotation_keeps_the_key_that_encrypted),
        cmocka_unit_test(no_more_keys_are_kept_than_asked_or_fit),
        cmocka_unit_test(mistakes_lose_the_key_that_encrypted),
        cmocka_unit_test(the_trap_keeps_a_key_that_never_encrypted),
        cmocka_unit_test(one_server_at_a_time),
        cmocka_unit_test(tickets_that_live_for_a_moment_prove_nothing_else),
        cmocka_unit_test(a_ticket_may_be_refused_once_its_time_is_over),
        cmocka_unit_test(rotations_are_judged_by_old_and_fresh_tickets),
        cmocka_unit_test(sharing_is_judged_in_both_directions),
        cmocka_unit_test(properties_are_no_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
