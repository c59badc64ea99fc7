// The tracing provider: OpenSSL's default provider behind stubs that name, count and time what it
// does (docs/trace.md). Private to the room.
//
// The module uses nothing of libcrypto but its headers and what lent_library.h lists: the libcrypto
// that loads it may be hidden inside a plug-in, and another one may be in the same process.
#ifndef TLC_PROVIDERS_TRACE_H
#define TLC_PROVIDERS_TRACE_H

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/trace_page.h"
#include "stacks/lent_library.h"

// Every function of a dispatch table takes at most eight arguments that are integers or pointers,
// and returns one or nothing; the stubs pass them on as words.
typedef uint64_t trace_word;
typedef trace_word trace_call(trace_word, trace_word, trace_word, trace_word, trace_word,
                              trace_word, trace_word, trace_word);
struct trace_slot;
typedef trace_word trace_frame(trace_word, trace_word, trace_word, trace_word, trace_word,
                               trace_word, trace_word, trace_word, struct trace_slot *);

// What a function of a dispatch table is (trace_functions.c).
struct trace_kind {
    enum tlc_component component;
    bool whole;     // it does the work of its component
    bool asks_size; // unless its second argument is NULL: then it is asked for a size
    enum { TRACE_NO_GENERATION, TRACE_BEGINS, TRACE_GENERATES } generation;
    unsigned parameters; // position of parameters that name a provider, counted from 1; 0: none
};

struct trace_slot {
    trace_frame *frame; // tlc_tag_<component>
    void (*inner)(void);
    struct trace_kind kind;
    int operation, function;
    uint64_t key; // the same in every process, for the same function and algorithm
    char algorithm[TLC_TRACE_ALGORITHM_BYTES];
};

// The one state of the module; set when a library starts the provider first.
struct trace_state {
    enum tlc_trace_mode mode;
    struct tlc_trace_page *page;
    unsigned (*tell_allocations)(unsigned component); // NULL: nobody counts allocations
};
extern struct trace_state trace_state;

// trace_functions.c
bool trace_wraps(int operation); // false: algorithms of this kind are handed on as they are
struct trace_kind trace_kind_of(int operation, int function, const char *algorithm);

// trace_stubs.c
extern struct trace_slot trace_slots[];
// A stub in front of `inner`; NULL when none is left.
void (*trace_stub_for(int operation, const OSSL_DISPATCH *inner, const char *algorithm))(void);

// trace_timed.c
struct trace_visit {
    struct trace_visit *outer;
    uint64_t start, nested;
    uint32_t node; // TLC_TRACE_NODES: none was left
};
void trace_begin(struct trace_visit *visit, const struct trace_slot *slot, bool whole);
void trace_end(struct trace_visit *visit);

// trace_tables.c
// The algorithms with stubs in front; `inner` when this kind is not wrapped; NULL when there are
// none. Where `property` is given it takes the place of each one's definition. False: out of stubs
// or memory.
bool trace_wrap(int operation, const OSSL_ALGORITHM *inner, const char *property,
                const OSSL_ALGORITHM **wrapped);

#endif
