// tlscost certs: the test CA and its leaves in a folder.
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certs/certs.h"
#include "cli/arguments.h"
#include "cli/common.h"

#define CERTS_SCHEMA "https://tlscost.invalid/certs/1"

int tlc_cmd_certs(int argc, char **argv);

struct request {
    struct tlc_certs_options certs;
    char **names, **hosts;
    bool json;
    json_t *settled; // of {name, made}, in the order in which they were settled
};

enum { OPTION_HOSTS = 256, OPTION_INTERMEDIATES, OPTION_DAYS, OPTION_CLIENT, OPTION_JSON };

static const struct argp_option options[] = {
    {"names", 'n', "A,B", 0, "Key types to make (default: all)", 0},
    {"hosts", OPTION_HOSTS, "A,B", 0,
     "More names and addresses that the certificates are valid for, beside localhost, 127.0.0.1 "
     "and ::1",
     0},
    {"intermediates", OPTION_INTERMEDIATES, "N", 0,
     "RSA-2048 CAs between the root and the leaves, sent on the wire (0 to 6, default 0)", 0},
    {"days", OPTION_DAYS, "N", 0, "Validity in days (1 to 3650, default 30)", 0},
    {"client", OPTION_CLIENT, "TYPE", 0, "Also make a client certificate of this key type", 0},
    {"force", 'f', NULL, 0, "Make everything in the folder again", 0},
    {"json", OPTION_JSON, NULL, 0, "Print what is there as JSON", 0},
    {0},
};

// The key types stand here as libcrypto has them, so the help cannot promise what is not there.
static char *add_key_types(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC || !text)
        return (char *)text;
    char names[512] = "";
    for (size_t i = 0, used = 0; tlc_certs_name_at(i) && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? " " : "",
                                 tlc_certs_name_at(i));
    char *whole;
    return asprintf(&whole, "Key types: %s\n%s", names, text) < 0 ? (char *)text : whole;
}

static unsigned take_count(struct argp_state *state, const char *option, const char *text,
                           unsigned low, unsigned high)
{
    uint64_t number = low;
    tlc_take_number(state, option, text, low, high, &number);
    return (unsigned)number;
}

static void set_words(struct argp_state *state, const char *option, const char *text, char ***words)
{
    tlc_words_free(*words);
    *words = tlc_words(text);
    if (!*words || !**words)
        argp_error(state, "%s: '%s': no names in it", option, text);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case 'n':
        set_words(state, "--names", text, &request->names);
        break;
    case OPTION_HOSTS:
        set_words(state, "--hosts", text, &request->hosts);
        break;
    case OPTION_INTERMEDIATES:
        request->certs.intermediates =
            take_count(state, "--intermediates", text, 0, TLC_CERTS_MAX_INTERMEDIATES);
        break;
    case OPTION_DAYS:
        request->certs.days = take_count(state, "--days", text, 1, TLC_CERTS_MAX_DAYS);
        break;
    case OPTION_CLIENT:
        request->certs.client = text;
        break;
    case 'f':
        request->certs.force = true;
        break;
    case OPTION_JSON:
        request->json = true;
        break;
    case ARGP_KEY_ARG:
        if (request->certs.directory)
            argp_error(state, "'%s': one folder only", text);
        request->certs.directory = text;
        break;
    case ARGP_KEY_END:
        if (!request->certs.directory)
            argp_error(state, "no folder given");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "DIR",
    .doc =
        "Make a test CA and one server certificate for each key type, in a folder.\n\n"
        "All certificates of a folder have the same validity and the same extensions, so that "
        "only the key differs. What is still good is kept. When the folder nears its expiry, or "
        "is asked for with other hosts, intermediates or days, all of it is made again.\v"
        "The subject of each is CN=tlscost TYPE. A server of TYPE needs DIR/TYPE.pem (its chain) "
        "and DIR/TYPE.key; clients trust DIR/ca.pem. Private keys can be read by their owner "
        "only.\n\n"
        "Examples:\n"
        "  tlscost certs certs\n"
        "  tlscost certs certs --names ecdsa-p256,mldsa-65 --hosts a.example,::2\n"
        "  tlscost certs deep --intermediates 3 --days 90\n"
        "  tlscost certs certs --client ed25519\n",
    .help_filter = add_key_types,
};

