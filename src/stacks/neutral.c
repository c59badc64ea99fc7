#include "stacks/neutral.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "base/names.h"

bool tlc_neutral_refuse(struct tlc_stack_error *error, const char *text)
{
    snprintf(error->text, sizeof error->text, "%s", text);
    return false;
}

bool tlc_neutral_versions(const struct tlc_stack_config *config, uint16_t *low, uint16_t *high,
                          struct tlc_stack_error *error)
{
    bool newer = false, older = false;
    for (size_t i = 0; i < config->cipher_count; i++) {
        newer |= config->ciphers[i] >> 8 == 0x13; // RFC 8446, B.4
        older |= config->ciphers[i] >> 8 != 0x13;
    }
    *low = config->min_version ? config->min_version : TLC_TLS12;
    *high = config->max_version ? config->max_version : TLC_TLS13;
    if (*low < TLC_TLS12 || *high > TLC_TLS13)
        return tlc_neutral_refuse(error, "versions: not served");
    if (config->cipher_count && !newer && *high > TLC_TLS12)
        *high = TLC_TLS12;
    if (config->cipher_count && !older && *low < TLC_TLS13)
        *low = TLC_TLS13;
    return *low <= *high ||
           tlc_neutral_refuse(error, "cipher suites: none for the versions asked for");
}

bool tlc_neutral_client_auth(enum tlc_stack_role role, const struct tlc_stack_config *config,
                             bool *asks, struct tlc_stack_error *error)
{
    *asks = role == TLC_STACK_SERVER && config->client_auth != TLC_CLIENT_AUTH_NONE;
    return !*asks || config->trust_pem ||
           tlc_neutral_refuse(error,
                              "client authentication: no CA to verify client certificates against");
}

bool tlc_neutral_supports(enum tlc_stack_feature kind)
{
    switch (kind) {
    case TLC_FEATURE_TICKET_KEYS:
    case TLC_FEATURE_CLIENT_AUTH:
    case TLC_FEATURE_SNI_TABLE:
    case TLC_FEATURE_MEMORY_TRANSPORT:
        return true;
    case TLC_FEATURE_VERSION:
    case TLC_FEATURE_GROUP:
    case TLC_FEATURE_SIGNATURE:
    case TLC_FEATURE_CIPHER:
    case TLC_FEATURE_PSK_MODE:
    case TLC_FEATURE_TICKETS:
    case TLC_FEATURE_COOKIE:
        return false;
    }
    return false;
}

// Who has what most lack, for the refusal.
static const char *who_has(enum tlc_stack_feature kind, uint16_t code)
{
    bool hybrid = kind == TLC_FEATURE_GROUP && code >> 8 == 0x11;
    bool mldsa = kind == TLC_FEATURE_SIGNATURE && code >> 8 == 0x09;
    if (hybrid || mldsa)
        return "; OpenSSL 3.5, wolfSSL and AWS-LC have it";
    return kind == TLC_FEATURE_GROUP && code >> 8 == 0x02 ? "; OpenSSL 3.5 has it" : "";
}

void tlc_neutral_lacks(struct tlc_stack_error *why, const char *library, const char *version,
                       enum tlc_stack_feature kind, uint16_t code, const char *remedy)
{
    static const enum tlc_name_kind names[] = {[TLC_FEATURE_VERSION] = TLC_NAME_VERSION,
                                               [TLC_FEATURE_GROUP] = TLC_NAME_GROUP,
                                               [TLC_FEATURE_SIGNATURE] = TLC_NAME_SIGNATURE,
                                               [TLC_FEATURE_CIPHER] = TLC_NAME_CIPHER};
    if ((size_t)kind < sizeof names / sizeof *names)
        snprintf(why->text, sizeof why->text, "this build of %s %s has no %s%s", library, version,
                 tlc_name(names[kind], code), *remedy ? remedy : who_has(kind, code));
    else if (kind == TLC_FEATURE_TICKETS && code == TLC_TICKETS_STATEFUL)
        snprintf(why->text, sizeof why->text,
                 "%s %s keeps no TLS 1.3 sessions in the server; OpenSSL and wolfSSL do", library,
                 version);
    else if (kind == TLC_FEATURE_COOKIE)
        snprintf(why->text, sizeof why->text,
                 "%s %s has no cookie for a server of TLS 1.3; OpenSSL has", library, version);
    else
        snprintf(why->text, sizeof why->text, "%s %s does not serve feature %u with value %u",
                 library, version, (unsigned)kind, code);
}

bool tlc_neutral_is_address(const char *name)
{
    unsigned char address[16];
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}
