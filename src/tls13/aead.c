#include "tls13/aead.h"

#include <string.h>

#define HEADER_BYTES 5

void tlc_aead_engine_free(struct tlc_aead_engine *engine)
{
    EVP_CIPHER_CTX_free(engine->context);
    *engine = (struct tlc_aead_engine){0};
}

bool tlc_aead_set_key(struct tlc_aead *aead, struct tlc_aead_engine *engine,
                      const struct tlc_suite *suite, bool sealing, const uint8_t *key,
                      const uint8_t *iv)
{
    if (engine->context == NULL && (engine->context = EVP_CIPHER_CTX_new()) == NULL)
        return false;
    aead->engine = engine;
    aead->suite = suite;
    aead->sealing = sealing;
    aead->loaded = false;
    memcpy(aead->key, key, suite->key_bytes);
    memcpy(aead->iv, iv, TLC_AEAD_IV_BYTES);
    aead->sequence = 0;
    return true;
}

// Gives the engine the nonce, and the key where it has another one.
static bool load(struct tlc_aead *aead, const uint8_t *nonce)
{
    struct tlc_aead_engine *engine = aead->engine;
    if (engine->holder == aead && aead->loaded)
        return EVP_CipherInit_ex2(engine->context, NULL, NULL, nonce, aead->sealing, NULL);
    // Naming the algorithm again would throw the provider's context away.
    const EVP_CIPHER *cipher = engine->suite == aead->suite ? NULL : tlc_suite_cipher(aead->suite);
    engine->suite = NULL;
    if (!EVP_CipherInit_ex2(engine->context, cipher, aead->key, nonce, aead->sealing, NULL))
        return false;
    engine->suite = aead->suite;
    engine->holder = aead;
    aead->loaded = true;
    return true;
}

// Sets the nonce of the next record (RFC 8446, 5.3) and the header as additional data.
static bool begin_record(struct tlc_aead *aead, const uint8_t header[HEADER_BYTES])
{
    uint8_t nonce[TLC_AEAD_IV_BYTES];
    int done;
    memcpy(nonce, aead->iv, sizeof(nonce));
    for (int i = 0; i < 8; i++)
        nonce[11 - i] ^= (uint8_t)(aead->sequence >> (8 * i));
    aead->sequence++;
    return load(aead, nonce) &&
           EVP_CipherUpdate(aead->engine->context, NULL, &done, header, HEADER_BYTES);
}

bool tlc_aead_seal(struct tlc_aead *aead, const uint8_t header[HEADER_BYTES], const uint8_t *input,
                   size_t count, uint8_t *output)
{
    EVP_CIPHER_CTX *context = aead->engine->context;
    int done, tail;
    return begin_record(aead, header) &&
           EVP_CipherUpdate(context, output, &done, input, (int)count) &&
           EVP_CipherFinal_ex(context, output + done, &tail) &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TLC_AEAD_TAG_BYTES, output + count);
}

bool tlc_aead_open(struct tlc_aead *aead, const uint8_t header[HEADER_BYTES], const uint8_t *input,
                   size_t count, uint8_t *output)
{
    uint8_t tag[TLC_AEAD_TAG_BYTES];
    EVP_CIPHER_CTX *context = aead->engine->context;
    int done, tail;
    if (count < TLC_AEAD_TAG_BYTES)
        return false;
    size_t text = count - TLC_AEAD_TAG_BYTES;
    memcpy(tag, input + text, sizeof(tag));
    return begin_record(aead, header) &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TLC_AEAD_TAG_BYTES, tag) &&
           EVP_CipherUpdate(context, output, &done, input, (int)text) &&
           EVP_CipherFinal_ex(context, output + done, &tail);
}
