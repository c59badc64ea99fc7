// Raw operations of Mbed TLS's classic interface (docs/speed.md).
#include <mbedtls/error.h>
#include <mbedtls/hkdf.h>
#include <string.h>

#include "stacks/mbedtls_operations.h"

static bool open_random(struct tlc_stack_operation *operation)
{
    mbedtls_entropy_init(&operation->entropy);
    mbedtls_ctr_drbg_init(&operation->random);
    mbedtls_ecp_group_init(&operation->group);
    mbedtls_mpi_init(&operation->own_secret);
    mbedtls_mpi_init(&operation->peer_secret);
    mbedtls_ecp_point_init(&operation->own);
    mbedtls_ecp_point_init(&operation->peer);
    mbedtls_ecdsa_init(&operation->signer);
    mbedtls_ecdsa_init(&operation->issuer);
    mbedtls_rsa_init(&operation->rsa);
    mbedtls_gcm_init(&operation->gcm);
    mbedtls_chachapoly_init(&operation->chacha);
    mbedtls_md_init(&operation->running);
    mbedtls_md_init(&operation->copy);
    mbedtls_x509_crt_init(&operation->chain);
    mbedtls_x509_crt_init(&operation->trusted);
    return tlc_plain_works(operation, "mbedtls_ctr_drbg_seed",
                           mbedtls_ctr_drbg_seed(&operation->random, mbedtls_entropy_func,
                                                 &operation->entropy, NULL, 0));
}

static void close_all(struct tlc_stack_operation *operation)
{
    mbedtls_x509_crt_free(&operation->trusted);
    mbedtls_x509_crt_free(&operation->chain);
    mbedtls_md_free(&operation->copy);
    mbedtls_md_free(&operation->running);
    mbedtls_chachapoly_free(&operation->chacha);
    mbedtls_gcm_free(&operation->gcm);
    mbedtls_rsa_free(&operation->rsa);
    mbedtls_ecdsa_free(&operation->issuer);
    mbedtls_ecdsa_free(&operation->signer);
    mbedtls_ecp_point_free(&operation->peer);
    mbedtls_ecp_point_free(&operation->own);
    mbedtls_mpi_free(&operation->peer_secret);
    mbedtls_mpi_free(&operation->own_secret);
    mbedtls_ecp_group_free(&operation->group);
    mbedtls_ctr_drbg_free(&operation->random);
    mbedtls_entropy_free(&operation->entropy);
}

static const char *words(int code)
{
    const char *low = mbedtls_low_level_strerr(code), *high = mbedtls_high_level_strerr(code);
    return high ? high : low ? low : "no words for it";
}

// ---- key shares and agreement

static bool make(struct tlc_stack_operation *operation, mbedtls_mpi *secret, mbedtls_ecp_point *key)
{
    return tlc_plain_works(operation, "mbedtls_ecdh_gen_public",
                           mbedtls_ecdh_gen_public(&operation->group, secret, key,
                                                   mbedtls_ctr_drbg_random, &operation->random));
}

static bool agree(struct tlc_stack_operation *operation, const mbedtls_mpi *secret,
                  const mbedtls_ecp_point *key, uint8_t *out)
{
    mbedtls_mpi shared;
    size_t bytes = operation->plain.row->size;
    bool little = operation->plain.row->parameter == MBEDTLS_ECP_DP_CURVE25519; // RFC 7748, 5
    mbedtls_mpi_init(&shared);
    int code = mbedtls_ecdh_compute_shared(&operation->group, &shared, key, secret,
                                           mbedtls_ctr_drbg_random, &operation->random);
    code = code     ? code
           : little ? mbedtls_mpi_write_binary_le(&shared, out, bytes)
                    : mbedtls_mpi_write_binary(&shared, out, bytes);
    mbedtls_mpi_free(&shared);
    return tlc_plain_works(operation, "mbedtls_ecdh_compute_shared", code);
}

static bool send(struct tlc_stack_operation *operation)
{
    size_t bytes = 0;
    int code = mbedtls_ecp_point_write_binary(
        &operation->group, &operation->peer, MBEDTLS_ECP_PF_UNCOMPRESSED, &bytes,
        operation->plain.input, sizeof operation->plain.input);
    operation->plain.input_bytes = (uint32_t)bytes;
    return tlc_plain_works(operation, "mbedtls_ecp_point_write_binary", code);
}

