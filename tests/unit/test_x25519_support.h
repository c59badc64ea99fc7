// What the tests of X25519 share: random bytes from a fixed seed, hexadecimal, and a loop over the
// back ends that this machine can run.
#ifndef TLC_TEST_X25519_SUPPORT_H
#define TLC_TEST_X25519_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "primitives/x25519.h"

enum { BYTES = TLC_X25519_BYTES, LANES = TLC_X25519_BATCH };

#if defined(__SANITIZE_ADDRESS__)
enum { SLOWER = 50 }; // instrumented code runs fewer repetitions
#else
enum { SLOWER = 1 };
#endif

static uint64_t random_state = 25519;

static inline uint64_t next_random(void) // splitmix64
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline void fill_random(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)next_random();
}

static inline void from_hex(uint8_t bytes[BYTES], const char *hex)
{
    assert_int_equal(strlen(hex), 2 * BYTES);
    for (int i = 0; i < BYTES; i++) {
        unsigned value;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &value), 1);
        bytes[i] = (uint8_t)value;
    }
}

static inline void check_bytes(const uint8_t *got, const uint8_t *want, const char *what, int line)
{
    char text[2][2 * BYTES + 1];
    if (memcmp(got, want, BYTES) == 0)
        return;
    for (int i = 0; i < BYTES; i++) {
        snprintf(text[0] + 2 * i, 3, "%02x", got[i]);
        snprintf(text[1] + 2 * i, 3, "%02x", want[i]);
    }
    fail_msg("line %d: %s: got %s, want %s", line, what, text[0], text[1]);
}
#define assert_bytes(got, want, what) check_bytes(got, want, what, __LINE__)

// The i-th back end that this processor can run, NULL after the last.
static inline const struct tlc_x25519_backend *runnable(size_t i)
{
    size_t count;
    const struct tlc_x25519_backend *const *all = tlc_x25519_backends(&count);
    for (size_t k = 0; k < count; k++)
        if (all[k]->supported() && i-- == 0)
            return all[k];
    return NULL;
}

// One value in every lane.
static inline void spread(uint8_t *lanes, unsigned count, const uint8_t one[BYTES])
{
    for (unsigned i = 0; i < count; i++)
        memcpy(lanes + BYTES * i, one, BYTES);
}

#endif
