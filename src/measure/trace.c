#include "measure/trace.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/clock.h"
#include "measure/trace_parts.h"

struct tlc_trace {
    struct tlc_trace_page *page; // shared with the server, which may write anything into it
    struct tlc_trace_page *marked;
    uint64_t ticks, ns; // of the mark
};

enum tlc_status tlc_trace_open(const char *path, struct tlc_trace **trace, struct tlc_error *error)
{
    struct tlc_trace *opened = calloc(1, sizeof *opened);
    enum tlc_status status = TLC_OK;
    struct stat found;
    *trace = NULL;
    if (!opened || !(opened->marked = calloc(1, sizeof *opened->marked))) {
        free(opened);
        return tlc_fail(error, TLC_ENVIRONMENT, "trace: out of memory");
    }
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0 || fstat(file, &found) ||
        (found.st_size < (off_t)sizeof *opened->page &&
         ftruncate(file, (off_t)sizeof *opened->page)))
        status = tlc_fail_errno(error, "trace: %s", path);
    void *page = MAP_FAILED;
    if (status == TLC_OK)
        page = mmap(NULL, sizeof *opened->page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (status == TLC_OK && page == MAP_FAILED)
        status = tlc_fail_errno(error, "trace: %s", path);
    if (file >= 0)
        close(file);
    opened->page = page == MAP_FAILED ? NULL : page;
    if (status == TLC_OK)
        *trace = opened;
    else
        tlc_trace_close(opened);
    return status;
}

void tlc_trace_close(struct tlc_trace *trace)
{
    if (!trace)
        return;
    if (trace->page)
        munmap(trace->page, sizeof *trace->page);
    free(trace->marked);
    free(trace);
}

void tlc_trace_burn(struct tlc_trace *trace, unsigned component, unsigned us)
{
    atomic_store(&trace->page->burn_us, us);
    atomic_store(&trace->page->burn_component, us ? component : TLC_NO_COMPONENT);
}

void tlc_trace_mark(struct tlc_trace *trace)
{
    size_t head = offsetof(struct tlc_trace_page, nodes);
    memcpy(trace->marked, trace->page, head);
    for (size_t i = 0; i < TLC_TRACE_NODES; i++)
        if (atomic_load(&trace->page->nodes[i].key))
            memcpy(&trace->marked->nodes[i], &trace->page->nodes[i], sizeof *trace->page->nodes);
    trace->ticks = tlc_ticks();
    trace->ns = tlc_now_ns();
}

struct tlc_trace_sums *tlc_trace_sums_new(void)
{
    return calloc(1, sizeof(struct tlc_trace_sums));
}

void tlc_trace_sums_free(struct tlc_trace_sums *sums)
{
    free(sums);
}

void tlc_trace_sums_clear(struct tlc_trace_sums *sums)
{
    *sums = (struct tlc_trace_sums){.ticks = 0};
}

// The sum that belongs to a node of a page, by its key; TLC_TRACE_NODES when there is none.
static uint32_t place_of(struct tlc_trace_sums *sums, uint64_t key)
{
    for (uint32_t i = 0; key && i < sums->node_count; i++)
        if (sums->nodes[i].key == key)
            return i;
    if (!key || sums->node_count == TLC_TRACE_NODES)
        return TLC_TRACE_NODES;
    sums->nodes[sums->node_count] = (struct tlc_trace_sum){.key = key, .parent = TLC_TRACE_NODES};
    return sums->node_count++;
}

static void add_times(struct tlc_trace_times *times, const struct tlc_trace_bucket *now,
                      const struct tlc_trace_bucket *before)
{
    for (size_t i = 0; i < TLC_TRACE_BUCKETS; i++) {
        times->counts[i] += now[i].count - before[i].count;
        times->sums[i] += now[i].ticks - before[i].ticks;
    }
}

static void add_node(struct tlc_trace_sums *sums, const struct tlc_trace_page *page,
                     const struct tlc_trace_node *now, const struct tlc_trace_node *before)
{
    uint32_t at = place_of(sums, now->key);
    if (at == TLC_TRACE_NODES)
        return;
    struct tlc_trace_sum *sum = &sums->nodes[at];
    if (now->parent < TLC_TRACE_NODES)
        sum->parent = place_of(sums, page->nodes[now->parent].key);
    sum->component = now->component <= TLC_NO_COMPONENT ? now->component : TLC_NO_COMPONENT;
    sum->whole = now->whole != 0;
    memcpy(sum->algorithm, now->algorithm, sizeof sum->algorithm);
    sum->algorithm[sizeof sum->algorithm - 1] = '\0';
    add_times(&sum->all, now->alone, before->alone);
    add_times(&sum->all, now->around, before->around);
    add_times(&sum->own, now->alone, before->alone);
    add_times(&sum->own, now->own, before->own);
}

void tlc_trace_sums_add(struct tlc_trace_sums *sums, const struct tlc_trace *trace)
{
    const struct tlc_trace_page *now = trace->page, *before = trace->marked;
    for (size_t i = 0; i < TLC_COMPONENT_COUNT; i++) {
        sums->done[i] += now->done[i] - before->done[i];
        sums->burns[i] += now->burns[i] - before->burns[i];
    }
    sums->lost += now->lost - before->lost;
    sums->burnt_ns += now->burnt_ns - before->burnt_ns;
    sums->ticks += tlc_ticks() - trace->ticks;
    sums->ns += tlc_now_ns() - trace->ns;
    for (size_t i = 0; i < TLC_TRACE_NODES; i++)
        if (now->nodes[i].key)
            add_node(sums, now, &now->nodes[i], &before->nodes[i]);
}

uint64_t tlc_trace_done(const struct tlc_trace_sums *sums, unsigned component)
{
    return component < TLC_COMPONENT_COUNT ? sums->done[component] : 0;
}

uint64_t tlc_trace_lost(const struct tlc_trace_sums *sums)
{
    return sums->lost;
}

uint64_t tlc_trace_burnt_ns(const struct tlc_trace_sums *sums)
{
    return sums->burnt_ns;
}
