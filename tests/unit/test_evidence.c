#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/names.h"
#include "evidence/checks.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_evidence_has_no_difference),
        cmocka_unit_test(each_parameter_is_compared),
        cmocka_unit_test(each_fact_of_the_certificate_is_compared),
        cmocka_unit_test(missing_evidence_is_a_difference),
        cmocka_unit_test(small_and_missing_buffers_are_respected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
