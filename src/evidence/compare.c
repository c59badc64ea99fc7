#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "evidence/checks.h"

// Differences joined with "; " in a caller's buffer, which may be missing.
struct list {
    char *text;
    size_t capacity;
};

static void add(struct list *list, const char *format, ...) TLC_PRINTF(2, 3);
static void add(struct list *list, const char *format, ...)
{
    if (!list->text || !list->capacity)
        return;
    size_t used = strlen(list->text);
    if (used) {
        snprintf(list->text + used, list->capacity - used, "; ");
        used = strlen(list->text);
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(list->text + used, list->capacity - used, format, arguments);
    va_end(arguments);
}

static const char *string_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "none";
}

static void compare_code(struct list *list, const json_t *evidence, const char *member,
                         enum tlc_name_kind kind, uint16_t asked)
{
    if (!asked)
        return;
    const char *seen = string_of(evidence, member), *name = tlc_name(kind, asked);
    if (strcmp(seen, name))
        add(list, "%s: asked %s, got %s", member, name, seen);
}

static void compare_negotiated(struct list *list, const json_t *evidence,
                               const struct tlc_asked *asked)
{
    compare_code(list, evidence, "version", TLC_NAME_VERSION, asked->version);
    compare_code(list, evidence, "group", TLC_NAME_GROUP, asked->group);
    compare_code(list, evidence, "cipher", TLC_NAME_CIPHER, asked->cipher);
    bool retried = json_is_true(json_object_get(evidence, "hello_retry_request"));
    if (retried != asked->hello_retry_request)
        add(list, "hello_retry_request: asked %s, got %s",
            asked->hello_retry_request ? "one" : "none", retried ? "one" : "none");
    bool resumed = json_is_true(json_object_get(evidence, "resumed"));
    if (resumed != asked->resumed)
        add(list, "resumed: asked %s, got %s", asked->resumed ? "yes" : "no",
            resumed ? "yes" : "no");
    if (asked->alpn && strcmp(string_of(evidence, "alpn"), asked->alpn))
        add(list, "alpn: asked %s, got %.64s", asked->alpn, string_of(evidence, "alpn"));
}

// RSA names carry the size of the modulus ("rsa-3072"); for the others the type fixes the size.
static void compare_key_bits(struct list *list, const json_t *certificate, const char *key_type)
{
    if (strncmp(key_type, "rsa-", 4))
        return;
    long asked = strtol(key_type + 4, NULL, 10);
    json_int_t seen = json_integer_value(json_object_get(certificate, "key_bits"));
    if (seen != asked)
        add(list, "key size: asked %ld bits, got %lld", asked, (long long)seen);
}

static void compare_certificate(struct list *list, const json_t *evidence,
                                const struct tlc_asked *asked)
{
    const json_t *certificate = json_object_get(evidence, "certificate");
    if (asked->key_type) {
        const char *seen = string_of(certificate, "key_type");
        if (strcmp(seen, asked->key_type))
            add(list, "key type: asked %s, got %.32s", asked->key_type, seen);
        else
            compare_key_bits(list, certificate, asked->key_type);
    }
    if (json_is_false(json_object_get(evidence, "verified")))
        add(list, "verification: %.120s", string_of(evidence, "verification"));
    if (asked->subject && strcmp(string_of(certificate, "subject"), asked->subject))
        add(list, "subject: asked %s, got %.64s", asked->subject,
            string_of(certificate, "subject"));
    json_int_t depth =
        json_integer_value(json_object_get(json_object_get(evidence, "chain"), "depth"));
    if (asked->chain_depth && depth != (json_int_t)asked->chain_depth)
        add(list, "chain depth: asked %u, got %lld", asked->chain_depth, (long long)depth);
}

void tlc_evidence_compare(const json_t *evidence, const struct tlc_asked *asked, char *negotiated,
                          size_t negotiated_bytes, char *certificate, size_t certificate_bytes)
{
    struct list parameters = {negotiated, negotiated_bytes};
    struct list identity = {certificate, certificate_bytes};
    if (negotiated && negotiated_bytes)
        *negotiated = '\0';
    if (certificate && certificate_bytes)
        *certificate = '\0';
    compare_negotiated(&parameters, evidence, asked);
    compare_certificate(&identity, evidence, asked);
}
