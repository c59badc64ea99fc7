// Little-endian words, clamping, and the digits of scalars. Private to the room.
#ifndef TLC_PRIMITIVES_BYTES_H
#define TLC_PRIMITIVES_BYTES_H

#include <stdint.h>

static inline void load_words(uint64_t words[4], const uint8_t bytes[32])
{
    for (int i = 0; i < 4; i++) {
        words[i] = 0;
        for (int k = 0; k < 8; k++)
            words[i] |= (uint64_t)bytes[8 * i + k] << 8 * k;
    }
}

static inline void store_words(uint8_t bytes[32], const uint64_t words[4])
{
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(words[i / 8] >> 8 * (i % 8));
}

// decodeScalar25519 of RFC 7748, section 5.
static inline void load_scalar(uint64_t words[4], const uint8_t bytes[32])
{
    load_words(words, bytes);
    words[0] &= ~(uint64_t)7;
    words[3] = (words[3] & ~((uint64_t)1 << 63)) | (uint64_t)1 << 62;
}

// The compiler must not learn that a mask is all ones or zero, or it may branch on it.
static inline uint64_t opaque(uint64_t value)
{
    __asm__("" : "+r"(value));
    return value;
}

// A clamped scalar divided by eight, as `windows` signed digits of `bits` bits, lowest first: each
// in -2^(bits-1) .. 2^(bits-1). It has 252 bits, so that bits * windows >= 253 takes the last
// carry.
static inline void recode_scalar(int8_t *digits, unsigned stride, const uint8_t scalar[32],
                                 unsigned bits, unsigned windows)
{
    uint64_t w[5] = {0};
    load_scalar(w, scalar);
    for (int i = 0; i < 4; i++)
        w[i] = w[i] >> 3 | w[i + 1] << 61;
    uint32_t carry = 0;
    for (unsigned i = 0; i < windows; i++) {
        unsigned at = bits * i / 64, shift = bits * i % 64;
        uint64_t both = w[at] >> shift | (shift ? w[at + 1] << (64 - shift) : 0);
        uint32_t digit = ((uint32_t)both & ((1U << bits) - 1)) + carry;
        carry = (digit + (1U << (bits - 1))) >> bits;
        digits[i * stride] = (int8_t)((int32_t)digit - (int32_t)(carry << bits));
    }
}

#endif
