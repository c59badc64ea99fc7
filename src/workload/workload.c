#include "workload/workload.h"

#include <string.h>

#include "workload/kinds.h"

const struct tlc_workload_kind *tlc_workload_kind(const char *name)
{
    static const struct tlc_workload_kind *const kinds[] = {
        &tlc_workload_network, &tlc_workload_memory, &tlc_workload_primitive};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i]->name, name))
            return kinds[i];
    return NULL;
}

bool tlc_is_of_kind(const struct tlc_workload_setup *setup, size_t arm,
                    const struct tlc_workload_kind *kind)
{
    return !strcmp(setup->plan->arms[arm].workload, kind->name);
}

void tlc_slice_clear(struct tlc_slice *slice)
{
    json_decref(slice->detail);
    json_decref(slice->buckets);
    *slice = (struct tlc_slice){0};
}

void tlc_stay_clear(struct tlc_stay *stay)
{
    json_decref(stay->detail);
    *stay = (struct tlc_stay){0};
}
