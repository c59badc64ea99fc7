// What the tests of certificates share: a folder for each test, and libcrypto's view of what is in
// it.
#ifndef TLC_TESTS_CERTS_SUPPORT_H
#define TLC_TESTS_CERTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>
#include <openssl/core_names.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "base/process.h"
#include "certs/certs.h"

// --- a folder for each test ---

static char folder[64];

static inline int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tlscost-certs-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static inline void empty_folder(const char *path)
{
    DIR *files = opendir(path);
    assert_non_null(files);
    for (struct dirent *entry; files && (entry = readdir(files)) != NULL;)
        unlinkat(dirfd(files), entry->d_name, 0);
    if (files)
        closedir(files);
}

static inline int remove_folder(void **state)
{
    (void)state;
    empty_folder(folder);
    return rmdir(folder);
}

static inline const char *path_of(const char *file)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

static inline bool has(const char *file)
{
    return access(path_of(file), F_OK) == 0;
}

static inline void put(const char *file, const char *text)
{
    FILE *out = fopen(path_of(file), "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static inline mode_t mode_of(const char *file)
{
    struct stat facts;
    assert_int_equal(stat(path_of(file), &facts), 0);
    return facts.st_mode & 07777;
}

static const char *const two[] = {"ecdsa-p256", "ed25519", NULL};

static inline size_t make(struct tlc_certs_options options)
{
    struct tlc_error error = {0};
    size_t made = 0;
    options.directory = folder;
    if (tlc_certs_make(&options, &made, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return made;
}

static inline size_t make_two(void)
{
    return make((struct tlc_certs_options){.names = two});
}

static inline void expect_refusal(struct tlc_certs_options options, enum tlc_status status,
                                  const char *word)
{
    struct tlc_error error = {0};
    if (!options.directory)
        options.directory = folder;
    assert_int_equal(tlc_certs_make(&options, NULL, &error), status);
    if (!strstr(error.text, word))
        fail_msg("'%s': does not say '%s'", error.text, word);
}

// --- certificates ---

static inline STACK_OF(X509) * parse_chain(const char *pem)
{
    BIO *memory = BIO_new_mem_buf(pem, -1);
    STACK_OF(X509) *chain = sk_X509_new_null();
    for (X509 *next; (next = PEM_read_bio_X509(memory, NULL, NULL, NULL)) != NULL;)
        sk_X509_push(chain, next);
    BIO_free(memory);
    assert_true(sk_X509_num(chain) > 0);
    return chain;
}

static inline STACK_OF(X509) * read_chain(const char *name)
{
    struct tlc_certs_pair pair;
    struct tlc_error error = {0};
    if (tlc_certs_read(folder, name, &pair, &error) != TLC_OK)
        fail_msg("%s", error.text);
    STACK_OF(X509) *chain = parse_chain(pair.chain_pem);
    tlc_certs_pair_free(&pair);
    return chain;
}

// The first certificate of a chain in the folder; X509_free frees it.
static inline X509 *read_leaf(const char *name)
{
    STACK_OF(X509) *chain = read_chain(name);
    X509 *leaf = sk_X509_shift(chain);
    sk_X509_pop_free(chain, X509_free);
    return leaf;
}

static inline int verify(const struct tlc_certs_pair *pair, int purpose)
{
    STACK_OF(X509) *chain = parse_chain(pair->chain_pem), *ca = parse_chain(pair->ca_pem);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    X509_STORE_add_cert(store, sk_X509_value(ca, 0));
    X509_STORE_CTX_init(context, store, sk_X509_value(chain, 0), chain);
    X509_STORE_CTX_set_purpose(context, purpose);
    int result = X509_verify_cert(context) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(context);
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    sk_X509_pop_free(ca, X509_free);
    sk_X509_pop_free(chain, X509_free);
    return result;
}

static inline int verify_named(const char *name, int purpose)
{
    struct tlc_certs_pair pair;
    struct tlc_error error = {0};
    if (tlc_certs_read(folder, name, &pair, &error) != TLC_OK)
        fail_msg("%s", error.text);
    int result = verify(&pair, purpose);
    tlc_certs_pair_free(&pair);
    return result;
}

// Everything but the subject key identifier, which is a hash of the key, is byte for byte the same.
static inline void expect_equal_extensions(const X509 *left, const X509 *right)
{
    assert_int_equal(X509_get_ext_count(left), X509_get_ext_count(right));
    for (int i = 0; i < X509_get_ext_count(left); i++) {
        X509_EXTENSION *a = X509_get_ext(left, i), *b = X509_get_ext(right, i);
        int kind = OBJ_obj2nid(X509_EXTENSION_get_object(a));
        assert_int_equal(kind, OBJ_obj2nid(X509_EXTENSION_get_object(b)));
        assert_int_equal(X509_EXTENSION_get_critical(a), X509_EXTENSION_get_critical(b));
        const ASN1_OCTET_STRING *x = X509_EXTENSION_get_data(a), *y = X509_EXTENSION_get_data(b);
        assert_int_equal(ASN1_STRING_length(x), ASN1_STRING_length(y));
        assert_int_equal(ASN1_OCTET_STRING_cmp(x, y) != 0, kind == NID_subject_key_identifier);
    }
}

#define in_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

#endif
