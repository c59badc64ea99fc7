// Where calibrations of machines are kept.
#include <stdio.h>
#include <string.h>

#include "base/directory.h"
#include "campaign/calibrate.h"
#include "measure/machine.h"
#include "result/result.h"

static void copy_figure(json_t *summary, const json_t *document, const char *name)
{
    const json_t *figure = json_object_get(document, name);
    json_t *copy = json_is_object(figure) ? json_deep_copy(figure) : json_null();
    json_object_del(copy, "points");
    json_object_set_new(summary, name, copy);
}

json_t *tlc_calibration_summary(const json_t *document)
{
    static const char *const figures[] = {"a_a", "known_cost", "position", "fair_client",
                                          "interference"};
    const json_t *setup = json_object_get(document, "setup");
    char machine[TLC_MACHINE_IDENTITY_BYTES];
    bool known = tlc_machine_identity(json_object_get(document, "environment"), machine);
    json_t *summary = json_pack("{s:o, s:O?, s:O?, s:O?, s:O?}", "machine",
                                known ? json_string(machine) : json_null(), "finished",
                                json_object_get(document, "finished"), "server_cpus",
                                json_object_get(setup, "server_cpus"), "generator_cpus",
                                json_object_get(setup, "generator_cpus"), "passed",
                                json_object_get(json_object_get(document, "verdict"), "passed"));
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        copy_figure(summary, document, figures[i]);
    const json_t *verdict = json_object_get(document, "verdict");
    json_object_set(summary, "accepted_samples", json_object_get(verdict, "accepted_samples"));
    json_object_set(summary, "refused", json_object_get(verdict, "refused"));
    return summary;
}

static enum tlc_status path_of(const char *machine, char *path, size_t capacity,
                               struct tlc_error *error)
{
    char state[512], folder[600];
    enum tlc_status status = tlc_directory_of_user(TLC_DIRECTORY_STATE, state, sizeof state, error);
    if (status != TLC_OK)
        return status;
    snprintf(folder, sizeof folder, "%s/calibrations", state);
    status = tlc_directory_make(folder, error);
    if (status != TLC_OK)
        return status;
    if ((size_t)snprintf(path, capacity, "%s/%s.json", folder, machine) >= capacity)
        return tlc_fail(error, TLC_ENVIRONMENT, "calibration: %s: the name is too long", folder);
    return TLC_OK;
}

// The stored document is a result of its own, so that whatever reads results reads it too.
enum tlc_status tlc_calibration_store(const json_t *document, char *path, size_t capacity,
                                      struct tlc_error *error)
{
    char file[800];
    json_t *summary = tlc_calibration_summary(document);
    const char *machine = json_string_value(json_object_get(summary, "machine"));
    enum tlc_status status =
        machine ? path_of(machine, file, sizeof file, error)
                : tlc_fail(error, TLC_ENVIRONMENT, "calibration: the machine cannot be told");
    if (status == TLC_OK) {
        json_t *stored =
            json_pack("{s:s, s:s, s:O?, s:O?, s:O}", "schema", TLC_RESULT_SCHEMA, "command",
                      "calibration", "started", json_object_get(document, "started"), "environment",
                      json_object_get(document, "environment"), "calibration", summary);
        status = tlc_result_write(stored, file, error);
        json_decref(stored);
    }
    if (status == TLC_OK && path)
        snprintf(path, capacity, "%s", file);
    json_decref(summary);
    return status;
}

json_t *tlc_calibration_find(const json_t *environment)
{
    char machine[TLC_MACHINE_IDENTITY_BYTES], path[800];
    struct tlc_error ignored;
    json_t *stored = NULL, *summary = NULL;
    if (!tlc_machine_identity(environment, machine) ||
        path_of(machine, path, sizeof path, &ignored) != TLC_OK ||
        tlc_result_read(path, &stored, &ignored) != TLC_OK)
        return NULL;
    const json_t *kept = json_object_get(stored, "calibration");
    const char *of = json_string_value(json_object_get(kept, "machine"));
    if (of && !strcmp(of, machine))
        summary = json_deep_copy(kept);
    json_decref(stored);
    return summary;
}
