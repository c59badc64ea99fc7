// Private to the room.
#ifndef TLC_BASE_PROCESS_MARKED_H
#define TLC_BASE_PROCESS_MARKED_H

#include <stddef.h>

// Makes a mark that no other child of this process has, and its variable "NAME=value" for the
// environment of the child, which hands it to all that it starts.
unsigned tlc_process_mark(char *variable, size_t capacity);
// Ends (SIGKILL) every process with the mark, as far as /proc shows the environment they began
// with.
void tlc_process_end_marked(unsigned mark);

#endif
