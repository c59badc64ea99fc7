// Explicit ticket keys in AWS-LC: the callback of older OpenSSL, that hands out an HMAC_CTX.
#include <openssl/hmac.h>
#include <openssl/mem.h>
#include <openssl/rand.h>
#include <string.h>

#include "stacks/openssl_plugin.h"

// The return values are the library's: -1 error, 0 unknown key, 1 good, 2 good and a new ticket is
// to be sent. In TLS 1.3 it sends one anyway.
static int use_ticket_key(SSL *ssl, uint8_t *name, uint8_t *iv, EVP_CIPHER_CTX *cipher,
                          HMAC_CTX *mac, int encrypt)
{
    struct tlc_stack_context *context = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    struct tlc_ticket_key key;
    ptrdiff_t index = tlc_ticket_keys_find(&context->tickets, encrypt ? NULL : name, &key);
    if (index < 0)
        return 0;
    bool good = HMAC_Init_ex(mac, key.hmac, sizeof key.hmac, EVP_sha256(), NULL) == 1;
    if (encrypt) {
        memcpy(name, key.name, sizeof key.name);
        good = good && RAND_bytes(iv, 16) == 1 &&
               EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key.aes, iv) == 1;
    } else {
        good = good && EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key.aes, iv) == 1;
    }
    OPENSSL_cleanse(&key, sizeof key);
    if (!good)
        return -1;
    return index > 0 ? 2 : 1;
}

bool openssl_install_ticket_keys(struct tlc_stack_context *context, struct tlc_stack_error *error)
{
    (void)error;
    // The callback is asked with the connection's current context, which SNI may have changed.
    SSL_CTX_set_app_data(context->ctx, context);
    SSL_CTX_set_tlsext_ticket_key_cb(context->ctx, use_ticket_key);
    for (size_t i = 0; i < context->named_count; i++) {
        SSL_CTX_set_app_data(context->named[i].ctx, context);
        SSL_CTX_set_tlsext_ticket_key_cb(context->named[i].ctx, use_ticket_key);
    }
    return true;
}

void openssl_remove_ticket_keys(struct tlc_stack_context *context)
{
    (void)context; // nothing was fetched
}
