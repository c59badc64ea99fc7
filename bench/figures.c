#include "bench/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CONFIDENCE 0.95

const struct arm *bench_arm(const struct bench *bench, enum arm_kind kind, const char *group,
                            const char *share, const struct arm_loop *loop)
{
    for (size_t i = 0; i < bench->arm_count; i++) {
        const struct arm *arm = &bench->arms[i];
        if (arm->kind == kind && !strcmp(arm->group, group) && arm->loop == loop &&
            (!share || !strcmp(arm->share, share)))
            return arm;
    }
    return NULL;
}

struct tlc_interval bench_ratio(const struct bench *bench, const struct arm *arm,
                                const struct arm *baseline)
{
    double logs[ROUNDS_MAX];
    unsigned instance[ROUNDS_MAX];
    for (unsigned i = 0; i < bench->rounds; i++) {
        const struct sample *above = &arm->samples[i], *below = &baseline->samples[i];
        instance[i] = i;
        logs[i] = above->there && below->there ? log(above->client_us / below->client_us) : NAN;
    }
    return tlc_ratio_over_instances(logs, instance, bench->rounds, bench->rounds, CONFIDENCE);
}

struct tlc_interval bench_client_us(const struct bench *bench, const struct arm *arm)
{
    double values[ROUNDS_MAX];
    for (unsigned i = 0; i < bench->rounds; i++)
        values[i] = arm->samples[i].there ? arm->samples[i].client_us : NAN;
    return tlc_signed_rank_interval(values, bench->rounds, CONFIDENCE);
}

struct tlc_interval bench_server_us(const struct bench *bench, const struct arm *arm)
{
    double values[ROUNDS_MAX];
    for (unsigned i = 0; i < bench->rounds; i++)
        values[i] = arm->samples[i].there ? arm->samples[i].server_us : NAN;
    return tlc_signed_rank_interval(values, bench->rounds, CONFIDENCE);
}

struct sample bench_total(const struct bench *bench, const struct arm *arm)
{
    struct sample sum = {0};
    for (unsigned i = 0; i < bench->rounds; i++) {
        const struct sample *one = &arm->samples[i];
        sum.there = sum.there || one->there;
        sum.handshakes += one->handshakes;
        sum.resumed += one->resumed;
        sum.retries += one->retries;
        sum.failed += one->failed;
        sum.server_busy_us += one->server_busy_us;
        sum.server_cpu_us += one->server_cpu_us;
        sum.generator_busy_us += one->generator_busy_us;
        sum.generator_cpu_us += one->generator_cpu_us;
    }
    return sum;
}

void arm_name(const struct arm *arm, char *name, size_t capacity)
{
    if (arm->kind == ARM_PEER)
        snprintf(name, capacity, "%s", arm->peer->name);
    else if (arm->kind == ARM_FULL)
        snprintf(name, capacity, "tlscost full");
    else if (arm->kind == ARM_FLOOR)
        snprintf(name, capacity, "TCP floor, %s", arm->loop->name);
    else
        snprintf(name, capacity, "lean %s, %s", arm->share, arm->loop->name);
}
