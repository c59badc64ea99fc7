#include "workload/network_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

enum tlc_status tlc_arm_codes(const struct tlc_arm *arm, uint16_t *groups, size_t *group_count,
                              uint16_t *cipher, struct tlc_error *error)
{
    *cipher = arm->cipher ? tlc_code(TLC_NAME_CIPHER, arm->cipher) : 0;
    return tlc_codes_parse(TLC_NAME_GROUP, arm->groups, groups, TLC_ARM_GROUPS, group_count, error);
}

static enum tlc_share share_of(const char *name)
{
    return !strcmp(name, "cheap")       ? TLC_SHARE_CHEAP
           : !strcmp(name, "reused")    ? TLC_SHARE_REUSED
           : !strcmp(name, "unreduced") ? TLC_SHARE_UNREDUCED
           : !strcmp(name, "low-order") ? TLC_SHARE_LOW_ORDER
                                        : TLC_SHARE_HONEST;
}

static enum tlc_tls13_stop stop_of(const char *name)
{
    return !strcmp(name, "after-client-hello")    ? TLC_STOP_AFTER_CLIENT_HELLO
           : !strcmp(name, "after-server-flight") ? TLC_STOP_AFTER_SERVER_FLIGHT
           : !strcmp(name, "after-hello-retry")   ? TLC_STOP_AFTER_HELLO_RETRY
                                                  : TLC_STOP_COMPLETE;
}

// The client begins with a key share of a group that the server lacks.
static enum tlc_status begin_elsewhere(struct tlc_target_options *target, struct tlc_error *error)
{
    uint16_t decoy = tlc_group_outside(target->groups, target->group_count);
    if (!decoy || target->group_count == TLC_ARM_GROUPS)
        return tlc_fail(error, TLC_USAGE,
                        "hello_retry: the server has every group that the client could try first");
    target->groups[target->group_count++] = decoy;
    target->wrong_share_first = true;
    target->expect.allow_hello_retry_request = target->expect.require_hello_retry_request = true;
    return TLC_OK;
}

static enum tlc_close close_of(const char *name)
{
    return !strcmp(name, "fin")     ? TLC_CLOSE_FIN
           : !strcmp(name, "reset") ? TLC_CLOSE_RESET
                                    : TLC_CLOSE_NOTIFY;
}

// What the generator must see on every handshake: what the arm asked for, and the certificate of
// the probe.
static void expect_of(const struct tlc_arm *arm, const json_t *evidence,
                      struct tlc_target_options *target)
{
    target->expect = (struct tlc_expectation){
        .version = tlc_code(TLC_NAME_VERSION, arm->version),
        .group = target->groups[0],
        .cipher = target->cipher_count ? target->ciphers[0] : 0,
        .resumed = strcmp(arm->resumption, "none") ? -1 : 0,
        .refusal = tlc_share_is_invalid(target->share),
        .allow_hello_retry_request = arm->cookie,
        .require_hello_retry_request = arm->cookie,
        .require_cookie = arm->cookie,
    };
    const char *hex =
        json_string_value(json_object_get(json_object_get(evidence, "certificate"), "sha256"));
    // Of many names each has a certificate of its own, which the engine knows.
    if (!hex || strlen(hex) != 64 || arm->names)
        return;
    target->expect.certificate_known = true;
    for (size_t i = 0; i < 32; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
        target->expect.certificate_sha256[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
}

static unsigned psk_modes_of(const char *resumption)
{
    return !strcmp(resumption, "psk_ke") ? TLC_PSK_KE : TLC_PSK_DHE_KE;
}

// Before TLS 1.3 a ticket is part of the handshake, and a resumption may bring none (RFC
// 5077, 3.3).
static unsigned awaited_tickets(const struct tlc_arm *arm, const json_t *evidence)
{
    if (tlc_code(TLC_NAME_VERSION, arm->version) < TLC_TLS13)
        return 0;
    return (unsigned)json_integer_value(json_object_get(evidence, "tickets"));
}

enum tlc_status tlc_arm_client(const struct tlc_arm *arm, const char *certificates,
                               struct tlc_certs_pair *pair, struct tlc_error *error)
{
    char name[64];
    *pair = (struct tlc_certs_pair){0};
    if (!arm->client_auth)
        return TLC_OK;
    snprintf(name, sizeof name, "client-%.50s", arm->client_auth);
    return tlc_certs_read(certificates, name, pair, error);
}

enum tlc_status tlc_arm_target(const struct tlc_arm *arm, const struct tlc_arm_peer *peer,
                               struct tlc_arm_loan *loan, struct tlc_target_options *target,
                               struct tlc_error *error)
{
    enum tlc_status status = tlc_arm_client(arm, peer->certificates, &loan->client, error);
    if (status != TLC_OK)
        return status;
    *target = (struct tlc_target_options){
        .address = peer->address,
        .engine = strcmp(arm->engine, "full") ? TLC_ENGINE_LEAN : TLC_ENGINE_FULL,
        .plugin = peer->plugin,
        .min_version = tlc_code(TLC_NAME_VERSION, arm->version),
        .max_version = tlc_code(TLC_NAME_VERSION, arm->version),
        .share = share_of(arm->share),
        .stop = stop_of(arm->stop),
        .split_every = arm->split,
        .padding_bytes = arm->padding,
        .close = close_of(arm->close),
        .server_name = "localhost",
        .verify_every = 256,
        .timeout_ms = arm->timeout_us / 1000,
        .echo_bytes = arm->echo,
        .resume_ratio = arm->resume_ratio,
        .visitors = arm->visitors,
        .psk_modes = psk_modes_of(arm->resumption),
        .tickets_expected = awaited_tickets(arm, peer->evidence),
        .names = arm->names,
        .names_folder = arm->names ? peer->certificates : NULL,
        .names_key_type = arm->names ? arm->certificate : NULL,
        .visits_zipf = !strcmp(arm->visits, "zipf"),
        .visits_seed = 1,
        .client_chain_pem = loan->client.chain_pem,
        .client_key_pem = loan->client.key_pem,
    };
    loan->alpn[0] = arm->alpn;
    loan->alpn[1] = NULL;
    if (arm->alpn)
        target->alpn = loan->alpn;
    status = tlc_arm_codes(arm, target->groups, &target->group_count, &target->ciphers[0], error);
    if (status != TLC_OK)
        return status;
    target->cipher_count = target->ciphers[0] ? 1 : 0;
    expect_of(arm, peer->evidence, target);
    return arm->hello_retry ? begin_elsewhere(target, error) : TLC_OK;
}
