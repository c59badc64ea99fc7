#include "tls13/key_schedule.h"

#include <pthread.h>
#include <string.h>

static const uint8_t zeros[TLC_HASH_MAX_BYTES];

// Constants of each hash: Hash(""), and the salt of Handshake Secret when there is no PSK.
struct constants {
    uint8_t empty[TLC_HASH_MAX_BYTES];
    uint8_t early[TLC_HASH_MAX_BYTES];
    struct tlc_hmac_key early_salt;
};

static struct constants constants[2];
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void extract(enum tlc_hash_kind hash, const uint8_t *salt, const uint8_t *input,
                    size_t count, uint8_t *secret)
{
    struct tlc_hmac_key key;
    tlc_hmac_key_init(&key, hash, salt, tlc_hash_bytes(hash));
    tlc_hmac(&key, input, count, secret);
}

// Derive-Secret(secret, "derived", "") as an HMAC key: the salt of the next extraction.
static void derive_salt(enum tlc_hash_kind hash, const uint8_t *secret, struct tlc_hmac_key *salt)
{
    size_t count = tlc_hash_bytes(hash);
    uint8_t derived[TLC_HASH_MAX_BYTES];
    struct tlc_hmac_key key;
    tlc_hmac_key_init(&key, hash, secret, count);
    tlc_expand_label(&key, "derived", constants[hash].empty, count, derived, count);
    tlc_hmac_key_init(salt, hash, derived, count);
}

static void prepare_constants(void)
{
    for (int kind = TLC_HASH_SHA256; kind <= TLC_HASH_SHA384; kind++) {
        enum tlc_hash_kind hash = (enum tlc_hash_kind)kind;
        struct tlc_hash empty;
        tlc_hash_init(&empty, hash);
        tlc_hash_snapshot(&empty, constants[kind].empty);
        extract(hash, zeros, zeros, tlc_hash_bytes(hash), constants[kind].early);
        derive_salt(hash, constants[kind].early, &constants[kind].early_salt);
    }
}

static size_t secret_bytes(const struct tlc_key_schedule *schedule)
{
    return tlc_hash_bytes(schedule->suite->hash);
}

void tlc_schedule_start(struct tlc_key_schedule *schedule, const struct tlc_suite *suite,
                        const uint8_t *psk)
{
    pthread_once(&prepared, prepare_constants);
    schedule->suite = suite;
    tlc_hash_init(&schedule->transcript, suite->hash);
    if (psk == NULL)
        memcpy(schedule->secret, constants[suite->hash].early, sizeof(schedule->secret));
    else
        extract(suite->hash, zeros, psk, secret_bytes(schedule), schedule->secret);
}

void tlc_schedule_absorb(struct tlc_key_schedule *schedule, const uint8_t *message, size_t count)
{
    tlc_hash_update(&schedule->transcript, message, count);
}

void tlc_schedule_message_hash(struct tlc_key_schedule *schedule)
{
    uint8_t message[4 + TLC_HASH_MAX_BYTES] = {254, 0, 0, (uint8_t)secret_bytes(schedule)};
    tlc_hash_snapshot(&schedule->transcript, message + 4);
    tlc_hash_init(&schedule->transcript, schedule->suite->hash);
    tlc_hash_update(&schedule->transcript, message, 4 + secret_bytes(schedule));
}

static void derive_traffic(const struct tlc_hmac_key *secret, const char *label,
                           const uint8_t *digest, uint8_t *traffic)
{
    size_t count = tlc_hash_bytes(secret->inner.kind);
    tlc_expand_label(secret, label, digest, count, traffic, count);
}

