#include "stacks/verdict.h"

#include <gnu/libc-version.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/directory.h"
#include "stacks/hash.h"

// Of the self-test's cases: a verdict of an earlier set says nothing about this one.
#define VERDICT_REVISION 1

// A file that passed with one C library can crash with another, so both are part of the name.
static bool path_of(const struct tlc_stack_plugin *plugin, char *path, size_t capacity)
{
    char state[512], folder[600], hash[TLC_STACK_HASH_BYTES];
    struct tlc_error ignored;
    if (tlc_directory_of_user(TLC_DIRECTORY_STATE, state, sizeof state, &ignored) != TLC_OK ||
        !tlc_stack_hash(plugin->path, hash))
        return false;
    snprintf(folder, sizeof folder, "%s/self-tests", state);
    if (tlc_directory_make(folder, &ignored) != TLC_OK)
        return false;
    return (size_t)snprintf(path, capacity, "%s/%s-glibc%s-%d.json", folder, hash,
                            gnu_get_libc_version(), VERDICT_REVISION) < capacity;
}

void tlc_stack_keep_verdict(const struct tlc_stack_plugin *plugin, enum tlc_status status,
                            const struct tlc_error *error)
{
    char path[800], fresh[840];
    if (!path_of(plugin, path, sizeof path))
        return;
    json_t *verdict =
        json_pack("{s:s, s:s, s:b, s:s}", "id", plugin->id, "version", plugin->stack->version(),
                  "ok", status == TLC_OK, "reason", status == TLC_OK ? "" : error->text);
    // Several programs may test the same file at once.
    snprintf(fresh, sizeof fresh, "%s.%ld", path, (long)getpid());
    if (!verdict || json_dump_file(verdict, fresh, JSON_INDENT(2)) || rename(fresh, path))
        remove(fresh);
    json_decref(verdict);
}

static enum tlc_status refuse(const struct tlc_stack_plugin *plugin, const char *reason,
                              struct tlc_error *error)
{
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "%s; what fails its self-test is not measured: 'tlscost stacks verify %s' "
                    "tests it again, 'tlscost stacks get' builds another",
                    reason, plugin->id);
}

enum tlc_status tlc_stack_require_verdict(const struct tlc_stack_plugin *plugin,
                                          struct tlc_error *error)
{
    char path[800];
    json_t *kept = path_of(plugin, path, sizeof path) ? json_load_file(path, 0, NULL) : NULL;
    const json_t *ok = json_object_get(kept, "ok");
    const char *reason = json_string_value(json_object_get(kept, "reason"));
    enum tlc_status status = TLC_OK;
    if (json_is_boolean(ok) && reason) {
        if (!json_is_true(ok))
            status = refuse(plugin, reason, error);
    } else {
        struct tlc_error failure;
        status = tlc_stack_self_test(plugin, NULL, &failure);
        tlc_stack_keep_verdict(plugin, status, &failure);
        if (status != TLC_OK)
            status = refuse(plugin, failure.text, error);
    }
    json_decref(kept);
    return status;
}
