// What the connection life cycle needs of a TLS client, whichever it is: bytes in, bytes out. One
// table for the lean client, one for stack plug-ins.
#ifndef TLC_GENERATOR_ENGINE_H
#define TLC_GENERATOR_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "generator/generator.h"
#include "generator/resumption.h"

enum tlc_session_state {
    TLC_SESSION_WAIT,    // needs bytes from the server
    TLC_SESSION_DONE,    // handshake complete; output holds what finishes it
    TLC_SESSION_STOPPED, // reached the stop point asked for
    TLC_SESSION_FAILED
};

// What one finished handshake negotiated. Pointers live until the session is used again.
struct tlc_facts {
    uint16_t version, cipher, group;
    bool hello_retry_request, resumed, signature_verified;
    bool cookie;  // the HelloRetryRequest had one
    bool partial; // the handshake stopped at the first answer: certificate and ALPN are not known
    int psk_mode; // -1: not resumed or not told
    const char *alpn;                  // "": none
    const uint8_t *certificate_sha256; // NULL: none was sent, or nobody asked for it
};

struct tlc_engine_kind;

// Settings and tickets of one event loop; its sessions share it.
struct tlc_engine_context {
    const struct tlc_engine_kind *kind;
    struct tlc_resumption resumption; // set by the lane before each slice
};

// One connection's TLS client, used again for the next connection.
struct tlc_session {
    const struct tlc_engine_kind *kind;
};

#define TLC_FAILURE_BYTES 96

struct tlc_engine_kind {
    const char *name;
    // It knows the stop points and reads until there; others stop at the server's first bytes.
    bool stops;
    // Output stays in place until the session is given input or started, even when output is asked
    // for again meanwhile.
    bool output_stays;
    enum tlc_status (*context_new)(const struct tlc_target_options *options,
                                   struct tlc_engine_context **context, struct tlc_error *error);
    void (*context_free)(struct tlc_engine_context *context);
    struct tlc_session *(*session_new)(struct tlc_engine_context *context);
    void (*session_free)(struct tlc_session *session);
    // Begins a handshake; output then holds the ClientHello. *offered tells whether a ticket is
    // offered.
    enum tlc_session_state (*start)(struct tlc_session *session, uint64_t now_ms, bool *offered);
    // Bytes to send; they stay in place until the session is given input or started.
    const uint8_t *(*output)(struct tlc_session *session, size_t *count);
    void (*output_sent)(struct tlc_session *session, size_t count);
    enum tlc_session_state (*input)(struct tlc_session *session, const uint8_t *bytes, size_t count,
                                    uint64_t now_ms);
    bool (*hello_seen)(const struct tlc_session *session);
    bool (*facts)(struct tlc_session *session,
                  struct tlc_facts *facts);       // after DONE, and STOPPED where the kind stops
    bool (*resumed)(struct tlc_session *session); // the same
    unsigned (*tickets)(struct tlc_session *session);
    // A short stable word for counting.
    void (*failure)(const struct tlc_session *session, char kind[TLC_FAILURE_BYTES]);
    // Application data and the orderly end, after DONE. False when the session has failed.
    bool (*write)(struct tlc_session *session, const uint8_t *bytes, size_t count);
    const uint8_t *(*received)(struct tlc_session *session, size_t *count);
    bool (*close)(struct tlc_session *session);
};

extern const struct tlc_engine_kind tlc_engine_lean, tlc_engine_full, tlc_engine_tcp;

#endif
