#include "tls13/config.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "tls13/messages.h"

#define MAX_PADDING 12288 // leaves room for the rest of a ClientHello in one record

static bool put_number(struct tlc_buffer *out, unsigned width, size_t value)
{
    uint8_t bytes[4];
    for (unsigned i = 0; i < width; i++)
        bytes[i] = (uint8_t)(value >> (8 * (width - 1 - i)));
    return tlc_buffer_append(out, bytes, width);
}

static bool put_codes(struct tlc_buffer *out, uint16_t extension, const uint16_t *codes,
                      size_t count)
{
    bool done = put_number(out, 2, extension) && put_number(out, 2, 2 * count + 2) &&
                put_number(out, 2, 2 * count);
    for (size_t i = 0; done && i < count; i++)
        done = put_number(out, 2, codes[i]);
    return done;
}

// RFC 6066, 3
static bool put_server_name(struct tlc_buffer *out, const char *name)
{
    size_t count = strlen(name);
    return put_number(out, 2, TLC_EXTENSION_SERVER_NAME) && put_number(out, 2, count + 5) &&
           put_number(out, 2, count + 3) && put_number(out, 1, 0) && put_number(out, 2, count) &&
           tlc_buffer_append(out, (const uint8_t *)name, count);
}

static bool put_alpn(struct tlc_buffer *out, const struct tlc_buffer *names)
{
    return put_number(out, 2, TLC_EXTENSION_ALPN) && put_number(out, 2, names->count + 2) &&
           put_number(out, 2, names->count) && tlc_buffer_append(out, names->bytes, names->count);
}

static bool put_psk_modes(struct tlc_buffer *out, unsigned modes)
{
    unsigned count = (modes & 1) + (modes >> 1 & 1);
    return put_number(out, 2, TLC_EXTENSION_PSK_MODES) && put_number(out, 2, count + 1) &&
           put_number(out, 1, count) && (!(modes & 1) || put_number(out, 1, 1)) &&
           (!(modes & 2) || put_number(out, 1, 0));
}

// supported_versions with TLS 1.3 alone
static bool put_versions(struct tlc_buffer *out)
{
    return put_number(out, 2, TLC_EXTENSION_SUPPORTED_VERSIONS) && put_number(out, 2, 3) &&
           put_number(out, 1, 2) && put_number(out, 2, TLC_TLS13);
}

static bool encode_extensions(struct tlc_tls13_config *config, const char *server_name)
{
    struct tlc_buffer *out = &config->extensions;
    return (!config->server_name || put_server_name(out, server_name)) &&
           put_codes(out, TLC_EXTENSION_SUPPORTED_GROUPS, config->groups, config->group_count) &&
           (config->alpn.count == 0 || put_alpn(out, &config->alpn)) &&
           put_codes(out, TLC_EXTENSION_SIGNATURE_ALGORITHMS, tlc_signature_schemes,
                     tlc_signature_scheme_count) &&
           put_versions(out) && (config->psk_modes == 0 || put_psk_modes(out, config->psk_modes));
}

static enum tlc_status take_groups(struct tlc_tls13_config *config,
                                   const struct tlc_tls13_options *options, struct tlc_error *error)
{
    if (options->group_count == 0 || options->group_count > TLC_MAX_GROUPS)
        return tlc_fail(error, TLC_USAGE, "lean client: groups: between 1 and %d are needed",
                        TLC_MAX_GROUPS);
    for (size_t i = 0; i < options->group_count; i++) {
        if (tlc_group_find(options->groups[i]) == NULL)
            return tlc_fail(error, TLC_USAGE,
                            "lean client: group: %s is not served; use the full engine for it",
                            tlc_name(TLC_NAME_GROUP, options->groups[i]));
        config->groups[i] = options->groups[i];
    }
    config->group_count = options->group_count;
    if (options->wrong_share_first && options->group_count < 2)
        return tlc_fail(error, TLC_USAGE,
                        "lean client: wrong share first: it needs a second group; name the group "
                        "for the wrong share behind the wanted one");
    config->first_group = options->wrong_share_first ? 1 : 0;
    return TLC_OK;
}

