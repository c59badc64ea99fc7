// Inside the room: many leaves of one key type, each for a server name of its own, in one file.
#ifndef TLC_CERTS_NUMBERED_H
#define TLC_CERTS_NUMBERED_H

#include <openssl/evp.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stddef.h>

#include "certs/folder.h"
#include "certs/issue.h"

// What the leaves of a folder have in common.
struct tlc_certs_series {
    const char *key_type;
    X509 *const *cas; // root first
    EVP_PKEY *const *ca_keys;
    size_t ca_count;
    EVP_PKEY *key; // of every leaf
    struct tlc_certs_validity validity;
};

// Makes what is missing of the first `count` leaves; those that are there and still fit stay as
// they are. *made is raised by the number of leaves written.
enum tlc_status tlc_certs_numbered_make(const struct tlc_certs_folder *folder,
                                        const struct tlc_certs_series *series, size_t count,
                                        size_t *made, struct tlc_error *error) TLC_CHECKED;
// Name of the file of a key type's leaves.
void tlc_certs_numbered_file(const char *key_type, char *file, size_t capacity);

#endif