void tlc_schedule_handshake(struct tlc_key_schedule *schedule, const uint8_t *shared, size_t count)
{
    enum tlc_hash_kind hash = schedule->suite->hash;
    size_t bytes = secret_bytes(schedule);
    uint8_t digest[TLC_HASH_MAX_BYTES], traffic[TLC_HASH_MAX_BYTES];
    struct tlc_hmac_key key;
    const struct tlc_hmac_key *salt = &constants[hash].early_salt;
    if (memcmp(schedule->secret, constants[hash].early, bytes) != 0) {
        derive_salt(hash, schedule->secret, &key);
        salt = &key;
    }
    if (shared == NULL) {
        shared = zeros;
        count = bytes;
    }
    tlc_hmac(salt, shared, count, schedule->secret);
    tlc_hash_snapshot(&schedule->transcript, digest);
    tlc_hmac_key_init(&key, hash, schedule->secret, bytes);
    derive_traffic(&key, "c hs traffic", digest, traffic);
    tlc_hmac_key_init(&schedule->client_handshake, hash, traffic, bytes);
    derive_traffic(&key, "s hs traffic", digest, traffic);
    tlc_hmac_key_init(&schedule->server_handshake, hash, traffic, bytes);
}

void tlc_schedule_application(struct tlc_key_schedule *schedule, const uint8_t *digest)
{
    enum tlc_hash_kind hash = schedule->suite->hash;
    size_t bytes = secret_bytes(schedule);
    struct tlc_hmac_key key;
    derive_salt(hash, schedule->secret, &key);
    tlc_hmac(&key, zeros, bytes, schedule->secret);
    tlc_hmac_key_init(&key, hash, schedule->secret, bytes);
    derive_traffic(&key, "c ap traffic", digest, schedule->client_application);
    derive_traffic(&key, "s ap traffic", digest, schedule->server_application);
}

void tlc_schedule_resumption(const struct tlc_key_schedule *schedule, const uint8_t *digest,
                             uint8_t *secret)
{
    struct tlc_hmac_key key;
    tlc_hmac_key_init(&key, schedule->suite->hash, schedule->secret, secret_bytes(schedule));
    derive_traffic(&key, "res master", digest, secret);
}

void tlc_finished_mac(const struct tlc_hmac_key *traffic_secret, const uint8_t *digest,
                      uint8_t *mac)
{
    enum tlc_hash_kind hash = traffic_secret->inner.kind;
    size_t bytes = tlc_hash_bytes(hash);
    uint8_t finished[TLC_HASH_MAX_BYTES];
    struct tlc_hmac_key key;
    tlc_expand_label(traffic_secret, "finished", NULL, 0, finished, bytes);
    tlc_hmac_key_init(&key, hash, finished, bytes);
    tlc_hmac(&key, digest, bytes, mac);
}

void tlc_traffic_keys(const struct tlc_hmac_key *traffic_secret, const struct tlc_suite *suite,
                      uint8_t *key, uint8_t *iv)
{
    tlc_expand_label(traffic_secret, "key", NULL, 0, key, suite->key_bytes);
    tlc_expand_label(traffic_secret, "iv", NULL, 0, iv, TLC_AEAD_IV_BYTES);
}

void tlc_update_secret(enum tlc_hash_kind hash, uint8_t *secret)
{
    size_t bytes = tlc_hash_bytes(hash);
    struct tlc_hmac_key key;
    tlc_hmac_key_init(&key, hash, secret, bytes);
    tlc_expand_label(&key, "traffic upd", NULL, 0, secret, bytes);
}

void tlc_ticket_psk(enum tlc_hash_kind hash, const uint8_t *resumption_secret, const uint8_t *nonce,
                    size_t nonce_bytes, uint8_t *psk)
{
    size_t bytes = tlc_hash_bytes(hash);
    struct tlc_hmac_key key;
    tlc_hmac_key_init(&key, hash, resumption_secret, bytes);
    tlc_expand_label(&key, "resumption", nonce, nonce_bytes, psk, bytes);
}

void tlc_psk_binder(enum tlc_hash_kind hash, const uint8_t *psk, const uint8_t *digest,
                    uint8_t *binder)
{
    size_t bytes = tlc_hash_bytes(hash);
    uint8_t early[TLC_HASH_MAX_BYTES], secret[TLC_HASH_MAX_BYTES];
    struct tlc_hmac_key key;
    pthread_once(&prepared, prepare_constants);
    extract(hash, zeros, psk, bytes, early);
    tlc_hmac_key_init(&key, hash, early, bytes);
    derive_traffic(&key, "res binder", constants[hash].empty, secret);
    tlc_hmac_key_init(&key, hash, secret, bytes);
    tlc_finished_mac(&key, digest, binder);
}
