// Inside the room: keys and certificates as libcrypto objects, before they become files.
#ifndef TLC_CERTS_ISSUE_H
#define TLC_CERTS_ISSUE_H

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <time.h>

#include "base/error.h"

#define TLC_CERTS_CA_KEY "rsa-2048" // of the root and of every intermediate, unless asked otherwise

// Sets `error` to the formatted text followed by libcrypto's own reason, and empties its queue.
enum tlc_status tlc_certs_fail(struct tlc_error *error, const char *format, ...) TLC_PRINTF(2, 3);

// Refuses a key type name, listing the known ones.
enum tlc_status tlc_certs_name_unknown(const char *name, struct tlc_error *error) TLC_CHECKED;
// A fresh key of a known key type name; the caller owns it.
enum tlc_status tlc_certs_key_new(const char *name, EVP_PKEY **key,
                                  struct tlc_error *error) TLC_CHECKED;
// The key type name of any public key ("rsa-1024" and "ecdsa-secp521r1" too, for foreign ones).
void tlc_certs_key_name(const EVP_PKEY *key, char *name, size_t capacity);

struct tlc_certs_validity {
    time_t not_before, not_after;
};

enum tlc_certs_role { TLC_CERTS_CA, TLC_CERTS_SERVER, TLC_CERTS_CLIENT };

// Who signs; both NULL: the certificate signs itself.
struct tlc_certs_issuer {
    X509 *certificate;
    EVP_PKEY *key;
};

struct tlc_certs_request {
    const char *common_name;
    enum tlc_certs_role role;
    int path_length; // CA: intermediates allowed below it (RFC 5280, 4.2.1.9)
    EVP_PKEY *key;
    struct tlc_certs_validity validity;
    const char *const *extra_hosts; // server: SAN entries beside localhost and its addresses
};
enum tlc_status tlc_certs_issue(const struct tlc_certs_request *request,
                                const struct tlc_certs_issuer *issuer, X509 **certificate,
                                struct tlc_error *error) TLC_CHECKED;
// Whether every extra host is a DNS name or an IP address fit for a SAN.
enum tlc_status tlc_certs_hosts_check(const char *const *extra_hosts,
                                      struct tlc_error *error) TLC_CHECKED;

// PEM text (NUL-terminated, the caller frees it), NULL when memory runs out.
char *tlc_certs_pem_chain(X509 *const *chain, size_t count);
char *tlc_certs_pem_key(const EVP_PKEY *key);
// All certificates of a text, in order; NULL when there is none. sk_X509_pop_free frees it.
STACK_OF(X509) * tlc_certs_parse_chain(const char *pem);
// NULL when there is none, it is broken or it is encrypted.
EVP_PKEY *tlc_certs_parse_key(const char *pem);

#endif
