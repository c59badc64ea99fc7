#include "tls13/hash.h"

#include <assert.h>
#include <string.h>

#define MAX_BLOCK_BYTES 128

size_t tlc_hash_bytes(enum tlc_hash_kind kind)
{
    return kind == TLC_HASH_SHA256 ? 32 : 48;
}

static size_t block_bytes(enum tlc_hash_kind kind)
{
    return kind == TLC_HASH_SHA256 ? 64 : 128;
}

void tlc_hash_init(struct tlc_hash *hash, enum tlc_hash_kind kind)
{
    hash->kind = kind;
    if (kind == TLC_HASH_SHA256)
        SHA256_Init(&hash->state.sha256);
    else
        SHA384_Init(&hash->state.sha384);
}

void tlc_hash_update(struct tlc_hash *hash, const uint8_t *bytes, size_t count)
{
    if (hash->kind == TLC_HASH_SHA256)
        SHA256_Update(&hash->state.sha256, bytes, count);
    else
        SHA384_Update(&hash->state.sha384, bytes, count);
}

// The digest; the state is used up.
static void finish(struct tlc_hash *hash, uint8_t *digest)
{
    if (hash->kind == TLC_HASH_SHA256)
        SHA256_Final(digest, &hash->state.sha256);
    else
        SHA384_Final(digest, &hash->state.sha384);
}

// An assignment would carry the larger state of SHA-384 along every time.
static void copy(struct tlc_hash *to, const struct tlc_hash *from)
{
    to->kind = from->kind;
    if (from->kind == TLC_HASH_SHA256)
        to->state.sha256 = from->state.sha256;
    else
        to->state.sha384 = from->state.sha384;
}

void tlc_hash_snapshot(const struct tlc_hash *hash, uint8_t *digest)
{
    struct tlc_hash end;
    copy(&end, hash);
    finish(&end, digest);
}

static void absorb_pad(struct tlc_hash *hash, enum tlc_hash_kind kind, const uint8_t *key,
                       uint8_t pad)
{
    uint8_t block[MAX_BLOCK_BYTES];
    size_t count = block_bytes(kind);
    for (size_t i = 0; i < count; i++)
        block[i] = key[i] ^ pad;
    tlc_hash_init(hash, kind);
    tlc_hash_update(hash, block, count);
}

void tlc_hmac_key_init(struct tlc_hmac_key *key, enum tlc_hash_kind kind, const uint8_t *secret,
                       size_t count)
{
    uint8_t block[MAX_BLOCK_BYTES] = {0};
    if (count > block_bytes(kind)) { // RFC 2104, 2: longer keys are hashed first
        struct tlc_hash hash;
        tlc_hash_init(&hash, kind);
        tlc_hash_update(&hash, secret, count);
        finish(&hash, block);
    } else if (count > 0) {
        memcpy(block, secret, count);
    }
    absorb_pad(&key->inner, kind, block, 0x36);
    absorb_pad(&key->outer, kind, block, 0x5c);
}

void tlc_hmac(const struct tlc_hmac_key *key, const uint8_t *bytes, size_t count, uint8_t *mac)
{
    uint8_t digest[TLC_HASH_MAX_BYTES];
    struct tlc_hash hash;
    copy(&hash, &key->inner);
    tlc_hash_update(&hash, bytes, count);
    finish(&hash, digest);
    copy(&hash, &key->outer);
    tlc_hash_update(&hash, digest, tlc_hash_bytes(hash.kind));
    finish(&hash, mac);
}

void tlc_expand_label(const struct tlc_hmac_key *secret, const char *label, const uint8_t *context,
                      size_t context_bytes, uint8_t *output, size_t output_bytes)
{
    static const char prefix[6] = {'t', 'l', 's', '1', '3', ' '};
    uint8_t info[2 + 1 + 255 + 1 + 255 + 1], block[TLC_HASH_MAX_BYTES];
    size_t label_bytes = strlen(label), at = 0;
    assert(label_bytes <= 249 && context_bytes <= 255);
    assert(output_bytes <= tlc_hash_bytes(secret->inner.kind));
    info[at++] = 0;
    info[at++] = (uint8_t)output_bytes;
    info[at++] = (uint8_t)(sizeof(prefix) + label_bytes);
    memcpy(info + at, prefix, sizeof(prefix));
    at += sizeof(prefix);
    memcpy(info + at, label, label_bytes);
    at += label_bytes;
    info[at++] = (uint8_t)context_bytes;
    if (context_bytes > 0)
        memcpy(info + at, context, context_bytes);
    at += context_bytes;
    info[at++] = 1; // RFC 5869, 2.3: T(1) = HMAC(PRK, info | 0x01)
    tlc_hmac(secret, info, at, block);
    memcpy(output, block, output_bytes);
}
