// build/bench/tls13: TLS work of the lean client in user space for one handshake. A recorded flight
// of a server is replayed and its Finished verified each time (docs/bench.md).
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "bench/flight.h"
#include "bench/interval.h"
#include "measure/clock.h"
#include "measure/machine.h"
#include "result/result.h"
// The client's inside: a replay puts the recorded ClientHello in the place of the new one.
#include "tls13/handshake.h"

enum { ROUNDS = 31, ROUNDS_QUICK = 7, PER_ROUND = 1000 };

// Where the session id begins in a ClientHello record: headers (5, 4), version (2), random (32) and
// its own length (RFC 8446, 4.1.2).
enum { SESSION_ID_AT = 44 };

static const uint64_t now_ms = 1000000; // the clock given to the client

struct scene {
    uint16_t group, cipher;
    const char *key;
    enum tlc_share share;
    const char *share_name;
    uint8_t hello[4096], flight[32768];
    size_t hello_bytes, flight_bytes;
    struct tlc_tls13_config *config;
    struct tlc_tls13_client *client;
    double us[ROUNDS];
};

// Honest shares are missing: a new key pair cannot answer a recorded flight. They cost what reused
// ones do and the key pair besides.
#define SCENE(group, cipher, key, share, name)                                                     \
    {                                                                                              \
        group, cipher, key, share, name, {0}, {0}, 0, 0, NULL, NULL,                               \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
#define CHEAP(group, cipher, key)  SCENE(group, cipher, key, TLC_SHARE_CHEAP, "cheap")
#define REUSED(group, cipher, key) SCENE(group, cipher, key, TLC_SHARE_REUSED, "reused")

static struct scene scenes[] = {
    CHEAP(TLC_GROUP_X25519, TLC_AES_256_GCM_SHA384, "ecdsa-p256"),
    CHEAP(TLC_GROUP_X25519MLKEM768, TLC_AES_256_GCM_SHA384, "ecdsa-p256"),
    CHEAP(TLC_GROUP_X25519, TLC_AES_128_GCM_SHA256, "ecdsa-p256"),
    CHEAP(TLC_GROUP_X25519MLKEM768, TLC_AES_128_GCM_SHA256, "ecdsa-p256"),
    CHEAP(TLC_GROUP_X25519, TLC_CHACHA20_POLY1305_SHA256, "ecdsa-p256"),
    CHEAP(TLC_GROUP_SECP256R1, TLC_AES_256_GCM_SHA384, "ecdsa-p256"),
    CHEAP(TLC_GROUP_X25519, TLC_AES_256_GCM_SHA384, "rsa-2048"),
    CHEAP(TLC_GROUP_X25519, TLC_AES_256_GCM_SHA384, "mldsa-65"),
    REUSED(TLC_GROUP_X25519, TLC_AES_256_GCM_SHA384, "ecdsa-p256"),
    REUSED(TLC_GROUP_X25519MLKEM768, TLC_AES_256_GCM_SHA384, "ecdsa-p256"),
};

enum { SCENES = sizeof scenes / sizeof *scenes };

static enum tlc_status record(struct scene *scene, struct tlc_error *error)
{
    const struct tlc_tls13_options options = {.groups = &scene->group,
                                              .group_count = 1,
                                              .ciphers = &scene->cipher,
                                              .cipher_count = 1,
                                              .share = scene->share,
                                              .server_name = "localhost"};
    enum tlc_status status = tlc_tls13_config_new(&options, &scene->config, error);
    if (status != TLC_OK)
        return status;
    scene->client = tlc_tls13_client_new();
    if (!scene->client)
        return tlc_fail(error, TLC_ENVIRONMENT, "record: out of memory");
    status = tlc_tls13_start(scene->client, scene->config, NULL, now_ms, error);
    if (status != TLC_OK)
        return status;
    const uint8_t *hello = tlc_tls13_output(scene->client, &scene->hello_bytes);
    if (scene->hello_bytes > sizeof scene->hello)
        return tlc_fail(error, TLC_ENVIRONMENT, "record: the ClientHello is too long");
    memcpy(scene->hello, hello, scene->hello_bytes);
    return flight_record(scene->key, hello, scene->hello_bytes, scene->flight, sizeof scene->flight,
                         &scene->flight_bytes, error);
}

// Everything that a real handshake does, from the ClientHello to the client's Finished.
static enum tlc_status replay(struct scene *scene, struct tlc_error *error)
{
    struct tlc_tls13_client *client = scene->client;
    size_t count;
    enum tlc_status status = tlc_tls13_start(client, scene->config, NULL, now_ms, error);
    if (status != TLC_OK)
        return status;
    memcpy(client->out.bytes, scene->hello, scene->hello_bytes);
    memcpy(client->now.session_id, scene->hello + SESSION_ID_AT, TLC_RANDOM_BYTES);
    tlc_tls13_output(client, &count);
    tlc_tls13_output_sent(client, count);
    if (tlc_tls13_input(client, scene->flight, scene->flight_bytes, now_ms) != TLC_TLS13_DONE)
        return tlc_fail(error, TLC_REFUSED, "replay: %s, %s: %s",
                        tlc_name(TLC_NAME_GROUP, scene->group), scene->key,
                        tlc_tls13_failure(client));
    tlc_tls13_output(client, &count);
    tlc_tls13_output_sent(client, count);
    return count ? TLC_OK : tlc_fail(error, TLC_REFUSED, "replay: no Finished was made");
}

static enum tlc_status time_round(struct scene *scene, double *us, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    uint64_t before = tlc_thread_cpu_ns();
    for (int i = 0; status == TLC_OK && i < PER_ROUND; i++)
        status = replay(scene, error);
    *us = (double)(tlc_thread_cpu_ns() - before) / 1e3 / PER_ROUND;
    return status;
}

// Round by round over all scenes, so that a drift of the machine's speed falls on all alike.
static enum tlc_status measure(unsigned rounds, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    double warm_up;
    for (size_t i = 0; status == TLC_OK && i < SCENES; i++)
        status = record(&scenes[i], error);
    for (size_t i = 0; status == TLC_OK && i < SCENES; i++)
        status = time_round(&scenes[i], &warm_up, error);
    for (unsigned k = 0; k < rounds; k++)
        for (size_t i = 0; status == TLC_OK && i < SCENES; i++)
            status = time_round(&scenes[i], &scenes[i].us[k], error);
    return status;
}

static void print(unsigned rounds)
{
    printf("lean client, user space, replay of a recorded flight: CPU microseconds per handshake\n"
           "  %-16s %-30s %-12s %-8s %12s  %s\n",
           "group", "cipher", "certificate", "share", "flight bytes", "us (95 % interval)");
    for (size_t i = 0; i < SCENES; i++) {
        char text[INTERVAL_BYTES];
        const struct scene *scene = &scenes[i];
        printf("  %-16s %-30s %-12s %-8s %12zu  %s\n", tlc_name(TLC_NAME_GROUP, scene->group),
               tlc_name(TLC_NAME_CIPHER, scene->cipher), scene->key, scene->share_name,
               scene->flight_bytes,
               interval_text(tlc_signed_rank_interval(scene->us, rounds, 0.95), 2, text));
    }
}

static void print_json(unsigned rounds)
{
    json_t *document = tlc_result_new("bench/tls13", tlc_machine_describe());
    json_t *list = json_array();
    for (size_t i = 0; i < SCENES; i++) {
        const struct scene *scene = &scenes[i];
        json_t *us = json_object();
        interval_add(us, tlc_signed_rank_interval(scene->us, rounds, 0.95));
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:I, s:o}", "group",
                                        tlc_name(TLC_NAME_GROUP, scene->group), "cipher",
                                        tlc_name(TLC_NAME_CIPHER, scene->cipher), "certificate",
                                        scene->key, "share", scene->share_name, "flight_bytes",
                                        (json_int_t)scene->flight_bytes, "us", us));
    }
    json_object_set_new(document, "rounds", json_integer(rounds));
    json_object_set_new(document, "handshakes_per_round", json_integer(PER_ROUND));
    json_object_set_new(document, "replay", list);
    json_dumpf(document, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(document);
}

