// tlscost serve: a TLS server on any stack, to be measured.
#include <argp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/process.h"
#include "certs/certs.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/serve.h"
#include "measure/allocations.h"
#include "server/server.h"

enum { CODES = 32 };

struct options {
    struct tlc_serve_asked asked;
    const char *stack, *alpn;
    uint16_t groups[CODES], ciphers[CODES], signatures[CODES];
    struct tlc_server_options server;
    struct tlc_served *certificates_served;
    struct tlc_serve_trace trace;
    bool json, count_allocations;
    struct tlc_error error;
};

enum {
    KEY_LISTEN = 256,
    KEY_CERTS,
    KEY_CERT,
    KEY_GROUPS,
    KEY_STACK,
    KEY_WORKERS,
    KEY_ACCEPT,
    KEY_BACKLOG,
    KEY_VERSION,
    KEY_MIN_VERSION,
    KEY_CIPHERS,
    KEY_SIGNATURES,
    KEY_ALPN,
    KEY_HTTP,
    KEY_TICKETS,
    KEY_TICKET_KEYS,
    KEY_PSK_MODES,
    KEY_ROTATE,
    KEY_KEEP,
    KEY_TICKET_LIFETIME,
    KEY_MISTAKE,
    KEY_SNI,
    KEY_NAMES,
    KEY_CLIENT_AUTH,
    KEY_COOKIE,
    KEY_HANDSHAKE_TIMEOUT,
    KEY_LIBRARY_OPTIONS,
    KEY_PROVIDER,
    KEY_COUNT_ALLOCATIONS,
    KEY_BURN_US,
    KEY_BURN_IN,
    KEY_TRACE,
    KEY_TRACE_FILE,
    KEY_FAULT,
    KEY_CONTROL,
    KEY_JSON
};

