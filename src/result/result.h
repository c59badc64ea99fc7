// The result document (docs/result.schema.json) and its journal. Knows JSON and files, nothing of
// TLS.
#ifndef TLC_RESULT_RESULT_H
#define TLC_RESULT_RESULT_H

#include <jansson.h>

#include "base/error.h"

#define TLC_RESULT_SCHEMA "https://tlscost.invalid/result/1"

// The time of day as results tell it: ISO 8601 in UTC, to the second. The caller owns the reference.
json_t *tlc_result_now(void);
// A new document {schema, command, started, environment}; takes over the reference `environment`.
json_t *tlc_result_new(const char *command, json_t *environment);
// Writes the document to `path` atomically (temporary file, fsync, rename); "-" is standard output.
enum tlc_status tlc_result_write(const json_t *result, const char *path,
                                 struct tlc_error *error) TLC_CHECKED;
// Reads and checks schema and shape; errors name the file, and the line or the missing member.
enum tlc_status tlc_result_read(const char *path, json_t **result,
                                struct tlc_error *error) TLC_CHECKED;

// Journal: one JSON object a line, each line on disk (fsync) before append returns. A torn last
// line, as a crash leaves it, is dropped on reading; damage before it is an error.
struct tlc_journal;
enum tlc_status
tlc_journal_create(const char *path, const json_t *header, struct tlc_journal **journal,
                   struct tlc_error *error) TLC_CHECKED; // fails when the file exists
// Opens an existing journal to go on: *header and *entries (an array) are the caller's.
enum tlc_status tlc_journal_open(const char *path, json_t **header, json_t **entries,
                                 struct tlc_journal **journal, struct tlc_error *error) TLC_CHECKED;
enum tlc_status tlc_journal_append(struct tlc_journal *journal, const json_t *entry,
                                   struct tlc_error *error) TLC_CHECKED;
void tlc_journal_close(struct tlc_journal *journal);

#endif
