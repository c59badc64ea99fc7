#include "certs/numbered.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>

#include "certs/certs.h"

static const char end_mark[] = "-----END CERTIFICATE-----";

void tlc_certs_numbered_file(const char *key_type, char *file, size_t capacity)
{
    snprintf(file, capacity, "numbered-%s.pem", key_type);
}

void tlc_certs_numbered_host(size_t index, char host[TLC_CERTS_HOST_BYTES])
{
    snprintf(host, TLC_CERTS_HOST_BYTES, "n%05u.tlscost.test", (unsigned)index % 100000);
}

void tlc_certs_numbered_subject(const char *key_type, size_t index, char *subject, size_t capacity)
{
    snprintf(subject, capacity, "tlscost %s n%05u", key_type, (unsigned)index % 100000);
}

// Where the chain that begins at `text` ends, behind its last END line; NULL when it is not whole.
static char *chain_end(char *text, size_t certificates)
{
    for (size_t i = 0; text && i < certificates; i++) {
        text = strstr(text, end_mark);
        if (text)
            text += sizeof end_mark - 1;
    }
    return text;
}

static X509 *first_leaf(const char *text)
{
    STACK_OF(X509) *chain = NULL;
    char *copy = strdup(text);
    char *end = copy ? chain_end(copy, 1) : NULL;
    if (end) {
        *end = '\0';
        chain = tlc_certs_parse_chain(copy);
    }
    free(copy);
    X509 *leaf = chain ? sk_X509_shift(chain) : NULL;
    sk_X509_pop_free(chain, X509_free);
    return leaf;
}

// Whether the leaves of a text are of this series, by the first of them: a file is written whole.
static bool fits(const struct tlc_certs_series *series, const char *text)
{
    X509 *leaf = first_leaf(text), *issuer = series->cas[series->ca_count - 1];
    bool good = leaf && EVP_PKEY_eq(X509_get0_pubkey(leaf), series->key) == 1 &&
                ASN1_TIME_cmp_time_t(X509_get0_notBefore(leaf), series->validity.not_before) == 0 &&
                ASN1_TIME_cmp_time_t(X509_get0_notAfter(leaf), series->validity.not_after) == 0 &&
                X509_verify(leaf, X509_get0_pubkey(issuer)) == 1;
    X509_free(leaf);
    ERR_clear_error();
    return good;
}

// How many whole chains the text has, at most `most`; *end gets where the last of them ends.
static size_t count_chains(char *text, size_t certificates, size_t most, char **end)
{
    size_t count = 0;
    *end = text;
    while (count < most) {
        char *next = chain_end(*end, certificates);
        if (!next)
            break;
        *end = next;
        count++;
    }
    return count;
}

static enum tlc_status write_leaf(BIO *out, const struct tlc_certs_series *series, size_t index,
                                  struct tlc_error *error)
{
    char host[TLC_CERTS_HOST_BYTES], subject[96];
    const char *const hosts[] = {host, NULL};
    size_t last = series->ca_count - 1;
    tlc_certs_numbered_host(index, host);
    tlc_certs_numbered_subject(series->key_type, index, subject, sizeof subject);
    const struct tlc_certs_request request = {
        .common_name = subject,
        .role = TLC_CERTS_SERVER,
        .key = series->key,
        .validity = series->validity,
        .extra_hosts = hosts,
    };
    const struct tlc_certs_issuer issuer = {series->cas[last], series->ca_keys[last]};
    X509 *leaf = NULL;
    enum tlc_status status = tlc_certs_issue(&request, &issuer, &leaf, error);
    bool written = status == TLC_OK && PEM_write_bio_X509(out, leaf) == 1;
    for (size_t i = 0; written && i < last; i++)
        written = PEM_write_bio_X509(out, series->cas[last - i]) == 1;
    X509_free(leaf);
    if (status == TLC_OK && !written)
        status = tlc_fail(error, TLC_ENVIRONMENT, "certs: write PEM: out of memory");
    return status;
}

