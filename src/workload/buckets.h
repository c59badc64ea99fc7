// A slice over time, as the result keeps it (tlc_slice.buckets). Private to the room.
#ifndef TLC_WORKLOAD_BUCKETS_H
#define TLC_WORKLOAD_BUCKETS_H

#include <jansson.h>
#include <stdint.h>

// Without buckets yet. The event comes before the bucket `event_bucket`; "watch" is none.
json_t *tlc_buckets_new(const char *event, unsigned event_bucket);
void tlc_buckets_add(json_t *buckets, uint64_t handshakes, uint64_t resumed, double cost_us);

#endif
