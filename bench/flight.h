// A TLS 1.3 server of libssl in memory: takes a ClientHello, gives its flight.
#ifndef TLC_BENCH_FLIGHT_H
#define TLC_BENCH_FLIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

// `key` is "ecdsa-p256", "rsa-2048" or "mldsa-65", for a self-signed certificate. *used is how many
// bytes of the flight there are.
enum tlc_status flight_record(const char *key, const uint8_t *hello, size_t hello_bytes,
                              uint8_t *flight, size_t capacity, size_t *used,
                              struct tlc_error *error) TLC_CHECKED;

#endif
