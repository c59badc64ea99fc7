// Compares what a handshake negotiated with what was asked.
#ifndef TLC_GENERATOR_EXPECTATION_H
#define TLC_GENERATOR_EXPECTATION_H

#include "generator/engine.h"
#include "generator/generator.h"

// Bits of what differs, in the order of tlc_mismatch_name.
enum {
    TLC_MISMATCH_VERSION,
    TLC_MISMATCH_GROUP,
    TLC_MISMATCH_CIPHER,
    TLC_MISMATCH_HELLO_RETRY_REQUEST,
    TLC_MISMATCH_RESUMED,
    TLC_MISMATCH_CERTIFICATE,
    TLC_MISMATCH_ALPN,
    TLC_MISMATCH_REFUSAL,
    TLC_MISMATCH_COOKIE,
    TLC_MISMATCH_COUNT
};

unsigned tlc_expectation_differs(const struct tlc_expectation *expect,
                                 const struct tlc_facts *facts);
const char *tlc_mismatch_name(unsigned bit); // "mismatch-version", ...

#endif
