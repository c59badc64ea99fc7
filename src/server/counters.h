// Counters of a worker: written by that worker only, read by the control thread at any time.
// It is private to the room.
#ifndef TLC_SERVER_COUNTERS_H
#define TLC_SERVER_COUNTERS_H

#include <jansson.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#include "server/server.h"

#define TLC_REASONS      64 // the last one is "other"
#define TLC_REASON_BYTES 64
#define TLC_CACHE_LINES  128 // two lines: the prefetcher of x86 pulls pairs

struct tlc_reason {
    char text[TLC_REASON_BYTES]; // fixed once `reason_count` covers it
    _Atomic uint64_t count;
};

struct tlc_worker_counters {
    alignas(TLC_CACHE_LINES) _Atomic uint64_t accepted;
    _Atomic uint64_t closed, handshakes, resumed, hello_retry_requests, failures, broken;
    _Atomic uint64_t client_certificates;
    _Atomic uint64_t bytes_read, bytes_written, burnt_ns;
    alignas(TLC_CACHE_LINES) _Atomic uint32_t reason_count;
    struct tlc_reason reasons[TLC_REASONS];
};

// One writer, so no locked instruction is needed.
static inline void tlc_count(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

// Counts a failed handshake under a short form of `text`, the library's own words.
void tlc_count_failure(struct tlc_worker_counters *counters, const char *text);
// Takes a snapshot; `failed` of the result is a new object.
void tlc_counters_read(const struct tlc_worker_counters *counters,
                       struct tlc_server_counters *snapshot);
// Adds `more` and drops its `failed`.
void tlc_server_counters_add(struct tlc_server_counters *into, struct tlc_server_counters *more);
// {accepted, closed, open, handshakes, ...}, without the reasons; the caller's reference.
json_t *tlc_server_counters_json(const struct tlc_server_counters *counters);

#endif
