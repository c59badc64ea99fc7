#include "bench/arms.h"

#include <string.h>

const struct arm_loop loop_uring = {"io_uring", "io_uring", 0, false};
const struct arm_loop loop_epoll = {"epoll", "epoll", 0, false};
const struct arm_loop loop_epoll_plain = {"epoll, no batching", "epoll", 1, false};
const struct arm_loop loop_epoll_fresh = {"epoll, no batching, fresh sockets", "epoll", 1, true};

const struct arm_loop *bench_main_loop(const struct bench *bench)
{
    return bench->uring ? &loop_uring : &loop_epoll;
}

static enum tlc_status add(struct bench *bench, struct arm arm, struct tlc_error *error)
{
    if (bench->arm_count == ARMS_MAX)
        return tlc_fail(error, TLC_USAGE,
                        "bench: more than %d clients over all groups; name "
                        "fewer with --groups or --peer",
                        ARMS_MAX);
    arm.id = (unsigned)bench->arm_count;
    bench->arms[bench->arm_count++] = arm;
    return TLC_OK;
}

static enum tlc_status add_ours(struct bench *bench, const char *group, struct tlc_error *error)
{
    static const char *const shares[] = {"honest", "reused", "cheap"};
    const struct arm_loop *loops[] = {bench->uring ? &loop_uring : NULL, &loop_epoll};
    enum tlc_status status = TLC_OK;
    for (size_t k = 0; k < 2; k++) {
        if (!loops[k])
            continue;
        for (size_t i = 0; status == TLC_OK && i < 3; i++)
            status =
                add(bench,
                    (struct arm){
                        .kind = ARM_LEAN, .group = group, .share = shares[i], .loop = loops[k]},
                    error);
        if (status == TLC_OK)
            status = add(bench, (struct arm){.kind = ARM_FLOOR, .group = group, .loop = loops[k]},
                         error);
    }
    const struct arm_loop *unbatched[] = {&loop_epoll_plain, &loop_epoll_fresh};
    for (size_t k = 0; status == TLC_OK && k < 2; k++)
        status = add(
            bench,
            (struct arm){.kind = ARM_LEAN, .group = group, .share = "cheap", .loop = unbatched[k]},
            error);
    if (status == TLC_OK)
        status = add(bench,
                     (struct arm){.kind = ARM_FULL, .group = group, .loop = bench_main_loop(bench)},
                     error);
    return status;
}

enum tlc_status bench_list_arms(struct bench *bench, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    bench->arm_count = 0;
    for (size_t g = 0; status == TLC_OK && g < bench->group_count; g++) {
        status = add_ours(bench, bench->groups[g], error);
        for (size_t i = 0; status == TLC_OK && i < bench->peers.count; i++)
            status = add(bench,
                         (struct arm){.kind = ARM_PEER,
                                      .group = bench->groups[g],
                                      .peer = &bench->peers.peers[i]},
                         error);
    }
    return status;
}
