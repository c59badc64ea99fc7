// `tlscost pair --matrix`: every client against every server.
#ifndef TLC_CLI_PAIR_MATRIX_H
#define TLC_CLI_PAIR_MATRIX_H

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/pair_plan.h"

struct tlc_matrix_options {
    const struct tlc_pair_options *pair; // one value of each list but the stacks; NULL stacks: all
    const char *servers;                 // of other makers, by their descriptions; NULL: none
    bool time;                           // measure what works
    const struct tlc_measuring_options *measuring; // its output: as well
};

// Returns the exit code: 0 where at least one cell works.
int tlc_pair_matrix(const struct tlc_matrix_options *options);

#endif
