// What a certificate says, for evidence: the certificate may come from any peer.
#include <stdio.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "certs/certs.h"
#include "certs/issue.h"

// A peer chooses this text; keep it one printable line.
static void copy_printable(char *to, size_t capacity, const unsigned char *from, int count)
{
    size_t used = 0;
    for (int i = 0; i < count && used + 1 < capacity; i++)
        to[used++] = (char)(from[i] < 0x20 || from[i] == 0x7f ? '?' : from[i]);
    to[used] = '\0';
}

static void common_name(const X509_NAME *name, char *text, size_t capacity)
{
    text[0] = '\0';
    int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    if (at < 0) {
        char *line = X509_NAME_oneline(name, NULL, 0);
        if (line)
            copy_printable(text, capacity, (const unsigned char *)line, (int)strlen(line));
        OPENSSL_free(line);
        return;
    }
    unsigned char *bytes = NULL;
    int count =
        ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (count > 0)
        copy_printable(text, capacity, bytes, count);
    OPENSSL_free(bytes);
}

static void iso_time(const ASN1_TIME *time, char *text, size_t capacity)
{
    struct tm parts;
    if (!ASN1_TIME_to_tm(time, &parts) ||
        strftime(text, capacity, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        text[0] = '\0';
}

static void key_facts(X509 *certificate, struct tlc_certs_facts *facts)
{
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    if (key) {
        tlc_certs_key_name(key, facts->key_type, sizeof facts->key_type);
        facts->key_bits = EVP_PKEY_get_bits(key);
    } else {
        snprintf(facts->key_type, sizeof facts->key_type, "unknown");
    }
    const X509_ALGOR *algorithm = NULL;
    const ASN1_OBJECT *object = NULL;
    X509_get0_signature(NULL, &algorithm, certificate);
    X509_ALGOR_get0(&object, NULL, NULL, algorithm);
    OBJ_obj2txt(facts->signature_algorithm, sizeof facts->signature_algorithm, object, 0);
}

enum tlc_status tlc_certs_facts(const unsigned char *der, size_t count,
                                struct tlc_certs_facts *facts, struct tlc_error *error)
{
    memset(facts, 0, sizeof *facts);
    const unsigned char *at = der;
    X509 *certificate = count > 0 && count <= 1 << 24 ? d2i_X509(NULL, &at, (long)count) : NULL;
    if (!certificate || at != der + count) {
        X509_free(certificate);
        ERR_clear_error();
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "certificate: %zu bytes: not one DER certificate (RFC 5280)", count);
    }
    common_name(X509_get_subject_name(certificate), facts->subject, sizeof facts->subject);
    common_name(X509_get_issuer_name(certificate), facts->issuer, sizeof facts->issuer);
    iso_time(X509_get0_notAfter(certificate), facts->not_after, sizeof facts->not_after);
    key_facts(certificate, facts);
    bool hashed = EVP_Digest(der, count, facts->sha256, NULL, EVP_sha256(), NULL) == 1;
    X509_free(certificate);
    ERR_clear_error();
    return hashed ? TLC_OK : tlc_certs_fail(error, "certificate: SHA-256");
}

enum tlc_status tlc_certs_facts_pem(const char *pem, struct tlc_certs_facts *facts,
                                    size_t *chain_count, size_t *chain_bytes,
                                    struct tlc_error *error)
{
    unsigned char *der = NULL;
    size_t bytes = 0;
    STACK_OF(X509) *chain = tlc_certs_parse_chain(pem);
    if (!chain)
        return tlc_fail(error, TLC_ENVIRONMENT, "certificate: PEM text: holds no certificate");
    for (int i = 0; i < sk_X509_num(chain); i++)
        bytes += (size_t)i2d_X509(sk_X509_value(chain, i), NULL);
    int first = i2d_X509(sk_X509_value(chain, 0), &der);
    enum tlc_status status = first > 0 ? tlc_certs_facts(der, (size_t)first, facts, error)
                                       : tlc_certs_fail(error, "certificate: encode");
    if (chain_count)
        *chain_count = (size_t)sk_X509_num(chain);
    if (chain_bytes)
        *chain_bytes = bytes;
    OPENSSL_free(der);
    sk_X509_pop_free(chain, X509_free);
    return status;
}
