// The registry's code points and GnuTLS's names for them; priority strings made of these.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "stacks/gnutls_plugin.h"

// A scheme can have a name in TLS 1.2 and another in TLS 1.3, which ties it to a curve.
struct named_code {
    uint16_t code;
    const char *names[2];
};

static const struct named_code groups[] = {{TLC_GROUP_SECP256R1, {"SECP256R1"}},
                                           {TLC_GROUP_SECP384R1, {"SECP384R1"}},
                                           {TLC_GROUP_SECP521R1, {"SECP521R1"}},
                                           {TLC_GROUP_X25519, {"X25519"}},
                                           {TLC_GROUP_X448, {"X448"}},
                                           {TLC_GROUP_MLKEM768, {"MLKEM768"}},
                                           {TLC_GROUP_MLKEM1024, {"MLKEM1024"}},
                                           {TLC_GROUP_SECP256R1MLKEM768, {"SECP256R1-MLKEM768"}},
                                           {TLC_GROUP_X25519MLKEM768, {"X25519-MLKEM768"}},
                                           {TLC_GROUP_SECP384R1MLKEM1024, {"SECP384R1-MLKEM1024"}}};

static const struct named_code schemes[] = {{0x0401, {"RSA-SHA256"}},
                                            {0x0501, {"RSA-SHA384"}},
                                            {0x0601, {"RSA-SHA512"}},
                                            {0x0403, {"ECDSA-SHA256", "ECDSA-SECP256R1-SHA256"}},
                                            {0x0503, {"ECDSA-SHA384", "ECDSA-SECP384R1-SHA384"}},
                                            {0x0603, {"ECDSA-SHA512", "ECDSA-SECP521R1-SHA512"}},
                                            {0x0804, {"RSA-PSS-RSAE-SHA256"}},
                                            {0x0805, {"RSA-PSS-RSAE-SHA384"}},
                                            {0x0806, {"RSA-PSS-RSAE-SHA512"}},
                                            {0x0807, {"EdDSA-Ed25519"}},
                                            {0x0808, {"EdDSA-Ed448"}},
                                            {0x0809, {"RSA-PSS-SHA256"}},
                                            {0x080a, {"RSA-PSS-SHA384"}},
                                            {0x080b, {"RSA-PSS-SHA512"}},
                                            {0x0904, {"ML-DSA-44"}},
                                            {0x0905, {"ML-DSA-65"}},
                                            {0x0906, {"ML-DSA-87"}}};

static const struct named_code *find(const struct named_code *list, size_t count, uint16_t code)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].code == code)
            return &list[i];
    return NULL;
}

static const struct named_code *find_group(uint16_t code)
{
    return find(groups, sizeof groups / sizeof *groups, code);
}

static const struct named_code *find_scheme(uint16_t code)
{
    return find(schemes, sizeof schemes / sizeof *schemes, code);
}

bool gtls_has_group(uint16_t code)
{
    const struct named_code *group = find_group(code);
    gnutls_group_t wanted = group ? gnutls_group_get_id(group->names[0]) : GNUTLS_GROUP_INVALID;
    if (wanted == GNUTLS_GROUP_INVALID)
        return false;
    for (const gnutls_group_t *one = gnutls_group_list(); *one; one++)
        if (*one == wanted)
            return true;
    return false;
}

bool gtls_has_signature(uint16_t code)
{
    const struct named_code *scheme = find_scheme(code);
    gnutls_sign_algorithm_t wanted =
        scheme ? gnutls_sign_get_id(scheme->names[0]) : GNUTLS_SIGN_UNKNOWN;
    if (wanted == GNUTLS_SIGN_UNKNOWN)
        return false;
    // The list of schemes names what this build cannot do; that of keys does not.
    gnutls_pk_algorithm_t key = gnutls_sign_get_pk_algorithm(wanted);
    for (const gnutls_pk_algorithm_t *one = gnutls_pk_list(); *one; one++)
        if (*one == key)
            return true;
    return false;
}

uint16_t gtls_signature_code(gnutls_sign_algorithm_t scheme)
{
    const char *name = gnutls_sign_get_name(scheme);
    for (size_t i = 0; name && i < sizeof schemes / sizeof *schemes; i++)
        for (size_t k = 0; k < 2 && schemes[i].names[k]; k++)
            if (!strcmp(schemes[i].names[k], name))
                return schemes[i].code;
    return 0;
}

struct suite {
    gnutls_kx_algorithm_t exchange;
    gnutls_cipher_algorithm_t cipher;
    gnutls_mac_algorithm_t mac;
};

// The suite at GnuTLS's index; 0: none there.
static uint16_t suite_at(size_t index, struct suite *suite)
{
    unsigned char id[2];
    if (!gnutls_cipher_suite_info(index, id, &suite->exchange, &suite->cipher, &suite->mac, NULL))
        return 0;
    return (uint16_t)(id[0] << 8 | id[1]);
}

static bool find_suite(uint16_t code, struct suite *suite)
{
    uint16_t one;
    for (size_t i = 0; (one = suite_at(i, suite)); i++)
        if (one == code)
            return true;
    return false;
}

bool gtls_has_cipher(uint16_t code)
{
    struct suite suite;
    return find_suite(code, &suite);
}

uint16_t gtls_cipher_code(gnutls_session_t session)
{
    const char *name = gnutls_ciphersuite_get(session); // the registry's
    return name ? tlc_code(TLC_NAME_CIPHER, name) : 0;
}

struct text {
    char bytes[2048];
    size_t used;
    bool cut;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(text->bytes + text->used, sizeof text->bytes - text->used, format, arguments);
    va_end(arguments);
    text->cut |= length < 0 || (size_t)length >= sizeof text->bytes - text->used;
    if (!text->cut)
        text->used += (size_t)length;
}

