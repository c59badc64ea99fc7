#include "measure/allocations.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "measure/allocation_page.h"
#include "measure/preload.h"

#define MODULE "tlscost-allocations.so"

static struct tlc_allocation_page *own_page(void)
{
    struct tlc_allocation_page *(*page)(void);
    *(void **)&page = dlsym(RTLD_DEFAULT, TLC_ALLOCATION_PAGE_SYMBOL);
    return page ? page() : NULL;
}

bool tlc_allocations_loaded(void)
{
    return own_page() != NULL;
}

void tlc_allocations_of_thread(bool count)
{
    static void (*of_thread)(bool);
    static _Atomic bool looked;
    if (!atomic_load_explicit(&looked, memory_order_acquire)) {
        *(void **)&of_thread = dlsym(RTLD_DEFAULT, TLC_ALLOCATION_THREAD_SYMBOL);
        atomic_store_explicit(&looked, true, memory_order_release);
    }
    if (of_thread)
        of_thread(count);
}

static void read_page(struct tlc_allocation_page *page, struct tlc_allocations *counts)
{
    *counts = (struct tlc_allocations){.frees = atomic_load(&page->frees),
                                       .held = atomic_load(&page->held)};
    for (size_t i = 0; i <= TLC_COMPONENT_COUNT; i++) {
        counts->components[i].count = atomic_load(&page->components[i].count);
        counts->components[i].bytes = atomic_load(&page->components[i].bytes);
        counts->count += counts->components[i].count;
        counts->bytes += counts->components[i].bytes;
    }
}

void tlc_allocations_read(struct tlc_allocations *counts)
{
    struct tlc_allocation_page *page = own_page();
    *counts = (struct tlc_allocations){0};
    if (page)
        read_page(page, counts);
}

// Until the page was written once from its beginning after this call, which the second update
// shows.
static ssize_t read_fresh(int file, struct tlc_allocation_page *page)
{
    enum { STEP_MS = 10, MOST_STEPS = 300, UPDATES = 2 };
    ssize_t got = pread(file, page, sizeof *page, 0);
    uint64_t first = atomic_load(&page->updates);
    for (int i = 0; i < MOST_STEPS && got == (ssize_t)sizeof *page && first &&
                    atomic_load(&page->updates) < first + UPDATES;
         i++) {
        poll(NULL, 0, STEP_MS);
        got = pread(file, page, sizeof *page, 0);
    }
    return got;
}

enum tlc_status tlc_allocations_read_file(const char *path, struct tlc_allocations *counts,
                                          struct tlc_error *error)
{
    struct tlc_allocation_page page = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return tlc_fail_errno(error, "allocations: %s", path);
    ssize_t got = read_fresh(file, &page);
    close(file);
    if (got != (ssize_t)sizeof page || atomic_load(&page.magic) != TLC_ALLOCATION_MAGIC)
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "allocations: %s: no counts; start the server with LD_PRELOAD=" MODULE
                        " and " TLC_ALLOCATIONS_VARIABLE "=%s",
                        path, path);
    read_page(&page, counts);
    return TLC_OK;
}

// The command line this program was started with, which option parsers have changed since.
static char **own_arguments(char *text, size_t capacity, char **arguments, size_t most)
{
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t used = 0, count = 0;
    ssize_t got = 0;
    while (file >= 0 && used < capacity && (got = read(file, text + used, capacity - used)) > 0)
        used += (size_t)got;
    if (file >= 0)
        close(file);
    if (file < 0 || got < 0 || !used || used == capacity || text[used - 1])
        return NULL;
    for (size_t at = 0; at < used && count < most - 1; at += strlen(text + at) + 1)
        arguments[count++] = text + at;
    arguments[count] = NULL;
    return arguments;
}

enum tlc_status tlc_allocations_module(char *path, size_t capacity, struct tlc_error *error)
{
    return tlc_preload_file("count allocations", MODULE, path, capacity, error);
}

enum tlc_status tlc_allocations_preload(struct tlc_error *error)
{
    static char text[65536], *arguments[1024];
    char module[4096];
    if (tlc_allocations_loaded()) {
        unsetenv("LD_PRELOAD"); // it is for this process, not for those it starts
        return TLC_OK;
    }
    if (tlc_allocations_module(module, sizeof module, error) != TLC_OK)
        return error->status;
    const char *set = getenv("LD_PRELOAD");
    if (set && !strcmp(set, module))
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "count allocations: %s: it cannot be preloaded into this program", module);
    setenv("LD_PRELOAD", module, 1);
    unsetenv(TLC_ALLOCATIONS_VARIABLE);
    if (own_arguments(text, sizeof text, arguments, sizeof arguments / sizeof *arguments))
        execv("/proc/self/exe", arguments);
    return tlc_fail_errno(error, "count allocations: start %s", tlc_program_path());
}

json_t *tlc_allocations_json(const struct tlc_allocations *counts)
{
    json_t *components = json_object();
    for (unsigned i = 0; i <= TLC_COMPONENT_COUNT; i++)
        if (counts->components[i].count)
            json_object_set_new(components, tlc_component_name(i),
                                json_pack("{s:I, s:I}", "count",
                                          (json_int_t)counts->components[i].count, "bytes",
                                          (json_int_t)counts->components[i].bytes));
    return json_pack("{s:I, s:I, s:I, s:I, s:o}", "count", (json_int_t)counts->count, "bytes",
                     (json_int_t)counts->bytes, "frees", (json_int_t)counts->frees, "held",
                     (json_int_t)counts->held, "components", components);
}

static uint64_t number_of(const json_t *json, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(json, name));
}

void tlc_allocations_from_json(const json_t *json, struct tlc_allocations *counts)
{
    const json_t *components = json_object_get(json, "components");
    *counts = (struct tlc_allocations){.count = number_of(json, "count"),
                                       .bytes = number_of(json, "bytes"),
                                       .frees = number_of(json, "frees"),
                                       .held = number_of(json, "held")};
    for (unsigned i = 0; i <= TLC_COMPONENT_COUNT; i++) {
        const json_t *one = json_object_get(components, tlc_component_name(i));
        counts->components[i].count = number_of(one, "count");
        counts->components[i].bytes = number_of(one, "bytes");
    }
}

static json_t *share_per_handshake(uint64_t count, uint64_t bytes, uint64_t handshakes)
{
    return json_pack("{s:f, s:f}", "count", (double)count / (double)handshakes, "bytes",
                     (double)bytes / (double)handshakes);
}

json_t *tlc_allocations_per_handshake(const struct tlc_allocations *before,
                                      const struct tlc_allocations *after, uint64_t handshakes)
{
    if (!handshakes)
        return json_null();
    json_t *json =
        share_per_handshake(after->count - before->count, after->bytes - before->bytes, handshakes);
    json_t *components = json_object();
    for (unsigned i = 0; i <= TLC_COMPONENT_COUNT; i++) {
        const struct tlc_allocation_share *from = &before->components[i],
                                          *to = &after->components[i];
        if (to->count > from->count)
            json_object_set_new(
                components, tlc_component_name(i),
                share_per_handshake(to->count - from->count, to->bytes - from->bytes, handshakes));
    }
    if (json_object_size(components) > 1)
        json_object_set(json, "components", components);
    json_decref(components);
    return json;
}
