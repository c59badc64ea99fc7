// Just enough HTTP/1.1 (RFC 9112) that curl and browsers are content with a handshake server.
// It is private to the room.
#ifndef TLC_SERVER_HTTP_H
#define TLC_SERVER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// An answer, static text.
struct tlc_http_answer {
    const uint8_t *bytes;
    size_t count;
    bool close; // the connection ends after it
};

// Looks for one whole request at the start of `bytes`. Returns the bytes it takes up and fills
// `answer`; 0 when more bytes are needed. `full` says that no more would fit.
size_t tlc_http_request(const uint8_t *bytes, size_t count, bool full,
                        struct tlc_http_answer *answer);

#endif
