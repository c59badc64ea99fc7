// Whether a server was warm when it was measured. Private to the room.
#ifndef TLC_CAMPAIGN_SETTLING_H
#define TLC_CAMPAIGN_SETTLING_H

#include <jansson.h>
#include <stdbool.h>

#include "stats/stats.h"

enum { TLC_SETTLING_WORDS = 128 };

// The ratio of what an arm costs late in its blocks to what they show as a whole, with the 95 %
// interval over blocks: in each the median slice of the second half over the cost of all of them,
// both divided by the `baseline`'s of the same rounds and block (NULL: by nothing, so the machine's
// drift is in it). A server that compiles while it is measured is cheaper late, and the compiling
// is in the whole. Blocks of fewer than 4 slices tell nothing; n is 0 without any that does, or
// when memory runs out.
struct tlc_interval tlc_settling(const json_t *samples, const json_t *baseline);

// Whether the ratio keeps away from 1 by more than the limit, and its interval from 1.
bool tlc_settling_exceeds(struct tlc_interval settling, double limit);

// "it cost 25 % less late in a block than in the whole (95 %: 0.662 to 0.834 of it)"; returns
// `words`.
const char *tlc_settling_words(struct tlc_interval settling, char words[TLC_SETTLING_WORDS]);

#endif
