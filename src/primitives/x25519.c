#include "primitives/x25519.h"

#include <stdatomic.h>
#include <string.h>

#include "primitives/backends.h"

static const struct tlc_x25519_backend *const backends[] = {
    &tlc_x25519_limbs51, &tlc_x25519_limbs64,
#ifdef TLC_X25519_X86
    &tlc_x25519_adx,     &tlc_x25519_ifma,    &tlc_x25519_ifma8,
#endif
};

enum { BACKENDS = sizeof backends / sizeof *backends };

const struct tlc_x25519_backend *const *tlc_x25519_backends(size_t *count)
{
    *count = BACKENDS;
    return backends;
}

const struct tlc_x25519_backend *tlc_x25519_find(const char *name, struct tlc_error *error)
{
    for (size_t i = 0; i < BACKENDS; i++) {
        if (strcmp(backends[i]->name, name) != 0)
            continue;
        if (backends[i]->supported())
            return backends[i];
        (void)tlc_fail(error, TLC_ENVIRONMENT,
                       "x25519: %s: this processor cannot run it (%s); use \"%s\"", name,
                       backends[i]->summary, tlc_x25519_best(1)->name);
        return NULL;
    }
    (void)tlc_fail(error, TLC_USAGE,
                   "x25519: %s: no such back end; there are limbs51, limbs64, and on x86-64 adx, "
                   "ifma, ifma8",
                   name);
    return NULL;
}

const struct tlc_x25519_backend *tlc_x25519_best(unsigned lanes)
{
    for (size_t i = BACKENDS; i-- > 0;)
        if (backends[i]->field->lanes == lanes && backends[i]->supported())
            return backends[i];
    return NULL;
}

// Looked up once; every thread finds the same answer, so the order of stores does not matter.
static const struct tlc_x25519_backend *single(void)
{
    static _Atomic(const struct tlc_x25519_backend *) found;
    const struct tlc_x25519_backend *best = atomic_load_explicit(&found, memory_order_relaxed);
    if (!best)
        atomic_store_explicit(&found, best = tlc_x25519_best(1), memory_order_relaxed);
    return best;
}

static bool is_zero(const uint8_t bytes[TLC_X25519_BYTES])
{
    uint8_t any = 0;
    for (int i = 0; i < TLC_X25519_BYTES; i++)
        any |= bytes[i];
    return any == 0;
}

bool tlc_x25519(uint8_t shared[TLC_X25519_BYTES], const uint8_t scalar[TLC_X25519_BYTES],
                const uint8_t u[TLC_X25519_BYTES])
{
    single()->derive(shared, scalar, u);
    return !is_zero(shared);
}

void tlc_x25519_public(uint8_t public_key[TLC_X25519_BYTES], const uint8_t scalar[TLC_X25519_BYTES])
{
    single()->public_key(public_key, scalar);
}

unsigned tlc_x25519_batch(uint8_t shared[][TLC_X25519_BYTES],
                          const uint8_t scalar[][TLC_X25519_BYTES],
                          const uint8_t u[][TLC_X25519_BYTES])
{
    const struct tlc_x25519_backend *wide = tlc_x25519_best(TLC_X25519_BATCH);
    unsigned zero = 0;
    if (wide)
        wide->derive(shared[0], scalar[0], u[0]);
    for (unsigned i = 0; i < TLC_X25519_BATCH; i++) {
        if (!wide)
            single()->derive(shared[i], scalar[i], u[i]);
        zero |= (unsigned)is_zero(shared[i]) << i;
    }
    return zero;
}

void tlc_x25519_public_batch(uint8_t public_key[][TLC_X25519_BYTES],
                             const uint8_t scalar[][TLC_X25519_BYTES])
{
    const struct tlc_x25519_backend *wide = tlc_x25519_best(TLC_X25519_BATCH);
    if (wide)
        wide->public_key(public_key[0], scalar[0]);
    for (unsigned i = 0; !wide && i < TLC_X25519_BATCH; i++)
        single()->public_key(public_key[i], scalar[i]);
}
