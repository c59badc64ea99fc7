// The stubs that dispatch tables hold, and behind them a frame for each component. A dispatch table
// has no room for a context of its own, so each function that is wrapped needs a stub of its own;
// they are made here in advance, as many as the largest library needs.
#include <openssl/core_names.h>
#include <string.h>

#include "measure/burn.h"
#include "providers/trace.h"

#define SLOTS 8192
enum { PARAMETERS = 16 };

struct trace_state trace_state;
struct trace_slot trace_slots[SLOTS] __attribute__((used));
static size_t used;

#define WORDS                                                                                      \
    trace_word a, trace_word b, trace_word c, trace_word d, trace_word e, trace_word f,            \
        trace_word g, trace_word h
#define GIVEN a, b, c, d, e, f, g, h

// Time burnt on purpose, inside the frame of the component.
static void spin(struct tlc_trace_page *page)
{
    uint32_t us = atomic_load_explicit(&page->burn_us, memory_order_relaxed);
    if (us)
        atomic_fetch_add_explicit(&page->burnt_ns, tlc_burn(us), memory_order_relaxed);
}

static inline unsigned enter(struct trace_visit *visit, const struct trace_slot *slot, trace_word b)
{
    struct tlc_trace_page *page = trace_state.page;
    const enum tlc_component component = slot->kind.component;
    unsigned outer = trace_state.tell_allocations ? trace_state.tell_allocations(component) : 0;
    bool whole = slot->kind.whole && (!slot->kind.asks_size || b);
    if (trace_state.mode == TLC_TRACE_TIMED)
        trace_begin(visit, slot, whole);
    if (whole) {
        atomic_fetch_add_explicit(&page->done[component], 1, memory_order_relaxed);
        if (atomic_load_explicit(&page->burn_component, memory_order_relaxed) == component)
            spin(page);
    }
    return outer;
}

static inline void leave(struct trace_visit *visit, unsigned outer)
{
    if (trace_state.mode == TLC_TRACE_TIMED)
        trace_end(visit);
    if (trace_state.tell_allocations)
        trace_state.tell_allocations(outer);
    // The frame stays on the stack while the library works: this is no tail call.
    __asm__ volatile("" ::: "memory");
}

// The parameters with the name under which the library context of the default provider knows it.
static const OSSL_PARAM *rename_provider(const OSSL_PARAM *from, OSSL_PARAM to[PARAMETERS])
{
    static char name[] = "default";
    size_t count = 0;
    if (!from)
        return from;
    for (; from[count].key && count < PARAMETERS - 1; count++) {
        to[count] = from[count];
        if (!strcmp(from[count].key, OSSL_PROV_PARAM_CORE_PROV_NAME)) {
            to[count].data = name;
            to[count].data_size = sizeof name - 1;
        }
    }
    to[count] = from[count];
    return from[count].key ? from : to;
}

static inline trace_word rename_at(const struct trace_slot *slot, unsigned position,
                                   trace_word word, OSSL_PARAM to[PARAMETERS])
{
    if (slot->kind.parameters != position)
        return word;
    return (trace_word)(uintptr_t)rename_provider((const OSSL_PARAM *)(uintptr_t)word, to);
}

#define FRAME(name, rename)                                                                        \
    __attribute__((noinline, used)) static trace_word tlc_tag_##name(WORDS,                        \
                                                                     struct trace_slot *slot)      \
    {                                                                                              \
        struct trace_visit visit;                                                                  \
        rename unsigned outer = enter(&visit, slot, b);                                            \
        trace_word result = ((trace_call *)slot->inner)(GIVEN);                                    \
        leave(&visit, outer);                                                                      \
        return result;                                                                             \
    }
FRAME(key_generation, )
FRAME(key_agreement, )
FRAME(encapsulate, )
FRAME(decapsulate, )
FRAME(import_key, )
FRAME(sign, )
FRAME(verify, )
FRAME(kdf, )
FRAME(cipher, )
FRAME(digest, )
FRAME(mac, )
FRAME(random, OSSL_PARAM to[PARAMETERS]; b = rename_at(slot, 2, b, to);
      f = rename_at(slot, 6, f, to);)

static trace_frame *const frames[] = {
#define TLC_ENUMERATE(id, name) [TLC_COMPONENT_##id] = tlc_tag_##name,
    TLC_COMPONENTS(TLC_ENUMERATE)
#undef TLC_ENUMERATE
};

