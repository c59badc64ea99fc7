// What rooms that read and write results share on top of jansson.
#ifndef TLC_BASE_JSON_H
#define TLC_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>

// A number, or null where there is none: JSON knows neither infinities nor NaN (RFC 8259, 6).
json_t *tlc_json_real(double value);
// The way back: a member as a number, NaN where it is none or not there.
double tlc_json_number(const json_t *object, const char *member);
// Makes text of others' programs fit for a document and a terminal, in place: control characters
// become blanks, and where it is not UTF-8 all beyond ASCII becomes '?'.
void tlc_json_fit(char *text);
// Whether two objects have these members (a list that ends with NULL) alike: equal, or in neither.
bool tlc_json_alike(const json_t *one, const json_t *other, const char *const *members);

#endif
