#include "tls13/certificate.h"

#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <string.h>

struct scheme {
    const char *key, *hash; // libcrypto's names; hash NULL: the scheme has its own
    int bits;               // size of the EC key's field; 0: any key of the type
    uint16_t code;
};

// RFC 8446, 4.2.3; draft-ietf-tls-mldsa
static const struct scheme schemes[] = {
    {"EC", "SHA256", 256, 0x0403},  {"EC", "SHA384", 384, 0x0503},  {"EC", "SHA512", 521, 0x0603},
    {"ED25519", NULL, 0, 0x0807},   {"ED448", NULL, 0, 0x0808},     {"ML-DSA-44", NULL, 0, 0x0904},
    {"ML-DSA-65", NULL, 0, 0x0905}, {"ML-DSA-87", NULL, 0, 0x0906}, {"RSA", "SHA256", 0, 0x0804},
    {"RSA", "SHA384", 0, 0x0805},   {"RSA", "SHA512", 0, 0x0806},
};

// rsa_pkcs1_* sign certificates only (RFC 8446, 4.2.3).
const uint16_t tlc_signature_schemes[] = {0x0403, 0x0503, 0x0603, 0x0807, 0x0808, 0x0904, 0x0905,
                                          0x0906, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601};
const size_t tlc_signature_scheme_count =
    sizeof(tlc_signature_schemes) / sizeof(tlc_signature_schemes[0]);

static const struct scheme *find_scheme(uint16_t code)
{
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
        if (schemes[i].code == code)
            return &schemes[i];
    return NULL;
}

bool tlc_signature_allowed(uint16_t scheme)
{
    return find_scheme(scheme) != NULL;
}

bool tlc_leaf_cache_take(struct tlc_leaf_cache *cache, const uint8_t *der, size_t count)
{
    if (cache->der.count == count && memcmp(cache->der.bytes, der, count) == 0)
        return true;
    EVP_PKEY_free(cache->key);
    cache->key = NULL;
    cache->der.count = 0;
    if (!tlc_buffer_append(&cache->der, der, count))
        return false;
    SHA256(der, count, cache->sha256);
    return true;
}

void tlc_leaf_cache_free(struct tlc_leaf_cache *cache)
{
    tlc_buffer_free(&cache->der);
    EVP_PKEY_free(cache->key);
    cache->key = NULL;
}

static bool read_key(struct tlc_leaf_cache *cache)
{
    const unsigned char *at = cache->der.bytes;
    if (cache->key != NULL)
        return true;
    X509 *certificate = d2i_X509(NULL, &at, (long)cache->der.count);
    if (certificate != NULL && at == cache->der.bytes + cache->der.count)
        cache->key = X509_get_pubkey(certificate);
    X509_free(certificate);
    return cache->key != NULL;
}

static bool verify(EVP_PKEY *key, const struct scheme *scheme, const uint8_t *content,
                   size_t content_bytes, const uint8_t *signature, size_t count)
{
    EVP_PKEY_CTX *options = NULL; // owned by `context`
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context != NULL &&
                EVP_DigestVerifyInit_ex(context, &options, scheme->hash, NULL, NULL, key, NULL) > 0;
    if (good && strcmp(scheme->key, "RSA") == 0) // RFC 8446, 4.2.3: the salt is as long as the hash
        good = EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) > 0 &&
               EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) > 0;
    good = good && EVP_DigestVerify(context, signature, count, content, content_bytes) == 1;
    EVP_MD_CTX_free(context);
    return good;
}

const char *tlc_signature_verify(struct tlc_leaf_cache *cache, uint16_t scheme,
                                 const uint8_t *digest, size_t digest_bytes,
                                 const uint8_t *signature, size_t count)
{
    static const char context[] = "TLS 1.3, server CertificateVerify"; // RFC 8446, 4.4.3
    const struct scheme *found = find_scheme(scheme);
    uint8_t content[64 + sizeof(context) + 64];
    if (found == NULL)
        return "CertificateVerify: a scheme that was not offered";
    if (!read_key(cache))
        return "Certificate: the leaf has no key that libcrypto can read";
    if (!EVP_PKEY_is_a(cache->key, found->key) ||
        (found->bits != 0 && EVP_PKEY_get_bits(cache->key) != found->bits))
        return "CertificateVerify: the scheme does not fit the leaf's key";
    memset(content, 0x20, 64);
    memcpy(content + 64, context, sizeof(context)); // with its zero byte
    memcpy(content + 64 + sizeof(context), digest, digest_bytes);
    if (!verify(cache->key, found, content, 64 + sizeof(context) + digest_bytes, signature, count))
        return "CertificateVerify: the signature does not verify";
    return NULL;
}
