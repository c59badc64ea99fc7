// Published results (references/*.json) and the comparisons in them (private to the room).
#ifndef TLC_REPORT_PUBLISHED_H
#define TLC_REPORT_PUBLISHED_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

struct tlc_published {
    json_t *sources;     // array of the files' contents: first those that measure a server alone,
    size_t server_alone; // as many as this; by file name within both
};

// One published comparison that equals one of ours. Strings are borrowed.
struct tlc_published_match {
    size_t source;     // index into the sources
    double ratio_cost; // value / baseline: above 1 costs more
};

// Reads all *.json of a folder. A folder that is missing or NULL holds none; a broken file is an
// error that names it.
enum tlc_status tlc_published_read(const char *folder, struct tlc_published *published,
                                   struct tlc_error *error) TLC_CHECKED;
void tlc_published_free(struct tlc_published *published);
// The comparisons of two arms' settings under a lever's key, either way round, where what a
// comparison holds fixed is so in the baseline too. Returns how many there are; fills at most
// `capacity`.
size_t tlc_published_find(const struct tlc_published *published, const char *key, const json_t *arm,
                          const json_t *baseline, struct tlc_published_match *matches,
                          size_t capacity);
// A text member of a source ("title", "system", "host", "method", "measures"); "" when missing.
const char *tlc_published_text(const struct tlc_published *published, size_t source,
                               const char *member);
// What a source says about its comparisons of one lever; "" when nothing.
const char *tlc_published_note(const struct tlc_published *published, size_t source,
                               const char *key);

#endif
