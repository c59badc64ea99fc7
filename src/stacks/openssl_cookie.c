// A server that answers every first ClientHello with a cookie and keeps nothing of it until the
// cookie has come back (RFC 8446, 4.2.2).
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "stacks/openssl_plugin.h"

// RFC 8446, 5.1: type, version, length of what follows.
enum { RECORD_HEADER = 5, CHANGE_CIPHER_SPEC = 20, DUMMY_BYTES = RECORD_HEADER + 1 };

// TCP has shown the client's address; what the library puts around this, the transcript with a time
// under a key of its own, is what the work is.
static const unsigned char cookie_text[] = "tlscost";

static int make_cookie(SSL *ssl, unsigned char *cookie, size_t *count)
{
    (void)ssl;
    memcpy(cookie, cookie_text, sizeof cookie_text);
    *count = sizeof cookie_text;
    return 1;
}

static int check_cookie(SSL *ssl, const unsigned char *cookie, size_t count)
{
    (void)ssl;
    return count == sizeof cookie_text && !memcmp(cookie, cookie_text, count);
}

bool openssl_demand_cookie(SSL_CTX *ctx, struct tlc_stack_error *error)
{
    (void)error;
    SSL_CTX_set_stateless_cookie_generate_cb(ctx, make_cookie);
    SSL_CTX_set_stateless_cookie_verify_cb(ctx, check_cookie);
    return true;
}

struct waiting {
    uint8_t head[RECORD_HEADER];
    size_t known, count; // of the head; in all
    bool ended;          // no more will come
};

static struct waiting look(const struct tlc_stack_connection *connection)
{
    struct waiting waiting = {.known = 0};
    if (connection->in) {
        char *bytes;
        long count = BIO_get_mem_data(connection->in, &bytes);
        waiting.count = count > 0 ? (size_t)count : 0;
        waiting.known = waiting.count < RECORD_HEADER ? waiting.count : RECORD_HEADER;
        memcpy(waiting.head, bytes, waiting.known);
        return waiting;
    }
    int fd = SSL_get_fd(connection->ssl), count = 0;
    ssize_t got = recv(fd, waiting.head, RECORD_HEADER, MSG_PEEK | MSG_DONTWAIT);
    waiting.known = got > 0 ? (size_t)got : 0;
    waiting.ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    if (got > 0 && !ioctl(fd, FIONREAD, &count) && count > 0)
        waiting.count = (size_t)count;
    return waiting;
}

// Whether a whole record is there: the library begins anew at each call, so it must not be given a
// part of a ClientHello. A dummy change_cipher_spec before the second one (RFC 8446, D.4) is none.
static bool hello_has_come(struct tlc_stack_connection *connection)
{
    struct waiting waiting = look(connection);
    uint8_t dummy[DUMMY_BYTES];
    while (waiting.known == RECORD_HEADER && waiting.head[0] == CHANGE_CIPHER_SPEC &&
           waiting.count >= DUMMY_BYTES) {
        if (BIO_read(SSL_get_rbio(connection->ssl), dummy, sizeof dummy) != sizeof dummy)
            return true;
        waiting = look(connection);
    }
    size_t record = (size_t)waiting.head[3] << 8 | waiting.head[4];
    return waiting.ended ||
           (waiting.known == RECORD_HEADER && waiting.count >= RECORD_HEADER + record);
}

int openssl_admit(struct tlc_stack_connection *connection)
{
    while (hello_has_come(connection)) {
        int result = SSL_stateless(connection->ssl);
        if (result != 0)
            return result;
        // The HelloRetryRequest with the cookie is sent.
    }
    return 0;
}
