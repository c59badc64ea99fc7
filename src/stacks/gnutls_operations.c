// Raw operations by GnuTLS's public interface (docs/speed.md).
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <string.h>

#include "stacks/gnutls_plugin.h"
#include "stacks/plain_operations.h"

struct tlc_stack_operation {
    struct tlc_plain_operation plain; // `parameter` of a row: a curve, or the bits of an RSA key
    gnutls_privkey_t own, peer;
    gnutls_pubkey_t own_public, peer_public;
    gnutls_datum_t x, y; // of the peer's public key, as it is sent
    gnutls_datum_t signature;
    gnutls_aead_cipher_hd_t cipher;
};

static gnutls_datum_t datum(const uint8_t *bytes, size_t count)
{
    return (gnutls_datum_t){(unsigned char *)(uintptr_t)bytes, (unsigned)count};
}

static bool is_x25519(const struct tlc_stack_operation *operation)
{
    return operation->plain.row->parameter == GNUTLS_ECC_CURVE_X25519;
}

static bool make_key(struct tlc_stack_operation *operation, gnutls_pk_algorithm_t algorithm,
                     unsigned bits, gnutls_privkey_t *key, gnutls_pubkey_t *its_public)
{
    int code = gnutls_privkey_init(key);
    code = code ? code : gnutls_privkey_generate(*key, algorithm, bits, 0);
    code = code ? code : gnutls_pubkey_init(its_public);
    code = code ? code : gnutls_pubkey_import_privkey(*its_public, *key, 0, 0);
    return tlc_plain_works(operation, "gnutls_privkey_generate", code);
}

static void free_key(gnutls_privkey_t *key, gnutls_pubkey_t *its_public)
{
    if (*key)
        gnutls_privkey_deinit(*key);
    if (*its_public)
        gnutls_pubkey_deinit(*its_public);
    *key = NULL;
    *its_public = NULL;
}

static void free_all(struct tlc_stack_operation *operation)
{
    free_key(&operation->own, &operation->own_public);
    free_key(&operation->peer, &operation->peer_public);
    gnutls_free(operation->x.data);
    gnutls_free(operation->y.data);
    gnutls_free(operation->signature.data);
    if (operation->cipher)
        gnutls_aead_cipher_deinit(operation->cipher);
}

// ---- key shares and agreement

static bool make_curve_key(struct tlc_stack_operation *operation, gnutls_privkey_t *key,
                           gnutls_pubkey_t *its_public)
{
    return make_key(operation, is_x25519(operation) ? GNUTLS_PK_ECDH_X25519 : GNUTLS_PK_ECDSA,
                    GNUTLS_CURVE_TO_BITS((unsigned)operation->plain.row->parameter), key,
                    its_public);
}

static bool agree(struct tlc_stack_operation *operation, gnutls_privkey_t own, gnutls_pubkey_t peer,
                  uint8_t *out)
{
    gnutls_datum_t secret = {NULL, 0};
    size_t bytes = operation->plain.row->size;
    bool good =
        tlc_plain_works(operation, "gnutls_privkey_derive_secret",
                        gnutls_privkey_derive_secret(own, peer, NULL, &secret, 0)) &&
        tlc_plain_is_right(operation, "derive: a secret of another length", secret.size == bytes);
    if (good)
        memcpy(out, secret.data, bytes);
    gnutls_free(secret.data);
    return good;
}

static bool send(struct tlc_stack_operation *operation)
{
    gnutls_ecc_curve_t curve;
    gnutls_free(operation->x.data);
    gnutls_free(operation->y.data);
    operation->x = operation->y = (gnutls_datum_t){NULL, 0};
    return tlc_plain_works(operation, "gnutls_pubkey_export_ecc_raw",
                           gnutls_pubkey_export_ecc_raw2(operation->peer_public, &curve,
                                                         &operation->x, &operation->y, 0));
}

// The key of the bytes that were sent, and the own key's secret with it.
static bool take(struct tlc_stack_operation *operation, uint8_t *out)
{
    gnutls_pubkey_t sent = NULL;
    int code = gnutls_pubkey_init(&sent);
    code = code ? code
                : gnutls_pubkey_import_ecc_raw(
                      sent, (gnutls_ecc_curve_t)operation->plain.row->parameter, &operation->x,
                      is_x25519(operation) ? NULL : &operation->y);
    bool good = tlc_plain_works(operation, "gnutls_pubkey_import_ecc_raw", code) &&
                agree(operation, operation->own, sent, out);
    if (sent)
        gnutls_pubkey_deinit(sent);
    return good;
}

static bool give(struct tlc_stack_operation *operation, uint8_t *out)
{
    return agree(operation, operation->peer, operation->own_public, out);
}

