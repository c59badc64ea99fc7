// Raw operations of the library, shared by the files that define them (docs/speed.md says what each
// does). They call the library as libssl does in a handshake unless their contract says otherwise.
// What OpenSSL and AWS-LC call differently is behind the functions at the end.
#ifndef TLC_STACKS_OPENSSL_OPERATIONS_H
#define TLC_STACKS_OPENSSL_OPERATIONS_H

#include <openssl/x509.h>

#include "stacks/openssl_plugin.h"

enum { OPENSSL_OPERATION_OUTPUT = 16384 };

struct openssl_bytes {
    unsigned char *data;
    size_t count;
};

struct tlc_stack_operation {
    const struct openssl_operation_row *row;
    const struct openssl_operation_kind *kind; // the row's, or the library's own
    struct tlc_stack_operation
        *half[2];                    // ML-KEM and the curve, where a hybrid is two keys; or NULL
    struct ossl_lib_ctx_st *library; // NULL: the process's default
    struct ossl_provider_st *loaded; // the one asked for; NULL: none
    char provider[64];               // that serves the operation; "" where there are none
    EVP_PKEY *key;                   // own key pair, or the signer's
    EVP_PKEY *peer;                  // the other side's, or the last key that was made
    EVP_PKEY_CTX *maker;             // context of key generation that is kept
    struct openssl_bytes input, expected;
    EVP_CIPHER_CTX *cipher;       // a record's keys in OpenSSL
    struct evp_aead_ctx_st *aead; // and in AWS-LC
    const EVP_MD *digest;
    X509 *leaf;
    STACK_OF(X509) * intermediates;
    X509_STORE *trust;
    const char *failed; // what a run or a check could not do
    size_t output_bytes;
    unsigned char output[OPENSSL_OPERATION_OUTPUT];
};

// What an operation needs of the library, for asking whether it is there.
enum openssl_operation_needs {
    NEEDS_KEY,
    NEEDS_EXCHANGE, // a key, and agreement with it
    NEEDS_CIPHER,
    NEEDS_DIGEST,
    NEEDS_KDF // a digest, and the key schedule over it
};

struct openssl_operation_row {
    const char *name;
    const struct openssl_operation_kind *kind;
    const char *algorithm; // as the library calls it
    const char *detail;    // group, digest or other parameter
    size_t size;
};

struct openssl_operation_kind {
    enum openssl_operation_needs needs;
    bool (*prepare)(struct tlc_stack_operation *operation);
    bool (*once)(struct tlc_stack_operation *operation);
    bool (*check)(struct tlc_stack_operation *operation); // NULL: all is compared inside
};

// openssl_operations_keys.c
extern const struct openssl_operation_kind openssl_keygen, openssl_key_share, openssl_derive,
    openssl_ecdh_round_trip;
// openssl_operations_kem.c
extern const struct openssl_operation_kind openssl_parse, openssl_encapsulate, openssl_accept,
    openssl_decapsulate, openssl_kem_round_trip;
// openssl_operations_signatures.c
extern const struct openssl_operation_kind openssl_sign, openssl_verify, openssl_certificate_parse,
    openssl_chain_verify;
// openssl_operations_symmetric.c
extern const struct openssl_operation_kind openssl_hkdf_extract, openssl_hkdf_expand_label,
    openssl_seal, openssl_transcript;

// Notes what failed and returns false, so that `return openssl_failed(...)` reads well.
bool openssl_failed(struct tlc_stack_operation *operation, const char *what);
// A new key pair by a new context.
EVP_PKEY *openssl_make_key(struct tlc_stack_operation *operation);
// The secret of `own` with `peer`, into `secret` of *count bytes.
bool openssl_agree(struct tlc_stack_operation *operation, EVP_PKEY *own, EVP_PKEY *peer,
                   unsigned char *secret, size_t *count);
bool openssl_encapsulate_to(struct tlc_stack_operation *operation, EVP_PKEY *key,
                            unsigned char *sealed, size_t *sealed_bytes, unsigned char *secret,
                            size_t *secret_bytes);
