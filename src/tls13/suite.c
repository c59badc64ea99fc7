#include "tls13/suite.h"

#include <pthread.h>

#include "base/names.h"

static const struct tlc_suite suites[] = {
    {TLC_AES_128_GCM_SHA256, TLC_HASH_SHA256, 16, 0, "AES-128-GCM"},
    {TLC_AES_256_GCM_SHA384, TLC_HASH_SHA384, 32, 1, "AES-256-GCM"},
    {TLC_CHACHA20_POLY1305_SHA256, TLC_HASH_SHA256, 32, 2, "ChaCha20-Poly1305"},
};
#define SUITE_COUNT (sizeof(suites) / sizeof(suites[0]))

static pthread_once_t fetched = PTHREAD_ONCE_INIT;
static EVP_CIPHER *ciphers[SUITE_COUNT];
static EVP_MD *sha3_512, *sha3_256;
static const char *missing;

const struct tlc_suite *tlc_suite_find(uint16_t code)
{
    for (size_t i = 0; i < SUITE_COUNT; i++)
        if (suites[i].code == code)
            return &suites[i];
    return NULL;
}

static void fetch_all(void)
{
    for (size_t i = 0; i < SUITE_COUNT; i++) {
        ciphers[i] = EVP_CIPHER_fetch(NULL, suites[i].algorithm, NULL);
        if (ciphers[i] == NULL)
            missing = suites[i].algorithm;
    }
    sha3_512 = EVP_MD_fetch(NULL, "SHA3-512", NULL);
    sha3_256 = EVP_MD_fetch(NULL, "SHA3-256", NULL);
    if (sha3_512 == NULL || sha3_256 == NULL)
        missing = "SHA3";
}

enum tlc_status tlc_algorithms_fetch(struct tlc_error *error)
{
    pthread_once(&fetched, fetch_all);
    if (missing != NULL)
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "lean client: libcrypto: %s is not available; check its default provider",
                        missing);
    return TLC_OK;
}

const EVP_CIPHER *tlc_suite_cipher(const struct tlc_suite *suite)
{
    return ciphers[suite->index];
}

const EVP_MD *tlc_sha3_512(void)
{
    return sha3_512;
}

const EVP_MD *tlc_sha3_256(void)
{
    return sha3_256;
}
