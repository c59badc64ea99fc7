// A provider of the user's choice: loaded with its settings, preferred, and seen at work.
#include <openssl/conf.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/provider.h>
#include <stdio.h>
#include <string.h>

#include "stacks/openssl_plugin.h"

#define NAME_BYTES 64

// Letters that OpenSSL's configuration files would read as something else.
static bool is_plain(const char *text)
{
    return !strpbrk(text, "\"'`\\$#\n\r");
}

// The module's file name without its end: what providers call themselves.
static void name_of(const char *module, char name[NAME_BYTES])
{
    const char *slash = strrchr(module, '/');
    snprintf(name, NAME_BYTES, "%.63s", slash ? slash + 1 : module);
    size_t length = strlen(name);
    if (length > 3 && !strcmp(name + length - 3, ".so"))
        name[length - 3] = '\0';
    for (char *at = name; *at; at++) // it names a section below
        if (*at == '[' || *at == ']' || *at == '=' || *at == ' ')
            *at = '-';
}

// "NAME-or-PATH[?KEY=VALUE;...]" in parts.
struct chosen {
    char module[1024], settings[512], name[NAME_BYTES];
};

static bool split(const char *provider, struct chosen *chosen)
{
    const char *mark = strchr(provider, '?');
    size_t length = mark ? (size_t)(mark - provider) : strlen(provider);
    if (!length || length >= sizeof chosen->module || !is_plain(provider) ||
        (mark && strlen(mark + 1) >= sizeof chosen->settings))
        return false;
    snprintf(chosen->module, sizeof chosen->module, "%.*s", (int)length, provider);
    snprintf(chosen->settings, sizeof chosen->settings, "%s", mark ? mark + 1 : "");
    name_of(chosen->module, chosen->name);
    return true;
}

// Settings reach a provider of any version of OpenSSL through a configuration, here in memory.
static BIO *configuration_of(const struct chosen *chosen, bool alone)
{
    BIO *text = BIO_new(BIO_s_mem());
    if (!text)
        return NULL;
    BIO_printf(text,
               "openssl_conf = start\n[start]\nproviders = providers\n[providers]\n%s = chosen\n"
               "%s[fallback]\nactivate = 1\n[chosen]\nactivate = 1\n",
               chosen->name, alone ? "" : "default = fallback\n");
    if (strchr(chosen->module, '/'))
        BIO_printf(text, "module = %s\n", chosen->module);
    char settings[sizeof chosen->settings], *rest = settings;
    snprintf(settings, sizeof settings, "%s", chosen->settings);
    for (char *setting; (setting = strsep(&rest, ";"));)
        if (*setting)
            BIO_printf(text, "%s\n", setting);
    return text;
}

static bool apply(OSSL_LIB_CTX *library, BIO *text)
{
    CONF *conf = NCONF_new_ex(library, NULL);
    long line = 0;
    bool good =
        conf && NCONF_load_bio(conf, text, &line) > 0 && CONF_modules_load(conf, NULL, 0) > 0;
    NCONF_free(conf);
    return good;
}

static bool ask_text(OSSL_PROVIDER *provider, const char *key, char *text, size_t bytes)
{
    char *pointer = NULL;
    OSSL_PARAM asked[] = {OSSL_PARAM_construct_utf8_ptr(key, &pointer, 0), OSSL_PARAM_END};
    *text = '\0';
    if (OSSL_PROVIDER_get_params(provider, asked) != 1 || !OSSL_PARAM_modified(asked) || !pointer)
        return false;
    snprintf(text, bytes, "%s", pointer);
    return true;
}

// A provider may tell what it did under "tlscost-operations" (docs/stacks.md).
static bool ask_operations(OSSL_PROVIDER *provider, char *text, size_t bytes)
{
    OSSL_PARAM asked[] = {OSSL_PARAM_construct_utf8_string("tlscost-operations", text, bytes),
                          OSSL_PARAM_END};
    memset(text, 0, bytes);
    return OSSL_PROVIDER_get_params(provider, asked) == 1 && OSSL_PARAM_modified(asked) &&
           memchr(text, '\0', bytes) && *text;
}

