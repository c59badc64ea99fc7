// Certificates by Mbed TLS's parser and chain verification (docs/speed.md).
#include <mbedtls/oid.h>

#include "stacks/mbedtls_operations.h"

static mbedtls_ecdsa_context *slot_of(struct tlc_stack_operation *operation, size_t slot)
{
    return slot ? &operation->issuer : &operation->signer;
}

static int write_point(const mbedtls_ecp_keypair *key, uint8_t *point)
{
    size_t count = 0;
    return mbedtls_ecp_write_public_key(key, MBEDTLS_ECP_PF_UNCOMPRESSED, &count, point,
                                        TLC_PLAIN_POINT);
}

static bool make_key(struct tlc_stack_operation *operation, size_t slot, uint8_t *point)
{
    mbedtls_ecdsa_context *key = slot_of(operation, slot);
    mbedtls_ecdsa_free(key);
    mbedtls_ecdsa_init(key);
    int code = mbedtls_ecdsa_genkey(key, MBEDTLS_ECP_DP_SECP256R1, mbedtls_ctr_drbg_random,
                                    &operation->random);
    return tlc_plain_works(operation, "mbedtls_ecdsa_genkey",
                           code ? code : write_point(key, point));
}

static bool sign(struct tlc_stack_operation *operation, size_t slot, const uint8_t *content,
                 size_t bytes, uint8_t *signature, size_t *count)
{
    uint8_t hash[32];
    int code = mbedtls_md(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), content, bytes, hash);
    code = code ? code
                : mbedtls_ecdsa_write_signature(slot_of(operation, slot), MBEDTLS_MD_SHA256, hash,
                                                sizeof hash, signature, *count, count,
                                                mbedtls_ctr_drbg_random, &operation->random);
    return tlc_plain_works(operation, "mbedtls_ecdsa_write_signature", code);
}

static int add(mbedtls_x509_crt *list, const struct tlc_plain_der *der)
{
    return mbedtls_x509_crt_parse_der(list, der->bytes, der->count);
}

static void renew(mbedtls_x509_crt *list)
{
    mbedtls_x509_crt_free(list);
    mbedtls_x509_crt_init(list);
}

// The parser makes the public key too.
static bool parse(struct tlc_stack_operation *operation)
{
    renew(&operation->chain);
    return tlc_plain_works(operation, "mbedtls_x509_crt_parse_der",
                           add(&operation->chain, &operation->plain.chain[0]));
}

static bool point_of(struct tlc_stack_operation *operation, uint8_t *point)
{
    return tlc_plain_works(operation, "mbedtls_ecp_write_public_key",
                           write_point(mbedtls_pk_ec(operation->chain.pk), point));
}

static bool load(struct tlc_stack_operation *operation, size_t depth)
{
    int code = add(&operation->trusted, &operation->plain.chain[depth]);
    for (size_t level = 0; !code && level < depth; level++)
        code = add(&operation->chain, &operation->plain.chain[level]);
    return tlc_plain_works(operation, "mbedtls_x509_crt_parse_der", code);
}

// The purpose is no part of the library's chain verification; its TLS asks for it as here.
static bool verify(struct tlc_stack_operation *operation)
{
    uint32_t flags = 0;
    int code = mbedtls_x509_crt_verify(&operation->chain, &operation->trusted, NULL, NULL, &flags,
                                       NULL, NULL);
    code =
        code ? code
             : mbedtls_x509_crt_check_extended_key_usage(&operation->chain, MBEDTLS_OID_SERVER_AUTH,
                                                         MBEDTLS_OID_SIZE(MBEDTLS_OID_SERVER_AUTH));
    return tlc_plain_works(operation, "the chain does not verify", code);
}

static void unload(struct tlc_stack_operation *operation)
{
    renew(&operation->chain);
    renew(&operation->trusted);
}

const struct tlc_plain_certificates mbedtls_certificates = {.make_key = make_key,
                                                            .sign = sign,
                                                            .parse = parse,
                                                            .point_of = point_of,
                                                            .load = load,
                                                            .verify = verify,
                                                            .unload = unload};
