// Private to the room.
#ifndef TLC_STACKS_WHOLE_FILE_H
#define TLC_STACKS_WHOLE_FILE_H

#include "base/error.h"

// Refuses a plug-in that was cut off, or is no shared object of this machine: the loader of the
// system maps what the program headers promise, and a process that touches what the file does not
// have is killed (SIGBUS). ELF-64, program header, System V ABI.
enum tlc_status tlc_stack_check_whole(const char *path, struct tlc_error *error) TLC_CHECKED;

#endif
