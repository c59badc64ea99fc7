// What this build of the library can serve, asked from the library itself.
#include <openssl/err.h>
#include <stdio.h>

#include "stacks/openssl_plugin.h"

// Without this option (new in 3.3) a server takes psk_dhe_ke whenever a client offers both, as
// OpenSSL's client always does, so that psk_ke cannot be had reliably.
#ifdef SSL_OP_PREFER_NO_DHE_KEX
static const bool prefers_psk_ke = true;
#else
static const bool prefers_psk_ke = false;
#endif

static bool supports_version(SSL_CTX *ctx, uint16_t code)
{
    return SSL_CTX_set_min_proto_version(ctx, code) == 1 &&
           SSL_CTX_set_max_proto_version(ctx, code) == 1;
}

// Suites of switched-off algorithms can be named but are not among those that would be offered.
static bool supports_cipher(SSL_CTX *ctx, uint16_t code)
{
    bool found = false;
    if (!openssl_set_ciphers(ctx, &code, 1))
        return false;
    SSL *ssl = SSL_new(ctx);
    STACK_OF(SSL_CIPHER) *offered = ssl ? SSL_get1_supported_ciphers(ssl) : NULL;
    for (int i = 0; offered && i < sk_SSL_CIPHER_num(offered); i++)
        found |= SSL_CIPHER_get_protocol_id(sk_SSL_CIPHER_value(offered, i)) == code;
    sk_SSL_CIPHER_free(offered);
    SSL_free(ssl);
    return found;
}

static bool ask(SSL_CTX *ctx, enum tlc_stack_feature kind, uint16_t code)
{
    switch (kind) {
    case TLC_FEATURE_VERSION:
        return supports_version(ctx, code);
    case TLC_FEATURE_GROUP:
        return openssl_set_groups(ctx, &code, 1);
    case TLC_FEATURE_SIGNATURE:
        return openssl_set_signatures(ctx, &code, 1);
    case TLC_FEATURE_CIPHER:
        return supports_cipher(ctx, code);
    case TLC_FEATURE_PSK_MODE:
        return code == 1 || (code == 0 && prefers_psk_ke);
    case TLC_FEATURE_TICKETS:
        return code <= TLC_TICKETS_STATEFUL;
    case TLC_FEATURE_COOKIE:
        return true;
    default:
        return tlc_neutral_supports(kind);
    }
}

static void say_why(struct tlc_stack_error *why, enum tlc_stack_feature kind, uint16_t code)
{
    const char *version = OpenSSL_version(OPENSSL_VERSION_STRING);
    if (kind == TLC_FEATURE_PSK_MODE && code == 0)
        snprintf(why->text, sizeof why->text, "OpenSSL %s cannot prefer psk_ke; it is in 3.3",
                 version);
    else
        tlc_neutral_lacks(why, "OpenSSL", version, kind, code, "");
}

bool openssl_supports(enum tlc_stack_feature kind, uint16_t code, struct tlc_stack_error *why)
{
    openssl_start();
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());
    bool yes = ctx && ask(ctx, kind, code);
    SSL_CTX_free(ctx);
    ERR_clear_error();
    if (!yes && why)
        say_why(why, kind, code);
    return yes;
}
