// Private to the room.
// What plug-ins of libraries without providers share of their raw operations (docs/speed.md): the
// contract's functions over a table of rows, inputs, and known answers.
#ifndef TLC_STACKS_PLAIN_OPERATIONS_H
#define TLC_STACKS_PLAIN_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tlscost/stack.h"

enum {
    TLC_PLAIN_BYTES = 16384,
    TLC_PLAIN_SECRET = 64,
    TLC_PLAIN_POINT = 65, // of P-256, uncompressed (RFC 5480, 2.2)
    TLC_PLAIN_CHAIN = 4,  // a leaf, two intermediates, a root
    TLC_PLAIN_CERTIFICATE = 768
};

// Both sides of an agreement: the secret of the own key with the bytes that were sent, and that of
// the sender's key with the own one. For a round trip also a new key of the sender without bytes,
// and the secret of the own key with it.
struct tlc_plain_exchange {
    bool (*take)(struct tlc_stack_operation *operation, uint8_t *secret);
    bool (*give)(struct tlc_stack_operation *operation, uint8_t *secret);
    bool (*renew)(struct tlc_stack_operation *operation);
    bool (*meet)(struct tlc_stack_operation *operation, uint8_t *secret);
};

struct tlc_plain_kind {
    bool (*prepare)(struct tlc_stack_operation *operation);
    bool (*once)(struct tlc_stack_operation *operation);
    bool (*check)(struct tlc_stack_operation *operation); // NULL: all is compared inside
    void (*free)(struct tlc_stack_operation *operation);  // NULL: nothing; also what was never made
    const struct tlc_plain_exchange *exchange;            // of key shares and derivations
};

struct tlc_plain_row {
    const char *name;
    const struct tlc_plain_kind *kind;
    int parameter; // curve, type or algorithm in the library's numbers; bytes of a record's key
    size_t size;   // of the curve's field, of a digest, of a record
};

// A plug-in's struct tlc_stack_operation begins with it.
struct tlc_plain_operation {
    const struct tlc_plain_row *row;
    const char *failed; // what could not be done
    int code;           // the library's; 0: it did not say
    uint32_t input_bytes, output_bytes;
    uint8_t expected[TLC_PLAIN_SECRET];
    uint8_t input[TLC_PLAIN_BYTES], output[TLC_PLAIN_BYTES];
    // The leaf first, then its issuers up to the root, and the leaf's public key.
    struct tlc_plain_der {
        uint8_t bytes[TLC_PLAIN_CERTIFICATE];
        size_t count;
    } chain[TLC_PLAIN_CHAIN];
    uint8_t leaf_point[TLC_PLAIN_POINT];
};

// A running hash by the row's digest.
struct tlc_plain_hash {
    bool (*begin)(struct tlc_stack_operation *operation);
    bool (*add)(struct tlc_stack_operation *operation, const uint8_t *bytes, size_t count);
    bool (*so_far)(struct tlc_stack_operation *operation, uint8_t *out); // and goes on
    void (*end)(struct tlc_stack_operation *operation);                  // also after a failure
};

// Certificates of P-256 keys; two keys are kept, in the slots 0 and 1.
struct tlc_plain_certificates {
    bool (*make_key)(struct tlc_stack_operation *operation, size_t slot, uint8_t *point);
    // ECDSA with SHA-256, in DER; *count is the room on entry.
    bool (*sign)(struct tlc_stack_operation *operation, size_t slot, const uint8_t *content,
                 size_t bytes, uint8_t *signature, size_t *count);
    // The leaf of `chain` and its public key, in place of the one parsed before; that key's point.
    bool (*parse)(struct tlc_stack_operation *operation);
    bool (*point_of)(struct tlc_stack_operation *operation, uint8_t *point);
    // Parses `chain`, whose first `depth` certificates are verified below the next, which is
    // trusted.
    bool (*load)(struct tlc_stack_operation *operation, size_t depth);
    bool (*verify)(struct tlc_stack_operation *operation);
    void (*unload)(struct tlc_stack_operation *operation); // what `parse` and `load` made
    void (*free)(struct tlc_stack_operation *operation);   // the keys; NULL: `close` does
};

