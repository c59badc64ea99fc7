#include "evidence/connection.h"

#include <stdio.h>

#include "base/names.h"
#include "certs/certs.h"

static json_t *text_or_null(const char *text)
{
    json_t *json = text[0] ? json_string(text) : NULL; // NULL too when it is not UTF-8
    return json ? json : json_null();
}

static json_t *name_or_null(enum tlc_name_kind kind, uint16_t code)
{
    return code ? json_string(tlc_name(kind, code)) : json_null();
}

json_t *tlc_evidence_certificate(const struct tlc_stack_evidence *seen)
{
    struct tlc_certs_facts facts;
    struct tlc_error ignored;
    if (!seen->chain_count ||
        tlc_certs_facts(seen->chain_der[0], seen->chain_der_bytes[0], &facts, &ignored) != TLC_OK)
        return json_null();
    char hex[2 * sizeof facts.sha256 + 1];
    for (size_t i = 0; i < sizeof facts.sha256; i++)
        snprintf(hex + 2 * i, 3, "%02x", facts.sha256[i]);
    return json_pack("{s:o, s:o, s:s, s:i, s:o, s:s, s:s}", "subject", text_or_null(facts.subject),
                     "issuer", text_or_null(facts.issuer), "key_type", facts.key_type, "key_bits",
                     facts.key_bits, "signature_algorithm", text_or_null(facts.signature_algorithm),
                     "sha256", hex, "not_after", facts.not_after);
}

static json_t *sizes_json(const struct tlc_wire *wire)
{
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I}", "client_hello", (json_int_t)wire->client_hello,
        "hello_retry_request", (json_int_t)wire->hello_retry_request, "server_flight",
        (json_int_t)wire->server_flight, "client_flight", (json_int_t)wire->client_flight,
        "server_finished", (json_int_t)wire->server_finished, "tickets", (json_int_t)wire->tickets);
}

static json_t *chain_json(const struct tlc_stack_evidence *seen)
{
    size_t bytes = 0;
    for (size_t i = 0; i < seen->chain_count; i++)
        bytes += seen->chain_der_bytes[i];
    return json_pack("{s:I, s:I}", "depth", (json_int_t)seen->chain_count, "bytes",
                     (json_int_t)bytes);
}

enum tlc_status tlc_evidence_of_connection(const struct tlc_connection_facts *facts,
                                           json_t **evidence, struct tlc_error *error)
{
    const struct tlc_stack *stack = facts->stack;
    struct tlc_stack_evidence seen = {0};
    if (!stack->evidence(facts->connection, &seen))
        return tlc_fail(error, TLC_ENVIRONMENT, "%s gives no evidence of the connection",
                        stack->name);
    json_t *json = json_pack("{s:s, s:o, s:s, s:s, s:o, s:b, s:b}", "address", facts->address,
                             "client", json_sprintf("%s %s", stack->name, stack->version()),
                             "version", tlc_name(TLC_NAME_VERSION, seen.version), "cipher",
                             tlc_name(TLC_NAME_CIPHER, seen.cipher), "group",
                             name_or_null(TLC_NAME_GROUP, seen.group), "hello_retry_request",
                             seen.hello_retry_request, "resumed", seen.resumed);
    json_t *rest = json_pack(
        "{s:o, s:o, s:o, s:n, s:o, s:o, s:o, s:I, s:o}", "alpn", text_or_null(seen.alpn),
        "server_name", text_or_null(facts->server_name), "verified",
        facts->verification_asked ? json_boolean(seen.verified == 1) : json_null(), "verification",
        "signature", name_or_null(TLC_NAME_SIGNATURE, seen.peer_signature), "certificate",
        tlc_evidence_certificate(&seen), "chain", chain_json(&seen), "tickets",
        (json_int_t)stack->tickets_received(facts->connection), "bytes", sizes_json(facts->wire));
    if (!json || !rest || json_object_update(json, rest)) {
        json_decref(json);
        json_decref(rest);
        return tlc_fail(error, TLC_ENVIRONMENT, "out of memory");
    }
    json_decref(rest);
    *evidence = json;
    return TLC_OK;
}
