// Handshakes in memory with the OpenSSL plug-in: what is counted, what is refused, what is left.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "certs/certs.h"
#include "workload/memory_slice.h"

// The unit tests also run under AddressSanitizer, which then looks for what these leave behind.
// TLC_MEMORY_HANDSHAKES asks for more by hand (docs/pair.md).
static unsigned long handshakes_asked(void)
{
    const char *asked = getenv("TLC_MEMORY_HANDSHAKES");
    return asked ? strtoul(asked, NULL, 10) : 2000;
}

static char folder[600];

static int make_certificates(void **state)
{
    (void)state;
    static const char *const names[] = {"ecdsa-p256", NULL};
    struct tlc_error error = {TLC_OK, ""};
    struct tlc_certs_options options = {
        .directory = folder, .names = names, .client = "ed25519", .intermediates = 1};
    if (tlc_directory_temporary("tlscost-memory", folder, sizeof folder, &error) ||
        tlc_certs_make(&options, NULL, &error))
        fail_msg("%s", error.text);
    return 0;
}

static int remove_certificates(void **state)
{
    (void)state;
    tlc_directory_remove(folder);
    return 0;
}

static struct tlc_plan *plan_of(const char *settings)
{
    char text[1024];
    struct tlc_plan *plan;
    struct tlc_error error = {TLC_OK, ""};
    snprintf(text, sizeof text,
             "name: m\nquestion: q\nworkload: memory\ncontrol: false\nbaseline: {"
             "intermediates: 1, groups: %s, %s}\n",
             strstr(settings, "TLSv1.2") ? "P-256" : "X25519", settings);
    if (tlc_plan_parse(text, strlen(text), "test", &plan, &error))
        fail_msg("%s", error.text);
    return plan;
}

static json_t *open_arm(const struct tlc_plan *plan, struct tlc_memory_arm *arm)
{
    json_t *evidence;
    struct tlc_error error = {TLC_OK, ""};
    if (tlc_memory_arm_open(&plan->arms[0], folder, arm, &evidence, &error))
        fail_msg("%s", error.text);
    return evidence;
}

static struct tlc_memory_figures run(struct tlc_memory_arm *arm, uint64_t count)
{
    struct tlc_memory_figures figures;
    struct tlc_error error = {TLC_OK, ""};
    if (tlc_memory_slice(arm, 0, count, &figures, &error))
        fail_msg("%s", error.text);
    if (figures.failure[0])
        print_message("failure: %s\n", figures.failure);
    return figures;
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static void assert_sums(const struct tlc_memory_figures *figures)
{
    const struct tlc_memory_split *split = &figures->split;
    double sum = split->server_us + split->client_us + split->rest_us;
    assert_true(split->server_us > 0 && split->client_us > 0 && split->rest_us > 0);
    if (!(fabs(sum - figures->total_us) <= 1e-6 * figures->total_us))
        fail_msg("the parts sum to %g us, the slice took %g us", sum, figures->total_us);
}

static void full_handshakes_are_checked_and_verified(void **state)
{
    (void)state;
    struct tlc_plan *plan = plan_of("certificate: ecdsa-p256");
    struct tlc_memory_arm arm;
    json_t *evidence = open_arm(plan, &arm);
    assert_string_equal(text_of(evidence, "group"), "X25519");
    assert_string_equal(text_of(evidence, "version"), "TLSv1.3");
    assert_true(json_is_true(json_object_get(evidence, "verified")));
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(evidence, "chain"), "depth")), 2);
    assert_int_equal(json_integer_value(json_object_get(evidence, "tickets")), 2);
    const json_t *bytes = json_object_get(evidence, "bytes");
    assert_true(json_integer_value(json_object_get(bytes, "client_hello")) > 100);
    assert_true(json_integer_value(json_object_get(bytes, "server_flight")) > 1000);
    assert_true(json_integer_value(json_object_get(bytes, "tickets")) > 100);
    const unsigned long handshakes = handshakes_asked();
    struct tlc_memory_figures figures = run(&arm, handshakes);
    assert_int_equal(figures.counters.handshakes, handshakes);
    assert_int_equal(figures.counters.started, handshakes);
    assert_int_equal(figures.counters.resumed, 0);
    assert_int_equal(figures.counters.mismatches, 0);
    assert_int_equal(figures.counters.tickets, 2 * handshakes);
    assert_sums(&figures);
    tlc_counters_free(&figures.counters);
    json_decref(evidence);
    tlc_memory_arm_close(&arm);
    tlc_plan_free(plan);
}