static const struct argp_option argp_options[] = {
    {NULL, 0, NULL, 0, "Where and how it listens:", 1},
    {"listen", KEY_LISTEN, "ADDR:PORT", 0,
     "Address (default 127.0.0.1:4433); [IPv6]:PORT, unix:PATH; port 0 takes a free one", 1},
    {"workers", KEY_WORKERS, "N", 0, "Worker threads (default: one a CPU it may use)", 1},
    {"accept", KEY_ACCEPT, "HOW", 0,
     "'shared': workers accept from one socket (default); 'reuseport': a socket each", 1},
    {"backlog", KEY_BACKLOG, "N", 0, "Length of the accept queue (default 4096)", 1},
    {"handshake-timeout", KEY_HANDSHAKE_TIMEOUT, "TIME", 0,
     "Close connections whose handshake takes longer (default 10s)", 1},
    {NULL, 0, NULL, 0, "What it serves:", 2},
    {"stack", KEY_STACK, "NAME", 0, "TLS library, see 'tlscost stacks' (default openssl)", 2},
    {"certs", KEY_CERTS, "DIR", 0,
     "Folder of certificates (default: made in the cache folder when missing)", 2},
    {"cert", KEY_CERT, "NAME[,NAME]", 0,
     "Certificates in DIR, for example ecdsa-p256 (default), rsa-2048", 2},
    {"sni", KEY_SNI, "NAME=HOST[,...]", 0, "Certificate NAME answers to server name HOST", 2},
    {"names", KEY_NAMES, "N", 0,
     "N numbered certificates more: key and type of the first --cert, for the server names "
     "n00000.tlscost.test, n00001.tlscost.test, ...",
     2},
    {"groups", KEY_GROUPS, "A:B", 0, "Key exchange groups in order (default: the library's)", 2},
    {"version", KEY_VERSION, "V", 0, "The only TLS version: 1.3 or 1.2", 2},
    {"min-version", KEY_MIN_VERSION, "V", 0, "The lowest TLS version (default: the library's)", 2},
    {"ciphers", KEY_CIPHERS, "A:B", 0, "Cipher suites of TLS 1.3 and 1.2, in order", 2},
    {"signatures", KEY_SIGNATURES, "A:B", 0, "Signature schemes in order", 2},
    {"alpn", KEY_ALPN, "A[,B]", 0, "Protocols in order, for example h2,http/1.1", 2},
    {"http", KEY_HTTP, NULL, 0,
     "Answer HTTP/1.1 to all (default: only where ALPN chose it), else echo", 2},
    {"client-auth", KEY_CLIENT_AUTH, "HOW", 0,
     "'request' or 'require' a client certificate of the CA in DIR", 2},
    {"cookie", KEY_COOKIE, NULL, 0,
     "Answer every first ClientHello with a HelloRetryRequest that has a cookie", 2},
    {NULL, 0, NULL, 0, "Resumption:", 3},
    {"tickets", KEY_TICKETS, "N|off|stateful", 0,
     "Tickets after a full handshake (default: the library's number)", 3},
    {"ticket-keys", KEY_TICKET_KEYS, "FILE", 0,
     "80-byte keys, raw or as hexadecimal lines; the first encrypts; read again on SIGHUP and when "
     "the file is replaced",
     3},
    {"rotate", KEY_ROTATE, "TIME", 0,
     "A fresh ticket key at each period, for example 24h; the file of keys is rewritten", 3},
    {"keep", KEY_KEEP, "N", 0, "Previous keys that still decrypt after a rotation (default 2)", 3},
    {"ticket-lifetime", KEY_TICKET_LIFETIME, "TIME", 0,
     "How long a ticket or session lives (default: the library's)", 3},
    {"psk-modes", KEY_PSK_MODES, "MODES", 0, "psk_dhe_ke, psk_ke or both (psk_dhe_ke:psk_ke)", 3},
    {NULL, 0, NULL, 0, "For measurements and tests:", 4},
    {"library-options", KEY_LIBRARY_OPTIONS, "TEXT", 0,
     "More settings in the library's own language", 4},
    {"provider", KEY_PROVIDER, "NAME", 0, "Crypto provider or engine to load, and its settings", 4},
    {"count-allocations", KEY_COUNT_ALLOCATIONS, NULL, 0,
     "Count the memory allocations of the workers", 4},
    {"burn-us", KEY_BURN_US, "N", 0, "Burn N microseconds of CPU in each handshake", 4},
    {"burn-in", KEY_BURN_IN, "PLACE", 0,
     "Burn them in the state-machine (default), the signature or the key-generation", 4},
    {"trace", KEY_TRACE, "MODE", 0,
     "OpenSSL: load the tracing provider; 'tag' names what works, 'timed' times it", 4},
    {"trace-file", KEY_TRACE_FILE, "FILE", 0, "Share the trace through this file", 4},
    {"fault", KEY_FAULT, "FAULT", 0,
     "Misbehave: reset-1-in=N, stall-1-in=N or die-after=N (may be repeated)", 4},
    {"mistake", KEY_MISTAKE, "MISTAKE", 0,
     "Rotate wrongly: abrupt, no-previous or trap; or share no keys: key-per-worker", 4},
    {"control", KEY_CONTROL, NULL, 0, "Take control messages on descriptor 3", 4},
    {"json", KEY_JSON, NULL, 0, "Nothing but the counters on standard output", 4},
    {0},
};

static enum tlc_status parse_codes(enum tlc_name_kind kind, const char *list, uint16_t *codes,
                                   const uint16_t **into, size_t *count, struct tlc_error *error)
{
    *into = codes;
    return tlc_codes_parse(kind, list, codes, CODES, count, error);
}

static enum tlc_status parse_version(const char *text, uint16_t *version, struct tlc_error *error)
{
    size_t count;
    return tlc_codes_parse(TLC_NAME_VERSION, text, version, 1, &count, error);
}

