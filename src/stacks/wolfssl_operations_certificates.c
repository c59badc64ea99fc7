// Certificates by wolfCrypt's parser and the store of wolfSSL's OpenSSL-compatible interface.
#include <string.h>

#include "stacks/wolfssl_operations.h"

#include <wolfssl/wolfcrypt/asn.h>

static ecc_key *slot_of(struct tlc_stack_operation *operation, size_t slot)
{
    return slot ? &operation->ecc_peer : &operation->ecc;
}

static bool make_key(struct tlc_stack_operation *operation, size_t slot, uint8_t *point)
{
    ecc_key *key = slot_of(operation, slot);
    word32 count = TLC_PLAIN_POINT;
    wc_ecc_free(key);
    int code = wc_ecc_init(key);
    code = code ? code : wc_ecc_make_key_ex(&operation->rng, 32, key, ECC_SECP256R1);
#ifdef ECC_TIMING_RESISTANT
    code = code ? code : wc_ecc_set_rng(key, &operation->rng);
#endif
    code = code ? code : wc_ecc_export_x963(key, point, &count);
    return tlc_plain_works(operation, "wc_ecc_make_key", code);
}

static bool sign(struct tlc_stack_operation *operation, size_t slot, const uint8_t *content,
                 size_t bytes, uint8_t *signature, size_t *count)
{
    byte hash[WC_SHA256_DIGEST_SIZE];
    word32 wrote = (word32)*count;
    int code = wc_Sha256Hash(content, (word32)bytes, hash);
    code = code ? code
                : wc_ecc_sign_hash(hash, sizeof hash, signature, &wrote, &operation->rng,
                                   slot_of(operation, slot));
    *count = wrote;
    return tlc_plain_works(operation, "wc_ecc_sign_hash", code);
}

// The key stays in `ecc_peer`, as the leaf's own has done its work.
static bool parse(struct tlc_stack_operation *operation)
{
    const struct tlc_plain_der *leaf = &operation->plain.chain[0];
    struct DecodedCert certificate;
    word32 at = 0;
    wc_InitDecodedCert(&certificate, leaf->bytes, (word32)leaf->count, NULL);
    int code = wc_ParseCert(&certificate, CERT_TYPE, NO_VERIFY, NULL);
    wc_ecc_free(&operation->ecc_peer);
    code = code ? code : wc_ecc_init(&operation->ecc_peer);
    code = code ? code
                : wc_EccPublicKeyDecode(certificate.publicKey, &at, &operation->ecc_peer,
                                        certificate.pubKeySize);
    wc_FreeDecodedCert(&certificate);
    return tlc_plain_works(operation, "wc_ParseCert", code);
}

static bool point_of(struct tlc_stack_operation *operation, uint8_t *point)
{
    word32 count = TLC_PLAIN_POINT;
    return tlc_plain_works(operation, "wc_ecc_export_x963",
                           wc_ecc_export_x963(&operation->ecc_peer, point, &count));
}

// ---- a chain

static WOLFSSL_X509 *certificate_at(struct tlc_stack_operation *operation, size_t level)
{
    const struct tlc_plain_der *der = &operation->plain.chain[level];
    return wolfSSL_X509_d2i(NULL, der->bytes, (int)der->count);
}

static bool add_intermediate(struct tlc_stack_operation *operation, size_t level)
{
    WOLFSSL_X509 *one = certificate_at(operation, level);
    if (one && wolfSSL_sk_X509_push(operation->intermediates, one) > 0)
        return true;
    wolfSSL_X509_free(one);
    return false;
}

static bool load(struct tlc_stack_operation *operation, size_t depth)
{
    WOLFSSL_X509 *root = certificate_at(operation, depth);
    operation->trust = wolfSSL_X509_STORE_new();
    operation->intermediates = wolfSSL_sk_X509_new_null();
    operation->leaf = certificate_at(operation, 0);
    bool good = operation->trust && operation->intermediates && operation->leaf && root &&
                wolfSSL_X509_STORE_add_cert(operation->trust, root) == WOLFSSL_SUCCESS;
    wolfSSL_X509_free(root);
    for (size_t level = 1; good && level < depth; level++)
        good = add_intermediate(operation, level);
    return tlc_plain_is_right(operation, "wolfSSL_X509_d2i: a certificate is not taken", good);
}

static bool verify(struct tlc_stack_operation *operation)
{
    WOLFSSL_X509_STORE_CTX *ctx = wolfSSL_X509_STORE_CTX_new();
    bool good = ctx &&
                wolfSSL_X509_STORE_CTX_init(ctx, operation->trust, operation->leaf,
                                            operation->intermediates) == WOLFSSL_SUCCESS &&
                wolfSSL_X509_verify_cert(ctx) == WOLFSSL_SUCCESS;
    wolfSSL_X509_STORE_CTX_free(ctx);
    return tlc_plain_is_right(operation, "the chain does not verify", good);
}

static void unload(struct tlc_stack_operation *operation)
{
    wolfSSL_X509_free(operation->leaf);
    wolfSSL_sk_X509_pop_free(operation->intermediates, NULL);
    wolfSSL_X509_STORE_free(operation->trust);
    operation->leaf = NULL;
    operation->intermediates = NULL;
    operation->trust = NULL;
}

const struct tlc_plain_certificates wolfssl_certificates = {.make_key = make_key,
                                                            .sign = sign,
                                                            .parse = parse,
                                                            .point_of = point_of,
                                                            .load = load,
                                                            .verify = verify,
                                                            .unload = unload,
                                                            .free = wolfssl_ecc_free};
