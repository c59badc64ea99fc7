// The options of `tlscost load`.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "cli/common.h"
#include "cli/load.h"

enum {
    KEY_DURATION = 256,
    KEY_COUNT,
    KEY_CONCURRENCY,
    KEY_RATE,
    KEY_PROBE_RATE,
    KEY_WARM_UP,
    KEY_THREADS,
    KEY_ENGINE,
    KEY_STACK,
    KEY_SHARE,
    KEY_GROUPS,
    KEY_CIPHERS,
    KEY_VERSION,
    KEY_SNI,
    KEY_ALPN,
    KEY_RESUME,
    KEY_PSK_MODES,
    KEY_TICKETS,
    KEY_CLOSE,
    KEY_ECHO,
    KEY_TIMEOUT,
    KEY_CA,
    KEY_CERT_SHA256,
    KEY_VERIFY_EVERY,
    KEY_CLIENT_CERT,
    KEY_CLIENT_KEY,
    KEY_STOP,
    KEY_SPLIT,
    KEY_PADDING,
    KEY_WRONG_SHARE,
    KEY_ALLOW_HRR,
    KEY_LOOP,
    KEY_BATCH,
    KEY_FRESH,
    KEY_PUBLIC,
    KEY_BYTES,
    KEY_FLOOR,
    KEY_BURN_US,
    KEY_COUNT_ALLOCATIONS,
    KEY_SERVER_ALLOCATIONS,
    KEY_CONTROL,
    KEY_JSON
};

