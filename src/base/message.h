// Framed JSON messages between the orchestrator and its children (docs/control.md): four bytes of
// length (little-endian, at most TLC_MESSAGE_MAX) and that many bytes of JSON text, over a stream
// socket or pipe.
#ifndef TLC_BASE_MESSAGE_H
#define TLC_BASE_MESSAGE_H

#include <jansson.h>

#include "base/error.h"

#define TLC_MESSAGE_MAX (64u << 20)

// Writes one message in full (blocking, restarts after signals). `message` stays the caller's.
enum tlc_status tlc_message_send(int fd, const json_t *message,
                                 struct tlc_error *error) TLC_CHECKED;
// Reads one message; `timeout_ms` < 0 waits without end. *message is the caller's to json_decref.
// A closed peer, a time-out and a malformed frame are errors whose text says which.
enum tlc_status tlc_message_receive(int fd, int timeout_ms, json_t **message,
                                    struct tlc_error *error) TLC_CHECKED;

#endif
