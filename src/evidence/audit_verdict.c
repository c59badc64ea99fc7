// What the facts of an audit mean. Pure.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "evidence/audit.h"

enum { SHORT_LIFETIME_S = 60 };

struct remedy {
    const char *code, *nginx, *haproxy, *go;
};

// The documentation of each: nginx ngx_http_ssl_module; haproxy configuration manual, "bind" and
// "tune.ssl"; Go crypto/tls, type Config.
static const struct remedy remedies[] = {
    {"off", "ssl_session_tickets on (the default), and no ssl_conf_command NumTickets 0",
     "remove no-tls-tickets from bind and ssl-default-bind-options",
     "leave tls.Config.SessionTicketsDisabled false"},
    {"unusable", "ssl_session_timeout 1d; shorter certificate chains of clients in the ticket",
     "tune.ssl.lifetime 86400", "keep what WrapSession puts into a ticket small"},
    {"never-accepted",
     "ssl_session_tickets off leaves TLS 1.3 with tickets of a cache: turn tickets on, or set "
     "ssl_session_cache shared:SSL:10m",
     "no-tls-tickets leaves TLS 1.3 with tickets of a cache: remove it, or set tune.ssl.cachesize "
     "above 0",
     "one tls.Config for all connections: a new one for each has keys of its own"},
    {"several-keys",
     "ssl_session_ticket_key FILE with the same 80 bytes in every instance (openssl rand 80)",
     "tls-ticket-keys FILE on the bind line, the same in every instance",
     "SetSessionTicketKeys with the same keys in every process"},
    {"not-shared",
     "ssl_session_ticket_key FILE with the same 80 bytes in every instance (openssl rand 80)",
     "tls-ticket-keys FILE on the bind line, the same in every instance",
     "SetSessionTicketKeys with the same keys in every process"},
    {"rotation-loses",
     "the new ssl_session_ticket_key first and the old one in a second line, then reload; without "
     "any, each reload makes a new key",
     "append the new key to the tls-ticket-keys file and keep the old ones (the last but one "
     "encrypts), or use set ssl tls-key",
     "SetSessionTicketKeys with the new key first and behind it the one that encrypted until now, "
     "not another fresh one"},
    {"rotation-breaks", "look into the error log: the reload may have failed",
     "look into the log: the reload may have failed", "look into what the rotation sets"},
    {"lost-early",
     "keep the old ssl_session_ticket_key through a rotation; a larger ssl_session_cache",
     "keep the old keys in the tls-ticket-keys file; a larger tune.ssl.cachesize",
     "keep the previous keys in SetSessionTicketKeys for as long as tickets live"},
    {"short-lifetime", "ssl_session_timeout 1d", "tune.ssl.lifetime 86400",
     "crypto/tls announces 7 days: look for a proxy before it"},
};

struct writer {
    struct tlc_finding *findings;
    size_t count;
};

static void add(struct writer *to, const char *code, bool wrong, const char *format, ...)
    TLC_PRINTF(4, 5);
static void add(struct writer *to, const char *code, bool wrong, const char *format, ...)
{
    if (to->count == TLC_FINDINGS_MAX)
        return;
    struct tlc_finding *finding = &to->findings[to->count++];
    *finding = (struct tlc_finding){.code = code, .wrong = wrong};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (!strcmp(remedies[i].code, code)) {
            finding->nginx = remedies[i].nginx;
            finding->haproxy = remedies[i].haproxy;
            finding->go = remedies[i].go;
        }
}

static bool is_short(const struct tlc_ticket_facts *facts)
{
    return facts->lifetime_s && facts->lifetime_s < SHORT_LIFETIME_S;
}

// Whether the server takes its own tickets at all; says so when not. Tickets that live for a moment
// may be over before the next visit, so nothing else follows from their refusal.
static bool find_resumption(const struct tlc_ticket_facts *facts, struct writer *to)
{
    if (!facts->tickets)
        add(to, "off", true,
            "resumption is off: the server gives clients nothing to come back "
            "with, so every visit is a full handshake");
    else if (!facts->offered)
        add(to, "unusable", true,
            "the server sends tickets that no client can use: their lifetime is 0, or they are "
            "larger than 2048 bytes");
    else if (!facts->resumed && !is_short(facts))
        add(to, "never-accepted", true,
            "the server sends tickets but takes none of them back, so every visit is a full "
            "handshake");
    else if (facts->resumed < facts->offered && !is_short(facts))
        add(to, "several-keys", true,
            "%u of %u visits were resumed: several processes or machines answer at this address "
            "and share no keys (N of them accept 1 ticket in N)",
            facts->resumed, facts->offered);
    return facts->offered && facts->resumed;
}

// Appends ", NAME" to a list of addresses.
static void append(char *list, size_t bytes, const char *name)
{
    size_t used = strlen(list);
    if (used < bytes)
        snprintf(list + used, bytes - used, "%s%.60s", used ? ", " : "", name);
}

