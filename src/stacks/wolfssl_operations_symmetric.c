// The key schedule, the transcript and records by wolfCrypt (docs/speed.md).
#include <string.h>

#include "stacks/wolfssl_operations.h"

#include <wolfssl/wolfcrypt/chacha20_poly1305.h>
#include <wolfssl/wolfcrypt/kdf.h>

// ---- HKDF (RFC 8446, 7.1)

bool wolfssl_digest_nothing(struct tlc_stack_operation *operation, byte *out)
{
    const byte none = 0;
    return tlc_plain_works(operation, "digest",
                           operation->plain.row->parameter == WC_SHA256
                               ? wc_Sha256Hash(&none, 0, out)
                               : wc_Sha384Hash(&none, 0, out));
}

bool wolfssl_expand_label(struct tlc_stack_operation *operation, byte *out, const byte *key,
                          const char *label, const byte *context)
{
    word32 hash = (word32)operation->plain.row->size;
    return tlc_plain_works(operation, "wc_Tls13_HKDF_Expand_Label",
                           wc_Tls13_HKDF_Expand_Label(out, hash, key, hash, (const byte *)"tls13 ",
                                                      6, (const byte *)label, (word32)strlen(label),
                                                      context, hash,
                                                      operation->plain.row->parameter));
}

bool wolfssl_extract(struct tlc_stack_operation *operation, const byte *salt, const byte *key)
{
    byte copy[TLC_PLAIN_SECRET];
    word32 hash = (word32)operation->plain.row->size;
    memcpy(copy, key, hash); // the library does not promise to leave it
    return tlc_plain_works(operation, "wc_Tls13_HKDF_Extract",
                           wc_Tls13_HKDF_Extract(operation->plain.output, salt, hash, copy, hash,
                                                 operation->plain.row->parameter));
}

// ---- the transcript

static bool is_sha384(const struct tlc_stack_operation *operation)
{
    return operation->plain.row->parameter == WC_SHA384;
}

static bool hash_begin(struct tlc_stack_operation *operation)
{
    return tlc_plain_works(operation, "digest",
                           is_sha384(operation) ? wc_InitSha384(&operation->sha384)
                                                : wc_InitSha256(&operation->sha256));
}

static bool hash_add(struct tlc_stack_operation *operation, const byte *bytes, size_t count)
{
    return tlc_plain_works(operation, "digest",
                           is_sha384(operation)
                               ? wc_Sha384Update(&operation->sha384, bytes, (word32)count)
                               : wc_Sha256Update(&operation->sha256, bytes, (word32)count));
}

// The library finishes a copy.
static bool hash_so_far(struct tlc_stack_operation *operation, byte *out)
{
    return tlc_plain_works(operation, "digest",
                           is_sha384(operation) ? wc_Sha384GetHash(&operation->sha384, out)
                                                : wc_Sha256GetHash(&operation->sha256, out));
}

static void hash_end(struct tlc_stack_operation *operation)
{
    if (is_sha384(operation))
        wc_Sha384Free(&operation->sha384);
    else
        wc_Sha256Free(&operation->sha256);
}

const struct tlc_plain_hash wolfssl_hash = {hash_begin, hash_add, hash_so_far, hash_end};

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
                                                gcm_free, NULL},
                            wolfssl_seal_chacha = {chacha_prepare, chacha_once,
                                                   tlc_plain_check_chacha, NULL, NULL};
