#include "campaign/campaign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/interrupt.h"
#include "campaign/sample.h"
#include "campaign/setup.h"
#include "campaign/stacks_used.h"
#include "campaign/until.h"
#include "measure/clock.h"
#include "measure/machine.h"
#include "measure/proc.h"
#include "result/result.h"
#include "workload/operations.h"
#include "workload/workload.h"

struct opened {
    const struct tlc_workload_kind *kind;
    struct tlc_workload *workload;
};

struct campaign {
    const struct tlc_campaign_options *options;
    const struct tlc_plan *plan;
    struct tlc_workload_setup setup;
    struct opened *opened; // one a kind of workload that the plan has
    size_t opened_count;
    struct opened **of_arm;
    struct tlc_journal *journal;
    json_t *samples;            // finished ones
    struct tlc_stay *stays;     // facts of the block's stays, one an arm
    bool *stayed;               // whether stays[arm] was taken
    struct tlc_sample *running; // of the block, one an arm
    uint64_t slices_done, slices_todo, started_ns;
    json_t *looks;       // at the intervals, where the plan says how narrow they must get
    const char *stopped; // why no more blocks were run
};

// The journal's first line: all that a result needs besides its samples.
static json_t *new_header(const struct tlc_campaign_options *options)
{
    char server[256], generator[256];
    tlc_cpus_format(&options->server_cpus, server, sizeof server);
    tlc_cpus_format(&options->generator_cpus, generator, sizeof generator);
    json_t *header = tlc_result_new("run", tlc_machine_describe());
    json_object_set_new(header, "plan", tlc_plan_to_json(options->plan));
    json_object_set_new(
        header, "setup",
        json_pack("{s:s, s:s}", "server_cpus", server, "generator_cpus", generator));
    json_object_set_new(header, "stacks", tlc_stacks_used_describe(options->plan));
    json_object_set_new(header, "calibration",
                        options->calibration ? json_deep_copy(options->calibration) : json_null());
    return header;
}

static bool block_finished(const json_t *samples, unsigned block)
{
    size_t index;
    json_t *sample;
    json_array_foreach((json_t *)(uintptr_t)samples, index,
                       sample) if ((unsigned)json_integer_value(json_object_get(sample, "block")) ==
                                   block) return true;
    return false;
}

// A block killed between two appends left some of its samples; it is run again as a whole, so they
// go.
static void drop_partial_blocks(json_t *samples, size_t arm_count)
{
    for (size_t i = json_array_size(samples); i-- > 0;) {
        json_int_t block = json_integer_value(json_object_get(json_array_get(samples, i), "block"));
        size_t same = 0, index;
        json_t *sample;
        json_array_foreach(samples, index, sample) same +=
            json_integer_value(json_object_get(sample, "block")) == block;
        if (same < arm_count)
            json_array_remove(samples, i);
    }
}

static void tell(struct campaign *campaign, unsigned block, const char *arm)
{
    if (!campaign->options->progress || !campaign->slices_todo)
        return;
    double done = (double)campaign->slices_done / (double)campaign->slices_todo;
    double elapsed = (double)(tlc_now_ns() - campaign->started_ns) / 1e9;
    double left = done > 0 ? elapsed / done * (1 - done) : tlc_plan_seconds(campaign->plan);
    campaign->options->progress(campaign->options->user, done, left, block, arm);
}

static void fail_sample(struct tlc_sample *sample, const struct tlc_error *why)
{
    if (!sample->failure[0])
        snprintf(sample->failure, sizeof sample->failure, "%.511s", why->text);
}

// What cannot start before anything was measured will not start later either.
static enum tlc_status prepare_arm(struct campaign *campaign, size_t arm, unsigned block,
                                   struct tlc_error *error)
{
    struct tlc_sample *sample = &campaign->running[arm];
    struct tlc_error why = {0};
    struct opened *opened = campaign->of_arm[arm];
    tlc_sample_begin(sample, campaign->plan, arm, block);
    enum tlc_status status = opened->kind->prepare(opened->workload, arm, &sample->evidence, &why);
    if (status != TLC_OK)
        fail_sample(sample, &why);
    tell(campaign, block, campaign->plan->arms[arm].name);
    if (status == TLC_OK || status == TLC_REFUSED || json_array_size(campaign->samples))
        return TLC_OK;
    return tlc_fail(error, status, "run: %s", why.text);
}

static void settle_pause(uint64_t settle_us)
{
    struct timespec pause = {.tv_sec = (time_t)(settle_us / 1000000),
                             .tv_nsec = (long)(settle_us % 1000000) * 1000};
    if (settle_us)
        nanosleep(&pause, NULL);
}