// Finds `text` in a NULL-terminated list of words; the index becomes *value.
static enum tlc_status parse_word(const char *option, const char *text, const char *const *words,
                                  int *value, struct tlc_error *error)
{
    for (*value = 0; words[*value]; ++*value)
        if (!strcmp(text, words[*value]))
            return TLC_OK;
    return tlc_fail(error, TLC_USAGE, "%s: '%s': unknown; write %s or %s", option, text, words[0],
                    words[1]);
}

static enum tlc_status parse_psk_modes(const char *text, unsigned *modes, struct tlc_error *error)
{
    static const char *const words[] = {"psk_dhe_ke", "psk_ke", "psk_dhe_ke:psk_ke", NULL};
    static const unsigned values[] = {TLC_PSK_DHE_KE, TLC_PSK_KE, TLC_PSK_DHE_KE | TLC_PSK_KE, 0};
    int index = 0;
    enum tlc_status status = parse_word("--psk-modes", text, words, &index, error);
    *modes = values[index];
    return status;
}

static enum tlc_status parse_client_auth(const char *text, enum tlc_client_auth *auth,
                                         struct tlc_error *error)
{
    static const char *const words[] = {"request", "require", NULL};
    int index = 0;
    enum tlc_status status = parse_word("--client-auth", text, words, &index, error);
    *auth = index ? TLC_CLIENT_AUTH_REQUIRE : TLC_CLIENT_AUTH_REQUEST;
    return status;
}

static enum tlc_status parse_accept(const char *text, enum tlc_accept *how, struct tlc_error *error)
{
    static const char *const words[] = {"shared", "reuseport", NULL};
    int index = 0;
    enum tlc_status status = parse_word("--accept", text, words, &index, error);
    *how = index ? TLC_ACCEPT_REUSEPORT : TLC_ACCEPT_SHARED;
    return status;
}

static enum tlc_status parse_unsigned(const char *option, const char *text, uint64_t low,
                                      uint64_t high, unsigned *value, struct tlc_error *error)
{
    uint64_t number = 0;
    enum tlc_status status = tlc_parse_number(option, text, low, high, &number, error);
    *value = (unsigned)number;
    return status;
}

static enum tlc_status parse_timeout(const char *text, unsigned *ms, struct tlc_error *error)
{
    uint64_t us = 0;
    enum tlc_status status = tlc_parse_duration(text, &us, error);
    if (status == TLC_OK && (us < 1000 || us > 3600000000u))
        return tlc_fail(error, TLC_USAGE, "--handshake-timeout: '%s': not from 1ms to 1h", text);
    *ms = (unsigned)(us / 1000);
    return status;
}

