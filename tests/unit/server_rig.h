// A server on the fake stack in a thread of its own, and clients for it.
#ifndef TLC_SERVER_RIG_H
#define TLC_SERVER_RIG_H

#include <jansson.h>
#include <pthread.h>
#include <stddef.h>

#include "server/server.h"

struct rig {
    struct tlc_server_options options; // set what differs before rig_start
    pthread_t thread;
    int control;  // our end
    int notes[2]; // pipe of the server's notes, one line each
    int theirs;
    char address[160];
    json_t *counters;
    enum tlc_status status;
    struct tlc_error error;
};

// Defaults: 127.0.0.1:0, one worker. Signals go to the server's thread only.
void rig_prepare(struct rig *rig);
void rig_start(struct rig *rig);
// Runs a server that must not start; its status.
enum tlc_status rig_fails(struct rig *rig);
// Sends a request (the reference is taken) and gives its reply.
json_t *rig_ask(struct rig *rig, json_t *request);
void rig_send(struct rig *rig, json_t *request);
json_t *rig_receive(struct rig *rig);
// Waits until `handshakes` were completed or failed and nothing is open; the totals of the reply,
// which must say so.
json_t *rig_settle(struct rig *rig, int handshakes);
// Ends the server in order and checks that nothing is left of it. rig->counters is then set.
void rig_stop(struct rig *rig);
void rig_free(struct rig *rig);

int client_connect(const struct rig *rig);
void client_send(int fd, const char *text);
void client_expect(int fd, const char *text); // reads exactly these bytes
void client_handshake(int fd, const char *hello);
void client_reset(int fd); // closes with a reset
// Waits for the server's end of the connection; returns bytes read before it, -1 for a reset.
long client_read_to_end(int fd);

long count_of(const json_t *totals, const char *name);

#endif