// Each plug-in defines one.
struct tlc_plain_library {
    const char *name; // "wolfSSL"
    const struct tlc_plain_row *rows;
    size_t row_count, bytes;                              // of its struct tlc_stack_operation
    bool (*open)(struct tlc_stack_operation *operation);  // a random generator; may be NULL
    void (*close)(struct tlc_stack_operation *operation); // NULL with `open`
    const char *(*words)(int code);                       // the library's own
    // By the row's digest, whose size is the row's: a digest of no bytes, HKDF-Expand-Label, and
    // HKDF-Extract into `output` (RFC 8446, 7.1).
    bool (*digest_nothing)(struct tlc_stack_operation *operation, uint8_t *out);
    bool (*expand_label)(struct tlc_stack_operation *operation, uint8_t *out, const uint8_t *key,
                         const char *label, const uint8_t *context);
    bool (*extract)(struct tlc_stack_operation *operation, const uint8_t *salt, const uint8_t *key);
    const struct tlc_plain_hash *hash;
    const struct tlc_plain_certificates *certificates;
    // Why an operation of OpenSSL's list is not in `rows`, and who has it; NULL: none is called so.
    const char *(*lacks)(const char *operation);
};
extern const struct tlc_plain_library tlc_plain_library;
extern const struct tlc_stack_operations tlc_plain_operations;

// Each returns whether all is well, and notes what was not. A code that is not 0 is a failure.
bool tlc_plain_works(struct tlc_stack_operation *operation, const char *what, int code);
bool tlc_plain_is_right(struct tlc_stack_operation *operation, const char *what, bool right);

// What a server signs (RFC 8446, 4.4.3), over a hash of so many bytes, into `input`.
void tlc_plain_put_content(struct tlc_stack_operation *operation, size_t hash);

// A key share's check: the last key pair agrees with the own one.
bool tlc_plain_check_share(struct tlc_stack_operation *operation);
// A derivation: the secret of what was sent, compared with `expected`.
bool tlc_plain_derive(struct tlc_stack_operation *operation);
// A round trip: a new key of the sender, and both secrets compared.
bool tlc_plain_round_trip(struct tlc_stack_operation *operation);

// The key schedule's two operations, by the library's calls and against known answers.
extern const struct tlc_plain_kind tlc_plain_hkdf_extract, tlc_plain_hkdf_expand_label;
// The messages of a full handshake, hashed where TLS 1.3 takes hashes.
extern const struct tlc_plain_kind tlc_plain_transcript;
// A leaf parsed, and a chain verified of as many certificates as the row's size says.
extern const struct tlc_plain_kind tlc_plain_certificate_parse, tlc_plain_chain_verify;
// Whether an operation's name begins so.
bool tlc_plain_begins(const char *name, const char *start);

// HkdfLabel of a key of `hash` bytes; returns its length, at most 128.
size_t tlc_plain_label(const char *label, const uint8_t *context, size_t hash, uint8_t *out);

// A record (RFC 8446, 5.2): `output` has the tag behind as many bytes as `input`.
enum { TLC_PLAIN_NONCE = 12, TLC_PLAIN_HEADER = 5, TLC_PLAIN_TAG = 16 };
extern const uint8_t tlc_plain_key[32], tlc_plain_nonce[TLC_PLAIN_NONCE],
    tlc_plain_header[TLC_PLAIN_HEADER];
void tlc_plain_put_record(struct tlc_stack_operation *operation);
// The tag against another implementation's, of AES-GCM by the row's key and of ChaCha20-Poly1305.
bool tlc_plain_check_gcm(struct tlc_stack_operation *operation);
bool tlc_plain_check_chacha(struct tlc_stack_operation *operation);

#endif