static void run_slice(struct campaign *campaign, size_t arm, struct tlc_visit visit)
{
    struct tlc_sample *sample = &campaign->running[arm];
    struct tlc_slice slice = {0};
    struct tlc_error why = {0};
    if (sample->failure[0])
        return;
    const struct opened *opened = campaign->of_arm[arm];
    const struct tlc_schedule *schedule = &campaign->plan->schedule;
    enum tlc_status status =
        opened->kind->slice(opened->workload, arm, schedule->count ? 0 : schedule->slice_us,
                            schedule->count, campaign->plan->arms[arm].concurrency, &slice, &why);
    if (status == TLC_OK)
        status = tlc_sample_add(sample, visit, &slice, &why);
    if (status != TLC_OK)
        fail_sample(sample, &why);
    tlc_slice_clear(&slice);
}

static struct tlc_duet duet_of(const struct campaign *campaign, size_t arm, unsigned turn)
{
    const struct tlc_plan *plan = campaign->plan;
    size_t against = tlc_plan_against(plan, arm);
    return (struct tlc_duet){
        .arms = {against, arm},
        .concurrency = {plan->arms[against].concurrency, plan->arms[arm].concurrency},
        .duration_us = plan->schedule.count ? 0 : plan->schedule.slice_us,
        .count = plan->schedule.count,
        .turn = turn};
}

// The arm and the one it is divided by at once; when one of them fails, so does the pair.
static void run_duet(struct campaign *campaign, size_t arm, struct tlc_visit visit)
{
    struct tlc_duet duet = duet_of(campaign, arm, visit.turn);
    struct tlc_slice slices[2] = {{0}, {0}};
    struct tlc_error why = {0};
    const struct opened *opened = campaign->of_arm[arm];
    struct tlc_sample *samples[2] = {&campaign->running[duet.arms[0]], &campaign->running[arm]};
    if (samples[0]->failure[0] || samples[1]->failure[0])
        return;
    enum tlc_status status = opened->kind->duet(opened->workload, &duet, slices, &why);
    for (size_t i = 0; i < 2; i++) {
        if (status == TLC_OK)
            status = tlc_sample_add(samples[i], visit, &slices[i], &why);
        tlc_slice_clear(&slices[i]);
    }
    if (status != TLC_OK)
        fail_sample(samples[1], &why);
}

static void run_visit(struct campaign *campaign, size_t arm, struct tlc_visit visit)
{
    campaign->slices_done++;
    settle_pause(campaign->plan->schedule.settle_us);
    if (campaign->plan->schedule.duet)
        run_duet(campaign, arm, visit);
    else
        run_slice(campaign, arm, visit);
    tell(campaign, campaign->running[arm].block, campaign->plan->arms[arm].name);
}

// In duets two generators load the server's CPUs, and how busy these were says the same.
static bool has_doubled(const struct tlc_plan *plan)
{
    return plan->limits.headroom_gain > 0 && !plan->schedule.duet;
}

// One more slice with twice the connections: a rate that rises says that the generator held it
// back.
static void run_doubled(struct campaign *campaign, size_t arm)
{
    struct tlc_sample *sample = &campaign->running[arm];
    struct tlc_slice slice = {0};
    struct tlc_error why = {0};
    campaign->slices_done++;
    const struct opened *opened = campaign->of_arm[arm];
    if (sample->failure[0] || !opened->kind->concurrent ||
        tlc_arm_is_paced(&campaign->plan->arms[arm]))
        return;
    if (opened->kind->slice(opened->workload, arm, campaign->plan->schedule.slice_us, 0,
                            2 * campaign->plan->arms[arm].concurrency, &slice, &why) == TLC_OK &&
        slice.span_s > 0)
        sample->rate_doubled = (double)slice.handshakes / slice.span_s;
    tlc_slice_clear(&slice);
}

// The facts of all stays are taken before the doubled slices, which belong to no figure.
static void take_stay(struct campaign *campaign, size_t arm)
{
    struct tlc_error why = {0};
    const struct opened *opened = campaign->of_arm[arm];
    campaign->stays[arm] = (struct tlc_stay){0};
    campaign->stayed[arm] = false;
    if (!campaign->running[arm].evidence)
        return;
    campaign->stayed[arm] =
        opened->kind->stay(opened->workload, arm, &campaign->stays[arm], &why) == TLC_OK;
    if (!campaign->stayed[arm])
        fail_sample(&campaign->running[arm], &why);
}

static enum tlc_status finish_sample(struct campaign *campaign, size_t arm, struct tlc_error *error)
{
    json_t *json = tlc_sample_finish(&campaign->running[arm],
                                     campaign->stayed[arm] ? &campaign->stays[arm] : NULL);
    enum tlc_status status = tlc_journal_append(campaign->journal, json, error);
    if (status == TLC_OK)
        json_array_append(campaign->samples, json);
    json_decref(json);
    return status;
}

