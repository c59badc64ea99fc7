// A target's options as JSON and back.
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "generator/generator.h"

static const char *const engines[] = {"lean", "full", "tcp", NULL};
static const char *const shares[] = {"honest", "reused", "cheap", "unreduced", "low-order", NULL};
static const char *const stops[] = {"complete", "after-client-hello", "after-server-flight",
                                    "after-hello-retry", NULL};
static const char *const closes[] = {"reset", "fin", "close-notify", NULL};
static const char *const loops[] = {"auto", "epoll", "io_uring", NULL};

#define OPTION(field) offsetof(struct tlc_target_options, field)

// Options of one shape each: name in JSON, place, and what is allowed.
static const struct {
    const char *name;
    size_t offset;
    const char *const *words;
} choices[] = {
    {"engine", OPTION(engine), engines},  {"share", OPTION(share), shares},
    {"stop", OPTION(stop), stops},        {"close", OPTION(close), closes},
    {"loop_choice", OPTION(loop), loops},
};

static const struct {
    const char *name;
    size_t offset;
} strings[] =
    {
        {"address", OPTION(address)},
        {"server_name", OPTION(server_name)},
        {"trust_pem", OPTION(trust_pem)},
        {"client_chain_pem", OPTION(client_chain_pem)},
        {"client_key_pem", OPTION(client_key_pem)},
        {"names_folder", OPTION(names_folder)},
        {"names_key_type", OPTION(names_key_type)},
},
  numbers[] =
      {
          {"verify_every", OPTION(verify_every)},
          {"psk_modes", OPTION(psk_modes)},
          {"visitors", OPTION(visitors)},
          {"tickets_expected", OPTION(tickets_expected)},
          {"tickets_expected_resumed", OPTION(tickets_expected_resumed)},
          {"timeout_ms", OPTION(timeout_ms)},
          {"names", OPTION(names)},
          {"visits_seed", OPTION(visits_seed)},
          {"threads", OPTION(threads)},
          {"client_hello_bytes", OPTION(floor.client_hello_bytes)},
          {"server_flight_bytes", OPTION(floor.server_flight_bytes)},
          {"finished_bytes", OPTION(floor.finished_bytes)},
          {"ticket_bytes", OPTION(floor.ticket_bytes)},
},
  sizes[] =
      {
          {"echo_bytes", OPTION(echo_bytes)},
          {"padding_bytes", OPTION(padding_bytes)},
          {"split_at", OPTION(split_at)},
          {"split_every", OPTION(split_every)},
},
  switches[] = {
      {"allow_public", OPTION(allow_public)},
      {"visits_zipf", OPTION(visits_zipf)},
      {"fresh_sockets", OPTION(fresh_sockets)},
      {"wrong_share_first", OPTION(wrong_share_first)},
      {"tickets_resumed_known", OPTION(tickets_resumed_known)},
};

#define LENGTH(array)             (sizeof(array) / sizeof *(array))
#define AT(type, base, offset)    ((type *)(void *)((char *)(base) + (offset)))
#define AT_OF(type, base, offset) ((const type *)(const void *)((const char *)(base) + (offset)))

// Enumerations are stored as int by this compiler's ABI; a test of all words proves it.
_Static_assert(sizeof(enum tlc_engine) == sizeof(int) && sizeof(enum tlc_share) == sizeof(int) &&
                   sizeof(enum tlc_tls13_stop) == sizeof(int) &&
                   sizeof(enum tlc_close) == sizeof(int) &&
                   sizeof(enum tlc_loop_choice) == sizeof(int),
               "options are read and written as int");

static json_t *codes_to_json(enum tlc_name_kind kind, const uint16_t *codes, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(tlc_name(kind, codes[i])));
    return list;
}

static json_t *code_to_json(enum tlc_name_kind kind, uint16_t code)
{
    return code ? json_string(tlc_name(kind, code)) : json_null();
}

