// The test CA and its leaves, made with libcrypto and kept in a folder:
//   ca.pem, ca.key                    RSA-2048 CA (self-signed)
//   intermediate-1.pem ...            optional intermediate CAs
//   NAME.pem, NAME.key                leaf chain (leaf first, intermediates behind it) and PKCS#8
//   key client-NAME.pem, client-NAME.key  optional client certificates
// Leaves have equal validity and equal extensions, so that only the key and signature differ.
#ifndef TLC_CERTS_CERTS_H
#define TLC_CERTS_CERTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct tlc_certs_options {
    const char *directory;    // made when missing (0700)
    const char *const *names; // key types to make, NULL-terminated; NULL: all that libcrypto has
    const char *const
        *extra_hosts;       // more SAN entries (names or addresses), NULL-terminated; NULL: none
    unsigned intermediates; // 0 to 6 CAs between the root and the leaves, sent on the wire
    unsigned days;          // validity; 0: 30
    const char *client;     // key type of a client certificate; NULL: none
    bool force;             // remake even what is still good
};

// Makes what is missing, near expiry (a third of its validity left) or made with other options.
// *made (may be NULL) gets the number of certificates written.
enum tlc_status tlc_certs_make(const struct tlc_certs_options *options, size_t *made,
                               struct tlc_error *error) TLC_CHECKED;
// Key type names known to this build: "ecdsa-p256", ..., "mldsa-87"; NULL past the end.
const char *tlc_certs_name_at(size_t index);
bool tlc_certs_name_known(const char *name);

// A certificate with its key as PEM text, read from the folder. Free with tlc_certs_pair_free.
struct tlc_certs_pair {
    char *chain_pem, *key_pem, *ca_pem;
};
enum tlc_status tlc_certs_read(const char *directory, const char *name, struct tlc_certs_pair *pair,
                               struct tlc_error *error) TLC_CHECKED;
void tlc_certs_pair_free(struct tlc_certs_pair *pair);

// The same made in memory only (for self-tests): one CA and one leaf of the type.
enum tlc_status tlc_certs_in_memory(const char *name, struct tlc_certs_pair *pair,
                                    struct tlc_error *error) TLC_CHECKED;

// Facts of one DER certificate: subject CN, key type name ("ecdsa-p256", ...), key size in bits,
// its signature algorithm, SHA-256 of the DER, not-after as ISO 8601.
struct tlc_certs_facts {
    char subject[128], issuer[128], key_type[32], signature_algorithm[64], not_after[32];
    int key_bits;
    unsigned char sha256[32];
};
enum tlc_status tlc_certs_facts(const unsigned char *der, size_t count,
                                struct tlc_certs_facts *facts, struct tlc_error *error) TLC_CHECKED;

#endif