// Options whose argument is checked here; TLC_OK also for those that are not.
static enum tlc_status parse_value(int key, const char *argument, struct options *options)
{
    struct tlc_server_options *server = &options->server;
    struct tlc_stack_config *config = &server->stack;
    struct tlc_error *error = &options->error;
    switch (key) {
    case KEY_WORKERS:
        return parse_unsigned("--workers", argument, 1, 1024, &server->workers, error);
    case KEY_ACCEPT:
        return parse_accept(argument, &server->accept, error);
    case KEY_BACKLOG:
        return parse_unsigned("--backlog", argument, 1, 1 << 20, (unsigned *)&server->backlog,
                              error);
    case KEY_HANDSHAKE_TIMEOUT:
        return parse_timeout(argument, &server->handshake_timeout_ms, error);
    case KEY_GROUPS:
        return parse_codes(TLC_NAME_GROUP, argument, options->groups, &config->groups,
                           &config->group_count, error);
    case KEY_CIPHERS:
        return parse_codes(TLC_NAME_CIPHER, argument, options->ciphers, &config->ciphers,
                           &config->cipher_count, error);
    case KEY_SIGNATURES:
        return parse_codes(TLC_NAME_SIGNATURE, argument, options->signatures, &config->signatures,
                           &config->signature_count, error);
    case KEY_VERSION:
        return parse_version(argument, &config->max_version, error);
    case KEY_MIN_VERSION:
        return parse_version(argument, &config->min_version, error);
    case KEY_TICKETS:
        return tlc_serve_tickets(argument, config, error);
    case KEY_ROTATE:
        return tlc_serve_rotate(argument, server, error);
    case KEY_KEEP:
        server->own_keys = true;
        return parse_unsigned("--keep", argument, 0, TLC_TICKET_KEYS_MAX - 1, &server->keep, error);
    case KEY_TICKET_LIFETIME:
        return tlc_serve_ticket_lifetime(argument, &config->session_lifetime_s, error);
    case KEY_MISTAKE:
        return tlc_serve_mistake(argument, server, error);
    case KEY_PSK_MODES:
        return parse_psk_modes(argument, &config->psk_modes, error);
    case KEY_CLIENT_AUTH:
        return parse_client_auth(argument, &config->client_auth, error);
    case KEY_NAMES:
        return parse_unsigned("--names", argument, 0, TLC_CERTS_MAX_NUMBERED,
                              &options->asked.numbered, error);
    case KEY_BURN_US:
        return parse_unsigned("--burn-us", argument, 0, TLC_BURN_MAX_US, &server->burn_us, error);
    case KEY_BURN_IN:
        return tlc_serve_burn_in(argument, &options->trace, error);
    case KEY_TRACE:
        return tlc_serve_trace_mode(argument, &options->trace, error);
    case KEY_FAULT:
        return tlc_server_fault_parse(argument, &server->faults, error);
    default:
        return TLC_OK;
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    const struct {
        int key;
        const char **text;
    } texts[] = {
        {KEY_LISTEN, &options->server.listen},
        {KEY_CERTS, &options->asked.certs},
        {KEY_CERT, &options->asked.cert},
        {KEY_STACK, &options->stack},
        {KEY_SNI, &options->asked.sni},
        {KEY_ALPN, &options->alpn},
        {KEY_TICKET_KEYS, &options->server.ticket_keys_file},
        {KEY_LIBRARY_OPTIONS, &options->server.stack.library_options},
        {KEY_PROVIDER, &options->server.stack.provider},
        {KEY_TRACE_FILE, &options->trace.file},
    };
    if (key < KEY_LISTEN || key > KEY_JSON)
        return ARGP_ERR_UNKNOWN;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].key == key)
            *texts[i].text = argument;
    if (key == KEY_HTTP)
        options->server.http = true;
    else if (key == KEY_COOKIE)
        options->server.stack.cookie = true;
    else if (key == KEY_CONTROL)
        options->server.control = TLC_CONTROL_FD;
    else if (key == KEY_COUNT_ALLOCATIONS)
        options->count_allocations = true;
    else if (key == KEY_JSON)
        options->json = true;
    else if (parse_value(key, argument, options) != TLC_OK)
        argp_error(state, "%s", options->error.text);
    return 0;
}

static const char documentation[] =
    "Serve a TLS library as a server to be measured. It echoes application data, counts handshakes "
    "per worker, and prints the counts as JSON when it ends (SIGINT, SIGTERM)."
    "\vExamples:\n"
    "  tlscost serve                      on 127.0.0.1:4433, with ecdsa-p256\n"
    "  tlscost serve --cert rsa-2048 --groups X25519 --workers 2\n"
    "  tlscost serve --certs DIR --cert ecdsa-p256,rsa-2048 --sni ed25519=www.test\n"
    "  tlscost serve --names 100          100 more, chosen by server name\n"
    "  tlscost serve --http --listen '[::1]:8443'\n"
    "  curl -k 'https://[::1]:8443/'      from another terminal\n"
    "  tlscost serve --provider 'tlscost-x25519?variant=fixed-base'\n"
    "  tlscost serve --trace timed --trace-file FILE\n"
    "  tlscost serve --tickets 1 --ticket-keys keys      (SIGHUP: read keys again)\n\n"
    "Only loopback addresses are used unless another one is written in --listen.";

