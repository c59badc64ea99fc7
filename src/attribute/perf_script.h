// Reads what `perf script -F tid,time,ip,sym,dso` prints: a header line for each sample, a line for
// each frame of its chain from the leaf outward, an empty line. Fed in pieces of any size, in
// bounded memory; what is garbled is counted and passed over.
#ifndef TLC_ATTRIBUTE_PERF_SCRIPT_H
#define TLC_ATTRIBUTE_PERF_SCRIPT_H

#include <stdint.h>

#include "attribute/chain.h"

// Takes a sample's chain, which is there until it returns; it has no frames when perf found none.
typedef void tlc_chain_taker(void *user, const struct tlc_chain *chain);

struct tlc_perf_script_counts {
    uint64_t samples;
    uint64_t garbled; // lines that are neither a header nor a frame
    uint64_t cut;     // frames that found no room: longer lines, deeper chains
};

struct tlc_perf_script;
struct tlc_perf_script *tlc_perf_script_new(tlc_chain_taker *take, void *user); // NULL: no memory
void tlc_perf_script_feed(struct tlc_perf_script *script, const char *text, size_t bytes);
// The end of the text: hands over the last sample.
struct tlc_perf_script_counts tlc_perf_script_end(struct tlc_perf_script *script);
void tlc_perf_script_free(struct tlc_perf_script *script); // NULL is allowed

#endif