static enum tlc_status take_ciphers(struct tlc_tls13_config *config,
                                    const struct tlc_tls13_options *options,
                                    struct tlc_error *error)
{
    if (options->cipher_count == 0 || options->cipher_count > TLC_MAX_CIPHERS)
        return tlc_fail(error, TLC_USAGE, "lean client: ciphers: between 1 and %d are needed",
                        TLC_MAX_CIPHERS);
    for (size_t i = 0; i < options->cipher_count; i++) {
        if (tlc_suite_find(options->ciphers[i]) == NULL)
            return tlc_fail(error, TLC_USAGE,
                            "lean client: cipher: %s is not a TLS 1.3 suite it serves",
                            tlc_name(TLC_NAME_CIPHER, options->ciphers[i]));
        config->ciphers[i] = options->ciphers[i];
    }
    config->cipher_count = options->cipher_count;
    return TLC_OK;
}

static enum tlc_status take_alpn(struct tlc_tls13_config *config, const char *const *names,
                                 struct tlc_error *error)
{
    for (; names != NULL && *names != NULL; names++) {
        size_t count = strlen(*names);
        if (count == 0 || count > 255 || config->alpn.count + count > 2048)
            return tlc_fail(error, TLC_USAGE,
                            "lean client: ALPN: a name has 1 to 255 bytes, all together 2048");
        if (!put_number(&config->alpn, 1, count) ||
            !tlc_buffer_append(&config->alpn, (const uint8_t *)*names, count))
            return tlc_fail(error, TLC_ENVIRONMENT, "lean client: ALPN: out of memory");
    }
    return TLC_OK;
}