static bool agreement_prepare(struct tlc_stack_operation *operation)
{
    return make_curve_key(operation, &operation->own, &operation->own_public) &&
           make_curve_key(operation, &operation->peer, &operation->peer_public) &&
           send(operation) && give(operation, operation->plain.expected);
}

static bool share_once(struct tlc_stack_operation *operation)
{
    free_key(&operation->peer, &operation->peer_public);
    return make_curve_key(operation, &operation->peer, &operation->peer_public) && send(operation);
}

static const struct tlc_plain_exchange exchange = {take, give};
static const struct tlc_plain_kind share = {agreement_prepare, share_once, tlc_plain_check_share,
                                            free_all, &exchange},
                                   derive = {agreement_prepare, tlc_plain_derive, NULL, free_all,
                                             &exchange};

// ---- signatures of CertificateVerify

static gnutls_sign_algorithm_t scheme_of(const struct tlc_stack_operation *operation)
{
    switch (operation->plain.row->parameter) {
    case GNUTLS_ECC_CURVE_SECP256R1:
        return GNUTLS_SIGN_ECDSA_SECP256R1_SHA256;
    case GNUTLS_ECC_CURVE_SECP384R1:
        return GNUTLS_SIGN_ECDSA_SECP384R1_SHA384;
    case GNUTLS_ECC_CURVE_ED25519:
        return GNUTLS_SIGN_EDDSA_ED25519;
    default:
        return GNUTLS_SIGN_RSA_PSS_RSAE_SHA256;
    }
}

static bool sign_once(struct tlc_stack_operation *operation)
{
    gnutls_datum_t content = datum(operation->plain.input, operation->plain.input_bytes);
    gnutls_free(operation->signature.data);
    operation->signature = (gnutls_datum_t){NULL, 0};
    return tlc_plain_works(operation, "gnutls_privkey_sign_data",
                           gnutls_privkey_sign_data2(operation->own, scheme_of(operation), 0,
                                                     &content, &operation->signature));
}

static bool verify_once(struct tlc_stack_operation *operation)
{
    gnutls_datum_t content = datum(operation->plain.input, operation->plain.input_bytes);
    int code = gnutls_pubkey_verify_data2(operation->own_public, scheme_of(operation), 0, &content,
                                          &operation->signature);
    return tlc_plain_works(operation, "the signature does not verify", code < 0 ? code : 0);
}

static bool sign_prepare(struct tlc_stack_operation *operation)
{
    gnutls_sign_algorithm_t scheme = scheme_of(operation);
    bool rsa = scheme == GNUTLS_SIGN_RSA_PSS_RSAE_SHA256;
    unsigned parameter = (unsigned)operation->plain.row->parameter;
    tlc_plain_put_content(operation, operation->plain.row->size);
    return make_key(operation,
                    rsa                                   ? GNUTLS_PK_RSA
                    : scheme == GNUTLS_SIGN_EDDSA_ED25519 ? GNUTLS_PK_EDDSA_ED25519
                                                          : GNUTLS_PK_ECDSA,
                    rsa ? parameter : GNUTLS_CURVE_TO_BITS(parameter), &operation->own,
                    &operation->own_public) &&
           sign_once(operation);
}

static const struct tlc_plain_kind sign = {sign_prepare, sign_once, verify_once, free_all, NULL},
                                   verify = {sign_prepare, verify_once, NULL, free_all, NULL};

// ---- the key schedule

static gnutls_mac_algorithm_t mac_of(const struct tlc_stack_operation *operation)
{
    return operation->plain.row->size == 48 ? GNUTLS_MAC_SHA384 : GNUTLS_MAC_SHA256;
}

static bool expand_label(struct tlc_stack_operation *operation, uint8_t *out, const uint8_t *key,
                         const char *label, const uint8_t *context)
{
    uint8_t text[128];
    size_t hash = operation->plain.row->size;
    gnutls_datum_t secret = datum(key, hash);
    gnutls_datum_t info = datum(text, tlc_plain_label(label, context, hash, text));
    return tlc_plain_works(operation, "gnutls_hkdf_expand",
                           gnutls_hkdf_expand(mac_of(operation), &secret, &info, out, hash));
}

static bool digest_nothing(struct tlc_stack_operation *operation, uint8_t *out)
{
    gnutls_digest_algorithm_t digest =
        operation->plain.row->size == 48 ? GNUTLS_DIG_SHA384 : GNUTLS_DIG_SHA256;
    return tlc_plain_works(operation, "gnutls_hash_fast", gnutls_hash_fast(digest, "", 0, out));
}

static bool extract(struct tlc_stack_operation *operation, const uint8_t *salt, const uint8_t *key)
{
    size_t hash = operation->plain.row->size;
    gnutls_datum_t secret = datum(key, hash), salted = datum(salt, hash);
    return tlc_plain_works(
        operation, "gnutls_hkdf_extract",
        gnutls_hkdf_extract(mac_of(operation), &secret, &salted, operation->plain.output));
}

