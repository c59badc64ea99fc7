// tlc_certs_make: what a folder holds against what is wanted of it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "certs/certs.h"
#include "certs/folder.h"
#include "certs/issue.h"
#include "certs/manifest.h"
#include "certs/numbered.h"

enum { DAY_S = 86400, BACKDATE_S = 300, MAX_CAS = 1 + TLC_CERTS_MAX_INTERMEDIATES };

// One call of tlc_certs_make.
struct making {
    const struct tlc_certs_options *asked;
    struct tlc_certs_folder folder;
    json_t *options; // as in the manifest
    struct tlc_certs_validity validity;
    X509 *cas[MAX_CAS]; // root first
    EVP_PKEY *ca_keys[MAX_CAS];
    size_t ca_count;
    size_t made;
};

static enum tlc_status check_options(const struct tlc_certs_options *options,
                                     struct tlc_error *error)
{
    if (options->intermediates > TLC_CERTS_MAX_INTERMEDIATES)
        return tlc_fail(error, TLC_USAGE, "certs: %u intermediates: at most %u",
                        options->intermediates, TLC_CERTS_MAX_INTERMEDIATES);
    if (options->days > TLC_CERTS_MAX_DAYS)
        return tlc_fail(error, TLC_USAGE, "certs: %u days: at most %u", options->days,
                        TLC_CERTS_MAX_DAYS);
    for (const char *const *name = options->names; name && *name; name++)
        if (!tlc_certs_name_known(*name))
            return tlc_certs_name_unknown(*name, error);
    if (options->client && !tlc_certs_name_known(options->client))
        return tlc_certs_name_unknown(options->client, error);
    if (options->authority && !tlc_certs_name_known(options->authority))
        return tlc_certs_name_unknown(options->authority, error);
    if (options->numbered && !tlc_certs_name_known(options->numbered))
        return tlc_certs_name_unknown(options->numbered, error);
    if (options->numbered_count > TLC_CERTS_MAX_NUMBERED)
        return tlc_fail(error, TLC_USAGE, "certs: %zu names: at most %u", options->numbered_count,
                        TLC_CERTS_MAX_NUMBERED);
    return tlc_certs_hosts_check(options->extra_hosts, error);
}

// --- certificate authorities ---

static void ca_file(size_t index, const char *suffix, char *file, size_t capacity)
{
    if (index == 0)
        snprintf(file, capacity, "ca.%s", suffix);
    else
        snprintf(file, capacity, "intermediate-%zu.%s", index, suffix);
}

static enum tlc_status write_pair(struct making *making, const char *stem, X509 *const *chain,
                                  size_t count, const EVP_PKEY *key, struct tlc_error *error)
{
    char file[96];
    char *chain_pem = tlc_certs_pem_chain(chain, count), *key_pem = tlc_certs_pem_key(key);
    enum tlc_status status = TLC_OK;
    if (!chain_pem || !key_pem)
        status = tlc_certs_fail(error, "certs: write PEM: %s", stem);
    snprintf(file, sizeof file, "%s.key", stem);
    if (status == TLC_OK)
        status = tlc_certs_folder_write(&making->folder, file, 0600, key_pem, error);
    snprintf(file, sizeof file, "%s.pem", stem);
    if (status == TLC_OK)
        status = tlc_certs_folder_write(&making->folder, file, 0644, chain_pem, error);
    if (key_pem)
        OPENSSL_cleanse(key_pem, strlen(key_pem));
    free(key_pem);
    free(chain_pem);
    making->made += status == TLC_OK;
    return status;
}

