#include "bench/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/figures.h"
#include "bench/interval.h"
#include "measure/machine.h"
#include "result/result.h"

static const char *const shares[] = {"honest", "reused", "cheap"};

static bool is_peer(const struct arm *arm)
{
    return arm->kind == ARM_PEER || arm->kind == ARM_FULL;
}

static const struct arm *lean(const struct bench *bench, const char *group, const char *share)
{
    return bench_arm(bench, ARM_LEAN, group, share, bench_main_loop(bench));
}

static json_t *ratio_to_json(const struct bench *bench, const struct arm *arm, const char *share)
{
    char name[128];
    arm_name(arm, name, sizeof name);
    json_t *json = json_pack("{s:s, s:s, s:s}", "peer", name, "share", share, "group", arm->group);
    interval_add(json, bench_ratio(bench, arm, lean(bench, arm->group, share)));
    return json;
}

static json_t *ratios_to_json(const struct bench *bench)
{
    json_t *list = json_array();
    for (size_t i = 0; i < bench->arm_count; i++) {
        const struct arm *arm = &bench->arms[i];
        if (is_peer(arm) && !arm->reason[0])
            for (size_t k = 0; k < 3; k++)
                json_array_append_new(list, ratio_to_json(bench, arm, shares[k]));
    }
    return list;
}

static json_t *floor_to_json(const struct bench *bench)
{
    json_t *list = json_array();
    const struct arm_loop *loop = bench_main_loop(bench);
    for (size_t g = 0; g < bench->group_count; g++) {
        const char *group = bench->groups[g];
        json_t *json =
            json_pack("{s:s, s:s, s:s}", "group", group, "share", "cheap", "loop", loop->name);
        interval_add(json, bench_ratio(bench, lean(bench, group, "cheap"),
                                       bench_arm(bench, ARM_FLOOR, group, NULL, loop)));
        json_array_append_new(list, json);
    }
    return list;
}

static void add_loops(const struct bench *bench, const char *group, const char *share,
                      const struct arm_loop *against, json_t *list)
{
    const struct arm *baseline = bench_arm(bench, ARM_LEAN, group, share, against);
    if (!baseline || !bench->uring)
        return;
    json_t *json = json_pack("{s:s, s:s, s:s, s:s}", "group", group, "share", share, "loop",
                             loop_uring.name, "against", against->name);
    interval_add(
        json, bench_ratio(bench, bench_arm(bench, ARM_LEAN, group, share, &loop_uring), baseline));
    json_array_append_new(list, json);
}

static json_t *loops_to_json(const struct bench *bench)
{
    json_t *list = json_array();
    for (size_t g = 0; g < bench->group_count; g++)
        for (size_t k = 0; k < 3; k++) {
            add_loops(bench, bench->groups[g], shares[k], &loop_epoll, list);
            add_loops(bench, bench->groups[g], shares[k], &loop_epoll_plain, list);
            add_loops(bench, bench->groups[g], shares[k], &loop_epoll_fresh, list);
        }
    return list;
}

static json_t *samples_to_json(const struct bench *bench, const struct arm *arm)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < bench->rounds; i++) {
        const struct sample *one = &arm->samples[i];
        json_array_append_new(list, one->there
                                        ? json_pack("{s:f, s:f, s:I}", "client_us", one->client_us,
                                                    "server_us", one->server_us, "handshakes",
                                                    (json_int_t)one->handshakes)
                                        : json_null());
    }
    return list;
}

static json_t *arm_to_json(const struct bench *bench, const struct arm *arm)
{
    char name[128];
    struct sample total = bench_total(bench, arm);
    arm_name(arm, name, sizeof name);
    json_t *json = json_pack("{s:s, s:s}", "client", name, "group", arm->group);
    json_t *client = json_object(), *server = json_object();
    interval_add(client, bench_client_us(bench, arm));
    interval_add(server, bench_server_us(bench, arm));
    json_object_set_new(json, "client_us", client);
    json_object_set_new(json, "server_us", server);
    json_object_set_new(json, "handshakes", json_integer((json_int_t)total.handshakes));
    json_object_set_new(json, "resumed", json_integer((json_int_t)total.resumed));
    json_object_set_new(json, "hello_retry_requests", json_integer((json_int_t)total.retries));
    json_object_set_new(json, "failed", json_integer((json_int_t)total.failed));
    if (arm->peer && arm->peer->version[0])
        json_object_set_new(json, "version", json_string(arm->peer->version));
    json_object_set_new(json, "samples", samples_to_json(bench, arm));
    return json;
}

static void add_arms(const struct bench *bench, json_t *document)
{
    json_t *arms = json_array(), *skipped = json_array();
    char name[128];
    for (size_t i = 0; i < bench->arm_count; i++) {
        const struct arm *arm = &bench->arms[i];
        arm_name(arm, name, sizeof name);
        if (arm->reason[0])
            json_array_append_new(skipped, json_pack("{s:s, s:s, s:s}", "peer", name, "group",
                                                     arm->group, "reason", arm->reason));
        else
            json_array_append_new(arms, arm_to_json(bench, arm));
    }
    json_object_set_new(document, "clients", arms);
    json_object_set_new(document, "skipped", skipped);
}

// Of the lean client with cheap shares on the first group: the load of a campaign.
static struct sample busy_total(const struct bench *bench)
{
    return bench_total(bench, lean(bench, bench->groups[0], "cheap"));
}

static double server_busy(const struct bench *bench)
{
    struct sample total = busy_total(bench);
    return total.server_cpu_us > 0 ? total.server_busy_us / total.server_cpu_us : NAN;
}