enum tlc_status tlc_certs_numbered_make(const struct tlc_certs_folder *folder,
                                        const struct tlc_certs_series *series, size_t count,
                                        size_t *made, struct tlc_error *error)
{
    char file[96], *end = NULL, *text = NULL;
    tlc_certs_numbered_file(series->key_type, file, sizeof file);
    char *kept = tlc_certs_folder_read_long(folder, file);
    size_t have =
        kept && fits(series, kept) ? count_chains(kept, series->ca_count, count, &end) : 0;
    BIO *out = have < count ? BIO_new(BIO_s_mem()) : NULL;
    enum tlc_status status = TLC_OK;
    if (have == count)
        goto out;
    if (!out || (have && (BIO_write(out, kept, (int)(end - kept)) <= 0 || BIO_puts(out, "\n") < 1)))
        status = tlc_fail(error, TLC_ENVIRONMENT, "certs: %s: out of memory", file);
    for (size_t i = have; status == TLC_OK && i < count; i++)
        status = write_leaf(out, series, i, error);
    if (status == TLC_OK && BIO_write(out, "", 1) != 1)
        status = tlc_fail(error, TLC_ENVIRONMENT, "certs: %s: out of memory", file);
    if (status == TLC_OK && BIO_get_mem_data(out, &text) > 0)
        status = tlc_certs_folder_write(folder, file, 0644, text, error);
    if (status == TLC_OK)
        *made += count - have;
out:
    BIO_free(out);
    free(kept);
    return status;
}

// Parts the text into chains in place.
static enum tlc_status part(struct tlc_certs_numbered *numbered, size_t certificates,
                            const char *key_type, struct tlc_error *error)
{
    char *at = numbered->text;
    for (size_t i = 0; i < numbered->count; i++) {
        char *end = chain_end(at, certificates);
        if (!end)
            return tlc_fail(
                error, TLC_ENVIRONMENT,
                "certs: numbered-%s.pem: %zu chains, asked %zu; leave --certs out, and the "
                "rest is made",
                key_type, i, numbered->count);
        numbered->chains[i] = at;
        at = end + (*end != '\0');
        *end = '\0';
    }
    return TLC_OK;
}

static size_t chain_length(const char *directory, const char *key_type, struct tlc_error *error)
{
    struct tlc_certs_pair pair;
    struct tlc_certs_facts facts;
    size_t count = 0;
    if (tlc_certs_read(directory, key_type, &pair, error) != TLC_OK)
        return 0;
    if (tlc_certs_facts_pem(pair.chain_pem, &facts, &count, NULL, error) != TLC_OK)
        count = 0;
    tlc_certs_pair_free(&pair);
    return count;
}

enum tlc_status tlc_certs_numbered_read(const char *directory, const char *key_type, size_t count,
                                        struct tlc_certs_numbered *numbered,
                                        struct tlc_error *error)
{
    char file[96];
    struct tlc_certs_folder folder;
    *numbered = (struct tlc_certs_numbered){.count = count};
    if (!tlc_certs_name_known(key_type))
        return tlc_certs_name_unknown(key_type, error);
    size_t certificates = chain_length(directory, key_type, error);
    if (!certificates)
        return TLC_ENVIRONMENT;
    enum tlc_status status = tlc_certs_folder_open(directory, false, &folder, error);
    if (status != TLC_OK)
        return status;
    tlc_certs_numbered_file(key_type, file, sizeof file);
    numbered->text = tlc_certs_folder_read_long(&folder, file);
    if (!numbered->text)
        status = tlc_fail(error, TLC_ENVIRONMENT,
                          "certs: %s/%s: cannot be read; leave --certs out, and they are made",
                          directory, file);
    tlc_certs_folder_close(&folder);
    numbered->chains = calloc(count + 1, sizeof *numbered->chains);
    if (status == TLC_OK && !numbered->chains)
        status = tlc_fail(error, TLC_ENVIRONMENT, "certs: %s: out of memory", file);
    if (status == TLC_OK)
        status = part(numbered, certificates, key_type, error);
    if (status != TLC_OK)
        tlc_certs_numbered_free(numbered);
    return status;
}

void tlc_certs_numbered_free(struct tlc_certs_numbered *numbered)
{
    free(numbered->text);
    free(numbered->chains);
    *numbered = (struct tlc_certs_numbered){0};
}

bool tlc_certs_pem_sha256(const char *pem, unsigned char sha256[32])
{
    BIO *memory = BIO_new_mem_buf(pem, -1);
    char *name = NULL, *header = NULL;
    unsigned char *der = NULL;
    long count = 0;
    bool good = memory && PEM_read_bio(memory, &name, &header, &der, &count) == 1;
    if (good)
        SHA256(der, (size_t)count, sha256);
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(der);
    BIO_free(memory);
    ERR_clear_error();
    return good;
}
