// Explicit ticket keys in OpenSSL 3 and later: the callback that hands out EVP objects.
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <string.h>

#include "stacks/openssl_plugin.h"

static bool set_mac(EVP_MAC_CTX *mac, struct tlc_ticket_key *key)
{
    char digest[] = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key->hmac, sizeof key->hmac),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

// Ticket key callback; the return values are OpenSSL's: -1 error, 0 unknown key, 1 good, 2 good
// and a new ticket is to be sent.
static int use_ticket_key(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                          EVP_MAC_CTX *mac, int encrypt)
{
    struct tlc_stack_context *context = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    struct tlc_ticket_key key;
    ptrdiff_t index = tlc_ticket_keys_find(&context->tickets, encrypt ? NULL : name, &key);
    if (index < 0)
        return 0;
    bool good = set_mac(mac, &key);
    if (encrypt) {
        memcpy(name, key.name, sizeof key.name);
        good = good && RAND_bytes_ex(context->library, iv, 16, 0) == 1 &&
               EVP_EncryptInit_ex(cipher, context->ticket_cipher, NULL, key.aes, iv) == 1;
    } else {
        good = good && EVP_DecryptInit_ex(cipher, context->ticket_cipher, NULL, key.aes, iv) == 1;
    }
    OPENSSL_cleanse(&key, sizeof key);
    if (!good)
        return -1;
    // With its built-in keys OpenSSL renews every TLS 1.3 ticket; explicit keys must not differ.
    return index > 0 || SSL_version(ssl) == TLS1_3_VERSION ? 2 : 1;
}

bool openssl_install_ticket_keys(struct tlc_stack_context *context, struct tlc_stack_error *error)
{
    context->ticket_cipher = EVP_CIPHER_fetch(context->library, "AES-256-CBC", NULL);
    if (!context->ticket_cipher) {
        openssl_explain(error, "ticket keys");
        return false;
    }
    // The callback is asked with the connection's current context, which SNI may have changed.
    SSL_CTX_set_app_data(context->ctx, context);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(context->ctx, use_ticket_key);
    for (size_t i = 0; i < context->named_count; i++) {
        SSL_CTX_set_app_data(context->named[i].ctx, context);
        SSL_CTX_set_tlsext_ticket_key_evp_cb(context->named[i].ctx, use_ticket_key);
    }
    return true;
}

void openssl_remove_ticket_keys(struct tlc_stack_context *context)
{
    EVP_CIPHER_free(context->ticket_cipher);
}
