#include "workload/memory_split.h"

#include <stdlib.h>

#include "stats/stats.h"

// A scheduler's time slice is longer than most handshakes; shorter interruptions fall on both sides
// by the time each takes, and move no share.
static const double INTERRUPTED = 3;

struct sums {
    double server_ns, client_ns, rest_ns;
    size_t kept, all;
};

static double length_of(const struct tlc_memory_lap *lap)
{
    return lap->server_ns + lap->client_ns + lap->rest_ns;
}

static bool sum_kind(const struct tlc_memory_lap *laps, size_t count, bool resumed,
                     struct sums *sums)
{
    double *lengths = malloc((count + 1) * sizeof *lengths);
    *sums = (struct sums){.all = 0};
    if (!lengths)
        return false;
    for (size_t i = 0; i < count; i++)
        if (laps[i].resumed == resumed)
            lengths[sums->all++] = length_of(&laps[i]);
    double longest = INTERRUPTED * tlc_median(lengths, sums->all);
    free(lengths);
    for (size_t i = 0; i < count; i++) {
        if (laps[i].resumed != resumed || length_of(&laps[i]) > longest)
            continue;
        sums->server_ns += laps[i].server_ns;
        sums->client_ns += laps[i].client_ns;
        sums->rest_ns += laps[i].rest_ns;
        sums->kept++;
    }
    return true;
}

bool tlc_memory_split(const struct tlc_memory_lap *laps, size_t count, double total_us,
                      struct tlc_memory_split *split)
{
    *split = (struct tlc_memory_split){.interrupted = 0};
    for (int resumed = 0; resumed < 2; resumed++) {
        struct sums sums;
        if (!sum_kind(laps, count, resumed, &sums))
            return false;
        if (!sums.kept)
            continue;
        double weight = (double)sums.all / (double)sums.kept / 1000;
        split->server_us += sums.server_ns * weight;
        split->client_us += sums.client_ns * weight;
        split->rest_us += sums.rest_ns * weight;
        split->interrupted += sums.all - sums.kept;
    }
    split->wall_us = split->server_us + split->client_us + split->rest_us;
    if (!(split->wall_us > 0))
        return false;
    double scale = total_us / split->wall_us;
    split->server_us *= scale;
    split->client_us *= scale;
    split->rest_us *= scale;
    return true;
}
