// Signatures of CertificateVerify, certificates and chains.
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "stacks/openssl_operations.h"

// What a TLS 1.3 server signs (RFC 8446, 4.4.3): 64 spaces, a text, a zero and the transcript hash.
enum { CONTENT_PREFIX = 64 + 34, CONTENT_MOST = CONTENT_PREFIX + 48 };

static bool is_rsa(const struct tlc_stack_operation *operation)
{
    return !strcmp(operation->row->algorithm, "RSA");
}

static bool set_padding(struct tlc_stack_operation *operation, EVP_PKEY_CTX *of_key)
{
    return !is_rsa(operation) ||
           (EVP_PKEY_CTX_set_rsa_padding(of_key, RSA_PKCS1_PSS_PADDING) == 1 &&
            EVP_PKEY_CTX_set_rsa_pss_saltlen(of_key, RSA_PSS_SALTLEN_DIGEST) == 1);
}

static bool sign_once(struct tlc_stack_operation *operation)
{
    EVP_PKEY_CTX *of_key = NULL;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    operation->output_bytes = sizeof operation->output;
    bool good = ctx && openssl_start_signature(operation, ctx, &of_key, false) &&
                set_padding(operation, of_key) &&
                EVP_DigestSign(ctx, operation->output, &operation->output_bytes,
                               operation->input.data, operation->input.count) == 1;
    EVP_MD_CTX_free(ctx);
    return good || openssl_failed(operation, "sign");
}

static bool verify_once(struct tlc_stack_operation *operation)
{
    EVP_PKEY_CTX *of_key = NULL;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = ctx && openssl_start_signature(operation, ctx, &of_key, true) &&
                set_padding(operation, of_key) &&
                EVP_DigestVerify(ctx, operation->output, operation->output_bytes,
                                 operation->input.data, operation->input.count) == 1;
    EVP_MD_CTX_free(ctx);
    return good || openssl_failed(operation, "the signature does not verify");
}

static bool sign_prepare(struct tlc_stack_operation *operation)
{
    size_t hash = operation->row->size ? operation->row->size : 32;
    unsigned char *content = OPENSSL_zalloc(CONTENT_MOST);
    operation->input = (struct openssl_bytes){content, CONTENT_PREFIX + hash};
    operation->key = openssl_make_key(operation);
    if (!content || !operation->key)
        return openssl_failed(operation, "key generation");
    memset(content, ' ', 64);
    memcpy(content + 64, "TLS 1.3, server CertificateVerify", 34); // with its zero
    memset(content + CONTENT_PREFIX, 0x5a, hash);
    return true;
}

static bool verify_prepare(struct tlc_stack_operation *operation)
{
    return sign_prepare(operation) && sign_once(operation);
}

const struct openssl_operation_kind openssl_sign = {NEEDS_KEY, sign_prepare, sign_once,
                                                    verify_once};
const struct openssl_operation_kind openssl_verify = {NEEDS_KEY, verify_prepare, verify_once, NULL};

// ---- certificates: ECDSA P-256 throughout

static bool add_extension(X509 *certificate, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    bool good = extension && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return good;
}

static bool name_it(X509 *certificate, unsigned subject, unsigned issuer)
{
    X509_NAME *names[2] = {X509_NAME_new(), X509_NAME_new()};
    unsigned numbers[2] = {subject, issuer};
    bool good = names[0] && names[1];
    for (size_t i = 0; good && i < 2; i++) {
        unsigned char text[32];
        int length = snprintf((char *)text, sizeof text, "tlscost %u", numbers[i]);
        good = X509_NAME_add_entry_by_txt(names[i], "CN", MBSTRING_ASC, text, length, -1, 0) == 1;
    }
    good = good && X509_set_subject_name(certificate, names[0]) == 1 &&
           X509_set_issuer_name(certificate, names[1]) == 1;
    X509_NAME_free(names[0]);
    X509_NAME_free(names[1]);
    return good;
}

