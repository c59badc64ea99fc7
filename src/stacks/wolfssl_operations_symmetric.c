// The key schedule and records by wolfCrypt (docs/speed.md).
#include <string.h>

#include "stacks/wolfssl_operations.h"

#include <wolfssl/wolfcrypt/chacha20_poly1305.h>
#include <wolfssl/wolfcrypt/kdf.h>

static bool nothing(struct tlc_stack_operation *operation)
{
    return operation != NULL;
}

// ---- HKDF (RFC 8446, 7.1)

static bool expand(struct tlc_stack_operation *operation, byte *out, const byte *key,
                   const char *label, const byte *context)
{
    word32 hash = (word32)operation->plain.row->size;
    return tlc_plain_works(operation, "wc_Tls13_HKDF_Expand_Label",
                           wc_Tls13_HKDF_Expand_Label(out, hash, key, hash, (const byte *)"tls13 ",
                                                      6, (const byte *)label, (word32)strlen(label),
                                                      context, hash,
                                                      operation->plain.row->parameter));
}

static bool expand_once(struct tlc_stack_operation *operation)
{
    return expand(operation, operation->plain.output, tlc_plain_secret, tlc_plain_traffic,
                  tlc_plain_transcript);
}

static bool extract_once(struct tlc_stack_operation *operation)
{
    byte empty[TLC_PLAIN_SECRET], salt[TLC_PLAIN_SECRET], key[TLC_PLAIN_SECRET];
    word32 hash = (word32)operation->plain.row->size;
    memcpy(key, tlc_plain_secret, sizeof key);
    int code = operation->plain.row->parameter == WC_SHA256 ? wc_Sha256Hash(key, 0, empty)
                                                            : wc_Sha384Hash(key, 0, empty);
    return tlc_plain_works(operation, "digest", code) &&
           expand(operation, salt, tlc_plain_transcript, tlc_plain_derived, empty) &&
           tlc_plain_works(operation, "wc_Tls13_HKDF_Extract",
                           wc_Tls13_HKDF_Extract(operation->plain.output, salt, hash, key, hash,
                                                 operation->plain.row->parameter));
}

const struct tlc_plain_kind wolfssl_hkdf_extract = {nothing, extract_once, tlc_plain_check_extract,
                                                    NULL},
                            wolfssl_hkdf_expand_label = {nothing, expand_once,
                                                         tlc_plain_check_expand, NULL};

// ---- a record

static bool gcm_prepare(struct tlc_stack_operation *operation)
{
    int code = wc_AesInit(&operation->aes, NULL, INVALID_DEVID);
    code = code ? code
                : wc_AesGcmSetKey(&operation->aes, tlc_plain_key,
                                  (word32)operation->plain.row->parameter);
    tlc_plain_put_record(operation);
    return tlc_plain_works(operation, "wc_AesGcmSetKey", code);
}

static bool gcm_once(struct tlc_stack_operation *operation)
{
    struct tlc_plain_operation *plain = &operation->plain;
    return tlc_plain_works(operation, "wc_AesGcmEncrypt",
                           wc_AesGcmEncrypt(&operation->aes, plain->output, plain->input,
                                            plain->input_bytes, tlc_plain_nonce, TLC_PLAIN_NONCE,
                                            plain->output + plain->input_bytes, TLC_PLAIN_TAG,
                                            tlc_plain_header, TLC_PLAIN_HEADER));
}

static void gcm_free(struct tlc_stack_operation *operation)
{
    wc_AesFree(&operation->aes);
}

static bool chacha_prepare(struct tlc_stack_operation *operation)
{
    tlc_plain_put_record(operation);
    return true;
}

// The one call that there is takes the key each time.
static bool chacha_once(struct tlc_stack_operation *operation)
{
    struct tlc_plain_operation *plain = &operation->plain;
    return tlc_plain_works(
        operation, "wc_ChaCha20Poly1305_Encrypt",
        wc_ChaCha20Poly1305_Encrypt(tlc_plain_key, tlc_plain_nonce, tlc_plain_header,
                                    TLC_PLAIN_HEADER, plain->input, plain->input_bytes,
                                    plain->output, plain->output + plain->input_bytes));
}

const struct tlc_plain_kind wolfssl_seal_gcm = {gcm_prepare, gcm_once, tlc_plain_check_gcm,
                                                gcm_free},
                            wolfssl_seal_chacha = {chacha_prepare, chacha_once,
                                                   tlc_plain_check_chacha, NULL};
