#include "stacks/plain_operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tlc_plain_operation *plain_of(struct tlc_stack_operation *operation)
{
    return (struct tlc_plain_operation *)(void *)operation;
}

bool tlc_plain_works(struct tlc_stack_operation *operation, const char *what, int code)
{
    if (code == 0)
        return true;
    plain_of(operation)->failed = what;
    plain_of(operation)->code = code;
    return false;
}

bool tlc_plain_is_right(struct tlc_stack_operation *operation, const char *what, bool right)
{
    if (!right) {
        plain_of(operation)->failed = what;
        plain_of(operation)->code = 0;
    }
    return right;
}

// ---- inputs and known answers; these come from Python's hashlib, hmac and cryptography

void tlc_plain_put_content(struct tlc_stack_operation *operation, size_t hash)
{
    static const char text[] = "TLS 1.3, server CertificateVerify"; // with its zero
    struct tlc_plain_operation *plain = plain_of(operation);
    memset(plain->input, ' ', 64);
    memcpy(plain->input + 64, text, sizeof text);
    memset(plain->input + 64 + sizeof text, 0x5a, hash);
    plain->input_bytes = (uint32_t)(64 + sizeof text + hash);
}

static const uint8_t schedule_secret[TLC_PLAIN_SECRET] =
    "the secret that the schedule starts with......";
static const uint8_t transcript[TLC_PLAIN_SECRET] =
    "the hash of the transcript so far..............";
static const char *const expanded[] = {
    "7cdbf4e2e4bb8b56e594a5d232b4da92897022251e6200083bd22e368f2bb1ab",
    "714bf34bc3723cf459ee622afe82a11f6f868713ca032950be60aab581a00d4d2577bb1d03d9852f2a7765b35ccaca"
    "16"};
static const char *const extracted[] = {
    "b4b8051d03dc4b75277e18feea2dcc91e8cacb703cfca9e8b9396bd588f7f571",
    "a391cb4e16efda63573cd7ecefe923557fd596d1dd997749cdbc560203fe7bf55c17f24d9a34229d703f9272fdd54c"
    "02"};

size_t tlc_plain_label(const char *label, const uint8_t *context, size_t hash, uint8_t *out)
{
    size_t letters = strlen(label), used = 0;
    out[used++] = 0;
    out[used++] = (uint8_t)hash;
    out[used++] = (uint8_t)(6 + letters);
    memcpy(out + used, "tls13 ", 6);
    memcpy(out + used + 6, label, letters);
    used += 6 + letters;
    out[used++] = (uint8_t)hash;
    memcpy(out + used, context, hash);
    return used + hash;
}

