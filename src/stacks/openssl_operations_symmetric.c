// The symmetric part of a handshake: key schedule, transcript hash, records.
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#include "stacks/openssl_operations.h"

static bool digest_prepare(struct tlc_stack_operation *operation)
{
    operation->digest = openssl_find_digest(operation);
    return operation->digest || openssl_failed(operation, "digest");
}

// For the checks, whatever serves the operation.
static const EVP_MD *plain_digest(const struct tlc_stack_operation *operation)
{
    return strcmp(operation->row->detail, "SHA384") ? EVP_sha256() : EVP_sha384();
}

static size_t hash_bytes(const struct tlc_stack_operation *operation)
{
    return strcmp(operation->row->detail, "SHA384") ? 32 : 48;
}

// ---- HKDF

static unsigned char secret[48] = "the secret that the schedule starts with......";
static unsigned char transcript[48] = "the hash of the transcript so far..............";
static char derived[] = "derived", traffic[] = "c hs traffic";

static bool extract_once(struct tlc_stack_operation *operation)
{
    operation->output_bytes = hash_bytes(operation);
    return openssl_extract(operation, transcript, secret, operation->output_bytes);
}

static bool expand_once(struct tlc_stack_operation *operation)
{
    operation->output_bytes = hash_bytes(operation);
    return openssl_expand_label(operation, secret, traffic, transcript, operation->output_bytes);
}

// HKDF-Expand-Label by HMAC alone (RFC 8446, 7.1; RFC 5869, 2.3): one block is enough.
static bool label_by_hmac(const struct tlc_stack_operation *operation, const unsigned char *key,
                          const char *label, const unsigned char *context, unsigned char *want)
{
    unsigned char info[128];
    size_t hash = hash_bytes(operation), letters = strlen(label), used = 0;
    unsigned wrote = 0;
    info[used++] = 0;
    info[used++] = (unsigned char)hash;
    info[used++] = (unsigned char)(6 + letters);
    memcpy(info + used, "tls13 ", 6);
    memcpy(info + used + 6, label, letters);
    used += 6 + letters;
    info[used++] = (unsigned char)hash;
    memcpy(info + used, context, hash);
    used += hash;
    info[used++] = 1;
    return HMAC(plain_digest(operation), key, (int)hash, info, used, want, &wrote) && wrote == hash;
}

static bool expand_check(struct tlc_stack_operation *operation)
{
    unsigned char want[EVP_MAX_MD_SIZE];
    bool good = label_by_hmac(operation, secret, traffic, transcript, want) &&
                !memcmp(want, operation->output, hash_bytes(operation));
    return good || openssl_failed(operation, "HKDF-Expand-Label gave another key");
}

// HKDF-Extract(Derive-Secret(salt, "derived", ""), key), as the key schedule chains its secrets.
static bool extract_check(struct tlc_stack_operation *operation)
{
    unsigned char empty[EVP_MAX_MD_SIZE], salt[EVP_MAX_MD_SIZE], want[EVP_MAX_MD_SIZE];
    const EVP_MD *digest = plain_digest(operation);
    size_t hash = hash_bytes(operation);
    unsigned wrote = 0;
    bool good = EVP_Digest("", 0, empty, &wrote, digest, NULL) == 1 &&
                label_by_hmac(operation, transcript, derived, empty, salt) &&
                HMAC(digest, salt, (int)hash, secret, hash, want, &wrote) &&
                !memcmp(want, operation->output, hash);
    return good || openssl_failed(operation, "HKDF-Extract gave another secret");
}

const struct openssl_operation_kind openssl_hkdf_extract = {NEEDS_KDF, digest_prepare, extract_once,
                                                            extract_check};
const struct openssl_operation_kind openssl_hkdf_expand_label = {NEEDS_KDF, digest_prepare,
                                                                 expand_once, expand_check};

// ---- a record

static const struct openssl_record record = {"the traffic key of the server.", {1}, {23, 3, 3}};

static bool seal_prepare(struct tlc_stack_operation *operation)
{
    operation->input =
        (struct openssl_bytes){OPENSSL_malloc(operation->row->size), operation->row->size};
    if (!operation->input.data || !openssl_record_keys(operation, &record))
        return openssl_failed(operation, operation->row->algorithm);
    memset(operation->input.data, 0x16, operation->input.count);
    return true;
}

static bool seal_once(struct tlc_stack_operation *operation)
{
    return openssl_record_seal(operation, &record) || openssl_failed(operation, "seal");
}

static bool seal_check(struct tlc_stack_operation *operation)
{
    unsigned char opened[OPENSSL_OPERATION_OUTPUT];
    bool good = openssl_record_open(operation, &record, opened) &&
                !memcmp(opened, operation->input.data, operation->input.count);
    return good || openssl_failed(operation, "the record does not open");
}

const struct openssl_operation_kind openssl_seal = {NEEDS_CIPHER, seal_prepare, seal_once,
                                                    seal_check};

// ---- the transcript: sizes of a full handshake's messages, hashes taken where TLS 1.3 takes them

static const struct {
    size_t bytes;
    bool hashed; // a hash of the transcript so far is needed after it (RFC 8446, 7.1 and 4.4)
} messages[] = {{1500, false}, {1200, true}, {10, false}, {800, true},
                {80, true},    {36, true},   {36, true}};

static bool transcript_prepare(struct tlc_stack_operation *operation)
{
    operation->input = (struct openssl_bytes){OPENSSL_zalloc(1500), 1500};
    return operation->input.data && digest_prepare(operation);
}

static bool transcript_once(struct tlc_stack_operation *operation)
{
    EVP_MD_CTX *running = EVP_MD_CTX_new(), *copy = EVP_MD_CTX_new();
    unsigned count = 0;
    bool good = running && copy && EVP_DigestInit_ex(running, operation->digest, NULL) == 1;
    for (size_t i = 0; good && i < sizeof messages / sizeof *messages; i++) {
        good = EVP_DigestUpdate(running, operation->input.data, messages[i].bytes) == 1;
        if (good && messages[i].hashed)
            good = EVP_MD_CTX_copy_ex(copy, running) == 1 &&
                   EVP_DigestFinal_ex(copy, operation->output, &count) == 1;
    }
    operation->output_bytes = count;
    EVP_MD_CTX_free(running);
    EVP_MD_CTX_free(copy);
    return good || openssl_failed(operation, "digest");
}

static bool transcript_check(struct tlc_stack_operation *operation)
{
    unsigned char all[4096] = {0}, want[EVP_MAX_MD_SIZE];
    size_t total = 0;
    unsigned count = 0;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        total += messages[i].bytes;
    bool good = total <= sizeof all &&
                EVP_Digest(all, total, want, &count, plain_digest(operation), NULL) == 1 &&
                count == operation->output_bytes && !memcmp(want, operation->output, count);
    return good || openssl_failed(operation, "the transcript's hash is wrong");
}

const struct openssl_operation_kind openssl_transcript = {NEEDS_DIGEST, transcript_prepare,
                                                          transcript_once, transcript_check};
