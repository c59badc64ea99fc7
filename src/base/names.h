// Code points of the IANA TLS registries and their names, as used in the CLI, plans, JSON and code.
// Sources: RFC 8446 (4.2.3, 4.2.7, B.4), RFC 7919, RFC 8422, draft-ietf-tls-ecdhe-mlkem,
// draft-ietf-tls-mlkem, draft-ietf-tls-mldsa, and the registries at
// iana.org/assignments/tls-parameters.
#ifndef TLC_BASE_NAMES_H
#define TLC_BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum tlc_name_kind {
    TLC_NAME_VERSION,
    TLC_NAME_GROUP,
    TLC_NAME_CIPHER,
    TLC_NAME_SIGNATURE,
    TLC_NAME_ALERT
};

enum {
    TLC_TLS12 = 0x0303,
    TLC_TLS13 = 0x0304,
    TLC_GROUP_SECP256R1 = 0x0017,
    TLC_GROUP_SECP384R1 = 0x0018,
    TLC_GROUP_SECP521R1 = 0x0019,
    TLC_GROUP_X25519 = 0x001d,
    TLC_GROUP_X448 = 0x001e,
    TLC_GROUP_MLKEM512 = 0x0200,
    TLC_GROUP_MLKEM768 = 0x0201,
    TLC_GROUP_MLKEM1024 = 0x0202,
    TLC_GROUP_SECP256R1MLKEM768 = 0x11eb,
    TLC_GROUP_X25519MLKEM768 = 0x11ec,
    TLC_GROUP_SECP384R1MLKEM1024 = 0x11ed,
    TLC_AES_128_GCM_SHA256 = 0x1301,
    TLC_AES_256_GCM_SHA384 = 0x1302,
    TLC_CHACHA20_POLY1305_SHA256 = 0x1303
};

// The registry's name of a code point; other codes give "0x1234" in a static buffer of the thread.
const char *tlc_name(enum tlc_name_kind kind, uint16_t code);
// The code point of a name, without regard to case; usual aliases (P-256, prime256v1, secp256r1)
// are understood. Returns 0 when the name is unknown.
uint16_t tlc_code(enum tlc_name_kind kind, const char *name);
// Parses "A:B:C" (colon or comma) into codes in order. Errors name the unknown word and list the
// known.
enum tlc_status tlc_codes_parse(enum tlc_name_kind kind, const char *list, uint16_t *codes,
                                size_t capacity, size_t *count,
                                struct tlc_error *error) TLC_CHECKED;
// The i-th name of a kind for help texts; NULL past the end.
const char *tlc_name_at(enum tlc_name_kind kind, size_t index);

#endif
