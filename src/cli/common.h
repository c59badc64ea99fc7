// What subcommands share: errors, output files, option parsing of lists.
#ifndef TLC_CLI_COMMON_H
#define TLC_CLI_COMMON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

// Prints "tlscost: text" on standard error and returns the exit code of the status.
int tlc_report_error(const struct tlc_error *error);
// Parses a duration "250ms", "2s", "5min", "100us" (a bare number is seconds) into microseconds.
enum tlc_status tlc_parse_duration(const char *text, uint64_t *microseconds,
                                   struct tlc_error *error) TLC_CHECKED;
// Parses a whole number within low..high; `what` names it in the error.
enum tlc_status tlc_parse_number(const char *what, const char *text, uint64_t low, uint64_t high,
                                 uint64_t *value, struct tlc_error *error) TLC_CHECKED;
// Splits "a,b,c" into a NULL-terminated array (free with tlc_words_free).
char **tlc_words(const char *list);
void tlc_words_free(char **words);
// Reads a whole file of at most 64 MiB as NUL-terminated text; the caller frees it.
enum tlc_status tlc_read_text(const char *path, char **text, struct tlc_error *error) TLC_CHECKED;
// Writes a text as YAML: in double quotes, which JSON's escapes fit.
void tlc_put_yaml(FILE *to, const char *text);
// Prints a JSON document on standard output, indented, with a newline.
void tlc_print_json(const json_t *json);

#endif
