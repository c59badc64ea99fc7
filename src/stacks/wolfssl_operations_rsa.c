// RSA of CertificateVerify by wolfCrypt: PSS with SHA-256 and a salt of its size. Recipes build the
// library without WOLFSSL_KEY_GEN, so the key, which lives as long as the operation, is made here
// by the library's public numbers.
#include "stacks/wolfssl_operations.h"

#include <wolfssl/openssl/bn.h>

#ifdef WC_RSA_PSS
enum { PUBLIC_EXPONENT = 65537, SMALL = 2000, MOST_BYTES = 512 };

// The numbers of a private key (RFC 8017, 3.2), in the order in which wolfCrypt takes them.
enum number { N, E, D, Q_INVERSE, P, Q, D_P, D_Q, NUMBERS };

struct maker {
    WOLFSSL_BN_CTX *ctx;
    WOLFSSL_BIGNUM *numbers[NUMBERS], *one, *two, *less, *other_less, *product;
};

// Divides a big-endian number by all small odd numbers, those that are no primes too.
static bool has_small_divisor(const byte *bytes, size_t count)
{
    for (unsigned divisor = 3; divisor < SMALL; divisor += 2) {
        unsigned rest = 0;
        for (size_t i = 0; i < count; i++)
            rest = (rest << 8 | bytes[i]) % divisor;
        if (!rest)
            return true;
    }
    return false;
}

// By Fermat's test with base 2: hardly any random number of this size passes it and is no prime,
// and with such a one the signatures would not verify.
static bool is_likely_prime(struct maker *maker, WOLFSSL_BIGNUM *number)
{
    byte bytes[MOST_BYTES];
    int count = wolfSSL_BN_num_bytes(number);
    if (count <= 0 || count > MOST_BYTES || wolfSSL_BN_bn2bin(number, bytes) != count ||
        has_small_divisor(bytes, (size_t)count))
        return false;
    return wolfSSL_BN_sub(maker->less, number, maker->one) == WOLFSSL_SUCCESS &&
           wolfSSL_BN_mod_exp(maker->product, maker->two, maker->less, number, maker->ctx) ==
               WOLFSSL_SUCCESS &&
           wolfSSL_BN_cmp(maker->product, maker->one) == 0;
}

static bool make_prime(struct maker *maker, WOLFSSL_BIGNUM *prime, int bits)
{
    enum { TOP_TWO = 1, ODD = 1 };
    for (unsigned tries = 0; tries < 100000; tries++) {
        if (wolfSSL_BN_rand(prime, bits, TOP_TWO, ODD) != WOLFSSL_SUCCESS)
            return false;
        if (is_likely_prime(maker, prime))
            return true;
    }
    return false;
}

// n, d, and what the Chinese remainder theorem needs, of p, q and e.
static bool derive_numbers(struct maker *maker)
{
    WOLFSSL_BIGNUM **number = maker->numbers;
    return wolfSSL_BN_mul(number[N], number[P], number[Q], maker->ctx) == WOLFSSL_SUCCESS &&
           wolfSSL_BN_sub(maker->less, number[P], maker->one) == WOLFSSL_SUCCESS &&
           wolfSSL_BN_sub(maker->other_less, number[Q], maker->one) == WOLFSSL_SUCCESS &&
           wolfSSL_BN_mul(maker->product, maker->less, maker->other_less, maker->ctx) ==
               WOLFSSL_SUCCESS &&
           wolfSSL_BN_mod_inverse(number[D], number[E], maker->product, maker->ctx) &&
           wolfSSL_BN_mod(number[D_P], number[D], maker->less, maker->ctx) == WOLFSSL_SUCCESS &&
           wolfSSL_BN_mod(number[D_Q], number[D], maker->other_less, maker->ctx) ==
               WOLFSSL_SUCCESS &&
           wolfSSL_BN_mod_inverse(number[Q_INVERSE], number[Q], number[P], maker->ctx);
}

static bool make_numbers(struct maker *maker, int bits)
{
    WOLFSSL_BIGNUM **number = maker->numbers;
    bool good = wolfSSL_BN_set_word(maker->one, 1) == WOLFSSL_SUCCESS &&
                wolfSSL_BN_set_word(maker->two, 2) == WOLFSSL_SUCCESS &&
                wolfSSL_BN_set_word(number[E], PUBLIC_EXPONENT) == WOLFSSL_SUCCESS &&
                make_prime(maker, number[P], bits / 2);
    do
        good = good && make_prime(maker, number[Q], bits / 2);
    while (good && wolfSSL_BN_cmp(number[P], number[Q]) == 0);
    return good && derive_numbers(maker);
}

