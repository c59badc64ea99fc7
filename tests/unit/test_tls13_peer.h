// A libssl server in memory for the tests of the lean client.
#ifndef TEST_TLS13_PEER_H
#define TEST_TLS13_PEER_H

#include <openssl/ssl.h>

#include "tls13/client.h"

struct peer_options {
    const char *key;     // "ecdsa-p256", "ecdsa-p384", "rsa-2048", "ed25519", "mldsa65", ...
    const char *groups;  // libssl's list
    const char *ciphers; // libssl's list; NULL: all
    const char *alpn;    // one protocol; NULL: none
    size_t tickets;
    bool request_certificate, cookie, no_dhe, stateful;
};

struct peer {
    SSL_CTX *context;
    SSL *ssl;
    BIO *in, *out; // owned by `ssl`
    bool cookie_done, cookie;
};

void peer_open(struct peer *peer, const struct peer_options *options);
void peer_next(struct peer *peer); // a fresh connection of the same context
void peer_close(struct peer *peer);
// SHA-256 of the server's leaf.
void peer_leaf_sha256(const struct peer *peer, uint8_t hash[32]);

// Carries bytes both ways until nothing moves; `chunk` is how many bytes the client gets at once
// (0: all).
void peer_pump(struct peer *peer, struct tlc_tls13_client *client, size_t chunk);
// One direction each.
size_t peer_feed(struct peer *peer, struct tlc_tls13_client *client); // client to server
size_t peer_take(struct peer *peer, uint8_t *bytes, size_t capacity); // from the server

extern uint64_t peer_now_ms; // the clock given to the client

#endif