// The certificate of level `level` (0: the leaf), issued by the next one; equal levels: a root.
static X509 *issue(EVP_PKEY *key, unsigned level, unsigned issuer, EVP_PKEY *signer)
{
    enum { DAY = 86400 };
    X509 *made = X509_new();
    bool good = made && X509_set_version(made, 2) == 1 &&
                ASN1_INTEGER_set(X509_get_serialNumber(made), 1000 + level) == 1 &&
                X509_gmtime_adj(X509_getm_notBefore(made), -DAY) &&
                X509_gmtime_adj(X509_getm_notAfter(made), 365L * DAY) &&
                X509_set_pubkey(made, key) == 1 && name_it(made, level, issuer) &&
                add_extension(made, NID_basic_constraints, level ? "critical,CA:TRUE" : "CA:FALSE");
    if (good && !level)
        good = add_extension(made, NID_subject_alt_name, "DNS:localhost") &&
               add_extension(made, NID_ext_key_usage, "serverAuth");
    if (good && X509_sign(made, signer, EVP_sha256()) > 0)
        return made;
    X509_free(made);
    return NULL;
}

// A leaf and `depth` - 1 intermediates below a root that is trusted.
static bool make_chain(struct tlc_stack_operation *operation, unsigned depth)
{
    operation->trust = X509_STORE_new();
    operation->intermediates = sk_X509_new_null();
    EVP_PKEY *signer = openssl_make_key(operation);
    X509 *root = signer ? issue(signer, depth, depth, signer) : NULL;
    bool good = operation->trust && operation->intermediates && root &&
                X509_STORE_add_cert(operation->trust, root) == 1;
    X509_free(root);
    for (unsigned level = depth; good && level-- > 0;) {
        EVP_PKEY *key = openssl_make_key(operation);
        X509 *made = key ? issue(key, level, level + 1, signer) : NULL;
        EVP_PKEY_free(signer);
        signer = key;
        good = made != NULL;
        if (level == 0)
            operation->leaf = made;
        else if (made && !sk_X509_push(operation->intermediates, made)) {
            X509_free(made);
            good = false;
        }
    }
    operation->key = signer;
    return good || openssl_failed(operation, "certificates");
}

static bool certificate_prepare(struct tlc_stack_operation *operation)
{
    if (!make_chain(operation, 1))
        return false;
    int count = i2d_X509(operation->leaf, &operation->input.data);
    operation->input.count = count > 0 ? (size_t)count : 0;
    return count > 0 || openssl_failed(operation, "certificate");
}

static bool certificate_once(struct tlc_stack_operation *operation)
{
    const unsigned char *at = operation->input.data;
    X509 *parsed = openssl_new_certificate(operation);
    bool good =
        parsed && d2i_X509(&parsed, &at, (long)operation->input.count) && X509_get0_pubkey(parsed);
    X509_free(operation->leaf);
    operation->leaf = parsed;
    return good || openssl_failed(operation, "certificate");
}

static bool certificate_check(struct tlc_stack_operation *operation)
{
    unsigned char *der = NULL;
    int count = operation->leaf ? i2d_X509(operation->leaf, &der) : 0;
    bool good = count > 0 && (size_t)count == operation->input.count &&
                !memcmp(der, operation->input.data, operation->input.count) &&
                X509_check_private_key(operation->leaf, operation->key) == 1;
    OPENSSL_free(der);
    return good || openssl_failed(operation, "the parsed certificate is another");
}

static bool chain_prepare(struct tlc_stack_operation *operation)
{
    return make_chain(operation, (unsigned)operation->row->size);
}

static bool chain_once(struct tlc_stack_operation *operation)
{
    X509_STORE_CTX *ctx = openssl_new_verification(operation);
    bool good = ctx &&
                X509_STORE_CTX_init(ctx, operation->trust, operation->leaf,
                                    operation->intermediates) == 1 &&
                X509_STORE_CTX_set_purpose(ctx, X509_PURPOSE_SSL_SERVER) == 1 &&
                X509_verify_cert(ctx) == 1;
    if (ctx && !good)
        operation->failed = X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx));
    X509_STORE_CTX_free(ctx);
    return good;
}

const struct openssl_operation_kind openssl_certificate_parse = {
    NEEDS_KEY, certificate_prepare, certificate_once, certificate_check};
const struct openssl_operation_kind openssl_chain_verify = {NEEDS_KEY, chain_prepare, chain_once,
                                                            NULL};
