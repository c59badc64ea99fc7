#include "workload/buckets.h"

#include <string.h>

json_t *tlc_buckets_new(const char *event, unsigned event_bucket)
{
    return json_pack("{s:o, s:[], s:[], s:[]}", "event_bucket",
                     strcmp(event, "watch") ? json_integer((json_int_t)event_bucket) : json_null(),
                     "handshakes", "resumed", "cost_us");
}

void tlc_buckets_add(json_t *buckets, uint64_t handshakes, uint64_t resumed, double cost_us)
{
    json_array_append_new(json_object_get(buckets, "handshakes"),
                          json_integer((json_int_t)handshakes));
    json_array_append_new(json_object_get(buckets, "resumed"), json_integer((json_int_t)resumed));
    json_array_append_new(json_object_get(buckets, "cost_us"), json_real(cost_us));
}