static const struct argp_option argp_options[] = {
    {NULL, 0, NULL, 0, "How much load:", 1},
    {"duration", KEY_DURATION, "TIME", 0, "Start handshakes for this long (default 2s)", 1},
    {"count", KEY_COUNT, "N", 0, "Stop after this many were started", 1},
    {"concurrency", KEY_CONCURRENCY, "N", 0, "Connections open at once (default 128)", 1},
    {"rate", KEY_RATE, "N[..M]", 0,
     "Start N a second, or a rate that goes from N to M, whatever the server does (open loop); "
     "latency counts from the start that was due",
     1},
    {"probe-rate", KEY_PROBE_RATE, "N", 0,
     "Beside the load, N handshakes a second without batching, whose latency is told apart", 1},
    {"threads", KEY_THREADS, "N", 0, "Event loops, each in its own thread (default 1)", 1},
    {"warm-up", KEY_WARM_UP, "TIME", 0, "The same load before, not counted (default none)", 1},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "Give a connection up after this long (default 10s)", 1},
    {NULL, 0, NULL, 0, "What a handshake is:", 2},
    {"engine", KEY_ENGINE, "NAME", 0,
     "lean: TLS 1.3 at a fraction of a library's cost (default); full: a TLS library; tcp: no TLS, "
     "the same bytes",
     2},
    {"stack", KEY_STACK, "NAME", 0, "The library of engine full (default openssl)", 2},
    {"share", KEY_SHARE, "HOW", 0,
     "Key shares of engine lean: honest (a new one each time, default), reused, cheap; unreduced "
     "or "
     "low-order, which the server must refuse (with --stop after-client-hello)",
     2},
    {"groups", KEY_GROUPS, "A:B", 0, "Key exchange groups; the first is used (default X25519)", 2},
    {"ciphers", KEY_CIPHERS, "A:B", 0, "Cipher suites in order", 2},
    {"version", KEY_VERSION, "V", 0, "The only TLS version: 1.3 or 1.2 (engine full)", 2},
    {"sni", KEY_SNI, "NAME", 0, "Server name to send", 2},
    {"alpn", KEY_ALPN, "A[,B]", 0, "Protocols to offer, in order", 2},
    {"resume", KEY_RESUME, "R", 0, "Share of handshakes that offer a ticket, 0 to 1", 2},
    {"psk-modes", KEY_PSK_MODES, "MODES", 0, "psk_dhe_ke (default), psk_ke or psk_dhe_ke:psk_ke",
     2},
    {"echo", KEY_ECHO, "BYTES", 0, "Send data after the handshake and compare its echo", 2},
    {"client-cert", KEY_CLIENT_CERT, "FILE", 0, "Client certificate chain, PEM (engine full)", 2},
    {"client-key", KEY_CLIENT_KEY, "FILE", 0, "Its private key, PEM", 2},
    {NULL, 0, NULL, 0, "How a connection ends:", 3},
    {"close", KEY_CLOSE, "HOW", 0, "reset (default), fin or close-notify", 3},
    {"tickets", KEY_TICKETS, "N", 0,
     "Tickets to read before closing (default: as many as a first handshake got)", 3},
    {NULL, 0, NULL, 0, "What is checked:", 4},
    {"ca", KEY_CA, "FILE", 0, "Verify the chain against these CAs (engine full)", 4},
    {"cert-sha256", KEY_CERT_SHA256, "HEX", 0, "SHA-256 of the leaf certificate to expect", 4},
    {"verify-every", KEY_VERIFY_EVERY, "N", 0,
     "Verify the server's signature in one of N handshakes; 0 never (default 1000)", 4},
    {"allow-hello-retry", KEY_ALLOW_HRR, NULL, 0, "A HelloRetryRequest is not an error", 4},
    {"count-allocations", KEY_COUNT_ALLOCATIONS, NULL, 0,
     "Count the memory allocations of the library in engine full, and those of a server that has a "
     "file of counts",
     4},
    {"server-allocations", KEY_SERVER_ALLOCATIONS, "FILE", 0,
     "The server's file of counts (its TLSCOST_ALLOCATIONS)", 4},
    {NULL, 0, NULL, 0, "Unusual clients:", 5},
    {"stop", KEY_STOP, "WHERE", 0,
     "complete (default), after-client-hello (at the ServerHello), after-server-flight or "
     "after-hello-retry",
     5},
    {"split", KEY_SPLIT, "N|at:N", 0,
     "The ClientHello in writes of N bytes, or in two with N in the first", 5},
    {"padding", KEY_PADDING, "BYTES", 0, "Padding extension in the ClientHello (RFC 7685)", 5},
    {"wrong-share-first", KEY_WRONG_SHARE, NULL, 0,
     "A key share of the second group; a server that takes only the first, or prefers it to a "
     "round trip saved, sends a HelloRetryRequest",
     5},
    {"loop", KEY_LOOP, "NAME", 0, "auto (default), io_uring or epoll", 5},
    {"batch", KEY_BATCH, "N", 0,
     "Events a loop waits for before it works, at most 6 ms (default 32, with --rate 1)", 5},
    {"fresh-sockets", KEY_FRESH, NULL, 0, "A new socket for every connection", 5},
    {"allow-public", KEY_PUBLIC, NULL, 0,
     "Allow addresses other than loopback, private and link-local; needs --rate", 5},
    {NULL, 0, NULL, 0, "The TCP floor (what the kernel costs without TLS):", 7},
    {"bytes", KEY_BYTES, "A:B:C[:D]", 0,
     "Engine tcp: bytes of ClientHello, server's flight, Finished and tickets (default "
     "230:900:80:0)",
     7},
    {"serve-floor", KEY_FLOOR, "ADDR:PORT", 0, "Be the server for engine tcp, until interrupted",
     7},
    {"burn-us", KEY_BURN_US, "N", 0, "Its CPU for each connection, in place of a handshake's", 7},
    {NULL, 0, NULL, 0, "Output:", 6},
    {"json", KEY_JSON, NULL, 0, "One JSON document on standard output", 6},
    {"control", KEY_CONTROL, NULL, 0, "Take control messages on descriptor 3", 6},
    {0},
};

static enum tlc_status parse_word(const char *option, const char *text, const char *const *words,
                                  int *value, struct tlc_error *error)
{
    char known[128] = "";
    for (*value = 0; words[*value]; ++*value) {
        if (!strcmp(text, words[*value]))
            return TLC_OK;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", *value ? ", " : "",
                 words[*value]);
    }
    return tlc_fail(error, TLC_USAGE, "%s: '%s': unknown; it is one of %s", option, text, known);
}

static enum tlc_status parse_share(const char *option, const char *text, double low, double high,
                                   double *value, struct tlc_error *error)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !(*value >= low && *value <= high))
        return tlc_fail(error, TLC_USAGE, "%s: '%s': not a number from %g to %g", option, text, low,
                        high);
    return TLC_OK;
}

