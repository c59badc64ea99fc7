#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/names.h"
#include "evidence/checks.h"
#include "evidence/connect.h"
#include "evidence/wire.h"

static json_t *evidence_of_p256(void)
{
    return json_pack("{s:s, s:s, s:s, s:b, s:b, s:n, s:{s:s, s:s, s:i}, s:{s:i}}", "version",
                     "TLSv1.3", "cipher", "TLS_AES_128_GCM_SHA256", "group", "X25519",
                     "hello_retry_request", 0, "resumed", 0, "alpn", "certificate", "subject",
                     "localhost", "key_type", "ecdsa-p256", "key_bits", 256, "chain", "depth", 1);
}

static const struct tlc_asked asked_p256 = {.version = TLC_TLS13,
                                            .group = TLC_GROUP_X25519,
                                            .cipher = TLC_AES_128_GCM_SHA256,
                                            .key_type = "ecdsa-p256",
                                            .subject = "localhost",
                                            .chain_depth = 1};

static void compare(const struct tlc_asked *asked, json_t *evidence, const char *negotiated,
                    const char *certificate)
{
    char parameters[512] = "x", identity[512] = "x";
    tlc_evidence_compare(evidence, asked, parameters, sizeof parameters, identity, sizeof identity);
    assert_string_equal(parameters, negotiated);
    assert_string_equal(identity, certificate);
    json_decref(evidence);
}

static void equal_evidence_has_no_difference(void **state)
{
    (void)state;
    compare(&asked_p256, evidence_of_p256(), "", "");
    compare(&(struct tlc_asked){0}, evidence_of_p256(), "", "");
}

static void each_parameter_is_compared(void **state)
{
    (void)state;
    json_t *evidence = evidence_of_p256();
    json_object_set_new(evidence, "group", json_string("secp256r1"));
    compare(&asked_p256, evidence, "group: asked X25519, got secp256r1", "");
    evidence = evidence_of_p256();
    json_object_set_new(evidence, "version", json_string("TLSv1.2"));
    json_object_set_new(evidence, "cipher", json_string("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"));
    compare(&asked_p256, evidence,
            "version: asked TLSv1.3, got TLSv1.2; cipher: asked TLS_AES_128_GCM_SHA256, got "
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "");
    evidence = evidence_of_p256();
    json_object_set_new(evidence, "hello_retry_request", json_true());
    json_object_set_new(evidence, "resumed", json_true());
    compare(&asked_p256, evidence,
            "hello_retry_request: asked none, got one; resumed: asked no, got yes", "");
    struct tlc_asked retry = {.hello_retry_request = true, .alpn = "h2"};
    compare(&retry, evidence_of_p256(),
            "hello_retry_request: asked one, got none; alpn: asked h2, got none", "");
}

static void each_fact_of_the_certificate_is_compared(void **state)
{
    (void)state;
    struct tlc_asked rsa = {.key_type = "rsa-4096", .subject = "example.net", .chain_depth = 3};
    compare(&rsa, evidence_of_p256(), "",
            "key type: asked rsa-4096, got ecdsa-p256; subject: asked example.net, got "
            "localhost; chain depth: asked 3, got 1");
    json_t *evidence = evidence_of_p256();
    json_t *certificate = json_object_get(evidence, "certificate");
    json_object_set_new(certificate, "key_type", json_string("rsa-4096"));
    json_object_set_new(certificate, "key_bits", json_integer(2048));
    compare(&(struct tlc_asked){.key_type = "rsa-4096"}, evidence, "",
            "key size: asked 4096 bits, got 2048");
}

static void a_chain_that_does_not_verify_is_a_difference(void **state)
{
    (void)state;
    json_t *evidence = evidence_of_p256();
    json_object_set_new(evidence, "verified", json_null());
    compare(&asked_p256, evidence, "", "");
    evidence = evidence_of_p256();
    json_object_set_new(evidence, "verified", json_false());
    json_object_set_new(evidence, "verification", json_string("hostname mismatch"));
    compare(&asked_p256, evidence, "", "verification: hostname mismatch");
}