// The key of the bytes that were sent, and the own key's secret with it.
static bool take(struct tlc_stack_operation *operation, uint8_t *out)
{
    mbedtls_ecp_point sent;
    mbedtls_ecp_point_init(&sent);
    int code = mbedtls_ecp_point_read_binary(&operation->group, &sent, operation->plain.input,
                                             operation->plain.input_bytes);
    bool good = tlc_plain_works(operation, "mbedtls_ecp_point_read_binary", code) &&
                agree(operation, &operation->own_secret, &sent, out);
    mbedtls_ecp_point_free(&sent);
    return good;
}

static bool give(struct tlc_stack_operation *operation, uint8_t *out)
{
    return agree(operation, &operation->peer_secret, &operation->own, out);
}

static bool meet(struct tlc_stack_operation *operation, uint8_t *out)
{
    return agree(operation, &operation->own_secret, &operation->peer, out);
}

static bool load_group(struct tlc_stack_operation *operation)
{
    return tlc_plain_works(
        operation, "mbedtls_ecp_group_load",
        mbedtls_ecp_group_load(&operation->group,
                               (mbedtls_ecp_group_id)operation->plain.row->parameter));
}

static bool agreement_prepare(struct tlc_stack_operation *operation)
{
    return load_group(operation) && make(operation, &operation->own_secret, &operation->own) &&
           make(operation, &operation->peer_secret, &operation->peer) && send(operation) &&
           give(operation, operation->plain.expected);
}

// Into the key that is there.
static bool keygen_once(struct tlc_stack_operation *operation)
{
    return make(operation, &operation->peer_secret, &operation->peer) && send(operation);
}

// The group and the key are made anew.
static bool renew(struct tlc_stack_operation *operation)
{
    mbedtls_ecp_point_free(&operation->peer);
    mbedtls_mpi_free(&operation->peer_secret);
    mbedtls_ecp_group_free(&operation->group);
    mbedtls_ecp_group_init(&operation->group);
    mbedtls_mpi_init(&operation->peer_secret);
    mbedtls_ecp_point_init(&operation->peer);
    return load_group(operation) && make(operation, &operation->peer_secret, &operation->peer);
}

static bool share_once(struct tlc_stack_operation *operation)
{
    return renew(operation) && send(operation);
}

static const struct tlc_plain_exchange exchange = {take, give, renew, meet};
static const struct tlc_plain_kind keygen = {agreement_prepare, keygen_once, tlc_plain_check_share,
                                             NULL, &exchange},
                                   share = {agreement_prepare, share_once, tlc_plain_check_share,
                                            NULL, &exchange},
                                   derive = {agreement_prepare, tlc_plain_derive, NULL, NULL,
                                             &exchange},
                                   round_trip = {agreement_prepare, tlc_plain_round_trip, NULL,
                                                 NULL, &exchange};

// ---- signatures of CertificateVerify

static bool hash_content(struct tlc_stack_operation *operation, mbedtls_md_type_t type,
                         uint8_t *hash)
{
    return tlc_plain_works(operation, "mbedtls_md",
                           mbedtls_md(mbedtls_md_info_from_type(type), operation->plain.input,
                                      operation->plain.input_bytes, hash));
}

static mbedtls_md_type_t ecdsa_hash(const struct tlc_stack_operation *operation)
{
    return operation->plain.row->size == 48 ? MBEDTLS_MD_SHA384 : MBEDTLS_MD_SHA256;
}

static bool ecdsa_sign_once(struct tlc_stack_operation *operation)
{
    uint8_t hash[TLC_PLAIN_SECRET];
    size_t bytes = 0;
    bool good = hash_content(operation, ecdsa_hash(operation), hash) &&
                tlc_plain_works(operation, "mbedtls_ecdsa_write_signature",
                                mbedtls_ecdsa_write_signature(
                                    &operation->signer, ecdsa_hash(operation), hash,
                                    operation->plain.row->size, operation->plain.output,
                                    sizeof operation->plain.output, &bytes, mbedtls_ctr_drbg_random,
                                    &operation->random));
    operation->plain.output_bytes = (uint32_t)bytes;
    return good;
}

