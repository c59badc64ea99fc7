// Counts samples by component: shares, allocation, what unknown ones were in, and folded stacks.
#ifndef TLC_ATTRIBUTE_TALLY_H
#define TLC_ATTRIBUTE_TALLY_H

#include <jansson.h>

#include "attribute/components.h"
#include "attribute/perf_script.h"

struct tlc_tally;
// `tagged` as of tlc_components_place. NULL: no memory.
struct tlc_tally *tlc_tally_new(const struct tlc_components *components, bool tagged);
tlc_chain_taker tlc_tally_take; // `user` is the tally
// {samples, components: {NAME: {samples, allocation}}, cut: samples that were shared out,
//  unknown: {frame: samples}, frames: [name], stacks: {"2 0 1": samples}, stacks_left_out}
// Samples of components are fractions where cut chains were shared out. The numbers of a stack are
// of `frames`, outermost first, the component before them.
json_t *tlc_tally_json(const struct tlc_tally *tally);
void tlc_tally_free(struct tlc_tally *tally); // NULL is allowed

#endif
