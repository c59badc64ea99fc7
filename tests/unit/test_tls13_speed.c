// TLS work of the lean client in user space for one handshake: a recorded server flight is replayed
// and its Finished verified each time. Prints microseconds; not a test, since it depends on speed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// cmocka wants these first
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/names.h"
#include "test_tls13_peer.h"
#include "tls13/handshake.h"

#define ROUNDS  15
#define PER_SET 2000

struct recording {
    uint8_t hello[2048], flight[32768];
    size_t hello_bytes, flight_bytes;
    struct tlc_tls13_config *config;
    struct tlc_tls13_client *client;
};

static void start(struct recording *recording)
{
    struct tlc_error error;
    assert_int_equal(
        tlc_tls13_start(recording->client, recording->config, NULL, peer_now_ms, &error), TLC_OK);
}

static void record_flight(struct recording *recording, uint16_t group, uint16_t cipher,
                          const char *key)
{
    const struct tlc_tls13_options options = {.groups = &group,
                                              .group_count = 1,
                                              .ciphers = &cipher,
                                              .cipher_count = 1,
                                              .share = TLC_SHARE_CHEAP,
                                              .server_name = "localhost"};
    struct tlc_error error;
    struct peer peer;
    peer_open(&peer, &(struct peer_options){.key = key});
    assert_int_equal(tlc_tls13_config_new(&options, &recording->config, &error), TLC_OK);
    recording->client = tlc_tls13_client_new();
    start(recording);
    const uint8_t *hello = tlc_tls13_output(recording->client, &recording->hello_bytes);
    memcpy(recording->hello, hello, recording->hello_bytes);
    peer_feed(&peer, recording->client);
    recording->flight_bytes = peer_take(&peer, recording->flight, sizeof(recording->flight));
    peer_close(&peer);
}

static void replay(struct recording *recording)
{
    struct tlc_tls13_client *client = recording->client;
    size_t count;
    start(recording);
    memcpy(client->out.bytes, recording->hello, recording->hello_bytes);
    memcpy(client->now.session_id, recording->hello + 44, TLC_RANDOM_BYTES);
    tlc_tls13_output(client, &count);
    tlc_tls13_output_sent(client, count);
    if (tlc_tls13_input(client, recording->flight, recording->flight_bytes, peer_now_ms) !=
        TLC_TLS13_DONE) {
        fprintf(stderr, "replay: %s\n", tlc_tls13_failure(client));
        exit(1);
    }
    tlc_tls13_output(client, &count);
    tlc_tls13_output_sent(client, count);
}

static double set_us(struct recording *recording)
{
    struct timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (int i = 0; i < PER_SET; i++)
        replay(recording);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3) /
           PER_SET;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(uint16_t group, uint16_t cipher, const char *key)
{
    static struct recording recording;
    double sets[ROUNDS];
    record_flight(&recording, group, cipher, key);
    set_us(&recording);
    for (int i = 0; i < ROUNDS; i++)
        sets[i] = set_us(&recording);
    qsort(sets, ROUNDS, sizeof(sets[0]), compare);
    printf("%-16s %-30s %-10s %6.2f us (least %.2f), flight %zu bytes\n",
           tlc_name(TLC_NAME_GROUP, group), tlc_name(TLC_NAME_CIPHER, cipher), key,
           sets[ROUNDS / 2], sets[0], recording.flight_bytes);
    tlc_tls13_client_free(recording.client);
    tlc_tls13_config_free(recording.config);
}

int main(void)
{
    measure(TLC_GROUP_X25519, TLC_AES_128_GCM_SHA256, "ecdsa-p256");
    measure(TLC_GROUP_X25519, TLC_AES_256_GCM_SHA384, "ecdsa-p256");
    measure(TLC_GROUP_X25519, TLC_CHACHA20_POLY1305_SHA256, "ecdsa-p256");
    measure(TLC_GROUP_SECP256R1, TLC_AES_128_GCM_SHA256, "ecdsa-p256");
    measure(TLC_GROUP_X25519MLKEM768, TLC_AES_128_GCM_SHA256, "ecdsa-p256");
    measure(TLC_GROUP_X25519MLKEM768, TLC_AES_256_GCM_SHA384, "ecdsa-p256");
    measure(TLC_GROUP_X25519, TLC_AES_128_GCM_SHA256, "rsa-2048");
    measure(TLC_GROUP_X25519, TLC_AES_128_GCM_SHA256, "mldsa65");
    return 0;
}
