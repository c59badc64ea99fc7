// Command lines of servers that are not ours: the words of a description with its placeholders
// filled in for an arm; private to the room.
#ifndef TLC_WORKLOAD_EXTERNAL_COMMAND_H
#define TLC_WORKLOAD_EXTERNAL_COMMAND_H

#include "workload/external.h"

// What placeholders stand for. NULL: those that need it are unknown, but for openssl_conf.
struct tlc_external_values {
    const struct tlc_arm *arm;
    const struct tlc_external *external;
    const char *certificates, *work, *address; // of an instance; all or none
    const char *openssl_conf;                  // NULL: none of ours
    pid_t pid;                                 // of the instance; 0: it has not been started
    char text[2048];                           // of the value made last
};

// The word with its placeholders filled in (the caller's); NULL with the error set.
char *tlc_external_fill_in(const char *word, struct tlc_external_values *values,
                           struct tlc_error *error);

struct tlc_line {
    char **words;       // NULL-terminated
    char **environment; // "NAME=value", NULL-terminated
    char *directory;    // in which it runs; NULL: ours
};

// The command and the description's environment; `more` (NULL: nothing) is appended word by word.
// Of an instance the environment also holds the arm's mask of CPU features. Nothing is to be freed
// after a failure.
enum tlc_status tlc_line_make(const struct tlc_command *command, const char *more,
                              struct tlc_external_values *values, struct tlc_line *line,
                              struct tlc_error *error) TLC_CHECKED;
// Appends "NAME=value"s; NULL: none.
enum tlc_status tlc_line_add_environment(struct tlc_line *line, const char *const *more,
                                         struct tlc_error *error) TLC_CHECKED;
// Runs a command to its end. `log` takes what it prints; its last lines are in the error of one
// that fails or does not end in time.
enum tlc_status tlc_line_run(const struct tlc_line *line, const char *log, int timeout_ms,
                             struct tlc_error *error) TLC_CHECKED;
void tlc_line_free(struct tlc_line *line);

#endif
