// The orchestrator: blocks of fresh instances, rounds of slices in turning order, checks, journal,
// summary.
#ifndef TLC_CAMPAIGN_CAMPAIGN_H
#define TLC_CAMPAIGN_CAMPAIGN_H

#include <jansson.h>
#include <sched.h>
#include <stdbool.h>

#include "base/error.h"
#include "plan/plan.h"

struct tlc_campaign_options {
    const struct tlc_plan *plan;
    const char *work_directory;        // logs; exists
    const char *certificate_directory; // test certificates are made and kept below it
    const char *journal; // file that keeps finished samples; must not exist unless `go_on`
    bool go_on;          // continue the campaign of `journal`
    cpu_set_t server_cpus, generator_cpus;
    unsigned idle_connections; // as in workload/workload.h
    const json_t *calibration; // of this machine, as tlc_calibration_find gives it; NULL: none
    // Told after every slice: how far the campaign is (0..1) and seconds left; NULL: nobody
    // listens.
    void (*progress)(void *user, double done, double seconds_left, unsigned block, const char *arm);
    void *user;
};

// Runs the campaign and builds its result document. On an interruption (base/interrupt.h), which
// ends it after its slice, the result holds what was finished and the status is TLC_INTERRUPTED;
// when arms or the campaign are refused by checks it is TLC_REFUSED. *result is NULL only when
// nothing can be said.
enum tlc_status tlc_campaign_run(const struct tlc_campaign_options *options, json_t **result,
                                 struct tlc_error *error) TLC_CHECKED;
// Takes the optional arms that cannot run here out of the plan, each with the reason; also those
// that are divided by one of them. What their servers need is fetched and built for that, and each
// server makes a handshake. Of `options` the folders and CPUs count. TLC_USAGE when an arm that
// must stay is divided by one that is taken out.
enum tlc_status tlc_campaign_leave_out(struct tlc_plan *plan,
                                       const struct tlc_campaign_options *options,
                                       struct tlc_error *error) TLC_CHECKED;
// Makes the first handshake of one arm of the plan and ends it again: whether the arm can run here
// at all. The error is the library's own words, or how *evidence (the caller's, NULL when there is
// none) differs from what the arm asks for. Of `options` the plan, folders and CPUs count.
enum tlc_status tlc_campaign_try(const struct tlc_campaign_options *options, size_t arm,
                                 json_t **evidence, struct tlc_error *error) TLC_CHECKED;

// Puts arms, checks, refusals and the verdicts of a campaign into `result` from its plan and the
// samples of its journal (an array). Pure: the same samples give the same summary.
enum tlc_status tlc_campaign_summarise(json_t *result, const struct tlc_plan *plan,
                                       const json_t *samples, struct tlc_error *error) TLC_CHECKED;

#endif