static int take_numbers(struct maker *maker, RsaKey *key)
{
    byte bytes[NUMBERS][MOST_BYTES];
    word32 counts[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) {
        int count = wolfSSL_BN_num_bytes(maker->numbers[i]);
        if (count <= 0 || count > MOST_BYTES ||
            wolfSSL_BN_bn2bin(maker->numbers[i], bytes[i]) != count)
            return BUFFER_E;
        counts[i] = (word32)count;
    }
    return wc_RsaPrivateKeyDecodeRaw(bytes[N], counts[N], bytes[E], counts[E], bytes[D], counts[D],
                                     bytes[Q_INVERSE], counts[Q_INVERSE], bytes[P], counts[P],
                                     bytes[Q], counts[Q], bytes[D_P], counts[D_P], bytes[D_Q],
                                     counts[D_Q], key);
}

static bool make_key(struct tlc_stack_operation *operation)
{
    struct maker maker = {.ctx = wolfSSL_BN_CTX_new()};
    WOLFSSL_BIGNUM **others[] = {&maker.one, &maker.two, &maker.less, &maker.other_less,
                                 &maker.product};
    enum { OTHERS = sizeof others / sizeof *others };
    bool good = maker.ctx != NULL;
    for (int i = 0; i < NUMBERS; i++)
        good = (maker.numbers[i] = wolfSSL_BN_new()) && good;
    for (int i = 0; i < OTHERS; i++)
        good = (*others[i] = wolfSSL_BN_new()) && good;
    good = tlc_plain_is_right(operation, "RSA: no key could be made",
                              good && make_numbers(&maker, operation->plain.row->parameter)) &&
           tlc_plain_works(operation, "wc_RsaPrivateKeyDecodeRaw",
                           take_numbers(&maker, &operation->rsa));
    for (int i = 0; i < NUMBERS; i++)
        wolfSSL_BN_clear_free(maker.numbers[i]);
    for (int i = 0; i < OTHERS; i++)
        wolfSSL_BN_clear_free(*others[i]);
    wolfSSL_BN_CTX_free(maker.ctx);
    return good;
}

// ---- signatures

static bool hash_content(struct tlc_stack_operation *operation, byte *hash)
{
    return tlc_plain_works(
        operation, "digest",
        wc_Sha256Hash(operation->plain.input, operation->plain.input_bytes, hash));
}

// wolfCrypt returns how many bytes it wrote, or an error below 0.
static bool gave(struct tlc_stack_operation *operation, const char *what, int result)
{
    return tlc_plain_works(operation, what, result < 0 ? result : 0);
}

static bool sign_once(struct tlc_stack_operation *operation)
{
    struct tlc_plain_operation *plain = &operation->plain;
    byte hash[WC_SHA256_DIGEST_SIZE];
    if (!hash_content(operation, hash))
        return false;
    int result =
        wc_RsaPSS_Sign(hash, sizeof hash, plain->output, TLC_PLAIN_BYTES, WC_HASH_TYPE_SHA256,
                       WC_MGF1SHA256, &operation->rsa, &operation->rng);
    plain->output_bytes = result > 0 ? (word32)result : 0;
    return gave(operation, "wc_RsaPSS_Sign", result);
}

static bool verify_once(struct tlc_stack_operation *operation)
{
    const struct tlc_plain_operation *plain = &operation->plain;
    byte hash[WC_SHA256_DIGEST_SIZE], opened[MOST_BYTES];
    return hash_content(operation, hash) &&
           gave(operation, "the signature does not verify",
                wc_RsaPSS_VerifyCheck(plain->output, plain->output_bytes, opened, sizeof opened,
                                      hash, sizeof hash, WC_HASH_TYPE_SHA256, WC_MGF1SHA256,
                                      &operation->rsa));
}

static bool prepare(struct tlc_stack_operation *operation)
{
    tlc_plain_put_content(operation, WC_SHA256_DIGEST_SIZE);
    int code = wc_InitRsaKey(&operation->rsa, NULL);
#ifdef WC_RSA_BLINDING
    code = code ? code : wc_RsaSetRNG(&operation->rsa, &operation->rng);
#endif
    return tlc_plain_works(operation, "wc_InitRsaKey", code) && make_key(operation) &&
           sign_once(operation);
}

static void free_key(struct tlc_stack_operation *operation)
{
    wc_FreeRsaKey(&operation->rsa);
}

const struct tlc_plain_kind wolfssl_rsa_sign = {prepare, sign_once, verify_once, free_key, NULL},
                            wolfssl_rsa_verify = {prepare, verify_once, NULL, free_key, NULL};
#endif
