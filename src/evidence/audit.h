// The audit of running servers' resumption: single visits, few in number, that show which tickets
// are accepted where and when; and what to do about it.
#ifndef TLC_EVIDENCE_AUDIT_H
#define TLC_EVIDENCE_AUDIT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stacks/loader.h"

enum { TLC_AUDIT_SERVERS = 16, TLC_AUDIT_TIMES = 8, TLC_AUDIT_VISITS = 1000 };

struct tlc_audit_options {
    const char *const *addresses; // "HOST:PORT", "[::1]:PORT", "unix:/path"
    size_t address_count;         // 1 to TLC_AUDIT_SERVERS
    const char *server_name;      // SNI; NULL: the host of each address
    const uint16_t *groups;       // of TLS 1.3, in order
    size_t group_count;
    const struct tlc_stack_plugin *plugin; // the client of TLS 1.2
    const uint64_t *after_us;              // when a ticket is offered again, in rising order
    size_t after_count;                    // at most TLC_AUDIT_TIMES
    unsigned visits;                       // in a row, each with the ticket of the one before
    uint64_t pause_us;                     // between two visits
    const char *const *rotate_command;     // words, run without a shell; NULL: none
    uint64_t rotate_wait_us;               // what it gets to take effect
    uint64_t watch_us;   // how long a ticket taken at the start is offered again and again; 0: not
    unsigned timeout_ms; // of one visit
    // Says what happens next (one line), NULL: nobody is told.
    void (*progress)(const char *text, void *user);
    void *user;
};

// Three values of a question that may not have been put.
enum tlc_answer { TLC_UNKNOWN, TLC_NO, TLC_YES };

// What was seen of one server, for the verdict.
struct tlc_ticket_facts {
    const char *address;
    bool tls13, tls12;   // versions it speaks
    const char *group;   // of the first TLS 1.3 visit; NULL: none
    unsigned tickets;    // after a full handshake
    uint32_t lifetime_s; // 0: it does not say
    size_t ticket_bytes; // TLS 1.3
    struct {
        unsigned tickets; // to a client that offers this mode only
        enum tlc_answer accepted;
    } dhe_ke, ke;
    unsigned visits, offered, resumed; // of the visits in a row
    enum tlc_answer second_use;        // the same ticket once more
    struct {
        uint64_t us; // when it was offered, since it came
        enum tlc_answer accepted;
    } after[TLC_AUDIT_TIMES];
    size_t after_count;
    enum tlc_answer rotation_old, rotation_fresh; // tickets from before and from behind it
    bool watched;
    unsigned watch_offers;
    uint64_t watch_accepted_us, watch_refused_us; // last yes, first no; 0: none
    struct {
        bool ticket;         // else session ids
        unsigned sessions;   // the full handshake gave something to come back with
        uint32_t lifetime_s; // of the ticket
        enum tlc_answer accepted;
    } old; // TLS 1.2
    // Whether its tickets are taken by the other servers, and theirs by it; by index.
    enum tlc_answer accepted_by[TLC_AUDIT_SERVERS];
    unsigned connections; // that the audit made
};

// One finding: a stable word, whether it needs attention, and a sentence.
struct tlc_finding {
    const char *code;
    bool wrong;
    char text[400];
    const char *nginx, *haproxy, *go; // the usual remedy; NULL: none is needed
};

enum { TLC_FINDINGS_MAX = 12 };

// What the facts of all servers say about one of them, the most important first; pure. Returns how
// many findings were written, at least one.
size_t tlc_ticket_findings(const struct tlc_ticket_facts *servers, size_t count, size_t index,
                           struct tlc_finding findings[TLC_FINDINGS_MAX]);

// {servers:[{address, versions, tickets, lifetime_s, ..., findings:[]}], shared:[{from, to,
// accepted}], failed:[{address, reason}]} (docs/tickets.md). A server that cannot be reached, or
// refuses a first visit, is an error; *audit is that of the others, NULL when there are none.
enum tlc_status tlc_audit_tickets(const struct tlc_audit_options *options, json_t **audit,
                                  struct tlc_error *error) TLC_CHECKED;

#endif