// Each row: settings, handshakes of a hundred that must be resumed.
static void sessions_are_received_and_used(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        unsigned resumed;
    } rows[] = {
        {"resumption: psk_dhe_ke, resume_ratio: 100%", 100},
        {"resumption: psk_ke, resume_ratio: 100%", 100},
        {"resumption: psk_dhe_ke, resume_ratio: 25%", 25},
        {"version: TLSv1.2, resumption: ticket, resume_ratio: 100%", 100},
        {"version: TLSv1.2, resumption: session-id, resume_ratio: 100%", 100},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tlc_plan *plan = plan_of(rows[i].settings);
        struct tlc_memory_arm arm;
        json_t *evidence = open_arm(plan, &arm);
        struct tlc_memory_figures figures = run(&arm, 100);
        assert_int_equal(figures.counters.handshakes, 100);
        assert_int_equal(figures.counters.mismatches, 0);
        assert_int_equal(figures.counters.resumed, rows[i].resumed);
        assert_int_equal(figures.counters.offered, rows[i].resumed);
        assert_false(json_is_true(json_object_get(evidence, "resumed"))); // the first was full
        tlc_counters_free(&figures.counters);
        json_decref(evidence);
        tlc_memory_arm_close(&arm);
        tlc_plan_free(plan);
    }
}

// A plan could not ask for it: no tickets, and resumption all the same.
static void a_server_without_tickets_resumes_nothing(void **state)
{
    (void)state;
    struct tlc_plan *plan = plan_of("resumption: psk_dhe_ke, resume_ratio: 100%");
    struct tlc_memory_arm arm;
    plan->arms[0].tickets = 0;
    json_t *evidence = open_arm(plan, &arm);
    struct tlc_memory_figures figures = run(&arm, 20);
    assert_int_equal(figures.counters.handshakes, 20);
    assert_int_equal(figures.counters.resumed, 0);
    tlc_counters_free(&figures.counters);
    json_decref(evidence);
    tlc_memory_arm_close(&arm);
    tlc_plan_free(plan);
}

static void client_certificates_are_seen_by_the_server(void **state)
{
    (void)state;
    struct tlc_plan *plan = plan_of("client_auth: ed25519");
    struct tlc_memory_arm arm;
    json_t *evidence = open_arm(plan, &arm);
    assert_string_equal(text_of(json_object_get(evidence, "client_certificate"), "subject"),
                        "tlscost client ed25519");
    struct tlc_memory_figures figures = run(&arm, 20);
    assert_int_equal(figures.counters.handshakes, 20);
    tlc_counters_free(&figures.counters);
    json_decref(evidence);
    tlc_memory_arm_close(&arm);
    tlc_plan_free(plan);
}

static void another_cipher_is_a_mismatch(void **state)
{
    (void)state;
    struct tlc_plan *plan = plan_of("cipher: TLS_AES_256_GCM_SHA384");
    struct tlc_memory_arm arm;
    json_t *evidence = open_arm(plan, &arm);
    strcpy(plan->arms[0].cipher, "TLS_AES_128_GCM_SHA256"); // of the same length
    struct tlc_memory_figures figures = run(&arm, 20);
    assert_int_equal(figures.counters.mismatches, 20);
    assert_int_equal(
        json_integer_value(json_object_get(figures.counters.errors, "mismatch-cipher")), 20);
    tlc_counters_free(&figures.counters);
    json_decref(evidence);
    tlc_memory_arm_close(&arm);
    tlc_plan_free(plan);
}

static void a_chain_of_another_ca_is_refused(void **state)
{
    (void)state;
    char other[600], source[700], target[700];
    static const char *const names[] = {"ecdsa-p256", NULL};
    struct tlc_error error = {TLC_OK, ""};
    assert_int_equal(tlc_directory_temporary("tlscost-other", other, sizeof other, &error), TLC_OK);
    struct tlc_certs_options options = {.directory = other, .names = names, .intermediates = 1};
    assert_int_equal(tlc_certs_make(&options, NULL, &error), TLC_OK);
    snprintf(source, sizeof source, "%s/ca.pem", folder);
    snprintf(target, sizeof target, "%s/ca.pem", other);
    FILE *from = fopen(source, "r"), *to = fopen(target, "w");
    assert_non_null(from);
    assert_non_null(to);
    char text[8192];
    size_t count = fread(text, 1, sizeof text, from);
    assert_int_equal(fwrite(text, 1, count, to), count);
    fclose(from);
    fclose(to);
    struct tlc_plan *plan = plan_of("certificate: ecdsa-p256");
    struct tlc_memory_arm arm;
    json_t *evidence;
    assert_int_equal(tlc_memory_arm_open(&plan->arms[0], other, &arm, &evidence, &error),
                     TLC_REFUSED);
    assert_null(evidence);
    assert_non_null(strstr(error.text, "client: "));
    assert_non_null(strstr(error.text, "certificate verify failed"));
    tlc_plan_free(plan);
    tlc_directory_remove(other);
}

