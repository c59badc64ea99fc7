#include "tls13/aead.h"

#include <string.h>

#define HEADER_BYTES 5

bool tlc_aead_set_key(struct tlc_aead *aead, const struct tlc_suite *suite, bool sealing,
                      const uint8_t *key, const uint8_t *iv)
{
    if (aead->context == NULL && (aead->context = EVP_CIPHER_CTX_new()) == NULL)
        return false;
    // Naming the algorithm again would throw the provider's context away.
    const EVP_CIPHER *cipher = aead->suite == suite ? NULL : tlc_suite_cipher(suite);
    aead->suite = NULL;
    if (!EVP_CipherInit_ex2(aead->context, cipher, key, NULL, sealing, NULL))
        return false;
    aead->suite = suite;
    aead->sealing = sealing;
    memcpy(aead->iv, iv, TLC_AEAD_IV_BYTES);
    aead->sequence = 0;
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
    return EVP_CipherInit_ex2(aead->context, NULL, NULL, nonce, aead->sealing, NULL) &&
           EVP_CipherUpdate(aead->context, NULL, &done, header, HEADER_BYTES);
}

bool tlc_aead_seal(struct tlc_aead *aead, const uint8_t header[HEADER_BYTES], const uint8_t *input,
                   size_t count, uint8_t *output)
{
    int done, tail;
    return begin_record(aead, header) &&
           EVP_CipherUpdate(aead->context, output, &done, input, (int)count) &&
           EVP_CipherFinal_ex(aead->context, output + done, &tail) &&
           EVP_CIPHER_CTX_ctrl(aead->context, EVP_CTRL_AEAD_GET_TAG, TLC_AEAD_TAG_BYTES,
                               output + count);
}

bool tlc_aead_open(struct tlc_aead *aead, const uint8_t header[HEADER_BYTES], const uint8_t *input,
                   size_t count, uint8_t *output)
{
    uint8_t tag[TLC_AEAD_TAG_BYTES];
    int done, tail;
    if (count < TLC_AEAD_TAG_BYTES)
        return false;
    size_t text = count - TLC_AEAD_TAG_BYTES;
    memcpy(tag, input + text, sizeof(tag));
    return begin_record(aead, header) &&
           EVP_CIPHER_CTX_ctrl(aead->context, EVP_CTRL_AEAD_SET_TAG, TLC_AEAD_TAG_BYTES, tag) &&
           EVP_CipherUpdate(aead->context, output, &done, input, (int)text) &&
           EVP_CipherFinal_ex(aead->context, output + done, &tail);
}

void tlc_aead_free(struct tlc_aead *aead)
{
    EVP_CIPHER_CTX_free(aead->context);
    aead->context = NULL;
    aead->suite = NULL;
}
