#include "campaign/stacks_used.h"

#include <string.h>

#include "stacks/loader.h"
#include "workload/operations.h"

static void describe_stack(json_t *stacks, const char *id)
{
    json_t *described = tlc_library_describe(id), *stack;
    const char *name = json_string_value(json_object_get(described, "id"));
    size_t index;
    json_array_foreach(stacks, index, stack)
    {
        if (name && !strcmp(json_string_value(json_object_get(stack, "id")), name))
            name = NULL;
    }
    if (name)
        json_array_append(stacks, described);
    json_decref(described);
}

json_t *tlc_stacks_used_describe(const struct tlc_plan *plan)
{
    json_t *stacks = json_array();
    for (size_t i = 0; i < plan->arm_count; i++) {
        describe_stack(stacks, plan->arms[i].stack);
        if (plan->arms[i].client_stack)
            describe_stack(stacks, plan->arms[i].client_stack);
    }
    return stacks;
}

static enum tlc_status check_stack(const char *id, struct tlc_error *error)
{
    const struct tlc_stack_plugin *plugin;
    struct tlc_error ignored;
    if (!id || tlc_stack_load(id, &plugin, &ignored) != TLC_OK || !tlc_stack_is_replaced(plugin))
        return TLC_OK;
    return tlc_fail(
        error, TLC_ENVIRONMENT,
        "stack %s: %s: replaced while it was measured; blocks that were finished before "
        "are in the result, run again for the rest",
        plugin->id, plugin->path);
}

enum tlc_status tlc_stacks_used_check(const struct tlc_plan *plan, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; i < plan->arm_count && status == TLC_OK; i++) {
        status = check_stack(plan->arms[i].stack, error);
        if (status == TLC_OK)
            status = check_stack(plan->arms[i].client_stack, error);
    }
    return status;
}