static enum tlc_status make_ca(struct making *making, struct tlc_error *error)
{
    size_t index = making->ca_count;
    char common_name[64] = "tlscost test CA", stem[64] = "ca";
    if (index > 0) {
        snprintf(common_name, sizeof common_name, "tlscost intermediate %zu", index);
        snprintf(stem, sizeof stem, "intermediate-%zu", index);
    }
    const char *key_type = making->asked->authority ? making->asked->authority : TLC_CERTS_CA_KEY;
    enum tlc_status status = tlc_certs_key_new(key_type, &making->ca_keys[index], error);
    if (status != TLC_OK)
        return status;
    making->ca_count++;
    struct tlc_certs_request request = {
        .common_name = common_name,
        .role = TLC_CERTS_CA,
        .path_length = (int)(making->asked->intermediates - index),
        .key = making->ca_keys[index],
        .validity = making->validity,
    };
    struct tlc_certs_issuer issuer = {NULL, NULL};
    if (index > 0)
        issuer = (struct tlc_certs_issuer){making->cas[index - 1], making->ca_keys[index - 1]};
    status = tlc_certs_issue(&request, &issuer, &making->cas[index], error);
    return status == TLC_OK
               ? write_pair(making, stem, &making->cas[index], 1, making->ca_keys[index], error)
               : status;
}

static enum tlc_status make_cas(struct making *making, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    while (status == TLC_OK && making->ca_count < 1 + making->asked->intermediates)
        status = make_ca(making, error);
    char file[64];
    for (size_t i = making->ca_count; status == TLC_OK && i < MAX_CAS; i++) {
        ca_file(i, "pem", file, sizeof file);
        tlc_certs_folder_remove(&making->folder, file);
        ca_file(i, "key", file, sizeof file);
        tlc_certs_folder_remove(&making->folder, file);
    }
    return status;
}

// A key that others could read counts as missing.
static EVP_PKEY *read_key(const struct tlc_certs_folder *folder, const char *file)
{
    mode_t mode = 0;
    char *text = tlc_certs_folder_read(folder, file, &mode);
    EVP_PKEY *key = text && !(mode & 077) ? tlc_certs_parse_key(text) : NULL;
    if (text)
        OPENSSL_cleanse(text, strlen(text));
    free(text);
    return key;
}

static STACK_OF(X509) * read_chain(const struct tlc_certs_folder *folder, const char *file)
{
    char *text = tlc_certs_folder_read(folder, file, NULL);
    STACK_OF(X509) *chain = text ? tlc_certs_parse_chain(text) : NULL;
    free(text);
    return chain;
}

static bool has_validity(const X509 *certificate, const struct tlc_certs_validity *validity)
{
    return ASN1_TIME_cmp_time_t(X509_get0_notBefore(certificate), validity->not_before) == 0 &&
           ASN1_TIME_cmp_time_t(X509_get0_notAfter(certificate), validity->not_after) == 0;
}

static bool read_ca(struct making *making)
{
    size_t index = making->ca_count;
    char file[64];
    ca_file(index, "key", file, sizeof file);
    making->ca_keys[index] = read_key(&making->folder, file);
    ca_file(index, "pem", file, sizeof file);
    STACK_OF(X509) *chain = read_chain(&making->folder, file);
    making->cas[index] = chain ? sk_X509_shift(chain) : NULL;
    sk_X509_pop_free(chain, X509_free);
    making->ca_count++;
    X509 *ca = making->cas[index], *above = making->cas[index > 0 ? index - 1 : 0];
    return ca && making->ca_keys[index] &&
           X509_check_private_key(ca, making->ca_keys[index]) == 1 &&
           has_validity(ca, &making->validity) && X509_verify(ca, X509_get0_pubkey(above)) == 1;
}

static void forget_cas(struct making *making)
{
    for (size_t i = 0; i < making->ca_count; i++) {
        X509_free(making->cas[i]);
        EVP_PKEY_free(making->ca_keys[i]);
        making->cas[i] = NULL;
        making->ca_keys[i] = NULL;
    }
    making->ca_count = 0;
}

static bool read_cas(struct making *making)
{
    bool good = true;
    while (good && making->ca_count < 1 + making->asked->intermediates)
        good = read_ca(making);
    ERR_clear_error();
    if (!good)
        forget_cas(making);
    return good;
}

// --- leaves ---

struct leaf {
    const char *key_type;
    bool client;
    char stem[64]; // file name without suffix
};

static struct leaf leaf_of(const char *key_type, bool client)
{
    struct leaf leaf = {.key_type = key_type, .client = client};
    snprintf(leaf.stem, sizeof leaf.stem, "%s%s", client ? "client-" : "", key_type);
    return leaf;
}