static void note(const char *name, bool made, void *context)
{
    json_array_append_new(context, json_pack("{s:s, s:b}", "name", name, "made", made));
}

static void set_hash(json_t *entry, const unsigned char *sha256)
{
    char text[65];
    for (size_t i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", sha256[i]);
    json_object_set_new(entry, "sha256", json_string(text));
}

static void set_path(json_t *entry, const char *key, const char *directory, const char *suffix)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    json_object_set_new(entry, key, json_sprintf("%s/%s.%s", directory, name, suffix));
}

// Reads a certificate back from the folder, so that what is printed is what servers will load.
static enum tlc_status describe(const char *directory, json_t *entry, struct tlc_error *error)
{
    struct tlc_certs_pair pair;
    struct tlc_certs_facts facts;
    size_t count, bytes;
    const char *name = json_string_value(json_object_get(entry, "name"));
    enum tlc_status status = tlc_certs_read(directory, name, &pair, error);
    if (status != TLC_OK)
        return status;
    status = tlc_certs_facts_pem(pair.chain_pem, &facts, &count, &bytes, error);
    tlc_certs_pair_free(&pair);
    if (status != TLC_OK)
        return status;
    set_path(entry, "certificate", directory, "pem");
    set_path(entry, "key", directory, "key");
    json_t *more =
        json_pack("{s:s, s:s, s:s, s:i, s:s, s:s, s:I, s:I}", "subject", facts.subject, "issuer",
                  facts.issuer, "key_type", facts.key_type, "key_bits", facts.key_bits,
                  "signature_algorithm", facts.signature_algorithm, "not_after", facts.not_after,
                  "chain_certificates", (json_int_t)count, "chain_bytes", (json_int_t)bytes);
    json_object_update(entry, more);
    json_decref(more);
    set_hash(entry, facts.sha256);
    return TLC_OK;
}

static void print_table(const struct request *request)
{
    size_t index, good = 0, count = json_array_size(request->settled);
    json_t *entry;
    printf("%-20s %-11s %12s %11s  %s\n", "certificate", "", "certificates", "DER bytes",
           "valid until");
    json_array_foreach(request->settled, index, entry)
    {
        bool made = json_is_true(json_object_get(entry, "made"));
        printf("%-20s %-11s %12lld %11lld  %s\n", json_string_value(json_object_get(entry, "name")),
               made ? "made" : "still good",
               (long long)json_integer_value(json_object_get(entry, "chain_certificates")),
               (long long)json_integer_value(json_object_get(entry, "chain_bytes")),
               json_string_value(json_object_get(entry, "not_after")));
        good += !made;
    }
    printf("%s: %zu made, %zu still good; clients trust %s/ca.pem\n", request->certs.directory,
           count - good, good, request->certs.directory);
}

static enum tlc_status make(struct request *request, struct tlc_error *error)
{
    size_t written, index;
    json_t *entry;
    enum tlc_status status = tlc_certs_make(&request->certs, &written, error);
    json_array_foreach(request->settled, index, entry)
    {
        if (status == TLC_OK)
            status = describe(request->certs.directory, entry, error);
    }
    if (status != TLC_OK)
        return status;
    if (!request->json) {
        print_table(request);
        return TLC_OK;
    }
    json_t *document = json_pack("{s:s, s:s, s:s, s:o, s:I, s:O}", "schema", CERTS_SCHEMA,
                                 "command", "certs", "directory", request->certs.directory, "ca",
                                 json_sprintf("%s/ca.pem", request->certs.directory), "files_made",
                                 (json_int_t)written, "certificates", request->settled);
    tlc_print_json(document);
    json_decref(document);
    return TLC_OK;
}

int tlc_cmd_certs(int argc, char **argv)
{
    struct tlc_error error;
    struct request request = {.settled = json_array()};
    argp_parse(&argp, argc, argv, 0, NULL, &request);
    request.certs.names = (const char *const *)request.names;
    request.certs.extra_hosts = (const char *const *)request.hosts;
    request.certs.note = note;
    request.certs.note_context = request.settled;
    enum tlc_status status = make(&request, &error);
    json_decref(request.settled);
    tlc_words_free(request.names);
    tlc_words_free(request.hosts);
    return status == TLC_OK ? 0 : tlc_report_error(&error);
}