static enum tlc_status measure_block(struct campaign *campaign, unsigned block, size_t *order,
                                     struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    const struct tlc_plan *plan = campaign->plan;
    tlc_schedule_order(plan->arm_count, block, 0, order);
    for (size_t i = 0; i < plan->arm_count && !tlc_interrupted() && status == TLC_OK; i++)
        status = prepare_arm(campaign, order[i], block, error);
    if (status == TLC_INTERRUPTED) // while a server was waited for
        status = TLC_OK;
    for (unsigned round = 0; round < plan->schedule.rounds && status == TLC_OK; round++) {
        size_t visits = tlc_schedule_visits(plan, block, round, order);
        for (size_t i = 0; i < visits && !tlc_interrupted(); i++)
            run_visit(campaign, order[i],
                      (struct tlc_visit){.round = round,
                                         .position = i,
                                         .turn = round + block,
                                         .duet = plan->schedule.duet});
    }
    return status;
}

static enum tlc_status run_block(struct campaign *campaign, unsigned block, struct tlc_error *error)
{
    const struct tlc_plan *plan = campaign->plan;
    size_t *order = calloc(plan->arm_count + 1, sizeof *order);
    if (!order)
        return tlc_fail(error, TLC_ENVIRONMENT, "campaign: out of memory");
    enum tlc_status status = measure_block(campaign, block, order, error);
    if (status == TLC_OK)
        status = tlc_stacks_used_check(plan, error);
    for (size_t i = 0; i < plan->arm_count; i++)
        take_stay(campaign, i);
    for (size_t i = 0; i < plan->arm_count && status == TLC_OK && !tlc_interrupted(); i++)
        if (has_doubled(plan))
            run_doubled(campaign, i);
    for (size_t i = 0; i < plan->arm_count; i++) {
        if (!tlc_interrupted() && status == TLC_OK)
            status = finish_sample(campaign, i, error);
        campaign->of_arm[i]->kind->release(campaign->of_arm[i]->workload, i);
        tlc_stay_clear(&campaign->stays[i]);
        tlc_sample_clear(&campaign->running[i]);
    }
    free(order);
    return status;
}

// Whether the campaign's time leaves room for one more block of the mean length so far.
static bool has_time(const struct campaign *campaign, unsigned done)
{
    enum { LEAST_BLOCKS = 6 }; // for an interval at 95 %
    double at_most_s = (double)campaign->plan->schedule.at_most_us / 1e6;
    double elapsed = (double)(tlc_now_ns() - campaign->started_ns) / 1e9;
    return at_most_s <= 0 || done < LEAST_BLOCKS || elapsed + elapsed / done <= at_most_s;
}

static void count_slices(struct campaign *campaign)
{
    const struct tlc_schedule *schedule = &campaign->plan->schedule;
    uint64_t a_block = tlc_schedule_visit_count(campaign->plan) * schedule->rounds;
    if (has_doubled(campaign->plan))
        a_block += campaign->plan->arm_count;
    for (unsigned block = 0; block < tlc_schedule_most_blocks(campaign->plan); block++)
        if (!block_finished(campaign->samples, block))
            campaign->slices_todo += a_block;
}

static enum tlc_status run_blocks(struct campaign *campaign, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    unsigned done = 0, most = tlc_schedule_most_blocks(campaign->plan);
    count_slices(campaign);
    campaign->started_ns = tlc_now_ns();
    campaign->stopped = "blocks";
    for (unsigned block = 0; block < most && status == TLC_OK && !tlc_interrupted(); block++) {
        if (!block_finished(campaign->samples, block)) {
            if (!has_time(campaign, done)) {
                campaign->stopped = "time";
                break;
            }
            status = run_block(campaign, block, error);
            done++;
        }
        if (status == TLC_OK && !tlc_interrupted() &&
            tlc_until_look(campaign->plan, campaign->samples, block + 1, campaign->looks)) {
            campaign->stopped = "narrow";
            break;
        }
    }
    if (tlc_interrupted())
        campaign->stopped = "interrupted";
    return status;
}

static enum tlc_status open_journal(struct campaign *campaign, json_t **header,
                                    struct tlc_error *error)
{
    const struct tlc_campaign_options *options = campaign->options;
    if (options->go_on) {
        enum tlc_status status = tlc_journal_open(options->journal, header, &campaign->samples,
                                                  &campaign->journal, error);
        if (status == TLC_OK)
            drop_partial_blocks(campaign->samples, campaign->plan->arm_count);
        return status;
    }
    *header = new_header(options);
    campaign->samples = json_array();
    return tlc_journal_create(options->journal, *header, &campaign->journal, error);
}

