// What the parts of the audit share. Private to the room.
#ifndef TLC_EVIDENCE_AUDIT_PARTS_H
#define TLC_EVIDENCE_AUDIT_PARTS_H

#include "evidence/audit.h"
#include "evidence/visit.h"

struct tlc_audit {
    const struct tlc_audit_options *options;
    struct tlc_ticket_facts facts[TLC_AUDIT_SERVERS];
    size_t count;
    // Servers that could not be visited, and why.
    struct {
        const char *address;
        struct tlc_error why;
    } failed[TLC_AUDIT_SERVERS];
    size_t failed_count;
};

json_t *tlc_audit_json(const struct tlc_audit *audit);

#endif