static enum tlc_status make_leaf(struct making *making, const struct leaf *leaf,
                                 struct tlc_error *error)
{
    char common_name[64];
    X509 *chain[1 + MAX_CAS] = {NULL};
    EVP_PKEY *key = NULL;
    size_t last = making->ca_count - 1;
    snprintf(common_name, sizeof common_name, "tlscost %s%s", leaf->client ? "client " : "",
             leaf->key_type);
    enum tlc_status status = tlc_certs_key_new(leaf->key_type, &key, error);
    if (status != TLC_OK)
        return status;
    struct tlc_certs_request request = {
        .common_name = common_name,
        .role = leaf->client ? TLC_CERTS_CLIENT : TLC_CERTS_SERVER,
        .key = key,
        .validity = making->validity,
        .extra_hosts = making->asked->extra_hosts,
    };
    struct tlc_certs_issuer issuer = {making->cas[last], making->ca_keys[last]};
    status = tlc_certs_issue(&request, &issuer, &chain[0], error);
    for (size_t i = 0; i < last; i++)
        chain[1 + i] = making->cas[last - i];
    if (status == TLC_OK)
        status = write_pair(making, leaf->stem, chain, 1 + last, key, error);
    X509_free(chain[0]);
    EVP_PKEY_free(key);
    return status;
}

static bool chain_verifies(const struct making *making, STACK_OF(X509) * chain, bool client)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    bool good = store && context && X509_STORE_add_cert(store, making->cas[0]) == 1 &&
                X509_STORE_CTX_init(context, store, sk_X509_value(chain, 0), chain) == 1 &&
                X509_STORE_CTX_set_purpose(context, client ? X509_PURPOSE_SSL_CLIENT
                                                           : X509_PURPOSE_SSL_SERVER) == 1 &&
                X509_verify_cert(context) == 1;
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    return good;
}

static bool chain_fits(const struct making *making, STACK_OF(X509) * chain, const EVP_PKEY *key,
                       const struct leaf *leaf)
{
    char key_type[64];
    if (!chain || !key || (size_t)sk_X509_num(chain) != making->ca_count)
        return false;
    X509 *certificate = sk_X509_value(chain, 0);
    tlc_certs_key_name(key, key_type, sizeof key_type);
    return !strcmp(key_type, leaf->key_type) && X509_check_private_key(certificate, key) == 1 &&
           has_validity(certificate, &making->validity) &&
           chain_verifies(making, chain, leaf->client);
}

static bool leaf_is_good(const struct making *making, const struct leaf *leaf)
{
    char file[96];
    snprintf(file, sizeof file, "%s.key", leaf->stem);
    EVP_PKEY *key = read_key(&making->folder, file);
    snprintf(file, sizeof file, "%s.pem", leaf->stem);
    STACK_OF(X509) *chain = read_chain(&making->folder, file);
    bool good = chain_fits(making, chain, key, leaf);
    sk_X509_pop_free(chain, X509_free);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return good;
}

static enum tlc_status settle_leaf(struct making *making, const struct leaf *leaf, bool remake,
                                   struct tlc_error *error)
{
    bool make = remake || !leaf_is_good(making, leaf);
    if (make) {
        enum tlc_status status = make_leaf(making, leaf, error);
        if (status != TLC_OK)
            return status;
    }
    if (making->asked->note)
        making->asked->note(leaf->stem, make, making->asked->note_context);
    return TLC_OK;
}

static bool is_asked(const struct tlc_certs_options *options, const struct leaf *leaf)
{
    if (leaf->client)
        return options->client && !strcmp(options->client, leaf->key_type);
    if (!options->names)
        return true;
    for (const char *const *name = options->names; *name; name++)
        if (!strcmp(*name, leaf->key_type))
            return true;
    return false;
}

// With a new CA everything in the folder is made again, or the rest of it would be orphans.
static enum tlc_status settle_leaves(struct making *making, bool remake, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (int client = 0; client < 2; client++)
        for (size_t i = 0; status == TLC_OK && tlc_certs_name_at(i); i++) {
            struct leaf leaf = leaf_of(tlc_certs_name_at(i), client);
            char file[96];
            snprintf(file, sizeof file, "%s.pem", leaf.stem);
            bool wanted = is_asked(making->asked, &leaf) ||
                          (remake && tlc_certs_folder_has(&making->folder, file));
            if (wanted)
                status = settle_leaf(making, &leaf, remake, error);
        }
    return status;
}

