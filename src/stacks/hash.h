// Private to the room.
// The SHA-256 of a plug-in's file.
#ifndef TLC_STACKS_HASH_H
#define TLC_STACKS_HASH_H

#include <stdbool.h>

#define TLC_STACK_HASH_BYTES 65 // 64 hexadecimal digits and the end

bool tlc_stack_hash(const char *path, char hex[TLC_STACK_HASH_BYTES]);

#endif
