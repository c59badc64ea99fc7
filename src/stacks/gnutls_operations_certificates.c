// Certificates by GnuTLS's parser and trust list (docs/speed.md).
#include <string.h>

#include "stacks/gnutls_operations.h"

static gnutls_privkey_t *slot_of(struct tlc_stack_operation *operation, size_t slot)
{
    return slot ? &operation->peer : &operation->own;
}

// Into its half of the point, with zeros before it.
static bool put_coordinate(const gnutls_datum_t *number, uint8_t *half)
{
    enum { COORDINATE = (TLC_PLAIN_POINT - 1) / 2 };
    bool fits = number->size <= COORDINATE;
    memset(half, 0, COORDINATE);
    if (fits)
        memcpy(half + COORDINATE - number->size, number->data, number->size);
    gnutls_free(number->data);
    return fits;
}

static bool write_point(struct tlc_stack_operation *operation, gnutls_pubkey_t key, uint8_t *point)
{
    gnutls_ecc_curve_t curve;
    gnutls_datum_t x = {NULL, 0}, y = {NULL, 0};
    int code = gnutls_pubkey_export_ecc_raw2(key, &curve, &x, &y, GNUTLS_EXPORT_FLAG_NO_LZ);
    point[0] = 4; // uncompressed
    bool fits = put_coordinate(&x, point + 1);
    fits = put_coordinate(&y, point + 1 + (TLC_PLAIN_POINT - 1) / 2) && fits;
    return tlc_plain_works(operation, "gnutls_pubkey_export_ecc_raw", code) &&
           tlc_plain_is_right(operation, "the key is of another curve", fits);
}

static bool make_key(struct tlc_stack_operation *operation, size_t slot, uint8_t *point)
{
    gnutls_pubkey_t *its_public = slot ? &operation->peer_public : &operation->own_public;
    return gtls_make_key(operation, GNUTLS_PK_ECDSA,
                         GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), slot_of(operation, slot),
                         its_public) &&
           write_point(operation, *its_public, point);
}

static bool sign(struct tlc_stack_operation *operation, size_t slot, const uint8_t *content,
                 size_t bytes, uint8_t *signature, size_t *count)
{
    gnutls_datum_t made = {NULL, 0};
    gnutls_datum_t text = {(unsigned char *)(uintptr_t)content, (unsigned)bytes};
    int code = gnutls_privkey_sign_data2(*slot_of(operation, slot),
                                         GNUTLS_SIGN_ECDSA_SECP256R1_SHA256, 0, &text, &made);
    bool fits = made.size <= *count;
    if (!code && fits)
        memcpy(signature, made.data, *count = made.size);
    gnutls_free(made.data);
    return tlc_plain_works(operation, "gnutls_privkey_sign_data", code) &&
           tlc_plain_is_right(operation, "the signature does not fit", fits);
}

static int import(gnutls_x509_crt_t *certificate, const struct tlc_plain_der *der)
{
    gnutls_datum_t bytes = {(unsigned char *)(uintptr_t)der->bytes, (unsigned)der->count};
    int code = gnutls_x509_crt_init(certificate);
    return code ? code : gnutls_x509_crt_import(*certificate, &bytes, GNUTLS_X509_FMT_DER);
}

static void unload(struct tlc_stack_operation *operation)
{
    for (size_t i = 0; i < TLC_PLAIN_CHAIN; i++)
        if (operation->chain[i])
            gnutls_x509_crt_deinit(operation->chain[i]);
    memset(operation->chain, 0, sizeof operation->chain);
    if (operation->leaf_public)
        gnutls_pubkey_deinit(operation->leaf_public);
    operation->leaf_public = NULL;
    if (operation->trusted)
        gnutls_x509_trust_list_deinit(operation->trusted, 1);
    operation->trusted = NULL;
}

static bool parse(struct tlc_stack_operation *operation)
{
    unload(operation);
    int code = import(&operation->chain[0], &operation->plain.chain[0]);
    code = code ? code : gnutls_pubkey_init(&operation->leaf_public);
    code = code ? code : gnutls_pubkey_import_x509(operation->leaf_public, operation->chain[0], 0);
    return tlc_plain_works(operation, "gnutls_x509_crt_import", code);
}

static bool point_of(struct tlc_stack_operation *operation, uint8_t *point)
{
    return write_point(operation, operation->leaf_public, point);
}

// The list takes the root over.
static int trust(struct tlc_stack_operation *operation, const struct tlc_plain_der *root)
{
    gnutls_x509_crt_t certificate = NULL;
    int code = gnutls_x509_trust_list_init(&operation->trusted, 0);
    code = code ? code : import(&certificate, root);
    if (!code && gnutls_x509_trust_list_add_cas(operation->trusted, &certificate, 1, 0) == 1)
        return 0;
    if (certificate)
        gnutls_x509_crt_deinit(certificate);
    return code ? code : GNUTLS_E_CERTIFICATE_ERROR;
}

static bool load(struct tlc_stack_operation *operation, size_t depth)
{
    int code = trust(operation, &operation->plain.chain[depth]);
    operation->depth = (unsigned)depth;
    for (size_t level = 0; !code && level < depth; level++)
        code = import(&operation->chain[level], &operation->plain.chain[level]);
    return tlc_plain_works(operation, "gnutls_x509_crt_import", code);
}

static bool verify(struct tlc_stack_operation *operation)
{
    gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                     .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_SERVER};
    unsigned status = 0;
    int code = gnutls_x509_trust_list_verify_crt2(operation->trusted, operation->chain,
                                                  operation->depth, &purpose, 1, 0, &status, NULL);
    return tlc_plain_works(operation, "gnutls_x509_trust_list_verify_crt", code) &&
           tlc_plain_is_right(operation, "the chain does not verify", !status);
}

const struct tlc_plain_certificates gtls_certificates = {.make_key = make_key,
                                                         .sign = sign,
                                                         .parse = parse,
                                                         .point_of = point_of,
                                                         .load = load,
                                                         .verify = verify,
                                                         .unload = unload,
                                                         .free = gtls_operation_free};
