// A forged server for tests and fuzzing: it knows the keys because it reads them from the client
// under test. With a cheap X25519 share the shared secret is whatever share the server sends.
#ifndef TEST_FUZZ_FORGE_H
#define TEST_FUZZ_FORGE_H

#include "tls13/handshake.h"

struct forge {
    struct tlc_tls13_config *config;
    struct tlc_tls13_client *client;
    struct tlc_aead_engine engine;
    struct tlc_aead seal;
    uint64_t now_ms;
};

// A client with cheap X25519 shares; `with_ticket` offers a made-up ticket in both PSK modes.
// False when libcrypto fails.
bool forge_open(struct forge *forge, unsigned verify_every) TLC_CHECKED;
bool forge_start(struct forge *forge, bool with_ticket) TLC_CHECKED;
void forge_close(struct forge *forge);

// Feeds one record of a type, protected as the client expects it now.
enum tlc_tls13_state forge_send(struct forge *forge, uint8_t type, const uint8_t *bytes,
                                size_t count);
// Feeds a ServerHello with a share of X25519 and, if asked, the PSK.
enum tlc_tls13_state forge_server_hello(struct forge *forge, uint16_t cipher, bool share, bool psk);
// Feeds the Finished that is right for what the client has seen.
enum tlc_tls13_state forge_finished(struct forge *forge);
// Writes ServerHello bytes for changes by hand; returns its size with the message header.
size_t forge_build_hello(const struct forge *forge, uint16_t cipher, bool share, bool psk,
                         uint8_t message[256]);

#endif
