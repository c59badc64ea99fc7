// Shares as people write them.
#ifndef TLC_CLI_SHARE_H
#define TLC_CLI_SHARE_H

#include <stdbool.h>

// "3%", "3 %" or "0.03" from 0 to 10; false for anything else.
bool tlc_parse_share(const char *text, double *share);

#endif
