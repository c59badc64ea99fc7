// A stack of plain text for tests of the server: "hello [resumed] [retry] [http] [big]\n" is
// answered by "welcome\n", "finished\n" completes. "fail WORDS\n" fails with these words. Data goes
// as it is; a first byte of 1 is a damaged record, close sends a byte 4.
#ifndef TLC_FAKE_STACK_H
#define TLC_FAKE_STACK_H

#include <stdatomic.h>

#include "stacks/loader.h"

#define FAKE_BIG   (8u << 20) // bytes of the welcome after "big"
#define FAKE_CLOSE 4

extern const struct tlc_stack_plugin fake_plugin;

// What the fake has been asked for, and what it shall do.
extern struct fake_state {
    _Atomic int contexts, connections; // alive
    _Atomic int key_sets, keys;        // ticket_keys_replace calls, keys of the last one
    _Atomic bool refuse;               // no new connection is made
} fake;

#endif
