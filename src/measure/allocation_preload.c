// The object that is preloaded: glibc's allocator under its own names, with a count in front. It
// needs nothing but libc and may be in any dynamically linked program.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure/allocation_page.h"

#define VISIBLE __attribute__((visibility("default")))

// glibc's own, under names that nothing stands in front of.
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

static struct tlc_allocation_page own = {.magic = TLC_ALLOCATION_MAGIC};
static struct tlc_allocation_page *page = &own;
static bool every_thread;
static __thread bool this_thread __attribute__((tls_model("initial-exec")));
static __thread unsigned component __attribute__((tls_model("initial-exec"))) = TLC_NO_COMPONENT;

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
    atomic_fetch_add_explicit(&page->held, malloc_usable_size((void *)(uintptr_t)given),
                              memory_order_relaxed);
}

// `held` is asked for before the memory is given back.
static size_t held_by(void *memory)
{
    return memory && (every_thread || this_thread) ? malloc_usable_size(memory) : 0;
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
    void *given = __libc_malloc(bytes);
    count(given, bytes);
    return given;
}

VISIBLE void *calloc(size_t members, size_t bytes)
{
    void *given = __libc_calloc(members, bytes);
    count(given, members * bytes); // no overflow: the allocator refuses those
    return given;
}

VISIBLE void *realloc(void *memory, size_t bytes)
{
    size_t held = held_by(memory);
    void *given = __libc_realloc(memory, bytes);
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
    count_less(held_by(memory));
    count_free(memory);
    __libc_free(memory);
}

VISIBLE void *memalign(size_t alignment, size_t bytes)
{
    void *given = __libc_memalign(alignment, bytes);
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
