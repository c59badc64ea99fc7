// Private to the room.
#ifndef TLC_CLI_RECIPE_BUILD_H
#define TLC_CLI_RECIPE_BUILD_H

#include <stddef.h>

#include "base/error.h"

// Has the script make a recipe's plug-in. What it says goes to standard error as it comes, its last
// line of output (the plug-in's file) into `line`. SIGINT and SIGTERM end the script and all that
// it runs: TLC_INTERRUPTED. TLC_USAGE for a name or recipe that is wrong.
enum tlc_status tlc_recipe_build(const char *script, const char *name, char *line, size_t capacity,
                                 struct tlc_error *error) TLC_CHECKED;

#endif
