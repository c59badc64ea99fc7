// Certificates of the test CA. Extensions are built as objects, never from text in libcrypto's
// configuration language, so that a host name cannot smuggle settings in.
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "certs/issue.h"

static bool is_dns_name(const char *host)
{
    size_t length = strlen(host);
    if (length == 0 || length > 253 || host[0] == '.' || host[0] == '-')
        return false;
    for (const char *at = host; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-._*", *at))
            return false;
    return !strstr(host, "..");
}

enum tlc_status tlc_certs_hosts_check(const char *const *extra_hosts, struct tlc_error *error)
{
    for (; extra_hosts && *extra_hosts; extra_hosts++) {
        ASN1_OCTET_STRING *address = a2i_IPADDRESS(*extra_hosts);
        bool good = address || is_dns_name(*extra_hosts);
        ASN1_OCTET_STRING_free(address);
        if (!good)
            return tlc_fail(error, TLC_USAGE,
                            "certs: host '%s': neither a DNS name nor an IP address", *extra_hosts);
    }
    return TLC_OK;
}

static bool add_host(GENERAL_NAMES *names, const char *host)
{
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(host);
    ASN1_IA5STRING *dns = NULL;
    if (!name)
        goto fail;
    if (address) {
        GENERAL_NAME_set0_value(name, GEN_IPADD, address);
        address = NULL;
    } else {
        dns = ASN1_IA5STRING_new();
        if (!dns || !ASN1_STRING_set(dns, host, (int)strlen(host)))
            goto fail;
        GENERAL_NAME_set0_value(name, GEN_DNS, dns);
        dns = NULL;
    }
    if (sk_GENERAL_NAME_push(names, name) > 0)
        return true;
fail:
    ASN1_IA5STRING_free(dns);
    ASN1_OCTET_STRING_free(address);
    GENERAL_NAME_free(name);
    return false;
}

static bool add_hosts(X509 *certificate, const char *const *extra_hosts)
{
    static const char *const always[] = {"localhost", "127.0.0.1", "::1"};
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    bool good = names != NULL;
    for (size_t i = 0; good && i < sizeof always / sizeof *always; i++)
        good = add_host(names, always[i]);
    for (; good && extra_hosts && *extra_hosts; extra_hosts++)
        good = add_host(names, *extra_hosts);
    good = good && X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0) > 0;
    GENERAL_NAMES_free(names);
    return good;
}

static bool add_basic_constraints(X509 *certificate, const struct tlc_certs_request *request)
{
    BASIC_CONSTRAINTS *constraints = BASIC_CONSTRAINTS_new();
    if (!constraints)
        return false;
    bool good = true;
    if (request->role == TLC_CERTS_CA) {
        constraints->ca = 0xff;
        constraints->pathlen = ASN1_INTEGER_new();
        good = constraints->pathlen && ASN1_INTEGER_set(constraints->pathlen, request->path_length);
    }
    good = good && X509_add1_ext_i2d(certificate, NID_basic_constraints, constraints, 1, 0) > 0;
    BASIC_CONSTRAINTS_free(constraints);
    return good;
}

// Bits of KeyUsage (RFC 5280, 4.2.1.3).
enum { DIGITAL_SIGNATURE = 0, KEY_CERT_SIGN = 5, CRL_SIGN = 6 };

static bool add_key_usage(X509 *certificate, bool ca)
{
    ASN1_BIT_STRING *usage = ASN1_BIT_STRING_new();
    bool good = usage && (ca ? ASN1_BIT_STRING_set_bit(usage, KEY_CERT_SIGN, 1) &&
                                   ASN1_BIT_STRING_set_bit(usage, CRL_SIGN, 1)
                             : ASN1_BIT_STRING_set_bit(usage, DIGITAL_SIGNATURE, 1));
    good = good && X509_add1_ext_i2d(certificate, NID_key_usage, usage, 1, 0) > 0;
    ASN1_BIT_STRING_free(usage);
    return good;
}

static bool add_purpose(X509 *certificate, int purpose)
{
    EXTENDED_KEY_USAGE *usage = EXTENDED_KEY_USAGE_new();
    bool good = usage && sk_ASN1_OBJECT_push(usage, OBJ_nid2obj(purpose)) > 0 &&
                X509_add1_ext_i2d(certificate, NID_ext_key_usage, usage, 0, 0) > 0;
    EXTENDED_KEY_USAGE_free(usage);
    return good;
}