static void forget_numbered(const struct making *making)
{
    char file[96];
    for (size_t i = 0; tlc_certs_name_at(i); i++) {
        tlc_certs_numbered_file(tlc_certs_name_at(i), file, sizeof file);
        tlc_certs_folder_remove(&making->folder, file);
    }
}

static enum tlc_status settle_numbered(struct making *making, struct tlc_error *error)
{
    const struct tlc_certs_options *asked = making->asked;
    char file[96];
    if (!asked->numbered || !asked->numbered_count)
        return TLC_OK;
    snprintf(file, sizeof file, "%s.key", asked->numbered);
    const struct tlc_certs_series series = {
        .key_type = asked->numbered,
        .cas = making->cas,
        .ca_keys = making->ca_keys,
        .ca_count = making->ca_count,
        .key = read_key(&making->folder, file),
        .validity = making->validity,
    };
    enum tlc_status status =
        series.key ? tlc_certs_numbered_make(&making->folder, &series, asked->numbered_count,
                                             &making->made, error)
                   : tlc_fail(error, TLC_ENVIRONMENT, "certs: %s/%s: no readable private key",
                              making->folder.path, file);
    EVP_PKEY_free(series.key);
    return status;
}

// --- the whole folder ---

static enum tlc_status refuse_foreign(const struct making *making, const json_t *manifest,
                                      struct tlc_error *error)
{
    if (manifest || making->asked->force ||
        (!tlc_certs_folder_has(&making->folder, "ca.pem") &&
         !tlc_certs_folder_has(&making->folder, "ca.key")))
        return TLC_OK;
    return tlc_fail(error, TLC_USAGE,
                    "certs: %s: holds a CA that tlscost did not make; choose another folder, or "
                    "replace it with --force",
                    making->folder.path);
}

static enum tlc_status make_all(struct making *making, struct tlc_error *error)
{
    time_t now = time(NULL);
    unsigned days = making->asked->days ? making->asked->days : TLC_CERTS_DEFAULT_DAYS;
    making->validity = (struct tlc_certs_validity){now - BACKDATE_S, now + (time_t)days * DAY_S};
    enum tlc_status status =
        tlc_certs_manifest_write(&making->folder, making->options, &making->validity, false, error);
    if (status == TLC_OK)
        status = make_cas(making, error);
    forget_numbered(making);
    if (status == TLC_OK)
        status = settle_leaves(making, true, error);
    return status == TLC_OK ? tlc_certs_manifest_write(&making->folder, making->options,
                                                       &making->validity, true, error)
                            : status;
}

enum tlc_status tlc_certs_make(const struct tlc_certs_options *options, size_t *made,
                               struct tlc_error *error)
{
    struct making making = {.asked = options};
    json_t *manifest = NULL;
    if (made)
        *made = 0;
    enum tlc_status status = check_options(options, error);
    if (status == TLC_OK)
        status = tlc_certs_folder_open(options->directory, true, &making.folder, error);
    if (status != TLC_OK)
        return status;
    making.options = tlc_certs_options_json(options);
    manifest = tlc_certs_manifest_read(&making.folder);
    status = making.options ? refuse_foreign(&making, manifest, error)
                            : tlc_fail(error, TLC_ENVIRONMENT, "certs: options: out of memory");
    if (status == TLC_OK) {
        bool keep = !options->force &&
                    tlc_certs_manifest_fits(manifest, making.options, &making.validity) &&
                    read_cas(&making);
        status = keep ? settle_leaves(&making, false, error) : make_all(&making, error);
    }
    if (status == TLC_OK)
        status = settle_numbered(&making, error);
    if (made)
        *made = making.made;
    forget_cas(&making);
    json_decref(manifest);
    json_decref(making.options);
    tlc_certs_folder_close(&making.folder);
    return status;
}
