// The test CA in memory, and pairs read back.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>

#include "certs/certs.h"
#include "certs/folder.h"
#include "certs/issue.h"

enum { DAY_S = 86400, BACKDATE_S = 300 };

static enum tlc_status self_sign(EVP_PKEY *key, const struct tlc_certs_validity *validity,
                                 X509 **ca, struct tlc_error *error)
{
    struct tlc_certs_request request = {
        .common_name = "tlscost test CA", .role = TLC_CERTS_CA, .key = key, .validity = *validity};
    return tlc_certs_issue(&request, &(struct tlc_certs_issuer){NULL, NULL}, ca, error);
}

static enum tlc_status make_leaf(const char *name, const struct tlc_certs_issuer *issuer,
                                 const struct tlc_certs_validity *validity, EVP_PKEY **key,
                                 X509 **leaf, struct tlc_error *error)
{
    char common_name[64];
    snprintf(common_name, sizeof common_name, "tlscost %s", name);
    enum tlc_status status = tlc_certs_key_new(name, key, error);
    if (status != TLC_OK)
        return status;
    struct tlc_certs_request request = {
        .common_name = common_name, .role = TLC_CERTS_SERVER, .key = *key, .validity = *validity};
    return tlc_certs_issue(&request, issuer, leaf, error);
}

static enum tlc_status pair_from(X509 *ca, X509 *leaf, EVP_PKEY *key, struct tlc_certs_pair *pair,
                                 struct tlc_error *error)
{
    pair->ca_pem = tlc_certs_pem_chain(&ca, 1);
    pair->chain_pem = tlc_certs_pem_chain(&leaf, 1);
    pair->key_pem = tlc_certs_pem_key(key);
    if (pair->ca_pem && pair->chain_pem && pair->key_pem)
        return TLC_OK;
    tlc_certs_pair_free(pair);
    return tlc_certs_fail(error, "certs: write PEM");
}

enum tlc_status tlc_certs_in_memory(const char *name, struct tlc_certs_pair *pair,
                                    struct tlc_error *error)
{
    time_t now = time(NULL);
    struct tlc_certs_validity validity = {now - BACKDATE_S, now + DAY_S};
    EVP_PKEY *ca_key = NULL, *key = NULL;
    X509 *ca = NULL, *leaf = NULL;
    memset(pair, 0, sizeof *pair);
    enum tlc_status status = tlc_certs_key_new(TLC_CERTS_CA_KEY, &ca_key, error);
    if (status == TLC_OK)
        status = self_sign(ca_key, &validity, &ca, error);
    if (status == TLC_OK)
        status =
            make_leaf(name, &(struct tlc_certs_issuer){ca, ca_key}, &validity, &key, &leaf, error);
    if (status == TLC_OK)
        status = pair_from(ca, leaf, key, pair, error);
    X509_free(leaf);
    X509_free(ca);
    EVP_PKEY_free(key);
    EVP_PKEY_free(ca_key);
    return status;
}

void tlc_certs_pair_free(struct tlc_certs_pair *pair)
{
    if (pair->key_pem)
        explicit_bzero(pair->key_pem, strlen(pair->key_pem));
    free(pair->chain_pem);
    free(pair->key_pem);
    free(pair->ca_pem);
    memset(pair, 0, sizeof *pair);
}

static enum tlc_status check_name(const char *name, struct tlc_error *error)
{
    if (!*name || *name == '.' || strchr(name, '/') || strlen(name) > 200)
        return tlc_fail(error, TLC_USAGE,
                        "certs: '%.200s': not a certificate's name; write the file name without "
                        "folder and suffix",
                        name);
    return TLC_OK;
}

static enum tlc_status read_text(const struct tlc_certs_folder *folder, const char *stem,
                                 const char *suffix, char **text, struct tlc_error *error)
{
    char file[256];
    snprintf(file, sizeof file, "%.200s.%s", stem, suffix);
    *text = tlc_certs_folder_read(folder, file, NULL);
    if (*text)
        return TLC_OK;
    if (errno == ENOENT)
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "certs: %s/%s: no such file; make it with 'tlscost certs %s'", folder->path,
                        file, folder->path);
    return tlc_fail_errno(error, "certs: read: %s/%s", folder->path, file);
}

static enum tlc_status check_pair(const struct tlc_certs_pair *pair, const char *directory,
                                  const char *name, struct tlc_error *error)
{
    STACK_OF(X509) *chain = tlc_certs_parse_chain(pair->chain_pem);
    EVP_PKEY *key = tlc_certs_parse_key(pair->key_pem);
    const char *reason = NULL;
    if (!chain)
        reason = "no certificate in the .pem file";
    else if (!key)
        reason = "no readable private key in the .key file";
    else if (X509_check_private_key(sk_X509_value(chain, 0), key) != 1)
        reason = "the key does not belong to the certificate";
    sk_X509_pop_free(chain, X509_free);
    EVP_PKEY_free(key);
    ERR_clear_error();
    if (!reason)
        return TLC_OK;
    return tlc_fail(error, TLC_ENVIRONMENT, "certs: %s/%s: %s; remake it with 'tlscost certs %s'",
                    directory, name, reason, directory);
}

enum tlc_status tlc_certs_read(const char *directory, const char *name, struct tlc_certs_pair *pair,
                               struct tlc_error *error)
{
    struct tlc_certs_folder folder;
    memset(pair, 0, sizeof *pair);
    enum tlc_status status = check_name(name, error);
    if (status == TLC_OK)
        status = tlc_certs_folder_open(directory, false, &folder, error);
    if (status != TLC_OK)
        return status;
    status = read_text(&folder, name, "pem", &pair->chain_pem, error);
    if (status == TLC_OK)
        status = read_text(&folder, name, "key", &pair->key_pem, error);
    if (status == TLC_OK)
        status = read_text(&folder, "ca", "pem", &pair->ca_pem, error);
    tlc_certs_folder_close(&folder);
    if (status == TLC_OK)
        status = check_pair(pair, directory, name, error);
    if (status != TLC_OK)
        tlc_certs_pair_free(pair);
    return status;
}
