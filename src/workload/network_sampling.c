#include "workload/network_sampling.h"

#include <stdlib.h>
#include <string.h>

#include "attribute/tally.h"
#include "base/directory.h"
#include "measure/proc.h"

enum { MOST_PIDS = 512 };

// Every process of the server's tree as it is now; *pids is the caller's to free.
static size_t pids_of(pid_t root, pid_t **pids)
{
    struct tlc_tree *tree = tlc_tree_open(root);
    *pids = calloc(MOST_PIDS, sizeof **pids);
    if (!tree || !*pids) {
        tlc_tree_close(tree);
        return 0;
    }
    (void)tlc_tree_read_ns(tree, NULL);
    size_t count = tlc_tree_pids(tree, *pids, MOST_PIDS);
    tlc_tree_close(tree);
    return count < MOST_PIDS ? count : MOST_PIDS;
}

enum tlc_status tlc_sampling_start(const struct tlc_sampling_start *start,
                                   struct tlc_sampling *sampling, struct tlc_error *error)
{
    pid_t *pids;
    const char *chains = start->server ? start->server->chains : NULL;
    *sampling = (struct tlc_sampling){.frequency_hz = start->plan->schedule.sampling_hz,
                                      .tagged = start->tagged};
    size_t count = pids_of(start->root, &pids);
    const struct tlc_sampler_options options = {
        .pid_count = count,
        .pids = pids,
        .frequency_hz = sampling->frequency_hz,
        .frame_pointers = chains && !strcmp(chains, "frame-pointers"),
        .directory = start->directory,
    };
    enum tlc_status status =
        count ? tlc_directory_make(start->directory, error)
              : tlc_fail(error, TLC_REFUSED, "attribute: the server's processes are gone");
    if (status == TLC_OK)
        status = tlc_sampler_start(&options, &sampling->sampler, error);
    free(pids);
    return status;
}

enum tlc_status tlc_sampling_end(struct tlc_sampling *sampling,
                                 const struct tlc_components *components, json_t **told,
                                 struct tlc_error *error)
{
    struct tlc_perf_script_counts counts;
    struct tlc_tally *tally = tlc_tally_new(components, sampling->tagged);
    *told = NULL;
    enum tlc_status status =
        tally ? tlc_sampler_read(sampling->sampler, tlc_tally_take, tally, &counts, error)
              : tlc_fail(error, TLC_ENVIRONMENT, "attribute: out of memory");
    if (status == TLC_OK) {
        *told = tlc_tally_json(tally);
        json_t *more = json_pack(
            "{s:i, s:I, s:f, s:I, s:I}", "frequency_hz", (int)sampling->frequency_hz,
            "sampled_handshakes", (json_int_t)sampling->handshakes, "sampled_us", sampling->cost_us,
            "garbled_lines", (json_int_t)counts.garbled, "cut_frames", (json_int_t)counts.cut);
        json_object_update(*told, more);
        json_decref(more);
    }
    tlc_tally_free(tally);
    tlc_sampling_drop(sampling);
    return status;
}

void tlc_sampling_drop(struct tlc_sampling *sampling)
{
    tlc_sampler_free(sampling->sampler);
    sampling->sampler = NULL;
}