static bool ecdsa_verify_once(struct tlc_stack_operation *operation)
{
    uint8_t hash[TLC_PLAIN_SECRET];
    return hash_content(operation, ecdsa_hash(operation), hash) &&
           tlc_plain_works(operation, "the signature does not verify",
                           mbedtls_ecdsa_read_signature(
                               &operation->signer, hash, operation->plain.row->size,
                               operation->plain.output, operation->plain.output_bytes));
}

static bool ecdsa_prepare(struct tlc_stack_operation *operation)
{
    tlc_plain_put_content(operation, operation->plain.row->size);
    return tlc_plain_works(
               operation, "mbedtls_ecdsa_genkey",
               mbedtls_ecdsa_genkey(&operation->signer,
                                    (mbedtls_ecp_group_id)operation->plain.row->parameter,
                                    mbedtls_ctr_drbg_random, &operation->random)) &&
           ecdsa_sign_once(operation);
}

static const struct tlc_plain_kind ecdsa_sign = {ecdsa_prepare, ecdsa_sign_once, ecdsa_verify_once,
                                                 NULL, NULL},
                                   ecdsa_verify = {ecdsa_prepare, ecdsa_verify_once, NULL, NULL,
                                                   NULL};

static bool rsa_sign_once(struct tlc_stack_operation *operation)
{
    uint8_t hash[TLC_PLAIN_SECRET];
    return hash_content(operation, MBEDTLS_MD_SHA256, hash) &&
           tlc_plain_works(operation, "mbedtls_rsa_rsassa_pss_sign",
                           mbedtls_rsa_rsassa_pss_sign(&operation->rsa, mbedtls_ctr_drbg_random,
                                                       &operation->random, MBEDTLS_MD_SHA256, 32,
                                                       hash, operation->plain.output));
}

static bool rsa_verify_once(struct tlc_stack_operation *operation)
{
    uint8_t hash[TLC_PLAIN_SECRET];
    return hash_content(operation, MBEDTLS_MD_SHA256, hash) &&
           tlc_plain_works(operation, "the signature does not verify",
                           mbedtls_rsa_rsassa_pss_verify(&operation->rsa, MBEDTLS_MD_SHA256, 32,
                                                         hash, operation->plain.output));
}

static bool rsa_prepare(struct tlc_stack_operation *operation)
{
    tlc_plain_put_content(operation, 32);
    int code = mbedtls_rsa_set_padding(&operation->rsa, MBEDTLS_RSA_PKCS_V21, MBEDTLS_MD_SHA256);
    code = code ? code
                : mbedtls_rsa_gen_key(&operation->rsa, mbedtls_ctr_drbg_random, &operation->random,
                                      (unsigned)operation->plain.row->parameter, 65537);
    return tlc_plain_works(operation, "mbedtls_rsa_gen_key", code) && rsa_sign_once(operation);
}

static const struct tlc_plain_kind rsa_sign = {rsa_prepare, rsa_sign_once, rsa_verify_once, NULL,
                                               NULL},
                                   rsa_verify = {rsa_prepare, rsa_verify_once, NULL, NULL, NULL};

// ---- the key schedule

static const mbedtls_md_info_t *digest_of(const struct tlc_stack_operation *operation)
{
    return mbedtls_md_info_from_type((mbedtls_md_type_t)operation->plain.row->parameter);
}

static bool expand_label(struct tlc_stack_operation *operation, uint8_t *out, const uint8_t *key,
                         const char *label, const uint8_t *context)
{
    uint8_t info[128];
    size_t hash = operation->plain.row->size;
    size_t count = tlc_plain_label(label, context, hash, info);
    return tlc_plain_works(
        operation, "mbedtls_hkdf_expand",
        mbedtls_hkdf_expand(digest_of(operation), key, hash, info, count, out, hash));
}

static bool digest_nothing(struct tlc_stack_operation *operation, uint8_t *out)
{
    return tlc_plain_works(operation, "mbedtls_md",
                           mbedtls_md(digest_of(operation), (const uint8_t *)"", 0, out));
}

static bool extract(struct tlc_stack_operation *operation, const uint8_t *salt, const uint8_t *key)
{
    size_t hash = operation->plain.row->size;
    return tlc_plain_works(
        operation, "mbedtls_hkdf_extract",
        mbedtls_hkdf_extract(digest_of(operation), salt, hash, key, hash, operation->plain.output));
}