static void a_recorded_hello_drives_the_server_to_its_flight(void **state)
{
    (void)state;
    static const char *const rows[] = {"side: flight",
                                       "side: flight, resumption: psk_dhe_ke, resume_ratio: 100%",
                                       "side: flight, version: TLSv1.2"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tlc_plan *plan = plan_of(rows[i]);
        struct tlc_memory_arm arm;
        json_t *evidence = open_arm(plan, &arm);
        struct tlc_memory_figures figures = run(&arm, 50);
        assert_int_equal(figures.counters.handshakes, 50);
        assert_int_equal(figures.counters.resumed, i == 1 ? 50 : 0);
        assert_true(figures.split.server_us > 0);
        assert_true(figures.split.client_us <= 0);
        tlc_counters_free(&figures.counters);
        json_decref(evidence);
        tlc_memory_arm_close(&arm);
        tlc_plan_free(plan);
    }
}

static void a_damaged_recording_is_an_error(void **state)
{
    (void)state;
    struct tlc_plan *plan = plan_of("side: flight");
    struct tlc_memory_arm arm;
    json_t *evidence = open_arm(plan, &arm);
    arm.recording.hello[6]++; // the message's length
    struct tlc_memory_figures figures = run(&arm, 100);
    assert_int_equal(figures.counters.handshakes, 0);
    assert_true(tlc_counters_errors(&figures.counters) > 0);
    assert_int_equal(strncmp(figures.failure, "server: ", 8), 0);
    arm.recording.hello[6]--;
    arm.recording.flight_bytes += 500; // as if it had been recorded with another certificate
    tlc_counters_free(&figures.counters);
    figures = run(&arm, 100);
    assert_int_equal(figures.counters.handshakes, 0);
    assert_non_null(strstr(figures.failure, "in another way"));
    tlc_counters_free(&figures.counters);
    json_decref(evidence);
    tlc_memory_arm_close(&arm);
    tlc_plan_free(plan);
}

static void idle_connections_are_held_and_ended(void **state)
{
    (void)state;
    enum { CONNECTIONS = 100 };
    struct tlc_plan *plan = plan_of("certificate: ecdsa-p256");
    struct tlc_memory_arm arm;
    struct tlc_error error = {TLC_OK, ""};
    json_t *evidence = open_arm(plan, &arm), *told = NULL;
    if (tlc_memory_idle(&arm, CONNECTIONS, &told, &error))
        fail_msg("%s", error.text);
    assert_int_equal(json_integer_value(json_object_get(told, "connections")), CONNECTIONS);
    const json_t *heap = json_object_get(told, "heap_bytes");
    // A sanitizer's allocator tells nothing.
    if (json_is_integer(heap)) {
        json_int_t left = json_integer_value(json_object_get(told, "left_bytes"));
        assert_true(json_integer_value(heap) > CONNECTIONS * 1000);
        assert_true(left < json_integer_value(heap) / 10);
    }
    json_decref(told);
    struct tlc_memory_figures figures = run(&arm, 10); // handshakes go on afterwards
    assert_int_equal(figures.counters.handshakes, 10);
    tlc_counters_free(&figures.counters);
    json_decref(evidence);
    tlc_memory_arm_close(&arm);
    tlc_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_handshakes_are_checked_and_verified),
        cmocka_unit_test(sessions_are_received_and_used),
        cmocka_unit_test(a_server_without_tickets_resumes_nothing),
        cmocka_unit_test(client_certificates_are_seen_by_the_server),
        cmocka_unit_test(another_cipher_is_a_mismatch),
        cmocka_unit_test(a_chain_of_another_ca_is_refused),
        cmocka_unit_test(a_recorded_hello_drives_the_server_to_its_flight),
        cmocka_unit_test(a_damaged_recording_is_an_error),
        cmocka_unit_test(idle_connections_are_held_and_ended),
    };
    return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