static enum tlc_status choose_protocols(const struct options *options, struct tlc_served *served,
                                        struct tlc_stack_config *config, struct tlc_error *error)
{
    served->alpn_words = tlc_words(options->alpn ? options->alpn : "");
    config->alpn = served->alpn;
    for (char **word = served->alpn_words; word && *word; word++) {
        if (config->alpn_count == TLC_SERVED_PROTOCOLS || strlen(*word) > 255)
            return tlc_fail(error, TLC_USAGE, "--alpn: at most %d names of at most 255 bytes",
                            TLC_SERVED_PROTOCOLS);
        served->alpn[config->alpn_count++].name = *word;
    }
    return TLC_OK;
}

static void say_ready(const char *address, bool loopback, void *user)
{
    const struct options *options = user;
    tlc_served_forget_numbered(options->certificates_served);
    FILE *to = options->json ? stderr : stdout;
    fprintf(to, "listening on %s (stack %s, certificate %s, %u %s)\n", address,
            options->server.plugin->id, options->asked.cert, options->server.workers,
            options->server.workers == 1 ? "worker" : "workers");
    fflush(to);
    if (!loopback)
        fprintf(stderr,
                "tlscost: note: %s can be reached from other machines; this server is for "
                "measurements, not for service\n",
                address);
}

static void say_note(const char *text, void *user)
{
    (void)user;
    fprintf(stderr, "tlscost: %s\n", text);
}

static unsigned usable_cpus(void)
{
    cpu_set_t cpus;
    return sched_getaffinity(0, sizeof cpus, &cpus) ? 1u : (unsigned)CPU_COUNT(&cpus);
}

static enum tlc_status serve(struct options *options, struct tlc_served *served, json_t **counters)
{
    struct tlc_stack_config *config = &options->server.stack;
    struct tlc_error *error = &options->error;
    enum tlc_status status = tlc_serve_trace(&options->trace, &options->server, error);
    if (status == TLC_OK)
        status = tlc_stack_load(options->stack, &options->server.plugin, error);
    if (status == TLC_OK)
        status = choose_protocols(options, served, config, error);
    if (status == TLC_OK)
        status = tlc_served_read(&options->asked, served, config, error);
    if (status == TLC_OK)
        status = tlc_server_trial(&options->server, error);
    return status == TLC_OK ? tlc_server_run(&options->server, counters, error) : status;
}

int tlc_cmd_serve(int argc, char **argv)
{
    struct options options = {
        .asked = {.cert = "ecdsa-p256"},
        .stack = "openssl",
        .server = {.listen = "127.0.0.1:4433",
                   .control = -1,
                   .keep = 2,
                   .ready = say_ready,
                   .note = say_note,
                   .stack = {.ticket_mode = TLC_TICKETS_STATELESS, .tickets_per_handshake = -1}},
    };
    const struct argp argp = {argp_options, parse_option, NULL, documentation, NULL, NULL, NULL};
    argp_err_exit_status = TLC_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    struct tlc_stack_config *config = &options.server.stack;
    // --version alone allows one version only.
    if (config->max_version && !config->min_version)
        config->min_version = config->max_version;
    if (!options.server.workers)
        options.server.workers = usable_cpus();
    options.server.user = &options;
    if (options.count_allocations && tlc_allocations_preload(&options.error) != TLC_OK)
        return tlc_report_error(&options.error);
    struct tlc_served served = {.count = 0};
    options.certificates_served = &served;
    json_t *counters = NULL;
    enum tlc_status status = serve(&options, &served, &counters);
    tlc_serve_trace_end(&options.trace, counters);
    if (counters)
        tlc_print_json(counters);
    json_decref(counters);
    tlc_served_free(&served);
    return status == TLC_OK ? TLC_OK : tlc_report_error(&options.error);
}