// ---- the transcript

static bool hash_begin(struct tlc_stack_operation *operation)
{
    mbedtls_md_init(&operation->running);
    mbedtls_md_init(&operation->copy);
    int code = mbedtls_md_setup(&operation->running, digest_of(operation), 0);
    code = code ? code : mbedtls_md_setup(&operation->copy, digest_of(operation), 0);
    code = code ? code : mbedtls_md_starts(&operation->running);
    return tlc_plain_works(operation, "mbedtls_md_starts", code);
}

static bool hash_add(struct tlc_stack_operation *operation, const uint8_t *bytes, size_t count)
{
    return tlc_plain_works(operation, "mbedtls_md_update",
                           mbedtls_md_update(&operation->running, bytes, count));
}

static bool hash_so_far(struct tlc_stack_operation *operation, uint8_t *out)
{
    int code = mbedtls_md_clone(&operation->copy, &operation->running);
    return tlc_plain_works(operation, "mbedtls_md_finish",
                           code ? code : mbedtls_md_finish(&operation->copy, out));
}

static void hash_end(struct tlc_stack_operation *operation)
{
    mbedtls_md_free(&operation->copy);
    mbedtls_md_free(&operation->running);
}

static const struct tlc_plain_hash running_hash = {hash_begin, hash_add, hash_so_far, hash_end};

// ---- a record

static bool gcm_prepare(struct tlc_stack_operation *operation)
{
    tlc_plain_put_record(operation);
    return tlc_plain_works(operation, "mbedtls_gcm_setkey",
                           mbedtls_gcm_setkey(&operation->gcm, MBEDTLS_CIPHER_ID_AES, tlc_plain_key,
                                              8 * (unsigned)operation->plain.row->parameter));
}

static bool gcm_once(struct tlc_stack_operation *operation)
{
    struct tlc_plain_operation *plain = &operation->plain;
    return tlc_plain_works(
        operation, "mbedtls_gcm_crypt_and_tag",
        mbedtls_gcm_crypt_and_tag(&operation->gcm, MBEDTLS_GCM_ENCRYPT, plain->input_bytes,
                                  tlc_plain_nonce, TLC_PLAIN_NONCE, tlc_plain_header,
                                  TLC_PLAIN_HEADER, plain->input, plain->output, TLC_PLAIN_TAG,
                                  plain->output + plain->input_bytes));
}

static bool chacha_prepare(struct tlc_stack_operation *operation)
{
    tlc_plain_put_record(operation);
    return tlc_plain_works(operation, "mbedtls_chachapoly_setkey",
                           mbedtls_chachapoly_setkey(&operation->chacha, tlc_plain_key));
}

static bool chacha_once(struct tlc_stack_operation *operation)
{
    struct tlc_plain_operation *plain = &operation->plain;
    return tlc_plain_works(
        operation, "mbedtls_chachapoly_encrypt_and_tag",
        mbedtls_chachapoly_encrypt_and_tag(&operation->chacha, plain->input_bytes, tlc_plain_nonce,
                                           tlc_plain_header, TLC_PLAIN_HEADER, plain->input,
                                           plain->output, plain->output + plain->input_bytes));
}

static const struct tlc_plain_kind seal_gcm = {gcm_prepare, gcm_once, tlc_plain_check_gcm, NULL,
                                               NULL},
                                   seal_chacha = {chacha_prepare, chacha_once,
                                                  tlc_plain_check_chacha, NULL, NULL};

// ---- the table

