// Bounds-checked reading of TLS presentation language (RFC 8446, 3).
#ifndef TLC_TLS13_READER_H
#define TLC_TLS13_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct tlc_reader {
    const uint8_t *at;
    size_t left;
};

static inline TLC_CHECKED bool tlc_read_bytes(struct tlc_reader *reader, size_t count,
                                              const uint8_t **bytes)
{
    if (reader->left < count)
        return false;
    *bytes = reader->at;
    reader->at += count;
    reader->left -= count;
    return true;
}

// A big-endian number of `width` bytes, at most four.
static inline TLC_CHECKED bool tlc_read_number(struct tlc_reader *reader, unsigned width,
                                               uint32_t *value)
{
    const uint8_t *bytes;
    if (!tlc_read_bytes(reader, width, &bytes))
        return false;
    *value = 0;
    for (unsigned i = 0; i < width; i++)
        *value = *value << 8 | bytes[i];
    return true;
}

static inline TLC_CHECKED bool tlc_read_u8(struct tlc_reader *reader, uint8_t *value)
{
    uint32_t number;
    if (!tlc_read_number(reader, 1, &number))
        return false;
    *value = (uint8_t)number;
    return true;
}

static inline TLC_CHECKED bool tlc_read_u16(struct tlc_reader *reader, uint16_t *value)
{
    uint32_t number;
    if (!tlc_read_number(reader, 2, &number))
        return false;
    *value = (uint16_t)number;
    return true;
}

// A vector behind a length of `width` bytes.
static inline TLC_CHECKED bool tlc_read_vector(struct tlc_reader *reader, unsigned width,
                                               struct tlc_reader *vector)
{
    uint32_t count;
    if (!tlc_read_number(reader, width, &count) || !tlc_read_bytes(reader, count, &vector->at))
        return false;
    vector->left = count;
    return true;
}

#endif
