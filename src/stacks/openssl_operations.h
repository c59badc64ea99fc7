// Raw operations of the library, shared by the files that define them (docs/speed.md says what each
// does). They call the library as libssl does in a handshake unless their contract says otherwise.
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
    OSSL_LIB_CTX *library; // NULL: the process's default
    OSSL_PROVIDER *loaded; // the one asked for; NULL: none
    char provider[64];     // that serves the operation
    EVP_PKEY *key;         // own key pair, or the signer's
    EVP_PKEY *peer;        // the other side's, or the last key that was made
    EVP_PKEY_CTX *maker;   // context of key generation that is kept
    struct openssl_bytes input, expected;
    EVP_CIPHER_CTX *cipher;
    EVP_MD *digest;
    X509 *leaf;
    STACK_OF(X509) * intermediates;
    X509_STORE *trust;
    const char *failed; // what a run or a check could not do
    size_t output_bytes;
    unsigned char output[OPENSSL_OPERATION_OUTPUT];
};

// What an operation needs of the library, for asking whether it is there.
enum openssl_operation_needs { NEEDS_KEY, NEEDS_CIPHER, NEEDS_DIGEST };

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
// Copies the name of a provider into the operation.
void openssl_served_by(struct tlc_stack_operation *operation, const OSSL_PROVIDER *provider);
// The public bytes of a key as they stand in a key share; freed with OPENSSL_free.
bool openssl_public_bytes(EVP_PKEY *key, struct openssl_bytes *bytes);
// The key of another's public bytes, as a server makes it of a key share; NULL on failure.
EVP_PKEY *openssl_import(struct tlc_stack_operation *operation, const struct openssl_bytes *bytes);
// The secret of `own` with `peer`, into `secret` of *count bytes.
bool openssl_agree(struct tlc_stack_operation *operation, EVP_PKEY *own, EVP_PKEY *peer,
                   unsigned char *secret, size_t *count);
bool openssl_encapsulate_to(struct tlc_stack_operation *operation, EVP_PKEY *key,
                            unsigned char *sealed, size_t *sealed_bytes, unsigned char *secret,
                            size_t *secret_bytes);
bool openssl_decapsulate_by(struct tlc_stack_operation *operation, EVP_PKEY *key,
                            const unsigned char *sealed, size_t sealed_bytes, unsigned char *secret,
                            size_t *secret_bytes);

#endif