// RFC 6066, 3: literal addresses are not names.
static bool is_address(const char *name)
{
    struct in6_addr address;
    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

static bool can_be_spoiled(const struct tlc_tls13_config *config, enum tlc_share share)
{
    const struct tlc_group *group = tlc_group_find(config->groups[0]);
    return share == TLC_SHARE_LOW_ORDER ? group->curve == TLC_CURVE_X25519
                                        : group->kem != TLC_KEM_NONE;
}

static enum tlc_status take_rest(struct tlc_tls13_config *config,
                                 const struct tlc_tls13_options *options, struct tlc_error *error)
{
    const char *name = options->server_name;
    if (name != NULL && strlen(name) > 255)
        return tlc_fail(error, TLC_USAGE, "lean client: server name: longer than 255 bytes");
    if (options->padding_bytes > MAX_PADDING)
        return tlc_fail(error, TLC_USAGE, "lean client: padding: %zu bytes, at most %d",
                        options->padding_bytes, MAX_PADDING);
    if (options->psk_modes > 3)
        return tlc_fail(error, TLC_USAGE,
                        "lean client: psk modes: only bits 0 and 1 have a meaning");
    if (tlc_share_is_invalid(options->share) &&
        (options->stop == TLC_STOP_COMPLETE || options->stop == TLC_STOP_AFTER_SERVER_FLIGHT))
        return tlc_fail(error, TLC_USAGE,
                        "lean client: share: one that servers refuse ends at their answer; stop "
                        "after-client-hello");
    if (tlc_share_is_invalid(options->share) && !can_be_spoiled(config, options->share))
        return tlc_fail(error, TLC_USAGE,
                        "lean client: share: %s has no such part; an unreduced key takes an ML-KEM "
                        "group, a low-order point one with X25519",
                        tlc_name(TLC_NAME_GROUP, config->groups[0]));
    config->server_name = name != NULL && *name != '\0' && !is_address(name);
    config->share = options->share;
    config->stop = options->stop;
    config->verify_every = options->verify_every;
    config->padding_bytes = options->padding_bytes;
    config->psk_modes = options->psk_modes;
    config->count_tickets_only = options->count_tickets_only;
    config->certificate_known = options->certificate_sha256 != NULL;
    if (config->certificate_known)
        memcpy(config->certificate_sha256, options->certificate_sha256, 32);
    return TLC_OK;
}

// Makes what every handshake uses, so that a missing algorithm is found now.
static enum tlc_status prepare(struct tlc_tls13_config *config, const char *server_name,
                               struct tlc_error *error)
{
    enum tlc_status status = tlc_algorithms_fetch(error);
    if (status != TLC_OK)
        return status;
    config->runtime = calloc(1, sizeof(*config->runtime));
    if (config->runtime == NULL || !encode_extensions(config, server_name))
        return tlc_fail(error, TLC_ENVIRONMENT, "lean client: configuration: out of memory");
    config->runtime->shares = calloc(config->group_count, sizeof(*config->runtime->shares));
    if (config->runtime->shares == NULL)
        return tlc_fail(error, TLC_ENVIRONMENT, "lean client: configuration: out of memory");
    for (size_t i = 0; i < config->group_count; i++)
        if (tlc_config_standing_share(config, i) == NULL)
            return tlc_fail(error, TLC_ENVIRONMENT,
                            "lean client: group: libcrypto makes no key for %s; it takes OpenSSL "
                            "3.5 with its default provider",
                            tlc_name(TLC_NAME_GROUP, config->groups[i]));
    return TLC_OK;
}

enum tlc_status tlc_tls13_config_new(const struct tlc_tls13_options *options,
                                     struct tlc_tls13_config **config, struct tlc_error *error)
{
    enum tlc_status status;
    struct tlc_tls13_config *made = calloc(1, sizeof(*made));
    *config = NULL;
    if (made == NULL)
        return tlc_fail(error, TLC_ENVIRONMENT, "lean client: configuration: out of memory");
    if ((status = take_groups(made, options, error)) != TLC_OK ||
        (status = take_ciphers(made, options, error)) != TLC_OK ||
        (status = take_rest(made, options, error)) != TLC_OK ||
        (status = take_alpn(made, options->alpn, error)) != TLC_OK ||
        (status = prepare(made, options->server_name, error)) != TLC_OK) {
        tlc_tls13_config_free(made);
        return status;
    }
    *config = made;
    return TLC_OK;
}

static void free_runtime(struct tlc_tls13_runtime *runtime, size_t group_count)
{
    for (size_t i = 0; runtime->shares != NULL && i < group_count; i++) {
        tlc_key_pair_free(&runtime->shares[i].pair);
        tlc_cheap_free(&runtime->shares[i].cheap);
    }
    free(runtime->shares);
    tlc_key_maker_free(&runtime->maker);
    tlc_leaf_cache_free(&runtime->leaf);
    tlc_aead_engine_free(&runtime->opener);
    tlc_aead_engine_free(&runtime->sealer);
    free(runtime);
}

void tlc_tls13_config_free(struct tlc_tls13_config *config)
{
    if (config == NULL)
        return;
    if (config->runtime != NULL)
        free_runtime(config->runtime, config->group_count);
    tlc_buffer_free(&config->alpn);
    tlc_buffer_free(&config->extensions);
    free(config);
}

int tlc_config_group_index(const struct tlc_tls13_config *config, uint16_t group)
{
    for (size_t i = 0; i < config->group_count; i++)
        if (config->groups[i] == group)
            return (int)i;
    return -1;
}

bool tlc_config_has_cipher(const struct tlc_tls13_config *config, uint16_t cipher)
{
    for (size_t i = 0; i < config->cipher_count; i++)
        if (config->ciphers[i] == cipher)
            return true;
    return false;
}

bool tlc_config_has_alpn(const struct tlc_tls13_config *config, const uint8_t *name, size_t count)
{
    for (size_t at = 0; at < config->alpn.count; at += 1u + config->alpn.bytes[at])
        if (config->alpn.bytes[at] == count &&
            memcmp(config->alpn.bytes + at + 1, name, count) == 0)
            return true;
    return false;
}

bool tlc_config_verify_next(const struct tlc_tls13_config *config)
{
    unsigned *left = &config->runtime->until_verify;
    if (config->verify_every == 0)
        return false;
    if (*left == 0)
        *left = config->verify_every;
    return (*left)-- == config->verify_every;
}

struct tlc_standing_share *tlc_config_standing_share(const struct tlc_tls13_config *config,
                                                     size_t group_index)
{
    struct tlc_tls13_runtime *runtime = config->runtime;
    struct tlc_standing_share *share = &runtime->shares[group_index];
    const struct tlc_group *group = tlc_group_find(config->groups[group_index]);
    if (share->made)
        return share;
    if (config->share == TLC_SHARE_HONEST || config->share == TLC_SHARE_REUSED)
        share->made = tlc_key_pair_make(&runtime->maker, group, &share->pair, share->share);
    else
        share->made = tlc_cheap_make(group, &share->cheap);
    // Behind a HelloRetryRequest the second share is the one to be refused.
    if (share->made && tlc_share_is_invalid(config->share) && group_index == 0)
        share->made = tlc_cheap_spoil(group, config->share, &share->cheap);
    return share->made ? share : NULL;
}
