// Private to the room.
// What every plug-in reads the same out of the neutral configuration.
#ifndef TLC_STACKS_NEUTRAL_H
#define TLC_STACKS_NEUTRAL_H

#include <stdbool.h>
#include <stdint.h>

#include "tlscost/stack.h"

// Puts `text` into `error` and returns false.
bool tlc_neutral_refuse(struct tlc_stack_error *error, const char *text);
// The versions asked for. One none of whose cipher suites is named is switched off. False with
// `error` set when none is left or one is neither TLS 1.2 nor 1.3.
bool tlc_neutral_versions(const struct tlc_stack_config *config, uint16_t *low, uint16_t *high,
                          struct tlc_stack_error *error);
// Whether certificates are demanded of clients, and where they are, there is a CA for them.
bool tlc_neutral_client_auth(enum tlc_stack_role role, const struct tlc_stack_config *config,
                             bool *asks, struct tlc_stack_error *error);
// Whether every plug-in serves this feature whatever its library's build; false for those that the
// library must be asked about.
bool tlc_neutral_supports(enum tlc_stack_feature kind);
// Says into `why` that this library in this version lacks what was asked for. Where that is a
// version, group, signature scheme or suite, `remedy` ends the sentence.
void tlc_neutral_lacks(struct tlc_stack_error *why, const char *library, const char *version,
                       enum tlc_stack_feature kind, uint16_t code, const char *remedy);
// RFC 6066, 3: literal addresses are not permitted in SNI.
bool tlc_neutral_is_address(const char *name);

#endif