static json_t *hex_to_json(const uint8_t bytes[32])
{
    static const char digits[] = "0123456789abcdef";
    char text[65] = "";
    for (size_t i = 0; i < 32; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return json_string(text);
}

static json_t *expectation_to_json(const struct tlc_expectation *expect)
{
    json_t *json = json_object();
    json_object_set_new(json, "version", code_to_json(TLC_NAME_VERSION, expect->version));
    json_object_set_new(json, "group", code_to_json(TLC_NAME_GROUP, expect->group));
    json_object_set_new(json, "cipher", code_to_json(TLC_NAME_CIPHER, expect->cipher));
    json_object_set_new(json, "allow_hello_retry_request",
                        json_boolean(expect->allow_hello_retry_request));
    json_object_set_new(json, "require_hello_retry_request",
                        json_boolean(expect->require_hello_retry_request));
    json_object_set_new(json, "require_cookie", json_boolean(expect->require_cookie));
    json_object_set_new(json, "refusal", json_boolean(expect->refusal));
    json_object_set_new(json, "resumed", json_integer(expect->resumed));
    json_object_set_new(json, "certificate_sha256",
                        expect->certificate_known ? hex_to_json(expect->certificate_sha256)
                                                  : json_null());
    json_object_set_new(json, "alpn", json_string(expect->alpn));
    return json;
}

json_t *tlc_target_options_to_json(const struct tlc_target_options *options)
{
    json_t *json = json_object();
    for (size_t i = 0; i < LENGTH(choices); i++)
        json_object_set_new(json, choices[i].name,
                            json_string(choices[i].words[*AT_OF(int, options, choices[i].offset)]));
    for (size_t i = 0; i < LENGTH(strings); i++) {
        const char *text = *AT_OF(char *, options, strings[i].offset);
        if (text)
            json_object_set_new(json, strings[i].name, json_string(text));
    }
    for (size_t i = 0; i < LENGTH(numbers); i++)
        json_object_set_new(json, numbers[i].name,
                            json_integer(*AT_OF(unsigned, options, numbers[i].offset)));
    for (size_t i = 0; i < LENGTH(sizes); i++)
        json_object_set_new(json, sizes[i].name,
                            json_integer((json_int_t)*AT_OF(size_t, options, sizes[i].offset)));
    for (size_t i = 0; i < LENGTH(switches); i++)
        json_object_set_new(json, switches[i].name,
                            json_boolean(*AT_OF(bool, options, switches[i].offset)));
    json_object_set_new(json, "groups",
                        codes_to_json(TLC_NAME_GROUP, options->groups, options->group_count));
    json_object_set_new(json, "ciphers",
                        codes_to_json(TLC_NAME_CIPHER, options->ciphers, options->cipher_count));
    json_object_set_new(json, "min_version", code_to_json(TLC_NAME_VERSION, options->min_version));
    json_object_set_new(json, "max_version", code_to_json(TLC_NAME_VERSION, options->max_version));
    json_object_set_new(json, "resume_ratio", json_real(options->resume_ratio));
    if (options->plugin)
        json_object_set_new(json, "stack", json_string(options->plugin->id));
    json_t *alpn = json_array();
    for (const char *const *name = options->alpn; name && *name; name++)
        json_array_append_new(alpn, json_string(*name));
    json_object_set_new(json, "alpn", alpn);
    json_object_set_new(json, "expect", expectation_to_json(&options->expect));
    return json;
}

static enum tlc_status wrong(const char *name, const char *needed, struct tlc_error *error)
{
    return tlc_fail(error, TLC_USAGE, "target options: %s: not %s", name, needed);
}

static enum tlc_status read_choices(const json_t *json, struct tlc_target_options *options,
                                    struct tlc_error *error)
{
    for (size_t i = 0; i < LENGTH(choices); i++) {
        const json_t *value = json_object_get(json, choices[i].name);
        if (!value)
            continue;
        int found = -1;
        for (int k = 0; json_is_string(value) && choices[i].words[k]; k++)
            if (!strcmp(choices[i].words[k], json_string_value(value)))
                found = k;
        if (found < 0)
            return wrong(choices[i].name, "one of its known words", error);
        *AT(int, options, choices[i].offset) = found;
    }
    return TLC_OK;
}

static enum tlc_status read_number(const json_t *json, const char *name, uint64_t high,
                                   uint64_t *value, struct tlc_error *error)
{
    const json_t *number = json_object_get(json, name);
    *value = 0;
    if (!number)
        return TLC_OK;
    json_int_t got = json_integer_value(number);
    if (!json_is_integer(number) || got < 0 || (uint64_t)got > high)
        return wrong(name, "a whole number in range", error);
    *value = (uint64_t)got;
    return TLC_OK;
}

static enum tlc_status read_plain(const json_t *json, struct tlc_target_options *options,
                                  struct tlc_error *error)
{
    for (size_t i = 0; i < LENGTH(strings); i++) {
        const json_t *value = json_object_get(json, strings[i].name);
        if (value && !json_is_string(value))
            return wrong(strings[i].name, "a string", error);
        *AT(const char *, options, strings[i].offset) = json_string_value(value);
    }
    uint64_t value;
    for (size_t i = 0; i < LENGTH(numbers); i++) {
        if (read_number(json, numbers[i].name, UINT32_MAX, &value, error) != TLC_OK)
            return TLC_USAGE;
        *AT(unsigned, options, numbers[i].offset) = (unsigned)value;
    }
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        if (read_number(json, sizes[i].name, INT32_MAX, &value, error) != TLC_OK)
            return TLC_USAGE;
        *AT(size_t, options, sizes[i].offset) = (size_t)value;
    }
    for (size_t i = 0; i < LENGTH(switches); i++)
        *AT(bool, options, switches[i].offset) =
            json_is_true(json_object_get(json, switches[i].name));
    return TLC_OK;
}