struct options {
    bool json;
    unsigned rounds;
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *options = state->input;
    (void)text;
    if (key == 'j')
        options->json = true;
    else if (key == 'q')
        options->rounds = ROUNDS_QUICK;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp_option list[] = {
        {"json", 'j', NULL, 0, "One JSON document on standard output", 0},
        {"quick", 'q', NULL, 0, "Seven rounds instead of 31", 0},
        {0}};
    static const struct argp argp = {
        list,
        parse_option,
        NULL,
        "Measures the TLS work of the lean client in user space: a server's flight is recorded "
        "once and replayed, and its Finished verified each time.\v"
        "Example: build/bench/tls13 --json\n\n"
        "Exit codes: 0 measured; 1 wrong usage; 2 something is missing; 3 a replay failed.",
        NULL,
        NULL,
        NULL};
    struct options options = {.rounds = ROUNDS};
    struct tlc_error error;
    argp_err_exit_status = TLC_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    enum tlc_status status = measure(options.rounds, &error);
    if (status == TLC_OK)
        (options.json ? print_json : print)(options.rounds);
    else
        fprintf(stderr, "bench: %s\n", error.text);
    for (size_t i = 0; i < SCENES; i++) {
        tlc_tls13_client_free(scenes[i].client);
        tlc_tls13_config_free(scenes[i].config);
    }
    return (int)status;
}