static enum tlc_status conclude(struct campaign *campaign, json_t *header, json_t **result,
                                struct tlc_error *error)
{
    *result = json_deep_copy(header);
    json_object_set_new(*result, "finished", tlc_result_now());
    json_object_set_new(json_object_get(*result, "setup"), "interrupted",
                        json_boolean(tlc_interrupted()));
    enum tlc_status status =
        tlc_campaign_summarise(*result, campaign->plan, campaign->samples, error);
    tlc_until_tell(*result, campaign->looks, campaign->stopped);
    if (tlc_interrupted() && (status == TLC_OK || status == TLC_REFUSED))
        return tlc_fail(error, TLC_INTERRUPTED,
                        "run: interrupted; what was finished is in the result");
    return status;
}

static struct opened *opened_of(struct campaign *campaign, const struct tlc_workload_kind *kind)
{
    for (size_t i = 0; i < campaign->opened_count; i++)
        if (campaign->opened[i].kind == kind)
            return &campaign->opened[i];
    campaign->opened[campaign->opened_count].kind = kind;
    return &campaign->opened[campaign->opened_count++];
}

// Gives each arm its kind of workload, and has each kind check its arms.
static enum tlc_status find_kinds(struct campaign *campaign, struct tlc_error *error)
{
    const struct tlc_plan *plan = campaign->plan;
    for (size_t i = 0; i < plan->arm_count; i++) {
        const struct tlc_workload_kind *kind = tlc_workload_kind(plan->arms[i].workload);
        if (!kind)
            return tlc_fail(error, TLC_USAGE, "arm '%s': workload '%s': not in this build",
                            plan->arms[i].name, plan->arms[i].workload);
        if (plan->schedule.duet && !kind->duet)
            return tlc_fail(error, TLC_USAGE,
                            "arm '%s': workload '%s' runs one arm at a time; write duet: false",
                            plan->arms[i].name, plan->arms[i].workload);
        campaign->of_arm[i] = opened_of(campaign, kind);
    }
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; status == TLC_OK && i < campaign->opened_count; i++)
        status = campaign->opened[i].kind->check(&campaign->setup, error);
    return status;
}

static enum tlc_status open_workloads(struct campaign *campaign, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; status == TLC_OK && i < campaign->opened_count; i++)
        status =
            campaign->opened[i].kind->open(&campaign->setup, &campaign->opened[i].workload, error);
    return status;
}

enum tlc_status tlc_campaign_run(const struct tlc_campaign_options *options, json_t **result,
                                 struct tlc_error *error)
{
    struct campaign campaign = {
        .options = options, .plan = options->plan, .setup = tlc_campaign_setup(options)};
    json_t *header = NULL;
    *result = NULL;
    campaign.looks = json_array();
    campaign.stopped = "failure";
    campaign.running = calloc(options->plan->arm_count, sizeof *campaign.running);
    campaign.stays = calloc(options->plan->arm_count, sizeof *campaign.stays);
    campaign.stayed = calloc(options->plan->arm_count, sizeof *campaign.stayed);
    campaign.of_arm = calloc(options->plan->arm_count, sizeof *campaign.of_arm);
    campaign.opened = calloc(options->plan->arm_count, sizeof *campaign.opened);
    bool whole =
        campaign.running && campaign.stays && campaign.stayed && campaign.of_arm && campaign.opened;
    enum tlc_status status = whole ? find_kinds(&campaign, error)
                                   : tlc_fail(error, TLC_ENVIRONMENT, "campaign: out of memory");
    if (status == TLC_OK)
        status = open_journal(&campaign, &header, error);
    if (status == TLC_OK)
        status = open_workloads(&campaign, error);
    if (status == TLC_OK)
        status = run_blocks(&campaign, error);
    for (size_t i = 0; i < campaign.opened_count; i++)
        if (campaign.opened[i].workload)
            campaign.opened[i].kind->close(campaign.opened[i].workload);
    // Even a campaign that broke off tells what it had finished.
    if (header && json_array_size(campaign.samples)) {
        struct tlc_error summary = {0};
        enum tlc_status concluded =
            conclude(&campaign, header, result, status == TLC_OK ? error : &summary);
        if (status == TLC_OK)
            status = concluded;
    } else if (status == TLC_OK && tlc_interrupted()) {
        status = tlc_fail(error, TLC_INTERRUPTED, "run: interrupted before a block was finished");
    }
    tlc_journal_close(campaign.journal);
    // There is nothing to go on with.
    if (campaign.journal && status != TLC_OK && status != TLC_INTERRUPTED && !options->go_on &&
        !json_array_size(campaign.samples))
        remove(options->journal);
    json_decref(campaign.samples);
    json_decref(campaign.looks);
    json_decref(header);
    free(campaign.running);
    free(campaign.stays);
    free(campaign.stayed);
    free(campaign.of_arm);
    free(campaign.opened);
    return status;
}
