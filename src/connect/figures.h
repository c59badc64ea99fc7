// From the times of connections to the result's figures. Private to the room.
#ifndef TLC_CONNECT_FIGURES_H
#define TLC_CONNECT_FIGURES_H

#include "connect/setup.h"

// Puts network, arms and lateness into `result`. Returns whether an arm was refused.
bool tlc_connect_figures(const struct tlc_connect *connect, json_t *result);

#endif