static enum tlc_status parse_rate(const char *text, struct tlc_slice_options *slice,
                                  struct tlc_error *error)
{
    const char *dots = strstr(text, "..");
    if (!dots)
        return parse_share("--rate", text, 0.001, 1e8, &slice->rate, error);
    char first[32];
    snprintf(first, sizeof first, "%.*s", (int)(dots - text), text);
    enum tlc_status status = parse_share("--rate", first, 0, 1e8, &slice->rate, error);
    return status == TLC_OK ? parse_share("--rate", dots + 2, 0.001, 1e8, &slice->rate_end, error)
                            : status;
}

static enum tlc_status parse_hash(const char *text, struct tlc_expectation *expect,
                                  struct tlc_error *error)
{
    size_t length = 0;
    for (; text[length] && length < 64; length += 2) {
        unsigned byte;
        int used = 0;
        if (sscanf(text + length, "%2x%n", &byte, &used) != 1 || used != 2)
            break;
        expect->certificate_sha256[length / 2] = (uint8_t)byte;
    }
    expect->certificate_known = length == 64 && !text[64];
    return expect->certificate_known
               ? TLC_OK
               : tlc_fail(error, TLC_USAGE, "--cert-sha256: '%s': not 64 hexadecimal digits", text);
}

static enum tlc_status parse_bytes(const char *text, struct tlc_floor *floor,
                                   struct tlc_error *error)
{
    int used = 0;
    *floor = (struct tlc_floor){0};
    int found =
        sscanf(text, "%6u:%6u:%6u%n:%6u%n", &floor->client_hello_bytes, &floor->server_flight_bytes,
               &floor->finished_bytes, &used, &floor->ticket_bytes, &used);
    if (found < 3 || text[used])
        return tlc_fail(error, TLC_USAGE,
                        "--bytes: '%s': not three or four counts, for example 230:900:80:0", text);
    return TLC_OK;
}

static enum tlc_status parse_version(const char *text, struct tlc_target_options *target,
                                     struct tlc_error *error)
{
    size_t count;
    enum tlc_status status =
        tlc_codes_parse(TLC_NAME_VERSION, text, &target->min_version, 1, &count, error);
    target->max_version = target->expect.version = target->min_version;
    return status;
}

// Options whose value is a whole number.
static enum tlc_status parse_numbers(int key, const char *text, struct tlc_load_options *options,
                                     struct tlc_error *error)
{
    struct tlc_target_options *target = &options->target;
    uint64_t value = 0;
    enum tlc_status status = TLC_OK;
    switch (key) {
    case KEY_COUNT:
        return tlc_parse_number("--count", text, 1, UINT64_MAX / 2, &options->slice.count, error);
    case KEY_CONCURRENCY:
        status = tlc_parse_number("--concurrency", text, 1, 1 << 20, &value, error);
        options->slice.concurrency = (unsigned)value;
        return status;
    case KEY_THREADS:
        status = tlc_parse_number("--threads", text, 1, 256, &value, error);
        target->threads = (unsigned)value;
        return status;
    case KEY_BATCH:
        status = tlc_parse_number("--batch", text, 1, 1024, &value, error);
        options->slice.batch = (unsigned)value;
        return status;
    case KEY_TICKETS:
        status = tlc_parse_number("--tickets", text, 0, 64, &value, error);
        target->tickets_expected = (unsigned)value;
        options->tickets_known = true;
        return status;
    case KEY_VERIFY_EVERY:
        status = tlc_parse_number("--verify-every", text, 0, UINT32_MAX, &value, error);
        target->verify_every = (unsigned)value;
        return status;
    case KEY_ECHO:
        return tlc_parse_number("--echo", text, 1, 65536, &target->echo_bytes, error);
    case KEY_BURN_US:
        status = tlc_parse_number("--burn-us", text, 0, 100000, &value, error);
        options->burn_us = (unsigned)value;
        return status;
    case KEY_PADDING:
        return tlc_parse_number("--padding", text, 0, 16000, &target->padding_bytes, error);
    case KEY_SPLIT:
        if (!strncmp(text, "at:", 3))
            return tlc_parse_number("--split", text + 3, 1, 65536, &target->split_at, error);
        return tlc_parse_number("--split", text, 1, 65536, &target->split_every, error);
    default:
        return TLC_OK;
    }
}

