// Raw operations by GnuTLS's public interface (docs/speed.md).
#include <string.h>

#include "stacks/gnutls_operations.h"

static gnutls_datum_t datum(const uint8_t *bytes, size_t count)
{
    return (gnutls_datum_t){(unsigned char *)(uintptr_t)bytes, (unsigned)count};
}

static bool is_x25519(const struct tlc_stack_operation *operation)
{
    return operation->plain.row->parameter == GNUTLS_ECC_CURVE_X25519;
}

bool gtls_make_key(struct tlc_stack_operation *operation, gnutls_pk_algorithm_t algorithm,
                   unsigned bits, gnutls_privkey_t *key, gnutls_pubkey_t *its_public)
{
    gtls_free_key(key, its_public);
    int code = gnutls_privkey_init(key);
    code = code ? code : gnutls_privkey_generate(*key, algorithm, bits, 0);
    code = code ? code : gnutls_pubkey_init(its_public);
    code = code ? code : gnutls_pubkey_import_privkey(*its_public, *key, 0, 0);
    return tlc_plain_works(operation, "gnutls_privkey_generate", code);
}

void gtls_free_key(gnutls_privkey_t *key, gnutls_pubkey_t *its_public)
{
    if (*key)
        gnutls_privkey_deinit(*key);
    if (*its_public)
        gnutls_pubkey_deinit(*its_public);
    *key = NULL;
    *its_public = NULL;
}

void gtls_operation_free(struct tlc_stack_operation *operation)
{
    gtls_free_key(&operation->own, &operation->own_public);
    gtls_free_key(&operation->peer, &operation->peer_public);
    gnutls_free(operation->x.data);
    gnutls_free(operation->y.data);
    gnutls_free(operation->signature.data);
    if (operation->cipher)
        gnutls_aead_cipher_deinit(operation->cipher);
}

// ---- key shares and agreement

static gnutls_pk_algorithm_t key_type(const struct tlc_stack_operation *operation)
{
    return is_x25519(operation) ? GNUTLS_PK_ECDH_X25519 : GNUTLS_PK_ECDSA;
}

static unsigned key_bits(const struct tlc_stack_operation *operation)
{
    return GNUTLS_CURVE_TO_BITS((unsigned)operation->plain.row->parameter);
}

static bool make_curve_key(struct tlc_stack_operation *operation, gnutls_privkey_t *key,
                           gnutls_pubkey_t *its_public)
{
    return gtls_make_key(operation, key_type(operation), key_bits(operation), key, its_public);
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

static void forget_sent(struct tlc_stack_operation *operation)
{
    gnutls_free(operation->x.data);
    gnutls_free(operation->y.data);
    operation->x = operation->y = (gnutls_datum_t){NULL, 0};
}

static bool send(struct tlc_stack_operation *operation)
{
    gnutls_ecc_curve_t curve;
    forget_sent(operation);
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

// Without an object of the public key: the private one tells its bytes.
static bool keygen_once(struct tlc_stack_operation *operation)
{
    gnutls_ecc_curve_t curve;
    gtls_free_key(&operation->peer, &operation->peer_public);
    forget_sent(operation);
    int code = gnutls_privkey_init(&operation->peer);
    code = code ? code
                : gnutls_privkey_generate(operation->peer, key_type(operation), key_bits(operation),
                                          0);
    code = code ? code
                : gnutls_privkey_export_ecc_raw2(operation->peer, &curve, &operation->x,
                                                 &operation->y, NULL, 0);
    return tlc_plain_works(operation, "gnutls_privkey_generate", code);
}

static bool renew(struct tlc_stack_operation *operation)
{
    return make_curve_key(operation, &operation->peer, &operation->peer_public);
}

static bool meet(struct tlc_stack_operation *operation, uint8_t *out)
{
    return agree(operation, operation->own, operation->peer_public, out);
}

static bool share_once(struct tlc_stack_operation *operation)
{
    return renew(operation) && send(operation);
}

static const struct tlc_plain_exchange exchange = {take, give, renew, meet};
static const struct tlc_plain_kind keygen = {agreement_prepare, keygen_once, tlc_plain_check_share,
                                             gtls_operation_free, &exchange},
                                   share = {agreement_prepare, share_once, tlc_plain_check_share,
                                            gtls_operation_free, &exchange},
                                   derive = {agreement_prepare, tlc_plain_derive, NULL,
                                             gtls_operation_free, &exchange},
                                   round_trip = {agreement_prepare, tlc_plain_round_trip, NULL,
                                                 gtls_operation_free, &exchange};

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
    return gtls_make_key(operation,
                         rsa                                   ? GNUTLS_PK_RSA
                         : scheme == GNUTLS_SIGN_EDDSA_ED25519 ? GNUTLS_PK_EDDSA_ED25519
                                                               : GNUTLS_PK_ECDSA,
                         rsa ? parameter : GNUTLS_CURVE_TO_BITS(parameter), &operation->own,
                         &operation->own_public) &&
           sign_once(operation);
}

static const struct tlc_plain_kind sign = {sign_prepare, sign_once, verify_once,
                                           gtls_operation_free, NULL},
                                   verify = {sign_prepare, verify_once, NULL, gtls_operation_free,
                                             NULL};

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

static gnutls_digest_algorithm_t digest_of(const struct tlc_stack_operation *operation)
{
    return operation->plain.row->size == 48 ? GNUTLS_DIG_SHA384 : GNUTLS_DIG_SHA256;
}

static bool digest_nothing(struct tlc_stack_operation *operation, uint8_t *out)
{
    return tlc_plain_works(operation, "gnutls_hash_fast",
                           gnutls_hash_fast(digest_of(operation), "", 0, out));
}

static bool extract(struct tlc_stack_operation *operation, const uint8_t *salt, const uint8_t *key)
{
    size_t hash = operation->plain.row->size;
    gnutls_datum_t secret = datum(key, hash), salted = datum(salt, hash);
    return tlc_plain_works(
        operation, "gnutls_hkdf_extract",
        gnutls_hkdf_extract(mac_of(operation), &secret, &salted, operation->plain.output));
}

// ---- the transcript

static bool hash_begin(struct tlc_stack_operation *operation)
{
    return tlc_plain_works(operation, "gnutls_hash_init",
                           gnutls_hash_init(&operation->running, digest_of(operation)));
}

static bool hash_add(struct tlc_stack_operation *operation, const uint8_t *bytes, size_t count)
{
    return tlc_plain_works(operation, "gnutls_hash", gnutls_hash(operation->running, bytes, count));
}

static bool hash_so_far(struct tlc_stack_operation *operation, uint8_t *out)
{
    gnutls_hash_hd_t copy = gnutls_hash_copy(operation->running);
    if (copy)
        gnutls_hash_deinit(copy, out);
    return tlc_plain_is_right(operation, "gnutls_hash_copy: no copy could be made", copy);
}

static void hash_end(struct tlc_stack_operation *operation)
{
    if (operation->running)
        gnutls_hash_deinit(operation->running, NULL);
    operation->running = NULL;
}

static const struct tlc_plain_hash running_hash = {hash_begin, hash_add, hash_so_far, hash_end};

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
                                               gtls_operation_free, NULL},
                                   seal_chacha = {chacha_prepare, seal_once, tlc_plain_check_chacha,
                                                  gtls_operation_free, NULL};

