// The audit as JSON (docs/tickets.md).
#include "evidence/audit_parts.h"

// The longest session that a ticket of this size could hold is shorter than a PSK and its cipher's
// overhead: such a ticket names a session in the server's cache.
enum { NAME_BYTES = 64 };

static json_t *answer_json(enum tlc_answer answer)
{
    return answer == TLC_UNKNOWN ? json_null() : json_boolean(answer == TLC_YES);
}

static json_t *number_or_null(uint64_t number)
{
    return number ? json_integer((json_int_t)number) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *seconds_json(uint64_t us)
{
    return us ? json_real((double)us / 1e6) : json_null();
}

static json_t *mode_json(unsigned tickets, enum tlc_answer accepted)
{
    return json_pack("{s:i, s:o}", "tickets", (int)tickets, "accepted", answer_json(accepted));
}

static json_t *modes_json(const struct tlc_ticket_facts *facts)
{
    if (!facts->tls13)
        return json_null();
    return json_pack("{s:o, s:o}", "psk_dhe_ke",
                     mode_json(facts->dhe_ke.tickets, facts->dhe_ke.accepted), "psk_ke",
                     mode_json(facts->ke.tickets, facts->ke.accepted));
}

static json_t *tls12_json(const struct tlc_ticket_facts *facts)
{
    if (!facts->tls12)
        return json_null();
    const char *kind = facts->old.ticket ? "ticket" : facts->old.sessions ? "session-id" : "none";
    return json_pack("{s:s, s:o, s:o}", "kind", kind, "lifetime_s",
                     number_or_null(facts->old.lifetime_s), "accepted",
                     answer_json(facts->old.accepted));
}

static json_t *visits_json(const struct tlc_ticket_facts *facts)
{
    return json_pack("{s:i, s:i, s:i, s:o}", "visits", (int)facts->visits, "offered",
                     (int)facts->offered, "resumed", (int)facts->resumed, "ratio",
                     facts->offered ? json_real((double)facts->resumed / facts->offered)
                                    : json_null());
}

static json_t *after_json(const struct tlc_ticket_facts *facts)
{
    json_t *after = json_array();
    for (size_t i = 0; i < facts->after_count; i++)
        json_array_append_new(after,
                              json_pack("{s:f, s:o}", "seconds", (double)facts->after[i].us / 1e6,
                                        "accepted", answer_json(facts->after[i].accepted)));
    return after;
}

static json_t *rotation_json(const struct tlc_audit *audit, const struct tlc_ticket_facts *facts)
{
    if (!audit->options->rotate_command)
        return json_null();
    return json_pack("{s:o, s:o}", "old_accepted", answer_json(facts->rotation_old),
                     "fresh_accepted", answer_json(facts->rotation_fresh));
}

static json_t *watch_json(const struct tlc_ticket_facts *facts)
{
    if (!facts->watched)
        return json_null();
    return json_pack("{s:i, s:o, s:o}", "offers", (int)facts->watch_offers, "accepted_at_s",
                     seconds_json(facts->watch_accepted_us), "refused_at_s",
                     seconds_json(facts->watch_refused_us));
}

static json_t *finding_json(const struct tlc_finding *finding)
{
    json_t *remedy = finding->nginx ? json_pack("{s:s, s:s, s:s}", "nginx", finding->nginx,
                                                "haproxy", finding->haproxy, "go", finding->go)
                                    : json_null();
    return json_pack("{s:s, s:b, s:s, s:o}", "code", finding->code, "wrong", finding->wrong, "text",
                     finding->text, "remedy", remedy);
}

static json_t *findings_json(const struct tlc_audit *audit, size_t index)
{
    struct tlc_finding findings[TLC_FINDINGS_MAX];
    size_t count = tlc_ticket_findings(audit->facts, audit->count, index, findings);
    json_t *json = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(json, finding_json(&findings[i]));
    return json;
}

static const char *store_of(const struct tlc_ticket_facts *facts)
{
    if (!facts->tls13 || !facts->ticket_bytes)
        return NULL;
    return facts->ticket_bytes <= NAME_BYTES ? "server" : "ticket";
}

static json_t *server_json(const struct tlc_audit *audit, size_t index)
{
    const struct tlc_ticket_facts *facts = &audit->facts[index];
    json_t *findings = findings_json(audit, index);
    json_t *verdict = json_incref(json_object_get(json_array_get(findings, 0), "code"));
    json_t *versions = json_array();
    if (facts->tls13)
        json_array_append_new(versions, json_string("TLSv1.3"));
    if (facts->tls12)
        json_array_append_new(versions, json_string("TLSv1.2"));
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:o}",
        "address", facts->address, "verdict", verdict, "versions", versions, "group",
        text_or_null(facts->group), "tickets", (int)facts->tickets, "lifetime_s",
        number_or_null(facts->lifetime_s), "ticket_bytes", number_or_null(facts->ticket_bytes),
        "session_in", text_or_null(store_of(facts)), "psk_modes", modes_json(facts), "tls12",
        tls12_json(facts), "visits", visits_json(facts), "second_use",
        answer_json(facts->second_use), "after", after_json(facts), "rotation",
        rotation_json(audit, facts), "watch", watch_json(facts), "connections",
        (int)facts->connections, "findings", findings);
}

json_t *tlc_audit_json(const struct tlc_audit *audit)
{
    json_t *servers = json_array(), *shared = json_array(), *failed = json_array();
    for (size_t from = 0; from < audit->count; from++) {
        json_array_append_new(servers, server_json(audit, from));
        for (size_t to = 0; to < audit->count; to++)
            if (from != to)
                json_array_append_new(
                    shared, json_pack("{s:s, s:s, s:o}", "from", audit->facts[from].address, "to",
                                      audit->facts[to].address, "accepted",
                                      answer_json(audit->facts[from].accepted_by[to])));
    }
    for (size_t i = 0; i < audit->failed_count; i++)
        json_array_append_new(failed, json_pack("{s:s, s:s}", "address", audit->failed[i].address,
                                                "reason", audit->failed[i].why.text));
    return json_pack("{s:o, s:o, s:o}", "servers", servers, "shared", shared, "failed", failed);
}