static enum tlc_status parse_words(int key, const char *text, struct tlc_target_options *target,
                                   struct tlc_error *error)
{
    static const char *const engines[] = {"lean", "full", "tcp", NULL};
    static const char *const shares[] = {"honest",    "reused",    "cheap",
                                         "unreduced", "low-order", NULL};
    static const char *const stops[] = {"complete", "after-client-hello", "after-server-flight",
                                        "after-hello-retry", NULL};
    static const char *const closes[] = {"reset", "fin", "close-notify", NULL};
    static const char *const loops[] = {"auto", "epoll", "io_uring", NULL};
    static const char *const modes[] = {"psk_dhe_ke", "psk_ke", "psk_dhe_ke:psk_ke", NULL};
    int value = 0;
    enum tlc_status status = TLC_OK;
    switch (key) {
    case KEY_ENGINE:
        status = parse_word("--engine", text, engines, &value, error);
        target->engine = (enum tlc_engine)value;
        break;
    case KEY_SHARE:
        status = parse_word("--share", text, shares, &value, error);
        target->share = (enum tlc_share)value;
        target->expect.refusal = tlc_share_is_invalid(target->share);
        break;
    case KEY_STOP:
        status = parse_word("--stop", text, stops, &value, error);
        target->stop = (enum tlc_tls13_stop)value;
        break;
    case KEY_CLOSE:
        status = parse_word("--close", text, closes, &value, error);
        target->close = (enum tlc_close)value;
        break;
    case KEY_LOOP:
        status = parse_word("--loop", text, loops, &value, error);
        target->loop = (enum tlc_loop_choice)value;
        break;
    default: // KEY_PSK_MODES
        status = parse_word("--psk-modes", text, modes, &value, error);
        target->psk_modes = (unsigned)value + 1; // TLC_PSK_DHE_KE, TLC_PSK_KE, both
    }
    return status;
}

static enum tlc_status parse_times(int key, const char *text, struct tlc_load_options *options,
                                   struct tlc_error *error)
{
    uint64_t us = 0;
    enum tlc_status status = tlc_parse_duration(text, &us, error);
    if (status != TLC_OK)
        return status;
    if (key == KEY_DURATION)
        options->slice.duration_us = us;
    else if (key == KEY_WARM_UP)
        options->warm_up_us = us;
    else if (us >= 1000 && us / 1000 < UINT32_MAX)
        options->target.timeout_ms = (unsigned)(us / 1000);
    else
        status = tlc_fail(error, TLC_USAGE, "--timeout: '%s': at least 1ms", text);
    if (key == KEY_DURATION && !us)
        status = tlc_fail(error, TLC_USAGE, "--duration: '%s': must be longer than 0", text);
    return status;
}

static enum tlc_status parse_lists(int key, const char *text, struct tlc_load_options *options,
                                   struct tlc_error *error)
{
    struct tlc_target_options *target = &options->target;
    switch (key) {
    case KEY_GROUPS:
        return tlc_codes_parse(TLC_NAME_GROUP, text, target->groups, 16, &target->group_count,
                               error);
    case KEY_CIPHERS:
        return tlc_codes_parse(TLC_NAME_CIPHER, text, target->ciphers, 16, &target->cipher_count,
                               error);
    case KEY_ALPN:
        tlc_words_free(options->alpn);
        options->alpn = tlc_words(text);
        target->alpn = (const char *const *)options->alpn;
        return TLC_OK;
    case KEY_CA:
        return tlc_read_text(text, &options->trust_pem, error);
    case KEY_CLIENT_CERT:
        return tlc_read_text(text, &options->client_chain_pem, error);
    case KEY_CLIENT_KEY:
        return tlc_read_text(text, &options->client_key_pem, error);
    case KEY_BYTES:
        return parse_bytes(text, &target->floor, error);
    case KEY_CERT_SHA256:
        return parse_hash(text, &target->expect, error);
    case KEY_VERSION:
        return parse_version(text, target, error);
    case KEY_RESUME:
        return parse_share("--resume", text, 0, 1, &target->resume_ratio, error);
    case KEY_PROBE_RATE:
        return parse_share("--probe-rate", text, 0.001, 1e6, &options->probe_rate, error);
    default: // KEY_RATE
        return parse_rate(text, &options->slice, error);
    }
}