static bool are(const uint8_t *bytes, size_t count, const char *hex)
{
    char text[2 * TLC_PLAIN_SECRET + 1] = "";
    for (size_t i = 0; i < count && i < TLC_PLAIN_SECRET; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return !strcmp(text, hex);
}

static bool nothing(struct tlc_stack_operation *operation)
{
    return operation != NULL;
}

static bool expand_once(struct tlc_stack_operation *operation)
{
    return tlc_plain_library.expand_label(operation, plain_of(operation)->output, schedule_secret,
                                          "c hs traffic", transcript);
}

static bool extract_once(struct tlc_stack_operation *operation)
{
    uint8_t empty[TLC_PLAIN_SECRET], salt[TLC_PLAIN_SECRET];
    return tlc_plain_library.digest_nothing(operation, empty) &&
           tlc_plain_library.expand_label(operation, salt, transcript, "derived", empty) &&
           tlc_plain_library.extract(operation, salt, schedule_secret);
}

static bool expand_check(struct tlc_stack_operation *operation)
{
    const struct tlc_plain_operation *plain = plain_of(operation);
    size_t hash = plain->row->size;
    return tlc_plain_is_right(operation, "HKDF-Expand-Label gave another key",
                              are(plain->output, hash, expanded[hash == 48]));
}

static bool extract_check(struct tlc_stack_operation *operation)
{
    const struct tlc_plain_operation *plain = plain_of(operation);
    size_t hash = plain->row->size;
    return tlc_plain_is_right(operation, "HKDF-Extract gave another secret",
                              are(plain->output, hash, extracted[hash == 48]));
}

const struct tlc_plain_kind tlc_plain_hkdf_extract = {.prepare = nothing,
                                                      .once = extract_once,
                                                      .check = extract_check},
                            tlc_plain_hkdf_expand_label = {
                                .prepare = nothing, .once = expand_once, .check = expand_check};

// ---- agreement

bool tlc_plain_check_share(struct tlc_stack_operation *operation)
{
    const struct tlc_plain_row *row = plain_of(operation)->row;
    uint8_t mine[TLC_PLAIN_SECRET], theirs[TLC_PLAIN_SECRET];
    return row->kind->exchange->take(operation, mine) &&
           row->kind->exchange->give(operation, theirs) &&
           tlc_plain_is_right(operation, "the last key pair does not agree with another",
                              !memcmp(mine, theirs, row->size));
}

bool tlc_plain_derive(struct tlc_stack_operation *operation)
{
    struct tlc_plain_operation *plain = plain_of(operation);
    return plain->row->kind->exchange->take(operation, plain->output) &&
           tlc_plain_is_right(operation, "derive: a wrong secret",
                              !memcmp(plain->output, plain->expected, plain->row->size));
}

bool tlc_plain_round_trip(struct tlc_stack_operation *operation)
{
    const struct tlc_plain_row *row = plain_of(operation)->row;
    uint8_t mine[TLC_PLAIN_SECRET], theirs[TLC_PLAIN_SECRET];
    return row->kind->exchange->renew(operation) && row->kind->exchange->meet(operation, mine) &&
           row->kind->exchange->give(operation, theirs) &&
           tlc_plain_is_right(operation, "the two sides have different secrets",
                              !memcmp(mine, theirs, row->size));
}

// ---- the transcript: sizes of a full handshake's messages, all of zeros

static const struct {
    size_t bytes;
    bool hashed; // a hash of the transcript so far is needed after it (RFC 8446, 7.1 and 4.4)
} messages[] = {{1500, false}, {1200, true}, {10, false}, {800, true},
                {80, true},    {36, true},   {36, true}};
static const char *const transcripts[] = {
    "a00d4936126b7ccf5300d4a673f7c822ec9f5d24800b4b44273b95a7643bc16d",
    "c78ba6002b225964712e7199b2cf13c5c51a4449ddd8ecc389060342a1c0639253c76db1280929c0a8714c51bb28dc"
    "eb"};

static bool transcript_once(struct tlc_stack_operation *operation)
{
    const struct tlc_plain_hash *hash = tlc_plain_library.hash;
    struct tlc_plain_operation *plain = plain_of(operation);
    bool good = hash->begin(operation);
    for (size_t i = 0; good && i < sizeof messages / sizeof *messages; i++)
        good = hash->add(operation, plain->input, messages[i].bytes) &&
               (!messages[i].hashed || hash->so_far(operation, plain->output));
    hash->end(operation);
    return good;
}

static bool transcript_check(struct tlc_stack_operation *operation)
{
    const struct tlc_plain_operation *plain = plain_of(operation);
    size_t hash = plain->row->size;
    return tlc_plain_is_right(operation, "the transcript's hash is wrong",
                              are(plain->output, hash, transcripts[hash == 48]));
}

const struct tlc_plain_kind tlc_plain_transcript = {
    .prepare = nothing, .once = transcript_once, .check = transcript_check};

// ---- a record

const uint8_t tlc_plain_key[32] = "the traffic key of the server.";
const uint8_t tlc_plain_nonce[TLC_PLAIN_NONCE] = {1};
const uint8_t tlc_plain_header[TLC_PLAIN_HEADER] = {23, 3, 3};

void tlc_plain_put_record(struct tlc_stack_operation *operation)
{
    struct tlc_plain_operation *plain = plain_of(operation);
    plain->input_bytes = (uint32_t)plain->row->size;
    memset(plain->input, 0x16, plain->input_bytes);
}

// Of records of 1024 and of 10240 bytes.
static bool check_tag(struct tlc_stack_operation *operation, const char *const *tags)
{
    const struct tlc_plain_operation *plain = plain_of(operation);
    return tlc_plain_is_right(
        operation, "the record has another tag",
        are(plain->output + plain->input_bytes, TLC_PLAIN_TAG, tags[plain->row->size == 10240]));
}

bool tlc_plain_check_gcm(struct tlc_stack_operation *operation)
{
    static const char *const aes128[] = {"2003a9205c75fe52b18c6eb4d56e76c0",
                                         "777eeb82c468bde2cd97bd80bd6f61e7"};
    static const char *const aes256[] = {"de021ea34199629694d65451d6046b51",
                                         "11c45e5e089e9064c6dde3cef1961c0d"};
    return check_tag(operation, plain_of(operation)->row->parameter == 16 ? aes128 : aes256);
}

bool tlc_plain_check_chacha(struct tlc_stack_operation *operation)
{
    static const char *const tags[] = {"1b86ba5b6e44b2961840ae78eba00e5b",
                                       "f29e61372df689ef6bfb7d8fc414a207"};
    return check_tag(operation, tags);
}

// ---- the contract

static const char *name_at(size_t index)
{
    return index < tlc_plain_library.row_count ? tlc_plain_library.rows[index].name : NULL;
}

static const struct tlc_plain_row *row_of(const char *name)
{
    for (size_t i = 0; i < tlc_plain_library.row_count; i++)
        if (!strcmp(tlc_plain_library.rows[i].name, name))
            return &tlc_plain_library.rows[i];
    return NULL;
}

static void operation_free(struct tlc_stack_operation *operation)
{
    if (!operation)
        return;
    if (plain_of(operation)->row->kind->free)
        plain_of(operation)->row->kind->free(operation);
    if (tlc_plain_library.close)
        tlc_plain_library.close(operation);
    free(operation);
}

static void explain(struct tlc_stack_operation *operation, struct tlc_stack_error *error)
{
    const struct tlc_plain_operation *plain = plain_of(operation);
    const char *what = plain->failed ? plain->failed : plain->row->name;
    if (error && plain->code)
        snprintf(error->text, sizeof error->text, "%s: %s (%d)", what,
                 tlc_plain_library.words(plain->code), plain->code);
    else if (error)
        snprintf(error->text, sizeof error->text, "%s", what);
}

static struct tlc_stack_operation *refuse(struct tlc_stack_error *error, const char *what,
                                          const char *name, const char *why)
{
    if (error)
        snprintf(error->text, sizeof error->text, "%s '%.64s': %s %s", what, name,
                 tlc_plain_library.name, why);
    return NULL;
}

bool tlc_plain_begins(const char *name, const char *start)
{
    return !strncmp(name, start, strlen(start));
}

static struct tlc_stack_operation *refuse_operation(struct tlc_stack_error *error, const char *name)
{
    const char *why = tlc_plain_library.lacks(name);
    return refuse(error, "operation", name,
                  why ? why : "has none that is called so; OpenSSL and tlscost list theirs");
}

static struct tlc_stack_operation *operation_new(const char *name, const char *provider,
                                                 struct tlc_stack_error *error)
{
    const struct tlc_plain_row *row = row_of(name);
    if (provider)
        return refuse(error, "provider", provider, "has none; OpenSSL has");
    if (!row)
        return refuse_operation(error, name);
    struct tlc_stack_operation *operation = calloc(1, tlc_plain_library.bytes);
    if (!operation)
        return refuse(error, "operation", name, "found no memory");
    plain_of(operation)->row = row;
    if ((!tlc_plain_library.open || tlc_plain_library.open(operation)) &&
        row->kind->prepare(operation))
        return operation;
    explain(operation, error);
    operation_free(operation);
    return NULL;
}

static bool run(struct tlc_stack_operation *operation, uint64_t count,
                struct tlc_stack_error *error)
{
    bool (*once)(struct tlc_stack_operation *) = plain_of(operation)->row->kind->once;
    for (uint64_t i = 0; i < count; i++)
        if (!once(operation)) {
            explain(operation, error);
            return false;
        }
    return true;
}

static bool check(struct tlc_stack_operation *operation, struct tlc_stack_error *error)
{
    bool (*right)(struct tlc_stack_operation *) = plain_of(operation)->row->kind->check;
    if (!right || right(operation))
        return true;
    explain(operation, error);
    return false;
}

static const char *provider_of(struct tlc_stack_operation *operation)
{
    (void)operation;
    return "";
}

const struct tlc_stack_operations tlc_plain_operations = {
    .name_at = name_at,
    .operation_new = operation_new,
    .run = run,
    .check = check,
    .provider = provider_of,
    .operation_free = operation_free,
};
