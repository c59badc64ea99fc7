// What a report says about resumption, of results made here.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

enum { BLOCKS = 8, HANDSHAKES = 100 };

struct made {
    const char *name, *resumption, *group;
    double cost_us; // of the first block; each further one is 1 us dearer
    int resumed;    // of HANDSHAKES
    bool accepted;
    const char *workload; // NULL: network; in memory no bytes are counted
};

static const struct made good[] = {{"full", "none", "X25519", 300, 0, true, NULL},
                                   {"dhe", "psk_dhe_ke", "X25519", 200, 100, true, NULL},
                                   {"ke", "psk_ke", "none", 150, 100, true, NULL}};

static json_t *samples_of(const struct made *made)
{
    json_t *samples = json_array();
    for (int block = 0; block < BLOCKS; block++)
        json_array_append_new(samples,
                              json_pack("{s:i, s:b, s:i, s:f, s:{s:i, s:i, s:i, s:i, s:{s:{s:i}}}}",
                                        "block", block, "accepted", made->accepted, "handshakes",
                                        HANDSHAKES, "cost_us", made->cost_us + block, "counters",
                                        "handshakes", HANDSHAKES, "resumed", made->resumed,
                                        "bytes_sent", made->workload ? 0 : 548 * HANDSHAKES,
                                        "bytes_received", made->workload ? 0 : 496 * HANDSHAKES,
                                        "negotiated", "group", made->group, HANDSHAKES));
    return samples;
}

static json_t *arm_of(const struct made *made, double full_us)
{
    bool full = !strcmp(made->resumption, "none");
    double ratio = made->cost_us / full_us;
    json_t *arm =
        json_pack("{s:s, s:s, s:b, s:i, s:{s:f, s:f, s:f}, s:o}", "name", made->name, "role",
                  full ? "baseline" : "arm", "accepted", made->accepted, "instances", BLOCKS,
                  "cost_us", "estimate", made->cost_us, "low", made->cost_us - 1, "high",
                  made->cost_us + 1, "samples", samples_of(made));
    if (!full)
        json_object_set_new(arm, "ratio",
                            json_pack("{s:f, s:f, s:f}", "estimate", ratio, "low", ratio - 0.01,
                                      "high", ratio + 0.01));
    return arm;
}

static char *section_of(const struct made *made, size_t count, const char *version)
{
    json_t *settings = json_array(), *arms = json_array();
    for (size_t i = 0; i < count; i++) {
        bool full = !strcmp(made[i].resumption, "none");
        json_array_append_new(settings, json_pack("{s:s, s:s, s:f, s:s, s:s, s:s}", "name",
                                                  made[i].name, "resumption", made[i].resumption,
                                                  "resume_ratio", full ? 0.0 : 1.0, "certificate",
                                                  "ecdsa-p256", "version", version, "workload",
                                                  made[i].workload ? made[i].workload : "network"));
        json_array_append_new(arms, arm_of(&made[i], made[0].cost_us));
    }
    json_t *result = json_pack("{s:s, s:{s:s, s:o}, s:o}", "command", "run", "plan", "name", "p",
                               "arms", settings, "arms", arms);
    struct tlc_report_options options = {.width = 200};
    struct tlc_error error = {0};
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (tlc_report_write_with(result, "markdown", &options, to, &error) != TLC_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fclose(to), 0);
    json_decref(result);
    return text;
}

static void says(const char *text, const char *expected)
{
    if (!strstr(text, expected))
        fail_msg("'%s' is not in:\n%s", expected, text);
}

static void parts_and_claims_are_told_of_both_modes(void **state)
{
    (void)state;
    char *text = section_of(good, 3, "TLSv1.3");
    says(text, "## resumption");
    says(text, "| dhe | 100.0 % | 100.0 % | 548 | 496 | 3, 1 RTT | 33.3 % (32.3 to 34.3) |");
    says(text, "| ke | 100.0 % | 0.0 % | 548 | 496 | 3, 1 RTT | 50.0 % (49.0 to 51.0) |");
    says(text, "| full | 300.0 | 100.0 (100.0 to 100.0) | 50.0 (50.0 to 50.0) | 150.0 |");
    says(text, "false with psk\\_dhe\\_ke ('dhe': 800 of 800 handshakes made one)");
    says(text, "true with psk\\_ke ('ke': 0 of 800)");
    says(text, "false: 'dhe' saves 33.3 % (32.3 to 34.3)");
    free(text);
}