static void set_switch(int key, const char *text, struct tlc_load_options *options)
{
    switch (key) {
    case KEY_STACK:
        options->stack = text;
        break;
    case KEY_SNI:
        options->target.server_name = text;
        break;
    case KEY_WRONG_SHARE:
        options->target.wrong_share_first = true;
        options->target.expect.allow_hello_retry_request = true;
        break;
    case KEY_ALLOW_HRR:
        options->target.expect.allow_hello_retry_request = true;
        break;
    case KEY_FRESH:
        options->target.fresh_sockets = true;
        break;
    case KEY_PUBLIC:
        options->target.allow_public = true;
        break;
    case KEY_FLOOR:
        options->floor_listen = text;
        break;
    case KEY_COUNT_ALLOCATIONS:
        options->count_allocations = true;
        break;
    case KEY_SERVER_ALLOCATIONS:
        options->server_allocations = text;
        break;
    case KEY_CONTROL:
        options->control = true;
        break;
    default: // KEY_JSON
        options->json = true;
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct tlc_load_options *options = state->input;
    struct tlc_error *error = &options->error;
    enum tlc_status status = TLC_OK;
    switch (key) {
    case KEY_COUNT:
    case KEY_CONCURRENCY:
    case KEY_THREADS:
    case KEY_BATCH:
    case KEY_TICKETS:
    case KEY_VERIFY_EVERY:
    case KEY_ECHO:
    case KEY_PADDING:
    case KEY_BURN_US:
    case KEY_SPLIT:
        status = parse_numbers(key, text, options, error);
        break;
    case KEY_ENGINE:
    case KEY_SHARE:
    case KEY_STOP:
    case KEY_CLOSE:
    case KEY_LOOP:
    case KEY_PSK_MODES:
        status = parse_words(key, text, &options->target, error);
        break;
    case KEY_DURATION:
    case KEY_WARM_UP:
    case KEY_TIMEOUT:
        status = parse_times(key, text, options, error);
        break;
    case KEY_GROUPS:
    case KEY_CIPHERS:
    case KEY_ALPN:
    case KEY_CA:
    case KEY_CLIENT_CERT:
    case KEY_CLIENT_KEY:
    case KEY_CERT_SHA256:
    case KEY_BYTES:
    case KEY_VERSION:
    case KEY_RESUME:
    case KEY_PROBE_RATE:
    case KEY_RATE:
        status = parse_lists(key, text, options, error);
        break;
    case ARGP_KEY_ARG:
        if (options->target.address)
            status = tlc_fail(error, TLC_USAGE, "load: '%s': one address only", text);
        options->target.address = text;
        break;
    default:
        if (key < KEY_DURATION || key > KEY_JSON)
            return ARGP_ERR_UNKNOWN;
        set_switch(key, text, options);
    }
    if (status != TLC_OK)
        argp_error(state, "%s", error->text);
    return 0;
}

static const char documentation[] =
    "Make handshakes against a TLS server and count what happened: rate, own CPU per handshake, "
    "latencies, errors by kind, and what was negotiated on every handshake."
    "\vExamples:\n"
    "  tlscost load 127.0.0.1:4433                   2 s of X25519 handshakes\n"
    "  tlscost load --groups X25519MLKEM768 --share cheap --json 127.0.0.1:4433\n"
    "  tlscost load --count 10000 --concurrency 64 '[::1]:4433'\n"
    "  tlscost load --resume 0.8 127.0.0.1:4433      four of five offer a ticket\n"
    "  tlscost load --rate 500 --duration 10s 127.0.0.1:4433\n"
    "  tlscost load --engine full --version 1.2 --ca ca.pem 127.0.0.1:4433\n\n"
    "Unless --tickets is given, one handshake before the load counts the tickets the server "
    "sends.\n"
    "Exit codes: 0 all as asked; 1 wrong usage; 2 no server or no resources; 3 errors, or "
    "handshakes that differ from what was asked; 130 interrupted.";

const struct argp tlc_load_argp = {
    .options = argp_options,
    .parser = parse_option,
    .args_doc = "ADDR:PORT",
    .doc = documentation,
};

void tlc_load_options_free(struct tlc_load_options *options)
{
    tlc_words_free(options->alpn);
    free(options->trust_pem);
    free(options->client_chain_pem);
    free(options->client_key_pem);
    json_decref(options->allocations);
}
