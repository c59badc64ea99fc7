#include "tls13/buffer.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 2048

bool tlc_buffer_reserve(struct tlc_buffer *buffer, size_t more)
{
    size_t need = buffer->count + more, capacity = buffer->capacity;
    if (need <= capacity)
        return true;
    if (capacity == 0)
        capacity = FIRST_CAPACITY;
    while (capacity < need)
        capacity *= 2;
    uint8_t *bytes = realloc(buffer->bytes, capacity);
    if (bytes == NULL)
        return false;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

bool tlc_buffer_append(struct tlc_buffer *buffer, const uint8_t *bytes, size_t count)
{
    if (count == 0)
        return true;
    if (!tlc_buffer_reserve(buffer, count))
        return false;
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
    return true;
}

void tlc_buffer_consume(struct tlc_buffer *buffer, size_t count)
{
    buffer->count -= count;
    if (buffer->count > 0 && count > 0)
        memmove(buffer->bytes, buffer->bytes + count, buffer->count);
}

void tlc_buffer_free(struct tlc_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct tlc_buffer){0};
}