static void a_saving_within_a_tenth_is_little(void **state)
{
    (void)state;
    const struct made made[] = {good[0], {"dhe", "psk_dhe_ke", "X25519", 285, 100, true, NULL}};
    char *text = section_of(made, 2, "TLSv1.3");
    says(text, "true: 'dhe' saves 5.0 %");
    assert_null(strstr(text, "skips the key exchange"));
    free(text);
    const struct made near[] = {good[0], {"dhe", "psk_dhe_ke", "X25519", 270, 100, true, NULL}};
    text = section_of(near, 2, "TLSv1.3");
    says(text, "not settled: 'dhe' saves 10.0 %");
    free(text);
}

static void a_claim_is_not_settled_by_handshakes_that_were_not_resumed(void **state)
{
    (void)state;
    const struct made made[] = {
        good[0], {"dhe", "psk_dhe_ke", "X25519", 200, 99, true, NULL}, good[2]};
    char *text = section_of(made, 3, "TLSv1.3");
    says(text, "not settled with psk\\_dhe\\_ke");
    free(text);
}

static void a_refused_arm_settles_nothing(void **state)
{
    (void)state;
    const struct made made[] = {good[0], good[1], {"ke", "psk_ke", "none", 150, 100, false, NULL}};
    char *text = section_of(made, 3, "TLSv1.3");
    says(text, "| ke | - | - | - | - | 3, 1 RTT | - |");
    assert_null(strstr(text, "kept key exchange"));
    assert_null(strstr(text, "skips the key exchange"));
    free(text);
}

static void tls12_saves_a_round_trip(void **state)
{
    (void)state;
    const struct made made[] = {good[0], {"ticket", "ticket", "none", 120, 100, true, NULL}};
    char *text = section_of(made, 2, "TLSv1.2");
    says(text, "| full | 0.0 % | 100.0 % | 548 | 496 | 4, 2 RTT |");
    says(text, "| ticket | 100.0 % | 0.0 % | 548 | 496 | 3, 1 RTT | 60.0 % (59.0 to 61.0) |");
    free(text);
}

static void a_handshake_of_another_kind_is_not_what_was_saved(void **state)
{
    (void)state;
    const struct made made[] = {
        good[0], good[1], {"memory", "psk_dhe_ke", "X25519", 100, 100, true, "memory"}};
    char *text = section_of(made, 3, "TLSv1.3");
    says(text, "| dhe | 100.0 % | 100.0 % | 548 | 496 | 3, 1 RTT | 33.3 % (32.3 to 34.3) |");
    says(text, "| memory | 100.0 % | 100.0 % | - | - | 3, 1 RTT |  |");
    says(text, "'dhe' saves");
    assert_null(strstr(text, "'memory' saves"));
    free(text);
    text = section_of((const struct made[]){good[0], made[2]}, 2, "TLSv1.3");
    assert_null(strstr(text, "## resumption"));
    free(text);
}

static void results_without_resumption_have_no_such_section(void **state)
{
    (void)state;
    char *text = section_of(good, 1, "TLSv1.3");
    assert_null(strstr(text, "## resumption"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_and_claims_are_told_of_both_modes),
        cmocka_unit_test(a_saving_within_a_tenth_is_little),
        cmocka_unit_test(a_claim_is_not_settled_by_handshakes_that_were_not_resumed),
        cmocka_unit_test(a_refused_arm_settles_nothing),
        cmocka_unit_test(tls12_saves_a_round_trip),
        cmocka_unit_test(a_handshake_of_another_kind_is_not_what_was_saved),
        cmocka_unit_test(results_without_resumption_have_no_such_section),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
