// Why a handshake failed, and the alert (RFC 8446, 6.2) the protocol asks the client to send.
#ifndef TLC_TLS13_FAULT_H
#define TLC_TLS13_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum tlc_alert {
    TLC_ALERT_CLOSE_NOTIFY = 0,
    TLC_ALERT_UNEXPECTED_MESSAGE = 10,
    TLC_ALERT_BAD_RECORD_MAC = 20,
    TLC_ALERT_RECORD_OVERFLOW = 22,
    TLC_ALERT_BAD_CERTIFICATE = 42,
    TLC_ALERT_ILLEGAL_PARAMETER = 47,
    TLC_ALERT_DECODE_ERROR = 50,
    TLC_ALERT_DECRYPT_ERROR = 51,
    TLC_ALERT_PROTOCOL_VERSION = 70,
    TLC_ALERT_INTERNAL_ERROR = 80,
    TLC_ALERT_USER_CANCELED = 90,
    TLC_ALERT_MISSING_EXTENSION = 109,
    TLC_ALERT_UNSUPPORTED_EXTENSION = 110
};

struct tlc_fault {
    enum tlc_alert alert;
    const char *kind; // stable short word for counting
    const char *text; // one line for people, static
};

// Returns false, so that `return tlc_fault_set(...)` reads well.
static inline bool tlc_fault_set(struct tlc_fault *fault, enum tlc_alert alert, const char *kind,
                                 const char *text)
{
    *fault = (struct tlc_fault){alert, kind, text};
    return false;
}

static inline bool tlc_fault_decode(struct tlc_fault *fault, const char *text)
{
    return tlc_fault_set(fault, TLC_ALERT_DECODE_ERROR, "decode", text);
}

#endif