static const struct tlc_plain_row rows[] = {
    {"x25519-keygen", &keygen, MBEDTLS_ECP_DP_CURVE25519, 32},
    {"x25519-key-share", &share, MBEDTLS_ECP_DP_CURVE25519, 32},
    {"x25519-derive", &derive, MBEDTLS_ECP_DP_CURVE25519, 32},
    {"x25519-round-trip", &round_trip, MBEDTLS_ECP_DP_CURVE25519, 32},
    {"ecdh-p256-keygen", &keygen, MBEDTLS_ECP_DP_SECP256R1, 32},
    {"ecdh-p256-key-share", &share, MBEDTLS_ECP_DP_SECP256R1, 32},
    {"ecdh-p256-derive", &derive, MBEDTLS_ECP_DP_SECP256R1, 32},
    {"ecdh-p256-round-trip", &round_trip, MBEDTLS_ECP_DP_SECP256R1, 32},
    {"ecdh-p384-keygen", &keygen, MBEDTLS_ECP_DP_SECP384R1, 48},
    {"ecdh-p384-key-share", &share, MBEDTLS_ECP_DP_SECP384R1, 48},
    {"ecdh-p384-derive", &derive, MBEDTLS_ECP_DP_SECP384R1, 48},
    {"ecdh-p384-round-trip", &round_trip, MBEDTLS_ECP_DP_SECP384R1, 48},
    {"ecdsa-p256-sign", &ecdsa_sign, MBEDTLS_ECP_DP_SECP256R1, 32},
    {"ecdsa-p256-verify", &ecdsa_verify, MBEDTLS_ECP_DP_SECP256R1, 32},
    {"ecdsa-p384-sign", &ecdsa_sign, MBEDTLS_ECP_DP_SECP384R1, 48},
    {"ecdsa-p384-verify", &ecdsa_verify, MBEDTLS_ECP_DP_SECP384R1, 48},
    {"rsa-2048-sign", &rsa_sign, 2048, 0},
    {"rsa-2048-verify", &rsa_verify, 2048, 0},
    {"rsa-3072-sign", &rsa_sign, 3072, 0},
    {"rsa-3072-verify", &rsa_verify, 3072, 0},
    {"rsa-4096-sign", &rsa_sign, 4096, 0},
    {"rsa-4096-verify", &rsa_verify, 4096, 0},
    {"certificate-parse", &tlc_plain_certificate_parse, 0, 0},
    {"chain-verify-1", &tlc_plain_chain_verify, 0, 1},
    {"chain-verify-2", &tlc_plain_chain_verify, 0, 2},
    {"chain-verify-3", &tlc_plain_chain_verify, 0, 3},
    {"hkdf-extract-sha256", &tlc_plain_hkdf_extract, MBEDTLS_MD_SHA256, 32},
    {"hkdf-expand-label-sha256", &tlc_plain_hkdf_expand_label, MBEDTLS_MD_SHA256, 32},
    {"transcript-sha256", &tlc_plain_transcript, MBEDTLS_MD_SHA256, 32},
    {"hkdf-extract-sha384", &tlc_plain_hkdf_extract, MBEDTLS_MD_SHA384, 48},
    {"hkdf-expand-label-sha384", &tlc_plain_hkdf_expand_label, MBEDTLS_MD_SHA384, 48},
    {"transcript-sha384", &tlc_plain_transcript, MBEDTLS_MD_SHA384, 48},
    {"aes-128-gcm-seal-flight", &seal_gcm, 16, 1024},
    {"aes-128-gcm-seal-large-flight", &seal_gcm, 16, 10240},
    {"aes-256-gcm-seal-flight", &seal_gcm, 32, 1024},
    {"aes-256-gcm-seal-large-flight", &seal_gcm, 32, 10240},
    {"chacha20-poly1305-seal-flight", &seal_chacha, 32, 1024},
    {"chacha20-poly1305-seal-large-flight", &seal_chacha, 32, 10240},
};

// No header of Mbed TLS 3.6 has a function for these; PSA names Ed25519, and no part of the library
// serves it.
static const char *lacks(const char *operation)
{
    if (strstr(operation, "mlkem"))
        return "has no ML-KEM, alone or in a hybrid; OpenSSL 3.5 and wolfSSL have";
    if (tlc_plain_begins(operation, "mldsa-"))
        return "has no ML-DSA; OpenSSL 3.5, wolfSSL and AWS-LC have";
    if (tlc_plain_begins(operation, "ed25519-"))
        return "has no Ed25519; OpenSSL, wolfSSL, GnuTLS and AWS-LC have";
    return NULL;
}

const struct tlc_plain_library tlc_plain_library = {
    .name = "Mbed TLS",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .bytes = sizeof(struct tlc_stack_operation),
    .open = open_random,
    .close = close_all,
    .words = words,
    .digest_nothing = digest_nothing,
    .expand_label = expand_label,
    .extract = extract,
    .hash = &running_hash,
    .certificates = &mbedtls_certificates,
    .lacks = lacks,
};
