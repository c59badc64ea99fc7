#include "server/key_ring.h"

#include <string.h>
#include <sys/random.h>

enum tlc_status tlc_ticket_key_make(struct tlc_ticket_key *key, struct tlc_error *error)
{
    if (getentropy(key, sizeof *key))
        return tlc_fail_errno(error, "ticket keys: random numbers");
    return TLC_OK;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Fills the places from `first` on with keys that nobody has used.
static enum tlc_status make_keys(struct tlc_key_ring *ring, size_t first, size_t count,
                                 struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t i = first; i < count && status == TLC_OK; i++)
        status = tlc_ticket_key_make(&ring->keys[i], error);
    ring->count = count;
    return status;
}

// Behind the fresh key: the keys of `before` from `from` on.
static void keep_keys(struct tlc_key_ring *ring, const struct tlc_key_ring *before, size_t from,
                      size_t keep)
{
    size_t there = before->count > from ? before->count - from : 0;
    size_t kept = least(there, keep);
    memcpy(&ring->keys[ring->count], &before->keys[from], kept * sizeof *ring->keys);
    ring->count += kept;
}

enum tlc_status tlc_key_ring_rotate(struct tlc_key_ring *ring, enum tlc_rotation how, unsigned keep,
                                    struct tlc_error *error)
{
    struct tlc_key_ring next = {.count = 0};
    size_t kept = least(keep, TLC_TICKET_KEYS_MAX - 1);
    enum tlc_status status;
    switch (how) {
    case TLC_ROTATE_ABRUPT:
        status = make_keys(&next, 0, ring->count ? ring->count : 1, error);
        break;
    case TLC_ROTATE_TRAP: // the one that is kept as "previous" never encrypted a ticket
        status = make_keys(&next, 0, kept ? 2 : 1, error);
        keep_keys(&next, ring, 1, kept ? kept - 1 : 0);
        break;
    case TLC_ROTATE_NO_PREVIOUS:
        status = make_keys(&next, 0, 1, error);
        keep_keys(&next, ring, 1, kept);
        break;
    case TLC_ROTATE_SAFE:
    default:
        status = make_keys(&next, 0, 1, error);
        keep_keys(&next, ring, 0, kept);
    }
    if (status == TLC_OK)
        *ring = next;
    tlc_key_ring_clear(&next);
    return status;
}

void tlc_key_ring_clear(struct tlc_key_ring *ring)
{
    explicit_bzero(ring, sizeof *ring);
}