static double generator_busy(const struct bench *bench)
{
    struct sample total = busy_total(bench);
    return total.generator_cpu_us > 0 ? total.generator_busy_us / total.generator_cpu_us : NAN;
}

json_t *bench_to_json(const struct bench *bench)
{
    json_t *json = tlc_result_new("bench/generator", tlc_machine_describe());
    json_object_set_new(json, "server",
                        json_pack("{s:O, s:s, s:s, s:i}", "stack", bench->stack, "certificate",
                                  bench->rig.certificate, "cpus", bench->server_list, "workers",
                                  1));
    json_object_set_new(json, "generator",
                        json_pack("{s:s, s:s, s:i, s:i, s:i}", "cpus", bench->generator_list,
                                  "loop", bench_main_loop(bench)->name, "concurrency",
                                  (int)bench->concurrency, "peer_concurrency",
                                  (int)bench->peer_concurrency, "peer_handshakes",
                                  (int)bench->peer_handshakes));
    json_object_set_new(json, "rounds", json_integer(bench->rounds));
    json_object_set_new(json, "ratios", ratios_to_json(bench));
    json_object_set_new(json, "floor", floor_to_json(bench));
    json_object_set_new(json, "loops", loops_to_json(bench));
    json_object_set_new(json, "server_busy", json_real(server_busy(bench)));
    json_object_set_new(json, "generator_busy", json_real(generator_busy(bench)));
    add_arms(bench, json);
    return json;
}

static void print_remarks(const struct bench *bench, const struct arm *arm)
{
    struct sample total = bench_total(bench, arm);
    if (total.resumed)
        printf("  %" PRIu64 " resumed", total.resumed);
    if (total.retries)
        printf("  %" PRIu64 " HelloRetryRequests", total.retries);
    if (total.failed)
        printf("  %" PRIu64 " failed", total.failed);
    printf("\n");
}

static void print_costs(const struct bench *bench, const char *group)
{
    char name[128], client[INTERVAL_BYTES], server[INTERVAL_BYTES];
    printf("\n%s: CPU microseconds per handshake\n", group);
    printf("  %-28s %-26s %-26s %10s\n", "", "client", "server", "handshakes");
    for (size_t i = 0; i < bench->arm_count; i++) {
        const struct arm *arm = &bench->arms[i];
        if (strcmp(arm->group, group) != 0 || arm->reason[0])
            continue;
        arm_name(arm, name, sizeof name);
        printf("  %-28s %-26s %-26s %10" PRIu64, name,
               interval_text(bench_client_us(bench, arm), 1, client),
               interval_text(bench_server_us(bench, arm), 1, server),
               bench_total(bench, arm).handshakes);
        print_remarks(bench, arm);
    }
}

static void print_ratios(const struct bench *bench, const char *group)
{
    char name[128], text[INTERVAL_BYTES];
    printf("\n%s: client CPU of others over that of the lean client (%s), by its key shares\n",
           group, bench_main_loop(bench)->name);
    printf("  %-28s %-24s %-24s %-24s\n", "", shares[0], shares[1], shares[2]);
    for (size_t i = 0; i < bench->arm_count; i++) {
        const struct arm *arm = &bench->arms[i];
        if (strcmp(arm->group, group) != 0 || arm->reason[0] || !is_peer(arm))
            continue;
        arm_name(arm, name, sizeof name);
        printf("  %-28s", name);
        for (size_t k = 0; k < 3; k++)
            printf(" %-24s",
                   interval_text(bench_ratio(bench, arm, lean(bench, group, shares[k])), 2, text));
        printf("\n");
    }
}

static void print_list(const char *title, json_t *list, const char *first, const char *second)
{
    size_t i;
    json_t *one;
    if (json_array_size(list))
        printf("\n%s\n", title);
    json_array_foreach(list, i, one)
    {
        char text[INTERVAL_BYTES];
        struct tlc_interval interval = {.estimate =
                                            json_number_value(json_object_get(one, "estimate")),
                                        .low = json_is_real(json_object_get(one, "low"))
                                                   ? json_number_value(json_object_get(one, "low"))
                                                   : -INFINITY,
                                        .high = json_number_value(json_object_get(one, "high"))};
        printf("  %-16s %-8s %-20s %s\n", json_string_value(json_object_get(one, "group")),
               json_string_value(json_object_get(one, first)),
               json_string_value(json_object_get(one, second)), interval_text(interval, 3, text));
    }
    json_decref(list);
}

static void print_skipped(const struct bench *bench)
{
    char name[128];
    for (size_t i = 0; i < bench->arm_count; i++) {
        const struct arm *arm = &bench->arms[i];
        arm_name(arm, name, sizeof name);
        if (arm->reason[0])
            printf("\nleft out: %s, %s: %s\n", name, arm->group, arm->reason);
    }
}

void bench_print(const struct bench *bench)
{
    printf("server: %s, certificate %s, one worker on CPU %s; clients on CPU %s; %u rounds\n",
           json_string_value(json_object_get(bench->stack, "version")), bench->rig.certificate,
           bench->server_list, bench->generator_list, bench->rounds);
    for (size_t g = 0; g < bench->group_count; g++)
        print_costs(bench, bench->groups[g]);
    for (size_t g = 0; g < bench->group_count; g++)
        print_ratios(bench, bench->groups[g]);
    print_list("client CPU of the lean client over the TCP floor (group, share, loop)",
               floor_to_json(bench), "share", "loop");
    print_list("client CPU of the io_uring loop over that of another (group, share, against)",
               loops_to_json(bench), "share", "against");
    printf("\nbusy with lean, cheap, %s: server's CPU %.1f %%, generator's CPU %.1f %%\n",
           bench->groups[0], 100 * server_busy(bench), 100 * generator_busy(bench));
    print_skipped(bench);
}
