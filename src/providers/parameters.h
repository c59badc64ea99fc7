// What a provider without libcrypto needs of OSSL_PARAM (OSSL_PARAM(3)). Private to the room.
#ifndef TLC_PROVIDERS_PARAMETERS_H
#define TLC_PROVIDERS_PARAMETERS_H

#include <openssl/core.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline OSSL_PARAM *parameter_find(OSSL_PARAM *list, const char *key)
{
    for (; list && list->key; list++)
        if (!strcmp(list->key, key))
            return list;
    return NULL;
}

static inline const OSSL_PARAM *parameter_find_const(const OSSL_PARAM *list, const char *key)
{
    return parameter_find((OSSL_PARAM *)(uintptr_t)list, key);
}

// The setters take what parameter_find gave: nothing is asked when that is NULL. Without `data`
// only the size is asked.

static inline bool parameter_set_bytes(OSSL_PARAM *to, unsigned type, const void *bytes,
                                       size_t count, size_t room)
{
    if (!to)
        return true;
    to->return_size = count;
    if (to->data_type != type)
        return false;
    if (!to->data)
        return true;
    if (to->data_size < room)
        return false;
    memcpy(to->data, bytes, room);
    return true;
}

static inline bool parameter_set_octets(OSSL_PARAM *to, const void *bytes, size_t count)
{
    return parameter_set_bytes(to, OSSL_PARAM_OCTET_STRING, bytes, count, count);
}

static inline bool parameter_set_text(OSSL_PARAM *to, const char *text)
{
    size_t length = strlen(text);
    return parameter_set_bytes(to, OSSL_PARAM_UTF8_STRING, text, length, length + 1);
}

// A pointer to text that lives as long as the module.
static inline bool parameter_set_pointer(OSSL_PARAM *to, const char *text)
{
    if (!to)
        return true;
    to->return_size = strlen(text);
    if (to->data_type != OSSL_PARAM_UTF8_PTR)
        return false;
    if (to->data)
        *(const char **)to->data = text;
    return true;
}

// Small numbers that are not negative, into an integer of 4 or 8 bytes.
static inline bool parameter_set_number(OSSL_PARAM *to, uint32_t value)
{
    if (!to)
        return true;
    uint64_t wide = value;
    size_t bytes = to->data_size == sizeof wide ? sizeof wide : sizeof value;
    to->return_size = bytes;
    if (to->data_type != OSSL_PARAM_INTEGER && to->data_type != OSSL_PARAM_UNSIGNED_INTEGER)
        return false;
    if (!to->data)
        return true;
    if (to->data_size != bytes)
        return false;
    memcpy(to->data, bytes == sizeof wide ? (const void *)&wide : (const void *)&value, bytes);
    return true;
}

#endif
