#include "workload/operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stacks/loader.h"

#define TLC_OWN_BUILD "this program"

enum tlc_status tlc_library_find(const char *stack, struct tlc_library *library,
                                 struct tlc_error *error)
{
    if (!strcmp(stack, TLC_OWN_STACK)) {
        *library =
            (struct tlc_library){TLC_OWN_STACK, TLC_VERSION, TLC_OWN_BUILD, &tlc_own_operations};
        return TLC_OK;
    }
    const struct tlc_stack_plugin *plugin;
    enum tlc_status status = tlc_stack_load(stack, &plugin, error);
    if (status != TLC_OK)
        return status;
    *library = (struct tlc_library){plugin->id, plugin->stack->version(), plugin->stack->build(),
                                    plugin->stack->operations};
    return library->operations
               ? TLC_OK
               : tlc_fail(error, TLC_ENVIRONMENT,
                          "stack %s: it offers no raw operations; the plug-ins of tlscost do",
                          plugin->id);
}

enum tlc_status tlc_library_has(const struct tlc_library *library, const char *operation,
                                struct tlc_error *error)
{
    const char *name;
    for (size_t i = 0; (name = library->operations->name_at(i)); i++)
        if (!strcmp(name, operation))
            return TLC_OK;
    // Why: the library lacks it, or nothing is called so.
    struct tlc_stack_error why = {"it does not list it"};
    library->operations->operation_free(library->operations->operation_new(operation, NULL, &why));
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "stack %s: %s has no operation '%.64s' (%s); 'tlscost speed --stack %s --list' "
                    "names those it has",
                    library->id, library->version, operation, why.text, library->id);
}

struct tlc_stack_operation *tlc_library_operation(const struct tlc_library *library,
                                                  const char *name, const char *provider,
                                                  struct tlc_stack_error *why)
{
    bool own = !strcmp(library->id, TLC_OWN_STACK);
    char *found = provider && !own ? tlc_provider_find(provider) : NULL;
    struct tlc_stack_operation *operation =
        library->operations->operation_new(name, own ? provider : found, why);
    free(found);
    return operation;
}

json_t *tlc_library_describe(const char *stack)
{
    if (!strcmp(stack, TLC_OWN_STACK))
        return json_pack("{s:s, s:s, s:s, s:s, s:n, s:n}", "id", TLC_OWN_STACK, "name",
                         TLC_OWN_STACK, "version", TLC_VERSION, "build", TLC_OWN_BUILD, "sha256",
                         "manifest");
    const struct tlc_stack_plugin *plugin;
    struct tlc_error ignored;
    return tlc_stack_load(stack, &plugin, &ignored) == TLC_OK ? tlc_stack_describe(plugin) : NULL;
}
