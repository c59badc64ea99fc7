// The ticket keys of a running server: read, rotated, written, watched. The control thread's own.
// It is private to the room.
#ifndef TLC_SERVER_KEYS_H
#define TLC_SERVER_KEYS_H

#include "server/key_ring.h"

struct tlc_server;

// One ring for all workers, or one for each (key_per_worker).
struct tlc_keys {
    struct tlc_key_ring *rings;
    unsigned count;     // 0: the library's own keys
    uint64_t rotate_ms; // when the next rotation is due; 0: none is
    int watch;          // inotify on the file's folder; -1: none
};

// Whether the server has keys of its own, that the library is told.
bool tlc_keys_wanted(const struct tlc_server_options *options);
// Makes or reads the first keys. A file that is to be rotated is made when it is missing.
enum tlc_status tlc_keys_open(struct tlc_server *server, struct tlc_error *error) TLC_CHECKED;
void tlc_keys_close(struct tlc_server *server);
// Replaces the keys that all workers share.
enum tlc_status tlc_keys_set(struct tlc_server *server, const struct tlc_ticket_key *keys,
                             size_t count, struct tlc_error *error) TLC_CHECKED;
// The same from a file; *count gets how many, *changed whether they differ from those in use.
enum tlc_status tlc_keys_reread(struct tlc_server *server, const char *path, size_t *count,
                                bool *changed, struct tlc_error *error) TLC_CHECKED;
// Rotates every ring; a key file is rewritten before the new key encrypts anything here.
enum tlc_status tlc_keys_rotate(struct tlc_server *server, enum tlc_rotation how,
                                struct tlc_error *error) TLC_CHECKED;
// Whether somebody put another file into the place of the key file; takes the events.
bool tlc_keys_file_replaced(struct tlc_server *server);

#endif
