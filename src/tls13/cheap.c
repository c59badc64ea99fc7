#include "tls13/cheap.h"

#include <string.h>

#include <openssl/ec.h>
#include <openssl/obj_mac.h>

#include "tls13/random.h"
#include "tls13/suite.h"

#define POLYNOMIAL_TERMS 256 // FIPS 203: n
#define RHO_BYTES        32
#define FIELD_PRIME      3329 // FIPS 203: q

static bool write_generator(enum tlc_curve curve, uint8_t *share)
{
    static const int nids[TLC_CURVE_COUNT] = {[TLC_CURVE_P256] = NID_X9_62_prime256v1,
                                              [TLC_CURVE_P384] = NID_secp384r1,
                                              [TLC_CURVE_P521] = NID_secp521r1};
    size_t bytes = tlc_curve_sizes(curve)->share_bytes;
    if (curve == TLC_CURVE_X25519) { // RFC 7748, 4.1: u = 9
        memset(share, 0, bytes);
        share[0] = 9;
        return true;
    }
    EC_GROUP *group = EC_GROUP_new_by_curve_name(nids[curve]);
    bool done = group != NULL &&
                EC_POINT_point2oct(group, EC_GROUP_get0_generator(group),
                                   POINT_CONVERSION_UNCOMPRESSED, share, bytes, NULL) == bytes;
    EC_GROUP_free(group);
    return done;
}

bool tlc_cheap_make(const struct tlc_group *group, struct tlc_cheap *cheap)
{
    if (group->curve != TLC_CURVE_NONE &&
        !write_generator(group->curve, cheap->share + tlc_share_curve_offset(group)))
        return false;
    if (group->kem == TLC_KEM_NONE)
        return true;
    uint8_t *key = cheap->share + tlc_share_kem_offset(group);
    size_t bytes = tlc_kem_sizes(group->kem)->key_bytes;
    memset(key, 0, bytes - RHO_BYTES);
    cheap->hash = EVP_MD_CTX_new();
    return cheap->hash != NULL && tlc_random(key + bytes - RHO_BYTES, RHO_BYTES) &&
           EVP_Digest(key, bytes, cheap->key_hash, NULL, tlc_sha3_256(), NULL) &&
           EVP_DigestInit_ex2(cheap->hash, tlc_sha3_512(), NULL);
}

bool tlc_cheap_spoil(const struct tlc_group *group, enum tlc_share share, struct tlc_cheap *cheap)
{
    bool low_order = share == TLC_SHARE_LOW_ORDER;
    if (low_order ? group->curve != TLC_CURVE_X25519 : group->kem == TLC_KEM_NONE)
        return false;
    if (low_order) {
        memset(cheap->share + tlc_share_curve_offset(group), 0,
               tlc_curve_sizes(group->curve)->share_bytes);
        return true;
    }
    // The first coefficient, 12 bits in little-endian order (FIPS 203, algorithm 5), becomes q.
    uint8_t *key = cheap->share + tlc_share_kem_offset(group);
    key[0] = FIELD_PRIME & 0xff;
    key[1] = FIELD_PRIME >> 8;
    return true;
}

static bool all_zero(const uint8_t *bytes, size_t count)
{
    uint8_t any = 0;
    for (size_t i = 0; i < count; i++)
        any |= bytes[i];
    return any == 0;
}

static bool curve_secret(enum tlc_curve curve, const uint8_t *share, uint8_t *secret)
{
    size_t bytes = tlc_curve_sizes(curve)->secret_bytes;
    if (curve != TLC_CURVE_X25519 && *share++ != 4) // RFC 8446, 4.2.8.2: uncompressed points only
        return false;
    memcpy(secret, share, bytes);
    return !all_zero(secret, bytes); // RFC 8446, 7.4.2
}

// Compress_1(Decompress_d(y)) (FIPS 203, 4.7 and 4.8): Decompress_d(y) is y/2^d of q, rounded, and
// Compress_1 gives 1 between a quarter and three quarters of q. For d of 4 and 5 no value of y
// lies so near a border that rounding matters, except the quarters themselves:
// Decompress(2^(d-2)) = round(q/4) = 832 compresses to round(1664/3329) = 0, and
// Decompress(3 * 2^(d-2)) = round(3q/4) = 2497 compresses to round(4994/3329) mod 2 = 2 mod 2 = 0.
static uint8_t message_bit(unsigned value, unsigned bits)
{
    unsigned quarter = (1u << bits) / 4;
    return value > quarter && value < 3 * quarter;
}

// m' of algorithm 15 for s = 0; `v` is c2, ByteEncode_dv of 256 values.
static void decode_message(const uint8_t *v, unsigned bits, uint8_t message[32])
{
    unsigned held = 0, count = 0, mask = (1u << bits) - 1;
    memset(message, 0, 32);
    for (unsigned i = 0; i < POLYNOMIAL_TERMS; i++) {
        if (count < bits) {
            held |= (unsigned)*v++ << count;
            count += 8;
        }
        message[i / 8] |= (uint8_t)(message_bit(held & mask, bits) << (i % 8));
        held >>= bits;
        count -= bits;
    }
}

static bool kem_secret(const struct tlc_cheap *cheap, const struct tlc_kem_sizes *sizes,
                       const uint8_t *ciphertext, uint8_t *secret)
{
    uint8_t input[64], output[64];
    size_t v_bytes = POLYNOMIAL_TERMS * sizes->dv / 8;
    decode_message(ciphertext + sizes->ciphertext_bytes - v_bytes, sizes->dv, input);
    memcpy(input + 32, cheap->key_hash, 32);
    if (!EVP_DigestInit_ex2(cheap->hash, NULL, NULL) ||
        !EVP_DigestUpdate(cheap->hash, input, sizeof(input)) ||
        !EVP_DigestFinal_ex(cheap->hash, output, NULL))
        return false;
    memcpy(secret, output, TLC_KEM_SECRET_BYTES);
    return true;
}

bool tlc_cheap_secret(const struct tlc_cheap *cheap, const struct tlc_group *group,
                      const struct tlc_server_share *parts, uint8_t *secret)
{
    if (group->curve != TLC_CURVE_NONE &&
        !curve_secret(group->curve, parts->curve, secret + tlc_secret_curve_offset(group)))
        return false;
    if (group->kem != TLC_KEM_NONE && !kem_secret(cheap, tlc_kem_sizes(group->kem), parts->kem,
                                                  secret + tlc_secret_kem_offset(group)))
        return false;
    return true;
}

void tlc_cheap_free(struct tlc_cheap *cheap)
{
    EVP_MD_CTX_free(cheap->hash);
    cheap->hash = NULL;
}