// A code by its registry name, or as "0x1234" for one without a name here.
static uint16_t code_of(enum tlc_name_kind kind, const json_t *value)
{
    const char *name = json_string_value(value);
    if (!name)
        return 0;
    if (!strncmp(name, "0x", 2)) {
        unsigned long code = strtoul(name, NULL, 16);
        return code <= UINT16_MAX ? (uint16_t)code : 0;
    }
    return tlc_code(kind, name);
}

static enum tlc_status read_codes(const json_t *json, const char *name, enum tlc_name_kind kind,
                                  uint16_t *codes, size_t capacity, size_t *count,
                                  struct tlc_error *error)
{
    const json_t *list = json_object_get(json, name);
    *count = json_array_size(list);
    if (*count > capacity)
        return wrong(name, "a list of at most 16 names", error);
    for (size_t i = 0; i < *count; i++) {
        codes[i] = code_of(kind, json_array_get(list, i));
        if (!codes[i])
            return wrong(name, "a list of known names", error);
    }
    return TLC_OK;
}

static enum tlc_status read_code(const json_t *json, const char *name, enum tlc_name_kind kind,
                                 uint16_t *code, struct tlc_error *error)
{
    const json_t *value = json_object_get(json, name);
    *code = code_of(kind, value);
    if (value && !json_is_null(value) && !*code)
        return wrong(name, "a known name", error);
    return TLC_OK;
}