// ---- a record

static bool start_cipher(struct tlc_stack_operation *operation, gnutls_cipher_algorithm_t algorithm)
{
    gnutls_datum_t key = datum(tlc_plain_key, (size_t)operation->plain.row->parameter);
    tlc_plain_put_record(operation);
    return tlc_plain_works(operation, "gnutls_aead_cipher_init",
                           gnutls_aead_cipher_init(&operation->cipher, algorithm, &key));
}

static bool gcm_prepare(struct tlc_stack_operation *operation)
{
    return start_cipher(operation, operation->plain.row->parameter == 16
                                       ? GNUTLS_CIPHER_AES_128_GCM
                                       : GNUTLS_CIPHER_AES_256_GCM);
}

static bool chacha_prepare(struct tlc_stack_operation *operation)
{
    return start_cipher(operation, GNUTLS_CIPHER_CHACHA20_POLY1305);
}

static bool seal_once(struct tlc_stack_operation *operation)
{
    struct tlc_plain_operation *plain = &operation->plain;
    size_t count = sizeof plain->output;
    return tlc_plain_works(operation, "gnutls_aead_cipher_encrypt",
                           gnutls_aead_cipher_encrypt(operation->cipher, tlc_plain_nonce,
                                                      TLC_PLAIN_NONCE, tlc_plain_header,
                                                      TLC_PLAIN_HEADER, TLC_PLAIN_TAG, plain->input,
                                                      plain->input_bytes, plain->output, &count));
}

static const struct tlc_plain_kind seal_gcm = {gcm_prepare, seal_once, tlc_plain_check_gcm,
                                               free_all, NULL},
                                   seal_chacha = {chacha_prepare, seal_once, tlc_plain_check_chacha,
                                                  free_all, NULL};

// ---- the table

static const struct tlc_plain_row rows[] = {
    {"x25519-key-share", &share, GNUTLS_ECC_CURVE_X25519, 32},
    {"x25519-derive", &derive, GNUTLS_ECC_CURVE_X25519, 32},
    {"ecdh-p256-key-share", &share, GNUTLS_ECC_CURVE_SECP256R1, 32},
    {"ecdh-p256-derive", &derive, GNUTLS_ECC_CURVE_SECP256R1, 32},
    {"ecdh-p384-key-share", &share, GNUTLS_ECC_CURVE_SECP384R1, 48},
    {"ecdh-p384-derive", &derive, GNUTLS_ECC_CURVE_SECP384R1, 48},
    {"ecdsa-p256-sign", &sign, GNUTLS_ECC_CURVE_SECP256R1, 32},
    {"ecdsa-p256-verify", &verify, GNUTLS_ECC_CURVE_SECP256R1, 32},
    {"ecdsa-p384-sign", &sign, GNUTLS_ECC_CURVE_SECP384R1, 48},
    {"ecdsa-p384-verify", &verify, GNUTLS_ECC_CURVE_SECP384R1, 48},
    {"ed25519-sign", &sign, GNUTLS_ECC_CURVE_ED25519, 32},
    {"ed25519-verify", &verify, GNUTLS_ECC_CURVE_ED25519, 32},
    {"rsa-2048-sign", &sign, 2048, 32},
    {"rsa-2048-verify", &verify, 2048, 32},
    {"rsa-3072-sign", &sign, 3072, 32},
    {"rsa-3072-verify", &verify, 3072, 32},
    {"rsa-4096-sign", &sign, 4096, 32},
    {"rsa-4096-verify", &verify, 4096, 32},
    {"hkdf-extract-sha256", &tlc_plain_hkdf_extract, 0, 32},
    {"hkdf-expand-label-sha256", &tlc_plain_hkdf_expand_label, 0, 32},
    {"hkdf-extract-sha384", &tlc_plain_hkdf_extract, 0, 48},
    {"hkdf-expand-label-sha384", &tlc_plain_hkdf_expand_label, 0, 48},
    {"aes-128-gcm-seal-flight", &seal_gcm, 16, 1024},
    {"aes-128-gcm-seal-large-flight", &seal_gcm, 16, 10240},
    {"aes-256-gcm-seal-flight", &seal_gcm, 32, 1024},
    {"aes-256-gcm-seal-large-flight", &seal_gcm, 32, 10240},
    {"chacha20-poly1305-seal-flight", &seal_chacha, 32, 1024},
    {"chacha20-poly1305-seal-large-flight", &seal_chacha, 32, 10240},
};

const struct tlc_plain_library tlc_plain_library = {
    .name = "GnuTLS",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .bytes = sizeof(struct tlc_stack_operation),
    .words = gnutls_strerror,
    .digest_nothing = digest_nothing,
    .expand_label = expand_label,
    .extract = extract,
};
