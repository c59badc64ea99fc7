#include "workload/arm_support.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "certs/certs.h"
#include "stacks/verdict.h"
#include "workload/network_target.h"

static enum tlc_status require(const struct tlc_arm *arm, const struct tlc_stack_plugin *plugin,
                               enum tlc_stack_feature kind, uint16_t code, struct tlc_error *error)
{
    struct tlc_stack_error why = {{0}};
    if (plugin->stack->supports(kind, code, &why))
        return TLC_OK;
    return tlc_fail(error, TLC_ENVIRONMENT, "arm '%s': stack %s: %s", arm->name, plugin->id,
                    why.text[0] ? why.text : "does not support what the arm asks for");
}

static uint16_t signature_of_certificate(const char *certificate)
{
    static const struct {
        const char *certificate;
        uint16_t scheme;
    } schemes[] = {{"ecdsa-p256", 0x0403}, {"ecdsa-p384", 0x0503}, {"ed25519", 0x0807},
                   {"mldsa-44", 0x0904},   {"mldsa-65", 0x0905},   {"mldsa-87", 0x0906}};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (!strcmp(schemes[i].certificate, certificate))
            return schemes[i].scheme;
    return 0x0804; // rsa_pss_rsae_sha256 for every RSA key
}

static enum tlc_status require_verdict(const struct tlc_arm *arm,
                                       const struct tlc_stack_plugin *plugin,
                                       struct tlc_error *error)
{
    struct tlc_error why;
    enum tlc_status status = tlc_stack_require_verdict(plugin, &why);
    if (status == TLC_OK)
        return TLC_OK;
    return tlc_fail(error, status, "arm '%s': %s", arm->name, why.text);
}

enum tlc_status tlc_arm_supported(const struct tlc_arm *arm, const struct tlc_stack_plugin *plugin,
                                  struct tlc_error *error)
{
    uint16_t groups[TLC_ARM_GROUPS], cipher;
    size_t count;
    enum tlc_status status = tlc_arm_codes(arm, groups, &count, &cipher, error);
    if (status == TLC_OK)
        status = require(arm, plugin, TLC_FEATURE_VERSION, tlc_code(TLC_NAME_VERSION, arm->version),
                         error);
    for (size_t i = 0; status == TLC_OK && i < count; i++)
        status = require(arm, plugin, TLC_FEATURE_GROUP, groups[i], error);
    if (status == TLC_OK && cipher)
        status = require(arm, plugin, TLC_FEATURE_CIPHER, cipher, error);
    if (status == TLC_OK)
        status = require(arm, plugin, TLC_FEATURE_SIGNATURE,
                         signature_of_certificate(arm->certificate), error);
    if (status == TLC_OK && !strncmp(arm->resumption, "psk_", 4))
        status = require(arm, plugin, TLC_FEATURE_PSK_MODE, !strcmp(arm->resumption, "psk_dhe_ke"),
                         error);
    if (status == TLC_OK && !strcmp(arm->resumption, "session-id"))
        status = require(arm, plugin, TLC_FEATURE_TICKETS, TLC_TICKETS_STATEFUL, error);
    if (status == TLC_OK && arm->cookie)
        status = require(arm, plugin, TLC_FEATURE_COOKIE, 0, error);
    if (status == TLC_OK && arm->names)
        status = require(arm, plugin, TLC_FEATURE_SNI_TABLE, 0, error);
    if (status == TLC_OK && arm->client_auth)
        status = require(arm, plugin, TLC_FEATURE_CLIENT_AUTH, 0, error);
    if (status == TLC_OK && arm->client_auth)
        status = require(arm, plugin, TLC_FEATURE_SIGNATURE,
                         signature_of_certificate(arm->client_auth), error);
    return status == TLC_OK ? require_verdict(arm, plugin, error) : status;
}

enum tlc_status tlc_arm_certificates(const struct tlc_arm *arm, const char *base, char *folder,
                                     size_t capacity, struct tlc_error *error)
{
    bool leaf = !strcmp(arm->authority, "leaf");
    const char *const names[] = {arm->certificate, NULL};
    int length = snprintf(folder, capacity, "%s/certs-%u%s%s", base, arm->intermediates,
                          leaf ? "-" : "", leaf ? arm->certificate : "");
    if (length < 0 || (size_t)length >= capacity)
        return tlc_fail(error, TLC_ENVIRONMENT, "certs: %.100s...: path too long", base);
    struct tlc_certs_options options = {.directory = folder,
                                        .intermediates = arm->intermediates,
                                        .client = arm->client_auth,
                                        .numbered = arm->certificate,
                                        .numbered_count = arm->names};
    if (leaf) {
        options.names = names;
        options.authority = arm->certificate;
    }
    return tlc_certs_make(&options, NULL, error);
}
