// A prepared configuration: the parts of the ClientHello that never change, and what clients of one
// thread share at run time.
#ifndef TLC_TLS13_CONFIG_H
#define TLC_TLS13_CONFIG_H

#include "tls13/aead.h"
#include "tls13/buffer.h"
#include "tls13/certificate.h"
#include "tls13/cheap.h"
#include "tls13/client.h"
#include "tls13/key_share.h"
#include "tls13/suite.h"

#define TLC_MAX_GROUPS  16
#define TLC_MAX_CIPHERS 3

// The one key share that all handshakes of a configuration use for a group (reused and cheap).
struct tlc_standing_share {
    bool made;
    struct tlc_key_pair pair;           // reused
    uint8_t share[TLC_SHARE_MAX_BYTES]; // reused
    struct tlc_cheap cheap;
};

struct tlc_tls13_runtime {
    struct tlc_key_maker maker;
    struct tlc_standing_share *shares; // one for each of the configuration's groups
    struct tlc_leaf_cache leaf;
    struct tlc_aead_engine opener, sealer; // of all clients
    unsigned until_verify; // handshakes left before CertificateVerify is verified again
};

struct tlc_tls13_config {
    uint16_t groups[TLC_MAX_GROUPS];
    size_t group_count, first_group; // first_group: index of the group whose share is sent first
    uint16_t ciphers[TLC_MAX_CIPHERS];
    size_t cipher_count;
    enum tlc_share share;
    enum tlc_tls13_stop stop;
    bool server_name;
    unsigned verify_every, psk_modes;
    size_t padding_bytes;
    bool count_tickets_only;
    bool certificate_known;
    uint8_t certificate_sha256[32];
    struct tlc_buffer alpn;       // ProtocolNameList (RFC 7301, 3.1) without its length
    struct tlc_buffer extensions; // those of the ClientHello that never change, encoded
    struct tlc_tls13_runtime *runtime;
};

// Index of an offered group or cipher; -1: not offered.
int tlc_config_group_index(const struct tlc_tls13_config *config, uint16_t group);
bool tlc_config_has_cipher(const struct tlc_tls13_config *config, uint16_t cipher);
bool tlc_config_has_alpn(const struct tlc_tls13_config *config, const uint8_t *name, size_t count);
// Whether the next handshake has to verify CertificateVerify; counts.
bool tlc_config_verify_next(const struct tlc_tls13_config *config);
// The standing share of a group, made on first use; NULL when libcrypto fails.
struct tlc_standing_share *tlc_config_standing_share(const struct tlc_tls13_config *config,
                                                     size_t group_index);

#endif