static ASN1_OCTET_STRING *key_identifier(X509 *certificate)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned count = 0;
    ASN1_OCTET_STRING *identifier = ASN1_OCTET_STRING_new();
    // RFC 5280, 4.2.1.2, method 1: SHA-1 of the public key; it names, it does not protect.
    if (identifier && X509_pubkey_digest(certificate, EVP_sha1(), digest, &count) &&
        ASN1_OCTET_STRING_set(identifier, digest, (int)count))
        return identifier;
    ASN1_OCTET_STRING_free(identifier);
    return NULL;
}

static bool add_key_identifiers(X509 *certificate, X509 *issuer)
{
    ASN1_OCTET_STRING *own = key_identifier(certificate);
    AUTHORITY_KEYID *authority = AUTHORITY_KEYID_new();
    bool good = own && X509_add1_ext_i2d(certificate, NID_subject_key_identifier, own, 0, 0) > 0;
    if (good && authority) {
        authority->keyid = key_identifier(issuer);
        good = authority->keyid &&
               X509_add1_ext_i2d(certificate, NID_authority_key_identifier, authority, 0, 0) > 0;
    }
    good = good && authority;
    AUTHORITY_KEYID_free(authority);
    ASN1_OCTET_STRING_free(own);
    return good;
}

static bool add_extensions(X509 *certificate, const struct tlc_certs_request *request, X509 *issuer)
{
    bool ca = request->role == TLC_CERTS_CA;
    if (!add_basic_constraints(certificate, request) || !add_key_usage(certificate, ca))
        return false;
    if (!ca && !add_purpose(certificate,
                            request->role == TLC_CERTS_SERVER ? NID_server_auth : NID_client_auth))
        return false;
    if (request->role == TLC_CERTS_SERVER && !add_hosts(certificate, request->extra_hosts))
        return false;
    return add_key_identifiers(certificate, issuer);
}

// 159 random bits with the highest of them set, so that every serial takes the same 20 bytes
// (RFC 5280, 4.1.2.2).
static bool set_serial(X509 *certificate)
{
    unsigned char bytes[20];
    if (RAND_bytes(bytes, sizeof bytes) != 1)
        return false;
    bytes[0] = (unsigned char)((bytes[0] & 0x7f) | 0x40);
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    bool good = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    return good;
}

static bool set_names(X509 *certificate, const char *common_name, const X509 *issuer)
{
    X509_NAME *name = X509_NAME_new();
    bool good = name &&
                X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                           (const unsigned char *)common_name, -1, -1, 0) &&
                X509_set_subject_name(certificate, name) &&
                X509_set_issuer_name(certificate, issuer ? X509_get_subject_name(issuer) : name);
    X509_NAME_free(name);
    return good;
}

// ML-DSA and Ed25519 hash inside.
static const EVP_MD *digest_for(EVP_PKEY *key)
{
    char name[64];
    if (EVP_PKEY_get_default_digest_name(key, name, sizeof name) == 2 &&
        (!*name || !strcmp(name, "UNDEF")))
        return NULL;
    return EVP_sha256();
}

enum tlc_status tlc_certs_issue(const struct tlc_certs_request *request,
                                const struct tlc_certs_issuer *issuer, X509 **certificate,
                                struct tlc_error *error)
{
    X509 *made = X509_new();
    X509 *above = issuer->certificate ? issuer->certificate : made;
    EVP_PKEY *signer = issuer->key ? issuer->key : request->key;
    *certificate = NULL;
    if (made && X509_set_version(made, X509_VERSION_3) && set_serial(made) &&
        set_names(made, request->common_name, issuer->certificate) &&
        ASN1_TIME_set(X509_getm_notBefore(made), request->validity.not_before) &&
        ASN1_TIME_set(X509_getm_notAfter(made), request->validity.not_after) &&
        X509_set_pubkey(made, request->key) && add_extensions(made, request, above) &&
        X509_sign(made, signer, digest_for(signer)) > 0) {
        *certificate = made;
        return TLC_OK;
    }
    X509_free(made);
    return tlc_certs_fail(error, "certs: make a certificate: %s", request->common_name);
}
