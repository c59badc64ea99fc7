// The object that is preloaded: the program's allocator under its own names, with a count in front.
// It needs nothing but libc and may be in any dynamically linked program.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure/allocation_page.h"

#define VISIBLE   __attribute__((visibility("default")))
#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))

// glibc's own, under names that nothing stands in front of.
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);
size_t malloc_usable_size(void *memory);

// The allocator behind this object: glibc's, or one that the program brings along, such as
// haproxy's jemalloc. All of it is of one library, since what one gives no other can take back.
static struct {
    void *(*malloc)(size_t bytes);
    void *(*calloc)(size_t count, size_t bytes);
    void *(*realloc)(void *memory, size_t bytes);
    void *(*memalign)(size_t alignment, size_t bytes);
    void (*free)(void *memory);
    size_t (*usable)(void *memory);
} next;
static _Atomic bool found;
OF_THREAD bool finding;

// For what the search itself asks for; never given back.
static _Alignas(16) unsigned char early[8192];
static _Atomic size_t early_used;

static bool is_early(const void *memory)
{
    const unsigned char *at = memory;
    return at >= early && at < early + sizeof early;
}

static void *take_early(size_t bytes)
{
    size_t rounded = (bytes + 15) & ~(size_t)15, at = atomic_fetch_add(&early_used, rounded);
    return at + rounded <= sizeof early ? early + at : NULL;
}

// Several threads may do it at once, and find the same.
static void find(void)
{
    finding = true;
    bool whole = true;
    const struct {
        const char *name;
        void *into;
    } names[] = {{"malloc", &next.malloc},   {"calloc", &next.calloc},
                 {"realloc", &next.realloc}, {"memalign", &next.memalign},
                 {"free", &next.free},       {"malloc_usable_size", &next.usable}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *function = dlsym(RTLD_NEXT, names[i].name);
        memcpy(names[i].into, &function, sizeof function);
        whole = whole && function;
    }
    if (!whole) {
        next.malloc = __libc_malloc;
        next.calloc = __libc_calloc;
        next.realloc = __libc_realloc;
        next.memalign = __libc_memalign;
        next.free = __libc_free;
        next.usable = malloc_usable_size;
    }
    atomic_store_explicit(&found, true, memory_order_release);
    finding = false;
}

// False while the allocator is being looked for by this thread.
static inline bool ready(void)
{
    if (!atomic_load_explicit(&found, memory_order_acquire) && !finding)
        find();
    return !finding;
}

static struct tlc_allocation_page own = {.magic = TLC_ALLOCATION_MAGIC};
static struct tlc_allocation_page *page = &own;
static bool every_thread;
OF_THREAD bool this_thread;
OF_THREAD unsigned component = TLC_NO_COMPONENT;

VISIBLE struct tlc_allocation_page *tlscost_allocation_page(void);
VISIBLE void tlscost_allocations_of_thread(bool count);
VISIBLE unsigned tlscost_allocations_in(unsigned inside);

struct tlc_allocation_page *tlscost_allocation_page(void)
{
    return page;
}

void tlscost_allocations_of_thread(bool count)
{
    this_thread = count;
}

unsigned tlscost_allocations_in(unsigned inside)
{
    unsigned before = component;
    component = inside <= TLC_NO_COMPONENT ? inside : TLC_NO_COMPONENT;
    return before;
}

// A file makes the counts of a whole process tree visible: forked children keep the mapping.
__attribute__((constructor)) static void open_file(void)
{
    const char *path = getenv("TLSCOST_ALLOCATIONS");
    if (!path || !*path)
        return;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return;
    if (ftruncate(file, (off_t)sizeof *page) == 0) {
        void *shared = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (shared != MAP_FAILED) {
            page = shared;
            atomic_store(&page->magic, TLC_ALLOCATION_MAGIC);
            every_thread = true;
        }
    }
    close(file);
}

static void count(const void *given, size_t bytes)
{
    if (!given || (!every_thread && !this_thread))
        return;
    atomic_fetch_add_explicit(&page->components[component].count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&page->components[component].bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&page->held, next.usable((void *)(uintptr_t)given),
                              memory_order_relaxed);
}

// `held` is asked for before the memory is given back.
static size_t held_by(void *memory)
{
    return memory && (every_thread || this_thread) ? next.usable(memory) : 0;
}

static void count_free(const void *memory)
{
    if (memory && (every_thread || this_thread))
        atomic_fetch_add_explicit(&page->frees, 1, memory_order_relaxed);
}

static void count_less(size_t held)
{
    if (held)
        atomic_fetch_sub_explicit(&page->held, held, memory_order_relaxed);
}

VISIBLE void *malloc(size_t bytes)
{
    if (!ready())
        return take_early(bytes);
    void *given = next.malloc(bytes);
    count(given, bytes);
    return given;
}

VISIBLE void *calloc(size_t members, size_t bytes)
{
    if (!ready()) // it is zero, and nobody asks for an overflow here
        return take_early(members * bytes);
    void *given = next.calloc(members, bytes);
    count(given, members * bytes); // no overflow: the allocator refuses those
    return given;
}

static void *move_early(const void *memory, size_t bytes)
{
    void *given = malloc(bytes);
    size_t left = (size_t)(early + sizeof early - (const unsigned char *)memory);
    if (given)
        memcpy(given, memory, bytes < left ? bytes : left);
    return given;
}

VISIBLE void *realloc(void *memory, size_t bytes)
{
    if (!ready() || is_early(memory))
        return memory ? move_early(memory, bytes) : malloc(bytes);
    size_t held = held_by(memory);
    void *given = next.realloc(memory, bytes);
    if (given || !bytes)
        count_less(held);
    if (!given && memory && !bytes) // glibc frees then
        count_free(memory);
    count(given, bytes);
    return given;
}

VISIBLE void *reallocarray(void *memory, size_t members, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(members, bytes, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(memory, total);
}

VISIBLE void free(void *memory)
{
    if (!ready() || is_early(memory))
        return;
    count_less(held_by(memory));
    count_free(memory);
    next.free(memory);
}

VISIBLE void *memalign(size_t alignment, size_t bytes)
{
    if (!ready())
        return NULL;
    void *given = next.memalign(alignment, bytes);
    count(given, bytes);
    return given;
}

VISIBLE void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

VISIBLE int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    bool power = alignment && !(alignment & (alignment - 1));
    if (!power || alignment % sizeof(void *))
        return EINVAL;
    int before = errno;
    void *given = memalign(alignment, bytes);
    errno = before;
    if (!given)
        return ENOMEM;
    *memory = given;
    return 0;
}

VISIBLE void *valloc(size_t bytes)
{
    return memalign((size_t)sysconf(_SC_PAGESIZE), bytes);
}