#if defined(__x86_64__)
// Thousands of functions take a compiler a minute and an assembler no time. Each stub is a frame of
// its own and passes its slot on behind the eight arguments, six of which stay in registers.
#define STUB_BYTES 32
#define SLOT_BYTES 80
_Static_assert(sizeof(struct trace_slot) == SLOT_BYTES, "as the stubs find it");
_Static_assert(offsetof(struct trace_slot, frame) == 0, "as the stubs find it");
#define TEXT(number)    #number
#define TEXT_OF(number) TEXT(number)
__asm__(".section .text.tlc_stubs, \"ax\", @progbits\n"
        ".type tlc_stubs, @function\n"
        ".p2align 5\n"
        "tlc_stubs:\n"
        ".set slot, 0\n"
        ".rept " TEXT_OF(SLOTS) "\n"
                                ".p2align 5\n"
                                ".cfi_startproc\n"
                                "endbr64\n"
                                "push %rbp\n"
                                ".cfi_def_cfa_offset 16\n"
                                ".cfi_offset %rbp, -16\n"
                                "mov %rsp, %rbp\n"
                                ".cfi_def_cfa_register %rbp\n"
                                "sub $8, %rsp\n"
                                "lea trace_slots + " TEXT_OF(
                                    SLOT_BYTES) " * slot(%rip), %rax\n"
                                                "push %rax\n"
                                                "push 24(%rbp)\n"
                                                "push 16(%rbp)\n"
                                                "call *(%rax)\n"
                                                "leave\n"
                                                ".cfi_def_cfa %rsp, 8\n"
                                                "ret\n"
                                                ".cfi_endproc\n"
                                                ".set slot, slot + 1\n"
                                                ".endr\n"
                                                ".size tlc_stubs, . - tlc_stubs\n"
                                                ".previous\n");
extern const char tlc_stubs[] __attribute__((visibility("hidden")));

static void (*stub_at(size_t index))(void)
{
    return (void (*)(void))((uintptr_t)tlc_stubs + STUB_BYTES * index);
}
#else
#define STUB(n)                                                                                    \
    static trace_word stub_##n(WORDS)                                                              \
    {                                                                                              \
        return trace_slots[n].frame(GIVEN, &trace_slots[n]);                                       \
    }
#define ENTRY(n) stub_##n,
#define OF_16(X, n)                                                                                \
    X(n##0)                                                                                        \
    X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9) X(n##a) X(n##b)        \
        X(n##c) X(n##d) X(n##e) X(n##f)
#define OF_256(X, n)                                                                               \
    OF_16(X, n##0)                                                                                 \
    OF_16(X, n##1) OF_16(X, n##2) OF_16(X, n##3) OF_16(X, n##4) OF_16(X, n##5) OF_16(X, n##6)      \
        OF_16(X, n##7) OF_16(X, n##8) OF_16(X, n##9) OF_16(X, n##a) OF_16(X, n##b) OF_16(X, n##c)  \
            OF_16(X, n##d) OF_16(X, n##e) OF_16(X, n##f)
#define OF_4096(X, n)                                                                              \
    OF_256(X, n##0)                                                                                \
    OF_256(X, n##1) OF_256(X, n##2) OF_256(X, n##3) OF_256(X, n##4) OF_256(X, n##5)                \
        OF_256(X, n##6) OF_256(X, n##7) OF_256(X, n##8) OF_256(X, n##9) OF_256(X, n##a)            \
            OF_256(X, n##b) OF_256(X, n##c) OF_256(X, n##d) OF_256(X, n##e) OF_256(X, n##f)
OF_4096(STUB, 0x0)
OF_4096(STUB, 0x1)

static trace_call *const stubs[] = {OF_4096(ENTRY, 0x0) OF_4096(ENTRY, 0x1)};
_Static_assert(sizeof stubs / sizeof *stubs == SLOTS, "a slot for each stub");

static void (*stub_at(size_t index))(void)
{
    return (void (*)(void))stubs[index];
}
#endif

// FNV-1a.
static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ from[i]) * 0x100000001b3u;
    return hash;
}

void (*trace_stub_for(int operation, const OSSL_DISPATCH *inner, const char *algorithm))(void)
{
    if (used == SLOTS)
        return NULL;
    struct trace_slot *slot = &trace_slots[used];
    slot->inner = inner->function;
    slot->operation = operation;
    slot->function = inner->function_id;
    size_t length = strcspn(algorithm, ":");
    if (length >= sizeof slot->algorithm)
        length = sizeof slot->algorithm - 1;
    memcpy(slot->algorithm, algorithm, length);
    slot->algorithm[length] = '\0';
    slot->kind = trace_kind_of(operation, inner->function_id, slot->algorithm);
    slot->frame = frames[slot->kind.component];
    slot->key = mix(0xcbf29ce484222325u, &slot->operation, sizeof slot->operation);
    slot->key = mix(slot->key, &slot->function, sizeof slot->function);
    slot->key = mix(slot->key, slot->algorithm, length);
    return stub_at(used++);
}
