// How to run a server that is not ours: Go, nginx, haproxy, Java, ... A description is a YAML file,
// peers/NAME/server.yaml; docs/servers.md explains the format. Its words may hold placeholders in
// braces, such as {address}, which are filled in for each arm.
#ifndef TLC_PLAN_SERVER_H
#define TLC_PLAN_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct tlc_command {
    char **words; // the program first
    unsigned count;
};

struct tlc_pairing {
    char *name, *value;
};

enum tlc_server_ready {
    TLC_READY_CONNECT, // it listens once a connection to its address is accepted
    TLC_READY_FILE     // it listens once a file is there
};

// Strings are owned by the description and never NULL unless noted.
struct tlc_server {
    char *name;       // as an arm's key `server` spells it
    char *about;      // one line: what serves, and with which settings
    char *path;       // of the file
    char *folder;     // that the file is in
    char *recipe;     // that brings the runtime, whose prefix is {prefix}; NULL: none
    char *ready_file; // NULL: TLC_READY_CONNECT
    char *chains;     // how its call chains are found: "dwarf", "frame-pointers"; NULL: dwarf
    struct tlc_command *build; // run in order before anything is measured
    unsigned build_count;
    struct tlc_command start;        // becomes, or starts, the server; ended by SIGTERM
    struct tlc_command version;      // prints the server's version; count 0: not known
    struct tlc_command symbols;      // has the server {pid} name its functions to perf, in a map in
                                     // /tmp, before samples are read; count 0: its files name them
    struct tlc_pairing *environment; // for build and start
    unsigned environment_count;
    struct tlc_pairing *names; // what the server calls a group, version or cipher, by its IANA name
    unsigned names_count;
    char *directory;   // in which it is built and started, with placeholders; NULL: ours
    int stop_signal;   // that ends it in order; SIGTERM unless the description says otherwise
    char *allocations; // how its allocations are counted: "preload", "own"; NULL: they are not
    char *listens;     // "everywhere": it must be kept on loopback; "loopback", NULL: it is told to
    unsigned warm_up_us;      // load before it is measured, of arms that say nothing; 0: as usual
    struct tlc_command lacks; // words of an arm that this server cannot serve: "TLSv1.2", "psk_ke"
};

// Reads the description `name` of the folders of peers (TLSCOST_PEERS_PATH, beside the program,
// installed), or of a path to a file. Errors as of plans, "server: FILE:LINE: ...".
enum tlc_status tlc_server_read(const char *name, struct tlc_server **server,
                                struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_server_parse(const char *text, size_t count, const char *path,
                                 struct tlc_server **server, struct tlc_error *error) TLC_CHECKED;
void tlc_server_free(struct tlc_server *server); // NULL is allowed
// What the server calls this IANA name.
const char *tlc_server_name_of(const struct tlc_server *server, const char *name);

// What a placeholder stands for; NULL: there is no such placeholder.
typedef const char *tlc_placeholder(const char *name, void *user);
// `word` with its placeholders filled in; "{{" stands for "{". NULL with the error set when one is
// unknown or memory runs out. The caller frees.
char *tlc_fill_in(const char *word, tlc_placeholder *placeholder, void *user,
                  struct tlc_error *error);

#endif