// ---- the table

static const struct tlc_plain_row rows[] = {
    {"x25519-keygen", &keygen, GNUTLS_ECC_CURVE_X25519, 32},
    {"x25519-key-share", &share, GNUTLS_ECC_CURVE_X25519, 32},
    {"x25519-derive", &derive, GNUTLS_ECC_CURVE_X25519, 32},
    {"x25519-round-trip", &round_trip, GNUTLS_ECC_CURVE_X25519, 32},
    {"ecdh-p256-keygen", &keygen, GNUTLS_ECC_CURVE_SECP256R1, 32},
    {"ecdh-p256-key-share", &share, GNUTLS_ECC_CURVE_SECP256R1, 32},
    {"ecdh-p256-derive", &derive, GNUTLS_ECC_CURVE_SECP256R1, 32},
    {"ecdh-p256-round-trip", &round_trip, GNUTLS_ECC_CURVE_SECP256R1, 32},
    {"ecdh-p384-keygen", &keygen, GNUTLS_ECC_CURVE_SECP384R1, 48},
    {"ecdh-p384-key-share", &share, GNUTLS_ECC_CURVE_SECP384R1, 48},
    {"ecdh-p384-derive", &derive, GNUTLS_ECC_CURVE_SECP384R1, 48},
    {"ecdh-p384-round-trip", &round_trip, GNUTLS_ECC_CURVE_SECP384R1, 48},
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
    {"certificate-parse", &tlc_plain_certificate_parse, 0, 0},
    {"chain-verify-1", &tlc_plain_chain_verify, 0, 1},
    {"chain-verify-2", &tlc_plain_chain_verify, 0, 2},
    {"chain-verify-3", &tlc_plain_chain_verify, 0, 3},
    {"hkdf-extract-sha256", &tlc_plain_hkdf_extract, 0, 32},
    {"hkdf-expand-label-sha256", &tlc_plain_hkdf_expand_label, 0, 32},
    {"transcript-sha256", &tlc_plain_transcript, 0, 32},
    {"hkdf-extract-sha384", &tlc_plain_hkdf_extract, 0, 48},
    {"hkdf-expand-label-sha384", &tlc_plain_hkdf_expand_label, 0, 48},
    {"transcript-sha384", &tlc_plain_transcript, 0, 48},
    {"aes-128-gcm-seal-flight", &seal_gcm, 16, 1024},
    {"aes-128-gcm-seal-large-flight", &seal_gcm, 16, 10240},
    {"aes-256-gcm-seal-flight", &seal_gcm, 32, 1024},
    {"aes-256-gcm-seal-large-flight", &seal_gcm, 32, 10240},
    {"chacha20-poly1305-seal-flight", &seal_chacha, 32, 1024},
    {"chacha20-poly1305-seal-large-flight", &seal_chacha, 32, 10240},
};

// The library's headers name ML-KEM keys and have no function that encapsulates. What a build has
// is asked from the library.
static const char *lacks(const char *operation)
{
    enum { MLDSA_44 = 0x0904 };
    if (strstr(operation, "mlkem"))
        return "has no public function for ML-KEM, alone or in a hybrid; OpenSSL 3.5 and wolfSSL "
               "have";
    if (tlc_plain_begins(operation, "mldsa-"))
        return gtls_has_signature(MLDSA_44)
                   ? "is not asked for its ML-DSA; the plug-ins of OpenSSL 3.5, wolfSSL and AWS-LC "
                     "ask for theirs"
                   : "was built without ML-DSA, which needs leancrypto; OpenSSL 3.5, wolfSSL and "
                     "AWS-LC have it";
    return NULL;
}

const struct tlc_plain_library tlc_plain_library = {
    .name = "GnuTLS",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .bytes = sizeof(struct tlc_stack_operation),
    .words = gnutls_strerror,
    .digest_nothing = digest_nothing,
    .expand_label = expand_label,
    .extract = extract,
    .hash = &running_hash,
    .certificates = &gtls_certificates,
    .lacks = lacks,
};