static void missing_evidence_is_a_difference(void **state)
{
    (void)state;
    compare(&asked_p256, json_object(),
            "version: asked TLSv1.3, got none; group: asked X25519, got none; cipher: asked "
            "TLS_AES_128_GCM_SHA256, got none",
            "key type: asked ecdsa-p256, got none; subject: asked localhost, got none; chain "
            "depth: asked 1, got 0");
}

static void small_and_missing_buffers_are_respected(void **state)
{
    (void)state;
    json_t *evidence = json_object();
    char text[8] = "xxxxxxx";
    tlc_evidence_compare(evidence, &asked_p256, text, 7, NULL, 0);
    assert_string_equal(text, "versio");
    json_decref(evidence);
}

// A record of `type` with `length` bytes behind the header, the first being `first`.
static size_t make_record(uint8_t *record, uint8_t type, uint8_t first, size_t length)
{
    memset(record, 0xaa, TLC_RECORD_HEADER + length);
    const uint8_t head[] = {type, 3, 3, (uint8_t)(length >> 8), (uint8_t)length, first};
    memcpy(record, head, length ? sizeof head : TLC_RECORD_HEADER);
    return TLC_RECORD_HEADER + length;
}

static void client_sends(struct tlc_wire *wire, uint8_t type, uint8_t first, size_t length)
{
    uint8_t record[512];
    size_t count = make_record(record, type, first, length);
    for (size_t i = 0; i < count; i++) // in the worst split
        tlc_wire_client(wire, record + i, 1);
}

static void server_sends(struct tlc_wire *wire, uint8_t type, uint8_t first, size_t length)
{
    uint8_t record[512];
    tlc_wire_server(wire, record, make_record(record, type, first, length));
}

static void the_flights_of_tls13_are_told_apart(void **state)
{
    (void)state;
    struct tlc_wire wire = {0};
    client_sends(&wire, 22, 1, 200);
    server_sends(&wire, 22, 2, 90);
    assert_true(wire.server_hello);
    client_sends(&wire, 20, 1, 1); // early ChangeCipherSpec answers nothing
    server_sends(&wire, 20, 1, 1);
    server_sends(&wire, 23, 4, 300);
    client_sends(&wire, 23, 0, 53);
    assert_int_equal(wire.client_hello, 205);
    assert_int_equal(wire.server_flight, 95 + 6 + 305);
    assert_int_equal(wire.client_flight, 6 + 58);
    assert_int_equal(wire.server_finished, 0);
    assert_int_equal(wire.hello_retry_request, 0);
    assert_int_equal(wire.tickets, 0);
}

static void a_hello_retry_request_is_a_flight_of_its_own(void **state)
{
    (void)state;
    // SHA-256 of "HelloRetryRequest" (RFC 8446, 4.1.3)
    static const uint8_t retry[32] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11,
                                      0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
                                      0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
                                      0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};
    struct tlc_wire wire = {0};
    uint8_t record[128];
    size_t count = make_record(record, 22, 2, 88);
    memcpy(record + 11, retry, sizeof retry);
    client_sends(&wire, 22, 1, 200);
    tlc_wire_server(&wire, record, count);
    assert_false(wire.server_hello);
    server_sends(&wire, 20, 1, 1);
    client_sends(&wire, 20, 1, 1);
    client_sends(&wire, 22, 1, 230);
    server_sends(&wire, 22, 2, 90);
    server_sends(&wire, 23, 0, 100);
    client_sends(&wire, 23, 0, 53);
    assert_int_equal(wire.hello_retry_request, 93 + 6);
    assert_int_equal(wire.client_hello, 205 + 235);
    assert_int_equal(wire.server_flight, 95 + 105);
    assert_int_equal(wire.client_flight, 6 + 58);
}