// A configuration swallows the errors of what it starts: the module is tried once more, alone.
static void explain_load(OSSL_LIB_CTX *library, const struct chosen *chosen,
                         struct tlc_stack_error *error)
{
    const char *slash = strrchr(chosen->module, '/');
    char folder[1024];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - chosen->module) : 0,
             chosen->module);
    ERR_clear_error();
    if (!library || (slash && OSSL_PROVIDER_set_default_search_path(library, folder) != 1) ||
        !OSSL_PROVIDER_load(library, chosen->name))
        openssl_explain(error, "provider");
    else
        snprintf(error->text, sizeof error->text,
                 "provider: %s does not start with the settings '%.120s'", chosen->name,
                 chosen->settings);
}

bool openssl_load_provider(const char *provider, OSSL_LIB_CTX **library, OSSL_PROVIDER **loaded,
                           struct tlc_stack_error *error)
{
    struct chosen chosen;
    if (!split(provider, &chosen)) {
        snprintf(error->text, sizeof error->text,
                 "provider: write NAME or PATH, then settings as in '?variant=fixed-base', without "
                 "quotes and $ # \\");
        return false;
    }
    bool alone = strchr(chosen.module, '/') && openssl_lend_library(chosen.module);
    BIO *text = configuration_of(&chosen, alone);
    *library = OSSL_LIB_CTX_new();
    bool good = text && *library && apply(*library, text) &&
                OSSL_PROVIDER_available(*library, chosen.name) &&
                (*loaded = OSSL_PROVIDER_load(*library, chosen.name)) &&
                // What the default provider does not serve is all that remains for it.
                (alone || EVP_set_default_properties(*library, "?provider!=default") == 1);
    BIO_free(text);
    if (!good)
        explain_load(*library, &chosen, error);
    return good;
}

bool openssl_provider_load(struct tlc_stack_context *context, const char *provider,
                           struct tlc_stack_error *error)
{
    char operations[256];
    if (!openssl_load_provider(provider, &context->library, &context->provider, error))
        return false;
    context->provider_counts = ask_operations(context->provider, operations, sizeof operations);
    return true;
}

void openssl_provider_unload(struct tlc_stack_context *context)
{
    if (context->provider)
        OSSL_PROVIDER_unload(context->provider);
    OSSL_LIB_CTX_free(context->library);
}

// Looks whether the provider took part in a handshake that has just finished.
static void watch(struct tlc_stack_connection *connection)
{
    struct tlc_stack_context *context = connection->watched;
    const OSSL_PROVIDER *wanted = context->provider;
    const SSL_CIPHER *cipher = SSL_get_current_cipher(connection->ssl);
    EVP_PKEY *peer = NULL, *own = SSL_get_privatekey(connection->ssl);
    bool used = own && EVP_PKEY_get0_provider(own) == wanted;
    if (!used && SSL_get_peer_tmp_key(connection->ssl, &peer) == 1) {
        used = EVP_PKEY_get0_provider(peer) == wanted;
        EVP_PKEY_free(peer);
    }
    if (!used && cipher) {
        EVP_CIPHER *fetched =
            EVP_CIPHER_fetch(context->library, OBJ_nid2sn(SSL_CIPHER_get_cipher_nid(cipher)), NULL);
        used = fetched && EVP_CIPHER_get0_provider(fetched) == wanted;
        EVP_CIPHER_free(fetched);
        ERR_clear_error();
    }
    if (used)
        atomic_fetch_add_explicit(&context->provider_handshakes, 1, memory_order_relaxed);
}

int openssl_after_handshake(struct tlc_stack_connection *connection)
{
    if (connection->watched)
        watch(connection);
    return 1;
}

bool openssl_provider_use(struct tlc_stack_context *context, struct tlc_stack_provider_use *use)
{
    *use = (struct tlc_stack_provider_use){.handshakes = 0};
    if (!context->provider)
        return false;
    snprintf(use->name, sizeof use->name, "%s", OSSL_PROVIDER_get0_name(context->provider));
    ask_text(context->provider, OSSL_PROV_PARAM_VERSION, use->version, sizeof use->version);
    if (context->provider_counts)
        ask_operations(context->provider, use->operations, sizeof use->operations);
    use->handshakes = atomic_load_explicit(&context->provider_handshakes, memory_order_relaxed);
    return true;
}
