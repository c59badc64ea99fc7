// The kinds of workload, one file each; private to the room.
#ifndef TLC_WORKLOAD_KINDS_H
#define TLC_WORKLOAD_KINDS_H

#include "workload/workload.h"

extern const struct tlc_workload_kind tlc_workload_network;

#endif
