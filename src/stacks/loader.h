// Finds and loads stack plug-ins. Each is opened with its symbols kept to itself (RTLD_LOCAL).
#ifndef TLC_STACKS_LOADER_H
#define TLC_STACKS_LOADER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "tlscost/stack.h"

struct tlc_stack_plugin {
    const struct tlc_stack *stack; // the plug-in's table
    char *id;                      // file name without ".so": "openssl", "openssl-3.6.5"
    char *path;                    // absolute path of the file
    void *handle;
};

// Loads a plug-in by id or path, or by the name of the recipe that made it (of several versions the
// newest), which stays the same when the version changes. Folders searched: TLSCOST_STACKS
// (colon-separated), "stacks" beside the program, the installed plug-in folder. The error lists
// what was found where. A plug-in stays loaded until the process ends; loading it twice gives the
// same object.
enum tlc_status tlc_stack_load(const char *id, const struct tlc_stack_plugin **plugin,
                               struct tlc_error *error) TLC_CHECKED;
// Whether the file of a loaded plug-in is another one now, or gone: who loads it from here on gets
// another library.
bool tlc_stack_is_replaced(const struct tlc_stack_plugin *plugin);
// A provider as tlc_stack_config wants it: one that comes with tlscost gets its path ("providers"
// beside a folder of plug-ins), any other stays as it is. The caller's; NULL: out of memory.
char *tlc_provider_find(const char *provider);
// {name, version, work, operations{} or handshakes}, summed over the contexts; NULL when no
// provider was asked for. `work` is how many handshakes it can have worked in at most.
json_t *tlc_provider_describe_use(const struct tlc_stack *stack,
                                  struct tlc_stack_context *const *contexts, size_t count);
// The file of the newest plug-in of a folder that the recipe made, the caller's; NULL: none.
char *tlc_stack_made_by(const char *folder, const char *recipe);
// Ids of all plug-ins found, sorted; NULL-terminated, free with tlc_stack_ids_free.
char **tlc_stack_ids(void);
void tlc_stack_ids_free(char **ids);
// What a result stores of a plug-in: id, name, version, build, sha256 of the file and the recipe's
// manifest (null when there is none). The caller owns the reference.
json_t *tlc_stack_describe(const struct tlc_stack_plugin *plugin);
// Handshakes in memory with every version, group and key type the library says it supports, data
// echoed both ways. On failure the error names the first combination that broke. `rows` (may be
// NULL) gets one object per combination {version, group, certificate, ok, reason}.
enum tlc_status tlc_stack_self_test(const struct tlc_stack_plugin *plugin, json_t **rows,
                                    struct tlc_error *error) TLC_CHECKED;
// Ends running and later self-tests after their case (async-signal-safe): the status is then
// TLC_INTERRUPTED, and the rows are those of the cases that ran.
void tlc_stack_self_test_interrupt(void);

#endif