bool openssl_decapsulate_by(struct tlc_stack_operation *operation, EVP_PKEY *key,
                            const unsigned char *sealed, size_t sealed_bytes, unsigned char *secret,
                            size_t *secret_bytes);

// openssl_operations.c: frees also one that was not prepared to its end; NULL is none.
void openssl_operation_free(struct tlc_stack_operation *operation);

// openssl_operations_library.c, awslc_operations.c
// What does the operation in this library: the row's kind, or its own.
const struct openssl_operation_kind *
openssl_operation_kind_of(const struct openssl_operation_row *row);
// Whether the library has what the operation needs; where not, openssl_operation_lacks says so.
bool openssl_operation_is_there(const struct openssl_operation_row *row,
                                struct ossl_lib_ctx_st *library);
void openssl_operation_lacks(const struct openssl_operation_row *row,
                             struct tlc_stack_error *error);
// Writes down which provider serves the operation, once it is prepared.
void openssl_note_provider(struct tlc_stack_operation *operation);
// Frees what the library alone knows: its context, the provider, a digest, a record's keys.
void openssl_operation_release(struct tlc_stack_operation *operation);
// A context that makes key pairs of the operation's algorithm; NULL on failure.
EVP_PKEY_CTX *openssl_new_maker(const struct openssl_operation_row *row,
                                struct ossl_lib_ctx_st *library);
// A context for the use of a key: agreement, encapsulation and decapsulation.
EVP_PKEY_CTX *openssl_use_key(struct tlc_stack_operation *operation, EVP_PKEY *key);
bool openssl_start_encapsulation(EVP_PKEY_CTX *ctx);
bool openssl_start_decapsulation(EVP_PKEY_CTX *ctx);
// The public bytes of a key as they stand in a key share; freed with OPENSSL_free.
bool openssl_public_bytes(EVP_PKEY *key, struct openssl_bytes *bytes);
// The key of another's public bytes, as a server makes it of a key share; NULL on failure.
EVP_PKEY *openssl_import(struct tlc_stack_operation *operation, const struct openssl_bytes *bytes);
// Begins to sign, or to verify, with the operation's key and digest; of_key is for the padding.
bool openssl_start_signature(struct tlc_stack_operation *operation, EVP_MD_CTX *ctx,
                             EVP_PKEY_CTX **of_key, bool verify);
X509 *openssl_new_certificate(struct tlc_stack_operation *operation);
X509_STORE_CTX *openssl_new_verification(struct tlc_stack_operation *operation);
// The digest that the row names, until openssl_operation_release.
const EVP_MD *openssl_find_digest(struct tlc_stack_operation *operation);
// Into `output`, each `count` bytes (the digest's): HKDF-Extract(Derive-Secret(`before`, "derived",
// ""), `key`), and HKDF-Expand-Label(`secret`, `label`, `context`) (RFC 8446, 7.1).
bool openssl_extract(struct tlc_stack_operation *operation, unsigned char *before,
                     unsigned char *key, size_t count);
bool openssl_expand_label(struct tlc_stack_operation *operation, unsigned char *secret, char *label,
                          unsigned char *context, size_t count);

// A record of TLS 1.3: keys are kept, nonce and header come with each (RFC 8446, 5.2).
enum { OPENSSL_RECORD_NONCE = 12, OPENSSL_RECORD_HEADER = 5, OPENSSL_RECORD_TAG = 16 };
struct openssl_record {
    unsigned char key[32]; // as much of it as the cipher takes
    unsigned char nonce[OPENSSL_RECORD_NONCE], header[OPENSSL_RECORD_HEADER];
};
bool openssl_record_keys(struct tlc_stack_operation *operation,
                         const struct openssl_record *record);
// `input` into `output`, the tag behind it.
bool openssl_record_seal(struct tlc_stack_operation *operation,
                         const struct openssl_record *record);
// `output` into `opened`, of as many bytes as `input` has, by keys made anew.
bool openssl_record_open(struct tlc_stack_operation *operation, const struct openssl_record *record,
                         unsigned char *opened);

#endif
