// Cipher suites by code point.
#include <stdio.h>
#include <string.h>

#include "stacks/openssl_plugin.h"

static bool is_tls13_suite(uint16_t cipher)
{
    return cipher >> 8 == 0x13; // RFC 8446, B.4
}

static bool append_cipher(SSL *ssl, uint16_t code, char *list, size_t capacity)
{
    const unsigned char wire[2] = {(unsigned char)(code >> 8), (unsigned char)code};
    const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, wire);
    size_t used = strlen(list);
    if (!cipher)
        return false;
    int wrote = snprintf(list + used, capacity - used, "%s%s", used ? ":" : "",
                         SSL_CIPHER_get_name(cipher));
    return wrote > 0 && (size_t)wrote < capacity - used;
}

bool openssl_set_ciphers(SSL_CTX *ctx, const uint16_t *ciphers, size_t count)
{
    char suites[512] = "", older[1024] = "";
    SSL *ssl = SSL_new(ctx); // SSL_CIPHER_find needs one
    bool good = ssl != NULL;
    for (size_t i = 0; good && i < count; i++)
        good = is_tls13_suite(ciphers[i]) ? append_cipher(ssl, ciphers[i], suites, sizeof suites)
                                          : append_cipher(ssl, ciphers[i], older, sizeof older);
    SSL_free(ssl);
    if (!good)
        return false;
    if (!*suites && SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION) != 1)
        return false;
    if (!*older && SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1)
        return false;
    return (!*suites || SSL_CTX_set_ciphersuites(ctx, suites) == 1) &&
           (!*older || SSL_CTX_set_cipher_list(ctx, older) == 1);
}
