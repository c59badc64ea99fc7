// Ports of 127.0.0.1.
#ifndef TLC_BENCH_PORT_H
#define TLC_BENCH_PORT_H

#include <stdbool.h>
#include <stdint.h>

// A port that was free a moment ago: connections to it are refused until somebody takes it.
uint16_t port_unused(void);
bool port_accepts(uint16_t port);

#endif
