// A byte buffer that grows and keeps its memory for the next handshake.
#ifndef TLC_TLS13_BUFFER_H
#define TLC_TLS13_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct tlc_buffer {
    uint8_t *bytes;
    size_t count, capacity;
};

// Makes room for `more` bytes behind the present ones. False when memory runs out.
bool tlc_buffer_reserve(struct tlc_buffer *buffer, size_t more) TLC_CHECKED;
bool tlc_buffer_append(struct tlc_buffer *buffer, const uint8_t *bytes, size_t count) TLC_CHECKED;
// Removes `count` bytes from the front.
void tlc_buffer_consume(struct tlc_buffer *buffer, size_t count);
void tlc_buffer_free(struct tlc_buffer *buffer);

#endif
