#include "generator/expectation.h"

#include <string.h>

static bool code_differs(uint16_t expected, uint16_t got)
{
    return expected && expected != got;
}

static bool certificate_differs(const struct tlc_expectation *expect, const struct tlc_facts *facts)
{
    // A resumed handshake carries no certificate (RFC 8446, 2.2).
    if (!expect->certificate_known || facts->resumed || facts->partial)
        return false;
    return !facts->certificate_sha256 ||
           memcmp(expect->certificate_sha256, facts->certificate_sha256,
                  sizeof expect->certificate_sha256) != 0;
}

unsigned tlc_expectation_differs(const struct tlc_expectation *expect,
                                 const struct tlc_facts *facts)
{
    // psk_ke resumption has no key exchange, hence no group to compare (RFC 8446, 4.2.9).
    // Nor does one that stopped at a HelloRetryRequest know its group.
    bool without_group = (facts->resumed || facts->partial) && facts->group == 0;
    const bool differs[TLC_MISMATCH_COUNT] = {
        [TLC_MISMATCH_VERSION] = code_differs(expect->version, facts->version),
        [TLC_MISMATCH_GROUP] = !without_group && code_differs(expect->group, facts->group),
        [TLC_MISMATCH_CIPHER] = code_differs(expect->cipher, facts->cipher),
        [TLC_MISMATCH_HELLO_RETRY_REQUEST] = facts->hello_retry_request
                                                 ? !expect->allow_hello_retry_request
                                                 : expect->require_hello_retry_request,
        [TLC_MISMATCH_RESUMED] = expect->resumed >= 0 && (expect->resumed > 0) != facts->resumed,
        [TLC_MISMATCH_CERTIFICATE] = certificate_differs(expect, facts),
        [TLC_MISMATCH_ALPN] =
            expect->alpn[0] && !facts->partial && strcmp(expect->alpn, facts->alpn) != 0,
        [TLC_MISMATCH_REFUSAL] = expect->refusal,
        [TLC_MISMATCH_COOKIE] = expect->require_cookie && !facts->cookie,
    };
    unsigned bits = 0;
    for (unsigned bit = 0; bit < TLC_MISMATCH_COUNT; bit++)
        bits |= (unsigned)differs[bit] << bit;
    return bits;
}

const char *tlc_mismatch_name(unsigned bit)
{
    static const char *const names[TLC_MISMATCH_COUNT] = {
        [TLC_MISMATCH_VERSION] = "mismatch-version",
        [TLC_MISMATCH_GROUP] = "mismatch-group",
        [TLC_MISMATCH_CIPHER] = "mismatch-cipher",
        [TLC_MISMATCH_HELLO_RETRY_REQUEST] = "mismatch-hello-retry-request",
        [TLC_MISMATCH_RESUMED] = "mismatch-resumed",
        [TLC_MISMATCH_CERTIFICATE] = "mismatch-certificate",
        [TLC_MISMATCH_ALPN] = "mismatch-alpn",
        [TLC_MISMATCH_REFUSAL] = "mismatch-refusal",
        [TLC_MISMATCH_COOKIE] = "mismatch-cookie",
    };
    return bit < TLC_MISMATCH_COUNT ? names[bit] : "mismatch";
}
