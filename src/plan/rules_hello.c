// Settings of clients that leave early, of their ClientHello and of their pace.
#include "base/names.h"
#include "plan/rules.h"

static bool invalid_share(const struct tlc_arm *arm)
{
    return is(arm->share, "unreduced") || is(arm->share, "low-order");
}

static bool unfinished_is_lean(const struct tlc_arm *arm)
{
    return tlc_arm_is_unfinished(arm) &&
           (!lean(arm) || resumes(arm) || arm->echo || arm->allocations || arm->names ||
            !is(arm->event, "none"));
}

static bool invalid_share_goes_on(const struct tlc_arm *arm)
{
    return invalid_share(arm) && !is(arm->stop, "after-client-hello");
}

static bool has_no_such_part(const struct tlc_arm *arm)
{
    static const uint16_t low_order[] = {TLC_GROUP_X25519, TLC_GROUP_X25519MLKEM768};
    static const uint16_t unreduced[] = {TLC_GROUP_MLKEM768, TLC_GROUP_MLKEM1024,
                                         TLC_GROUP_SECP256R1MLKEM768, TLC_GROUP_X25519MLKEM768,
                                         TLC_GROUP_SECP384R1MLKEM1024};
    if (is(arm->share, "low-order"))
        return !tlc_group_among(arm, low_order, sizeof low_order / sizeof *low_order);
    return is(arm->share, "unreduced") &&
           !tlc_group_among(arm, unreduced, sizeof unreduced / sizeof *unreduced);
}

static bool stops_at_no_retry(const struct tlc_arm *arm)
{
    return is(arm->stop, "after-hello-retry") && !arm->hello_retry && !arm->cookie;
}

// Only the lean client tells whether a cookie came.
static bool cookie_elsewhere(const struct tlc_arm *arm)
{
    return arm->cookie && (!lean(arm) || arm->server || is(arm->version, "TLSv1.2"));
}

// OpenSSL's SSL_stateless reads the ticket before the cookie, so it checks the binder (RFC 8446,
// 4.2.11.2) without the first ClientHello and refuses it, its own client's too
// (docs/pre-authentication.md).
static bool cookie_resumes(const struct tlc_arm *arm)
{
    return arm->cookie && !is(arm->resumption, "none");
}

static bool hello_is_lean(const struct tlc_arm *arm)
{
    return (arm->split || arm->padding) && !lean(arm);
}

static bool holds_nothing_open(const struct tlc_arm *arm)
{
    return arm->hold &&
           (!tlc_arm_is_unfinished(arm) || invalid_share(arm) || !is(arm->network, "loopback"));
}

static bool timeout_elsewhere(const struct tlc_arm *arm)
{
    return arm->handshake_timeout_us && !of(arm, "network");
}

static bool timeout_is_short(const struct tlc_arm *arm)
{
    return arm->handshake_timeout_us && arm->handshake_timeout_us < 1000;
}

static bool pace_elsewhere(const struct tlc_arm *arm)
{
    return (arm->pace || arm->offered > 0) && !of(arm, "network");
}

static bool two_paces(const struct tlc_arm *arm)
{
    return arm->pace && arm->offered > 0;
}

const struct tlc_rule tlc_hello_rules[] = {
    {unfinished_is_lean, "stop",
     "only the lean engine leaves early, over the network, and has nothing behind the handshake; "
     "write engine: lean, workload: network, and no resumption, event, echo, names or allocations"},
    {invalid_share_goes_on, "share",
     "a share that servers refuse gets no further than their answer; write stop: "
     "after-client-hello, or share: cheap"},
    {has_no_such_part, "share",
     "the groups have no such part; write groups: X25519MLKEM768, which has both"},
    {stops_at_no_retry, "stop",
     "there is no HelloRetryRequest to stop at; write hello_retry: true or cookie: true as well"},
    {cookie_elsewhere, "cookie",
     "tlscost's own server sends cookies in TLS 1.3, and the lean client counts them; write "
     "engine: "
     "lean, workload: network and version: TLSv1.3, leave server out, or write cookie: false"},
    {cookie_resumes, "cookie",
     "OpenSSL refuses resumption behind a cookie; write resumption: none, or cookie: false"},
    {hello_is_lean, "split",
     "only the lean engine splits and pads its ClientHello; write engine: lean and workload: "
     "network, or split: 0 and padding: 0"},
    {holds_nothing_open, "hold",
     "only handshakes that stop early stay half-open, on the loopback; write stop: "
     "after-client-hello and network: loopback, or hold: 0"},
    {timeout_elsewhere, "handshake_timeout",
     "only a server of the workload network ends handshakes; write workload: network, or "
     "handshake_timeout: 0us"},
    {timeout_is_short, "handshake_timeout",
     "servers are told whole milliseconds; write for example handshake_timeout: 2s, or 0us: the "
     "server's own"},
    {pace_elsewhere, "pace",
     "only the workload network has a generator with a pace; write workload: network, or pace: 0 "
     "and offered: 0%"},
    {two_paces, "offered", "pace is a rate, offered a share of the capacity; write one of them"},
};
const size_t tlc_hello_rule_count = sizeof tlc_hello_rules / sizeof *tlc_hello_rules;
