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

bool tlc_neutral_is_address(const char *name)
{
    unsigned char address[16];
    return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}