static int hex_digit(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = digit ? strchr(digits, digit | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

static enum tlc_status read_hex(const json_t *value, uint8_t bytes[32], struct tlc_error *error)
{
    const char *text = json_string_value(value);
    if (!text || strlen(text) != 64)
        return wrong("certificate_sha256", "64 hexadecimal digits", error);
    for (size_t i = 0; i < 32; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return wrong("certificate_sha256", "64 hexadecimal digits", error);
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return TLC_OK;
}

static enum tlc_status read_expectation(const json_t *json, struct tlc_expectation *expect,
                                        struct tlc_error *error)
{
    expect->resumed = -1;
    if (!json)
        return TLC_OK;
    if (read_code(json, "version", TLC_NAME_VERSION, &expect->version, error) != TLC_OK ||
        read_code(json, "group", TLC_NAME_GROUP, &expect->group, error) != TLC_OK ||
        read_code(json, "cipher", TLC_NAME_CIPHER, &expect->cipher, error) != TLC_OK)
        return TLC_USAGE;
    expect->allow_hello_retry_request =
        json_is_true(json_object_get(json, "allow_hello_retry_request"));
    expect->require_hello_retry_request =
        json_is_true(json_object_get(json, "require_hello_retry_request"));
    expect->require_cookie = json_is_true(json_object_get(json, "require_cookie"));
    expect->refusal = json_is_true(json_object_get(json, "refusal"));
    const json_t *resumed = json_object_get(json, "resumed");
    if (resumed)
        expect->resumed = (int)json_integer_value(resumed);
    const json_t *hash = json_object_get(json, "certificate_sha256");
    if (hash && !json_is_null(hash)) {
        if (read_hex(hash, expect->certificate_sha256, error) != TLC_OK)
            return TLC_USAGE;
        expect->certificate_known = true;
    }
    const char *alpn = json_string_value(json_object_get(json, "alpn"));
    if (alpn && strlen(alpn) >= sizeof expect->alpn)
        return wrong("expect.alpn", "a name of at most 63 bytes", error);
    if (alpn)
        memcpy(expect->alpn, alpn, strlen(alpn) + 1);
    return TLC_OK;
}

static enum tlc_status read_alpn(const json_t *json, struct tlc_target_options *options,
                                 struct tlc_error *error)
{
    const json_t *list = json_object_get(json, "alpn");
    size_t count = json_array_size(list);
    if (!count)
        return TLC_OK;
    const char **names = calloc(count + 1, sizeof *names);
    options->alpn = names;
    if (!names)
        return tlc_fail(error, TLC_ENVIRONMENT, "target options: out of memory");
    for (size_t i = 0; i < count; i++) {
        names[i] = json_string_value(json_array_get(list, i));
        if (!names[i] || !*names[i] || strlen(names[i]) > 255)
            return wrong("alpn", "a list of names of 1 to 255 bytes", error);
    }
    return TLC_OK;
}

static enum tlc_status read_all(const json_t *json, struct tlc_target_options *options,
                                struct tlc_error *error)
{
    enum tlc_status status = read_choices(json, options, error);
    if (status == TLC_OK)
        status = read_plain(json, options, error);
    if (status == TLC_OK)
        status = read_codes(json, "groups", TLC_NAME_GROUP, options->groups,
                            LENGTH(options->groups), &options->group_count, error);
    if (status == TLC_OK)
        status = read_codes(json, "ciphers", TLC_NAME_CIPHER, options->ciphers,
                            LENGTH(options->ciphers), &options->cipher_count, error);
    if (status == TLC_OK)
        status = read_code(json, "min_version", TLC_NAME_VERSION, &options->min_version, error);
    if (status == TLC_OK)
        status = read_code(json, "max_version", TLC_NAME_VERSION, &options->max_version, error);
    if (status == TLC_OK)
        status = read_expectation(json_object_get(json, "expect"), &options->expect, error);
    if (status == TLC_OK)
        status = read_alpn(json, options, error);
    const char *stack = json_string_value(json_object_get(json, "stack"));
    if (status == TLC_OK && stack)
        status = tlc_stack_load(stack, &options->plugin, error);
    options->resume_ratio = json_number_value(json_object_get(json, "resume_ratio"));
    return status;
}

enum tlc_status tlc_target_options_from_json(const json_t *json, struct tlc_target_options *options,
                                             struct tlc_error *error)
{
    memset(options, 0, sizeof *options);
    if (!json_is_object(json))
        return wrong("target", "an object", error);
    enum tlc_status status = read_all(json, options, error);
    if (status == TLC_OK && !options->address)
        status = wrong("address", "there", error);
    if (status != TLC_OK)
        tlc_target_options_release(options);
    return status;
}

void tlc_target_options_release(struct tlc_target_options *options)
{
    free((void *)(uintptr_t)options->alpn);
    options->alpn = NULL;
}
