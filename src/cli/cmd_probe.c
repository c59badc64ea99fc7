// tlscost probe: one verified connection and what it shows.
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "evidence/probe.h"
#include "measure/machine.h"
#include "result/result.h"

enum {
    KEY_JSON = 256,
    KEY_SNI,
    KEY_CA,
    KEY_NO_VERIFY,
    KEY_GROUPS,
    KEY_VERSION,
    KEY_CIPHERS,
    KEY_ALPN,
    KEY_STACK,
    KEY_TIMEOUT
};

enum { MAX_CODES = 32, MAX_TIMEOUT_MS = 3600000 };

// Where distributions keep the certificates of public CAs.
static const char *const system_bundles[] = {
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"};

struct options {
    const char *address, *server_name, *ca, *groups, *version, *ciphers, *alpn, *stack;
    bool json, no_verify;
    uint64_t timeout_us;
    struct tlc_error error;
};

static const struct argp_option argp_options[] = {
    {"json", KEY_JSON, NULL, 0, "Print a JSON document instead of text", 0},
    {"sni", KEY_SNI, "NAME", 0,
     "Server name to send and to verify (default: the host of the address)", 0},
    {"ca", KEY_CA, "FILE", 0, "PEM file of the CAs to trust (default: those of the system)", 0},
    {"no-verify", KEY_NO_VERIFY, NULL, 0, "Do not verify the certificate chain", 0},
    {"groups", KEY_GROUPS, "A:B", 0, "Groups to offer, in order of preference", 0},
    {"version", KEY_VERSION, "VERSION", 0, "Only this version: 1.2 or 1.3", 0},
    {"ciphers", KEY_CIPHERS, "A:B", 0, "Cipher suites to offer, in order of preference", 0},
    {"alpn", KEY_ALPN, "A,B", 0, "Application protocols to offer, for example h2,http/1.1", 0},
    {"stack", KEY_STACK, "NAME", 0, "TLS library of the client (default: openssl)", 0},
    {"timeout", KEY_TIMEOUT, "TIME", 0, "Give up after this long (default: 5s)", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_JSON:
        options->json = true;
        return 0;
    case KEY_SNI:
        options->server_name = argument;
        return 0;
    case KEY_CA:
        options->ca = argument;
        return 0;
    case KEY_NO_VERIFY:
        options->no_verify = true;
        return 0;
    case KEY_GROUPS:
        options->groups = argument;
        return 0;
    case KEY_VERSION:
        options->version = argument;
        return 0;
    case KEY_CIPHERS:
        options->ciphers = argument;
        return 0;
    case KEY_ALPN:
        options->alpn = argument;
        return 0;
    case KEY_STACK:
        options->stack = argument;
        return 0;
    case KEY_TIMEOUT:
        if (tlc_parse_duration(argument, &options->timeout_us, &options->error) != TLC_OK)
            argp_error(state, "%s", options->error.text);
        if (options->timeout_us < 1000 || options->timeout_us > MAX_TIMEOUT_MS * 1000ull)
            argp_error(state, "timeout: '%s': not within 1ms to 1h", argument);
        return 0;
    case ARGP_KEY_ARG:
        if (options->address)
            argp_error(state, "'%s': one address at a time", argument);
        options->address = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no address; write HOST:PORT, [IPV6]:PORT or unix:/path");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char documentation[] =
    "Connect once to a TLS server, verify its certificate, and show what was negotiated and "
    "served: "
    "version, cipher, group, certificate, tickets, bytes of each flight and the time of each step."
    "\vExamples:\n"
    "  tlscost probe example.com:443\n"
    "  tlscost probe --ca certs/ca.pem --sni localhost 127.0.0.1:4433\n"
    "  tlscost probe --no-verify --groups X25519 --json [::1]:4433\n\n"
    "Exit code 3 means that the server answered but that its certificate could not be verified, or "
    "that it refused the handshake; 2 that it could not be reached.";

static enum tlc_status read_trust(const struct options *options, char **trust,
                                  struct tlc_error *error)
{
    *trust = NULL;
    if (options->no_verify && options->ca)
        return tlc_fail(error, TLC_USAGE, "probe: --ca and --no-verify: choose one");
    if (options->no_verify)
        return TLC_OK;
    if (options->ca)
        return tlc_read_text(options->ca, trust, error);
    for (size_t i = 0; i < sizeof system_bundles / sizeof *system_bundles; i++)
        if (tlc_read_text(system_bundles[i], trust, error) == TLC_OK)
            return TLC_OK;
    return tlc_fail(
        error, TLC_ENVIRONMENT,
        "probe: no CA certificates of the system found; install ca-certificates, or use "
        "--ca FILE or --no-verify");
}

static enum tlc_status parse_versions(const char *name, struct tlc_probe_options *probe,
                                      struct tlc_error *error)
{
    uint16_t code;
    size_t count;
    if (!name)
        return TLC_OK;
    enum tlc_status status = tlc_codes_parse(TLC_NAME_VERSION, name, &code, 1, &count, error);
    probe->min_version = probe->max_version = code;
    return status;
}

static enum tlc_status run_probe(const struct options *options, json_t **evidence,
                                 struct tlc_error *error)
{
    uint16_t groups[MAX_CODES], ciphers[MAX_CODES];
    char *trust = NULL, **alpn = NULL;
    struct tlc_probe_options probe = {.address = options->address,
                                      .groups = groups,
                                      .ciphers = ciphers,
                                      .server_name = options->server_name,
                                      .timeout_ms = (unsigned)(options->timeout_us / 1000)};
    enum tlc_status status = parse_versions(options->version, &probe, error);
    if (status == TLC_OK && options->groups)
        status = tlc_codes_parse(TLC_NAME_GROUP, options->groups, groups, MAX_CODES,
                                 &probe.group_count, error);
    if (status == TLC_OK && options->ciphers)
        status = tlc_codes_parse(TLC_NAME_CIPHER, options->ciphers, ciphers, MAX_CODES,
                                 &probe.cipher_count, error);
    if (status == TLC_OK)
        status = read_trust(options, &trust, error);
    if (status == TLC_OK)
        status = tlc_stack_load(options->stack ? options->stack : "openssl", &probe.plugin, error);
    if (status == TLC_OK) {
        alpn = options->alpn ? tlc_words(options->alpn) : NULL;
        probe.alpn = (const char *const *)alpn;
        probe.trust_pem = trust;
        status = tlc_probe(&probe, evidence, error);
    }
    tlc_words_free(alpn);
    free(trust);
    return status;
}

// Prints text from the network: control characters, escapes among them, become '?'.
static void print_text(const char *text)
{
    for (; *text; text++)
        putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

static void print_row(const char *label, const json_t *value)
{
    printf("%-22s", label);
    if (json_is_string(value))
        print_text(json_string_value(value));
    else if (json_is_integer(value))
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "yes" : "no", stdout);
    else
        putchar('-');
    putchar('\n');
}

static void print_verified(const json_t *evidence)
{
    const json_t *verified = json_object_get(evidence, "verified");
    const char *why = json_string_value(json_object_get(evidence, "verification"));
    printf("%-22s", "verified");
    fputs(json_is_true(verified) ? "yes" : json_is_null(verified) ? "not asked" : "NO: ", stdout);
    if (json_is_false(verified))
        print_text(why ? why : "the chain or the name does not verify");
    putchar('\n');
}

static void print_certificate(const json_t *evidence)
{
    const json_t *certificate = json_object_get(evidence, "certificate");
    const json_t *chain = json_object_get(evidence, "chain");
    print_verified(evidence);
    print_row("subject", json_object_get(certificate, "subject"));
    print_row("issuer", json_object_get(certificate, "issuer"));
    print_row("key type", json_object_get(certificate, "key_type"));
    print_row("key bits", json_object_get(certificate, "key_bits"));
    print_row("signed with", json_object_get(certificate, "signature_algorithm"));
    print_row("not after", json_object_get(certificate, "not_after"));
    print_row("sha256", json_object_get(certificate, "sha256"));
    printf("%-22s%" JSON_INTEGER_FORMAT " certificates, %" JSON_INTEGER_FORMAT " bytes\n", "chain",
           json_integer_value(json_object_get(chain, "depth")),
           json_integer_value(json_object_get(chain, "bytes")));
}

static void print_sizes(const json_t *bytes)
{
    static const struct {
        const char *label, *member;
        bool rare; // left out when zero
    } rows[] = {{"ClientHello", "client_hello", false},
                {"HelloRetryRequest", "hello_retry_request", true},
                {"server's flight", "server_flight", false},
                {"client's flight", "client_flight", false},
                {"server's Finished", "server_finished", true},
                {"tickets", "tickets", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_int_t count = json_integer_value(json_object_get(bytes, rows[i].member));
        if (count || !rows[i].rare)
            printf("  %-20s%8" JSON_INTEGER_FORMAT "\n", rows[i].label, count);
    }
}

static void print_times(const json_t *times)
{
    static const struct {
        const char *label, *member;
    } rows[] = {{"connected", "connect"},
                {"ServerHello", "server_hello"},
                {"finished", "finished"},
                {"last ticket", "tickets"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const json_t *time = json_object_get(times, rows[i].member);
        if (json_is_number(time))
            printf("  %-20s%8.0f\n", rows[i].label, json_number_value(time));
    }
}

static void print_evidence(const json_t *evidence)
{
    static const struct {
        const char *label, *member;
    } rows[] = {{"server", "address"},
                {"client", "client"},
                {"server name", "server_name"},
                {"version", "version"},
                {"cipher", "cipher"},
                {"group", "group"},
                {"HelloRetryRequest", "hello_retry_request"},
                {"ALPN", "alpn"},
                {"signature", "signature"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        print_row(rows[i].label, json_object_get(evidence, rows[i].member));
    puts("\ncertificate");
    print_certificate(evidence);
    putchar('\n');
    print_row("tickets", json_object_get(evidence, "tickets"));
    puts("\nbytes on the wire");
    print_sizes(json_object_get(evidence, "bytes"));
    puts("\nmicroseconds since the connect began");
    print_times(json_object_get(evidence, "time_us"));
}

static enum tlc_status print_document(json_t *evidence, struct tlc_error *error)
{
    json_t *document = tlc_result_new("probe", tlc_machine_describe());
    if (!document || json_object_update(document, evidence))
        return tlc_fail(error, TLC_ENVIRONMENT, "probe: out of memory");
    enum tlc_status status = tlc_result_write(document, "-", error);
    json_decref(document);
    return status;
}

int tlc_cmd_probe(int argc, char **argv)
{
    struct options options = {0};
    const struct argp argp = {argp_options, parse_option, "ADDRESS:PORT", documentation, NULL,
                              NULL,         NULL};
    argp_err_exit_status = TLC_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    struct tlc_error error = {0};
    json_t *evidence = NULL;
    enum tlc_status status = run_probe(&options, &evidence, &error);
    if (status != TLC_OK)
        return tlc_report_error(&error);
    bool refused = json_is_false(json_object_get(evidence, "verified"));
    if (options.json)
        status = print_document(evidence, &error);
    else
        print_evidence(evidence);
    json_decref(evidence);
    if (status != TLC_OK)
        return tlc_report_error(&error);
    return refused ? TLC_REFUSED : TLC_OK;
}