static void the_flights_of_tls12_are_told_apart(void **state)
{
    (void)state;
    struct tlc_wire wire = {0};
    client_sends(&wire, 22, 1, 200);
    server_sends(&wire, 22, 2, 90);
    server_sends(&wire, 22, 11, 400);
    client_sends(&wire, 22, 16, 37);
    client_sends(&wire, 20, 1, 1);
    client_sends(&wire, 22, 1, 40); // an encrypted Finished whose first byte looks like ClientHello
    server_sends(&wire, 22, 4, 180);
    server_sends(&wire, 20, 1, 1);
    server_sends(&wire, 22, 4, 40); // the encrypted Finished looks like a ticket
    assert_int_equal(wire.client_hello, 205);
    assert_int_equal(wire.server_flight, 95 + 405);
    assert_int_equal(wire.client_flight, 42 + 6 + 45);
    assert_int_equal(wire.tickets, 185);
    assert_int_equal(wire.server_finished, 6 + 45);
}

static void records_are_measured_and_bounded(void **state)
{
    (void)state;
    size_t size = 1;
    assert_true(tlc_wire_record_size((const uint8_t *)"", 0, &size));
    assert_int_equal(size, 0);
    assert_true(tlc_wire_record_size((const uint8_t *)"\x16\x03\x01\x02", 4, &size));
    assert_int_equal(size, 0);
    assert_true(tlc_wire_record_size((const uint8_t *)"\x16\x03\x03\x02\x01", 5, &size));
    assert_int_equal(size, 5 + 0x201);
    assert_false(tlc_wire_record_size((const uint8_t *)"\x16\x03\x03\xff\xff", 5, &size));
    assert_false(tlc_wire_record_size((const uint8_t *)"HTTP/", 5, &size));
    assert_false(tlc_wire_record_size((const uint8_t *)"\x16\x02", 2, &size));
    assert_int_equal(tlc_wire_alert((const uint8_t *)"\x15\x03\x03\x00\x02\x02\x28", 7), 40);
    assert_int_equal(tlc_wire_alert((const uint8_t *)"\x15\x03\x03\x00\x02\x01\x00", 7), -1);
    assert_int_equal(tlc_wire_alert((const uint8_t *)"\x15\x03", 2), -1);
    struct tlc_wire wire = {0};
    client_sends(&wire, 22, 0, 0); // an empty record has no first byte to wait for
    client_sends(&wire, 22, 1, 10);
    assert_int_equal(wire.client_flight, 5 + 15);
}

static void hosts_are_cut_out_of_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *address, *host; // NULL: not an address
    } cases[] = {{"localhost:4433", "localhost"},
                 {"127.0.0.1:1", "127.0.0.1"},
                 {"[::1]:4433", "::1"},
                 {"unix:/run/x", ""},
                 {"localhost", NULL},
                 {"localhost:", NULL},
                 {":443", NULL},
                 {"::1:443", NULL},
                 {"[::1:443", NULL},
                 {"[]:443", NULL},
                 {"unix:", NULL},
                 {"", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char host[64];
        struct tlc_error error = {0};
        enum tlc_status status = tlc_address_host(cases[i].address, host, sizeof host, &error);
        if (status != (cases[i].host ? TLC_OK : TLC_USAGE))
            fail_msg("'%s' gives status %d", cases[i].address, status);
        if (cases[i].host)
            assert_string_equal(host, cases[i].host);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_evidence_has_no_difference),
        cmocka_unit_test(each_parameter_is_compared),
        cmocka_unit_test(each_fact_of_the_certificate_is_compared),
        cmocka_unit_test(a_chain_that_does_not_verify_is_a_difference),
        cmocka_unit_test(the_flights_of_tls13_are_told_apart),
        cmocka_unit_test(a_hello_retry_request_is_a_flight_of_its_own),
        cmocka_unit_test(the_flights_of_tls12_are_told_apart),
        cmocka_unit_test(records_are_measured_and_bounded),
        cmocka_unit_test(hosts_are_cut_out_of_addresses),
        cmocka_unit_test(missing_evidence_is_a_difference),
        cmocka_unit_test(small_and_missing_buffers_are_respected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
