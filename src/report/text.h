// Text from plans, machines and the network made safe to show (private to the room). Every function
// returns text that the caller frees, NULL when memory runs out.
#ifndef TLC_REPORT_TEXT_H
#define TLC_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

// One line for a terminal: white space becomes a space; control characters (terminal escapes begin
// with one), marks that reorder or hide text, and bytes that are no UTF-8 become '?'; without
// `utf8` so does everything beyond ASCII.
char *tlc_text_plain(const char *text, bool utf8);
// The same with Markdown's and HTML's own characters escaped (GFM, CommonMark 2.4).
char *tlc_text_markdown(const char *text);
// A field of CSV (RFC 4180), quoted where needed; what a spreadsheet would take for a formula gets
// an apostrophe in front.
char *tlc_text_csv(const char *text);
// Columns that clean text takes on a terminal.
size_t tlc_text_width(const char *text);
// The bytes of `text` that fit into `columns`, whole characters only.
size_t tlc_text_fit(const char *text, size_t columns);

#endif
