// Private to the room.
// Raw operations by GnuTLS's public interface (docs/speed.md), shared by the files that define
// them.
#ifndef TLC_STACKS_GNUTLS_OPERATIONS_H
#define TLC_STACKS_GNUTLS_OPERATIONS_H

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>

#include "stacks/gnutls_plugin.h"
#include "stacks/plain_operations.h"

struct tlc_stack_operation {
    struct tlc_plain_operation plain; // `parameter` of a row: a curve, or the bits of an RSA key
    gnutls_privkey_t own, peer;
    gnutls_pubkey_t own_public, peer_public;
    gnutls_datum_t x, y; // of the peer's public key, as it is sent
    gnutls_datum_t signature;
    gnutls_aead_cipher_hd_t cipher;
    gnutls_hash_hd_t running;
    gnutls_x509_crt_t chain[TLC_PLAIN_CHAIN];
    gnutls_pubkey_t leaf_public;
    gnutls_x509_trust_list_t trusted;
    unsigned depth; // certificates in `chain`
};

// A new key pair, by two objects, in place of what is there; and its end.
bool gtls_make_key(struct tlc_stack_operation *operation, gnutls_pk_algorithm_t algorithm,
                   unsigned bits, gnutls_privkey_t *key, gnutls_pubkey_t *its_public);
void gtls_free_key(gnutls_privkey_t *key, gnutls_pubkey_t *its_public);
void gtls_operation_free(struct tlc_stack_operation *operation);

// gnutls_operations_certificates.c
extern const struct tlc_plain_certificates gtls_certificates;

#endif