// The other servers that resume at all, by whether tickets are taken in both directions.
static void find_sharing(const struct tlc_ticket_facts *servers, size_t count, size_t index,
                         struct writer *to, char *shared, size_t shared_bytes)
{
    char refused[160] = "", foreign[160] = "";
    const struct tlc_ticket_facts *mine = &servers[index];
    for (size_t i = 0; i < count; i++) {
        if (i == index || !servers[i].resumed)
            continue;
        if (mine->accepted_by[i] == TLC_YES && servers[i].accepted_by[index] == TLC_YES)
            append(shared, shared_bytes, servers[i].address);
        if (mine->accepted_by[i] == TLC_NO)
            append(refused, sizeof refused, servers[i].address);
        if (servers[i].accepted_by[index] == TLC_NO)
            append(foreign, sizeof foreign, servers[i].address);
    }
    if (*refused && *foreign && !strcmp(refused, foreign))
        add(to, "not-shared", true,
            "no ticket keys are shared with %s: a client that comes to the "
            "other one pays for a full handshake",
            refused);
    else if (*refused || *foreign)
        add(to, "not-shared", true, "ticket keys are shared in one direction only: %s%s%s%s%s",
            *refused ? "its tickets are refused by " : "", refused,
            *refused && *foreign ? "; " : "", *foreign ? "it refuses the tickets of " : "",
            foreign);
}

static void find_rotation(const struct tlc_ticket_facts *facts, struct writer *to)
{
    if (facts->rotation_fresh == TLC_NO)
        add(to, "rotation-breaks", true, "after the rotation the server takes no ticket at all");
    else if (facts->rotation_old == TLC_NO)
        add(to, "rotation-loses", true,
            "the rotation drops the key that encrypted until then: every client pays for a full "
            "handshake once");
    else if (facts->rotation_old == TLC_YES)
        add(to, "rotation-safe", false, "tickets from before the rotation are still accepted");
}

static void find_age(const struct tlc_ticket_facts *facts, struct writer *to)
{
    double lifetime_s = facts->lifetime_s;
    if (is_short(facts))
        add(to, "short-lifetime", true, "tickets live for %u s: most clients come back later",
            facts->lifetime_s);
    for (size_t i = 0; i < facts->after_count; i++) {
        double age_s = (double)facts->after[i].us / 1e6;
        if (facts->after[i].accepted == TLC_NO && facts->resumed == facts->offered &&
            (lifetime_s <= 0 || age_s < lifetime_s)) {
            add(to, "lost-early", true,
                "a ticket was refused after %.3g s, before its lifetime was over: keys were "
                "replaced, the server was started again, or its cache is too small",
                age_s);
            return;
        }
    }
    double refused_s = (double)facts->watch_refused_us / 1e6;
    if (refused_s > 0 && facts->resumed == facts->offered &&
        (lifetime_s <= 0 || refused_s < lifetime_s))
        add(to, "lost-early", true,
            "the ticket under watch was refused when it was %.3g s old, before its lifetime was "
            "over: keys were replaced, the server was started again, or its cache is too small",
            refused_s);
}

static void find_properties(const struct tlc_ticket_facts *facts, struct writer *to)
{
    if (facts->second_use == TLC_NO)
        add(to, "single-use", false,
            "a ticket is taken once only: safe against replay, but clients that open several "
            "connections need as many tickets");
    if (facts->ke.accepted == TLC_YES)
        add(to, "psk-ke", false,
            "psk_ke is accepted: cheaper, but who learns the ticket key can read those connections "
            "(no forward secrecy, RFC 8446, 2.2)");
    if (facts->tls13 && facts->tls12 && facts->old.accepted != TLC_YES)
        add(to, "tls12-full", false, "TLS 1.2 is served, but not resumed");
}

size_t tlc_ticket_findings(const struct tlc_ticket_facts *servers, size_t count, size_t index,
                           struct tlc_finding findings[TLC_FINDINGS_MAX])
{
    const struct tlc_ticket_facts *facts = &servers[index];
    char shared[200] = "";
    // The first place is for the good word, which depends on the rest.
    struct writer to = {.findings = findings, .count = 1};
    if (find_resumption(facts, &to)) {
        find_sharing(servers, count, index, &to, shared, sizeof shared);
        find_rotation(facts, &to);
    }
    find_age(facts, &to);
    find_properties(facts, &to);
    bool wrong = false;
    for (size_t i = 1; i < to.count; i++)
        wrong = wrong || findings[i].wrong;
    if (wrong) {
        memmove(findings, findings + 1, (to.count - 1) * sizeof *findings);
        return to.count - 1;
    }
    struct writer first = {.findings = findings};
    add(&first, "works", false, "resumption works: %u of %u visits were resumed%s%s",
        facts->resumed, facts->offered, *shared ? "; ticket keys are shared with " : "", shared);
    return to.count;
}