static bool add_groups(struct text *text, const struct tlc_stack_config *config,
                       struct tlc_stack_error *error)
{
    if (config->group_count)
        add(text, ":-GROUP-ALL");
    for (size_t i = 0; i < config->group_count; i++) {
        if (!gtls_has_group(config->groups[i]))
            return tlc_neutral_refuse(error, "groups: one is not in this build of GnuTLS");
        add(text, ":+GROUP-%s", find_group(config->groups[i])->names[0]);
    }
    return true;
}

static bool add_signatures(struct text *text, const struct tlc_stack_config *config,
                           struct tlc_stack_error *error)
{
    if (config->signature_count)
        add(text, ":-SIGN-ALL");
    for (size_t i = 0; i < config->signature_count; i++) {
        if (!gtls_has_signature(config->signatures[i]))
            return tlc_neutral_refuse(error,
                                      "signature schemes: one is not in this build of GnuTLS");
        const struct named_code *scheme = find_scheme(config->signatures[i]);
        for (size_t k = 0; k < 2 && scheme->names[k]; k++)
            add(text, ":+SIGN-%s", scheme->names[k]);
    }
    return true;
}

// A suite is named by its parts: key exchange (TLS 1.2 alone), cipher, MAC.
static bool add_ciphers(struct text *text, const struct tlc_stack_config *config,
                        struct tlc_stack_error *error)
{
    bool older = false;
    for (size_t i = 0; i < config->cipher_count; i++)
        older |= config->ciphers[i] >> 8 != 0x13;
    if (config->cipher_count)
        add(text, ":-CIPHER-ALL:-MAC-ALL%s", older ? ":-KX-ALL" : "");
    for (size_t i = 0; i < config->cipher_count; i++) {
        struct suite suite;
        if (!find_suite(config->ciphers[i], &suite))
            return tlc_neutral_refuse(error, "cipher suites: one is not in this build of GnuTLS");
        add(text, ":+%s:+%s", gnutls_cipher_get_name(suite.cipher), gnutls_mac_get_name(suite.mac));
        if (suite.exchange)
            add(text, ":+%s", gnutls_kx_get_name(suite.exchange));
    }
    return true;
}

// A priority string joins the parts of all suites that it names, which can make more of them.
static bool check_ciphers(gnutls_priority_t priorities, const struct tlc_stack_config *config,
                          struct tlc_stack_error *error)
{
    unsigned index;
    for (unsigned i = 0; config->cipher_count; i++) {
        struct suite suite;
        bool wanted = false;
        int code = gnutls_priority_get_cipher_suite_index(priorities, i, &index);
        if (code == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
            return true;
        if (code == GNUTLS_E_UNKNOWN_CIPHER_SUITE)
            continue;
        uint16_t offered = suite_at(index, &suite);
        for (size_t k = 0; k < config->cipher_count; k++)
            wanted |= config->ciphers[k] == offered;
        if (!wanted)
            return tlc_neutral_refuse(
                error, "cipher suites: GnuTLS cannot offer these without others made of the same "
                       "parts; name one of TLS 1.3 or one of TLS 1.2");
    }
    return true;
}

// Without PSK key exchanges in the string, GnuTLS's clients offer both modes and its servers keep
// the key exchange.
static void add_psk_modes(struct text *text, enum tlc_stack_role role, unsigned modes)
{
    bool server = role == TLC_STACK_SERVER;
    if (modes == TLC_PSK_KE)
        add(text, ":+PSK");
    if (modes == TLC_PSK_DHE_KE && !server)
        add(text, ":+ECDHE-PSK");
    if (modes == (TLC_PSK_DHE_KE | TLC_PSK_KE) && server)
        add(text, ":+ECDHE-PSK:+PSK:%%SERVER_PRECEDENCE");
}

static bool parse(struct tlc_stack_context *context, const struct text *text,
                  struct tlc_stack_error *error)
{
    const char *where = NULL;
    if (context->priorities)
        gnutls_priority_deinit(context->priorities);
    context->priorities = NULL;
    int code = text->cut ? GNUTLS_E_SHORT_MEMORY_BUFFER
                         : gnutls_priority_init(&context->priorities, text->bytes, &where);
    if (code == GNUTLS_E_INVALID_REQUEST && where)
        snprintf(error->text, sizeof error->text, "priority string: not understood from '%.100s'",
                 where);
    else if (code)
        gtls_explain(error, "priority string", code);
    return code == 0;
}

bool gtls_make_priorities(struct tlc_stack_context *context, const struct tlc_stack_config *config,
                          struct tlc_stack_error *error)
{
    struct text text = {.used = 0};
    uint16_t low, high;
    if (!tlc_neutral_versions(config, &low, &high, error))
        return false;
    add(&text, "NORMAL:-VERS-ALL%s%s", high == TLC_TLS13 ? ":+VERS-TLS1.3" : "",
        low == TLC_TLS12 ? ":+VERS-TLS1.2" : "");
    if (!add_groups(&text, config, error) || !add_signatures(&text, config, error) ||
        !add_ciphers(&text, config, error))
        return false;
    if (config->cipher_count &&
        (!parse(context, &text, error) || !check_ciphers(context->priorities, config, error)))
        return false;
    if (context->role == TLC_STACK_SERVER && (config->group_count || config->cipher_count))
        add(&text, ":%%SERVER_PRECEDENCE");
    add_psk_modes(&text, context->role, config->psk_modes);
    if (config->library_options)
        add(&text, ":%s", config->library_options);
    return parse(context, &text, error);
}
