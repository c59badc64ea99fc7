// The test CA and its leaves, made with libcrypto and kept in a folder:
//   ca.pem, ca.key                    RSA-2048 CA (self-signed)
//   intermediate-1.pem ...            optional intermediate CAs
//   NAME.pem, NAME.key                leaf chain (leaf first, intermediates behind it), PKCS#8 key
//   client-NAME.pem, client-NAME.key  optional client certificates
//   numbered-NAME.pem                 optional: many leaves with NAME's key, each for a server name
//                                     of its own
//   manifest.json                     the options and validity that all of them share
// Leaves have equal validity and equal extensions, so that only the key and its name differ. The
// subject of a leaf is CN=tlscost NAME, of a client certificate CN=tlscost client NAME. Every CA
// signs with RSA-2048 and SHA-256 unless another authority is asked for.
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
    const char *authority;  // key type of every CA; NULL: rsa-2048
    const char *client;     // key type of a client certificate; NULL: none
    // So many numbered leaves of a key type of `names`; 0: none.
    const char *numbered;
    size_t numbered_count; // at most TLC_CERTS_MAX_NUMBERED
    bool force;            // remake even what is still good
    // Told of every leaf and client certificate once it is there: its file name without suffix and
    // whether it was made now or was still good. NULL: nobody.
    void (*note)(const char *name, bool made, void *context);
    void *note_context;
};

#define TLC_CERTS_DEFAULT_DAYS      30u
#define TLC_CERTS_MAX_DAYS          3650u
#define TLC_CERTS_MAX_INTERMEDIATES 6u
#define TLC_CERTS_MAX_NUMBERED      20000u
#define TLC_CERTS_HOST_BYTES        32

// Makes what is missing or broken. When the folder is near expiry (a third of its validity left) or
// was made with other hosts, intermediates or days, everything in it is made again, also what
// `names` does not list: the certificates of one folder always stay comparable. Several processes
// may call it at once for one folder. A folder whose CA is not of tlscost's making is refused
// unless `force` is set. *made (may be NULL) gets the number of certificates written, CAs included.
enum tlc_status tlc_certs_make(const struct tlc_certs_options *options, size_t *made,
                               struct tlc_error *error) TLC_CHECKED;
// Key type names known to this build: "ecdsa-p256", ..., "mldsa-87"; NULL past the end.
const char *tlc_certs_name_at(size_t index);
bool tlc_certs_name_known(const char *name);

// A certificate with its key as PEM text, read from the folder. Free with tlc_certs_pair_free.
// `name` is a file name without suffix ("ecdsa-p256", "client-ed25519", or a user's own); a key
// that does not belong to its certificate is an error.
struct tlc_certs_pair {
    char *chain_pem, *key_pem, *ca_pem;
};
enum tlc_status tlc_certs_read(const char *directory, const char *name, struct tlc_certs_pair *pair,
                               struct tlc_error *error) TLC_CHECKED;
void tlc_certs_pair_free(struct tlc_certs_pair *pair);

// Numbered leaves: number 42 is for the server name n00042.tlscost.test and has the subject
// CN=tlscost NAME n00042. Each is a certificate of its own, but all have the key of NAME, so that
// thousands are made in seconds. Making them again keeps those that are there.
void tlc_certs_numbered_host(size_t index, char host[TLC_CERTS_HOST_BYTES]);
void tlc_certs_numbered_subject(const char *key_type, size_t index, char *subject, size_t capacity);
struct tlc_certs_numbered {
    size_t count;
    char **chains; // PEM, leaf first
    char *text;    // which they lie in
};
enum tlc_status tlc_certs_numbered_read(const char *directory, const char *key_type, size_t count,
                                        struct tlc_certs_numbered *numbered,
                                        struct tlc_error *error) TLC_CHECKED;
void tlc_certs_numbered_free(struct tlc_certs_numbered *numbered);
// SHA-256 of the DER of the first certificate of a PEM text; false when there is none.
bool tlc_certs_pem_sha256(const char *pem, unsigned char sha256[32]);

// A pair made in memory only (for self-tests): one CA and one leaf of the type.
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
// The same of the first certificate of a PEM text; *chain_count and *chain_bytes (may be NULL) get
// how many certificates the text holds and the sum of their DER sizes, as sent on the wire.
enum tlc_status tlc_certs_facts_pem(const char *pem, struct tlc_certs_facts *facts,
                                    size_t *chain_count, size_t *chain_bytes,
                                    struct tlc_error *error) TLC_CHECKED;

#endif
