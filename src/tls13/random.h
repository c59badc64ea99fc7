// Random bytes drawn from libcrypto in batches of the thread, since a draw costs more than a copy.
#ifndef TLC_TLS13_RANDOM_H
#define TLC_TLS13_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

bool tlc_random(uint8_t *bytes, size_t count) TLC_CHECKED; // at most 1024 bytes

#endif
