// Times of calls, by the function called and by what it is nested in.
#include <string.h>

#include "providers/trace.h"

// The innermost visit of this thread.
static _Thread_local struct trace_visit *current;

static void describe(struct tlc_trace_node *node, const struct trace_slot *slot, uint32_t parent,
                     bool whole)
{
    node->parent = parent;
    node->component = (uint16_t)slot->kind.component;
    node->whole = whole;
    node->operation = (uint32_t)slot->operation;
    node->function = (uint32_t)slot->function;
    memcpy(node->algorithm, slot->algorithm, sizeof node->algorithm);
}

// The page is shared by threads and processes: a node is described by who sets its key first.
static uint32_t node_of(const struct trace_slot *slot, uint32_t parent, bool whole)
{
    struct tlc_trace_page *page = trace_state.page;
    uint64_t key = (slot->key ^ whole) * 0x9e3779b97f4a7c15u + (parent + 1) * 0xbf58476d1ce4e5b9u;
    key = key ? key : 1;
    for (uint32_t probe = 0; probe < TLC_TRACE_NODES; probe++) {
        uint32_t at = (uint32_t)((key >> 32) + probe) % TLC_TRACE_NODES;
        struct tlc_trace_node *node = &page->nodes[at];
        uint64_t found = atomic_load_explicit(&node->key, memory_order_acquire);
        if (!found && atomic_compare_exchange_strong(&node->key, &found, key)) {
            describe(node, slot, parent, whole);
            return at;
        }
        if (found == key)
            return at;
    }
    return TLC_TRACE_NODES;
}

void trace_begin(struct trace_visit *visit, const struct trace_slot *slot, bool whole)
{
    visit->outer = current;
    visit->nested = 0;
    visit->node = node_of(slot, current ? current->node : TLC_TRACE_NODES, whole);
    current = visit;
    visit->start = tlc_ticks();
}

static void count(struct tlc_trace_bucket *buckets, uint64_t took)
{
    struct tlc_trace_bucket *bucket = &buckets[tlc_trace_bucket(took)];
    atomic_fetch_add_explicit(&bucket->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bucket->ticks, took, memory_order_relaxed);
}

void trace_end(struct trace_visit *visit)
{
    uint64_t took = tlc_ticks() - visit->start;
    current = visit->outer;
    if (visit->outer)
        visit->outer->nested += took;
    if (visit->node == TLC_TRACE_NODES) {
        atomic_fetch_add_explicit(&trace_state.page->lost, 1, memory_order_relaxed);
        return;
    }
    struct tlc_trace_node *node = &trace_state.page->nodes[visit->node];
    if (!visit->nested) {
        count(node->alone, took);
        return;
    }
    count(node->around, took);
    count(node->own, took - visit->nested);
}
