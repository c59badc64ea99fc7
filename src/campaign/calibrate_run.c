#include <math.h>
#include <stdlib.h>

#include "base/interrupt.h"
#include "campaign/calibrate.h"
#include "campaign/setup.h"
#include "measure/clock.h"
#include "measure/interference.h"
#include "workload/company.h"

// 2 x 100 windows of 1000 X25519 operations are about 5 s.
enum { INTERFERENCE_PAIRS = 100, INTERFERENCE_OPERATIONS = 1000 };
// Readings of what work costs in company, a block; half of them before the campaign, half behind.
enum { COMPANY_PER_BLOCK = 3 };
static const double INTERFERENCE_SECONDS = 5, COMPANY_SECONDS = 0.45; // of all, and of one
// A slow machine gets fewer blocks, and so wider intervals, rather than a longer calibration.
static const double MOST_SECONDS = 170;

double tlc_calibration_seconds(const struct tlc_plan *plan)
{
    return 1.25 * tlc_plan_seconds(plan) + INTERFERENCE_SECONDS +
           COMPANY_SECONDS * COMPANY_PER_BLOCK * plan->schedule.blocks;
}

struct company {
    double *ratios;
    size_t count, taken;
    struct tlc_error why; // it could not be measured
};

// Half of the readings. A server that cannot be had in memory leaves them out, and says why.
static void measure_company(const struct tlc_campaign_options *options, struct company *company)
{
    const struct tlc_workload_setup setup = tlc_campaign_setup(options);
    size_t taken;
    if (company->why.status != TLC_OK || tlc_interrupted())
        return;
    if (tlc_company_measure(&setup, 0, tlc_interrupted, company->ratios + company->taken,
                            company->count / 2, &taken, &company->why) == TLC_OK)
        company->taken += taken;
}

static json_t *company_json(const struct company *company)
{
    if (company->why.status != TLC_OK)
        return json_pack("{s:s}", "why", company->why.text);
    return tlc_calibration_company(company->ratios, company->taken);
}

static enum tlc_status measure_interference(const struct tlc_campaign_options *options,
                                            json_t **interference, struct tlc_error *error)
{
    double ns[2][INTERFERENCE_PAIRS];
    size_t pairs = 0;
    for (; pairs < INTERFERENCE_PAIRS && !tlc_interrupted(); pairs++)
        for (unsigned turn = 0; turn < 2; turn++) {
            // idle busy, busy idle, ...: what drifts meets both alike.
            unsigned busy = (turn + (unsigned)pairs) % 2;
            enum tlc_status status =
                tlc_interference_window(&options->server_cpus, &options->generator_cpus, busy,
                                        INTERFERENCE_OPERATIONS, &ns[busy][pairs], error);
            if (status != TLC_OK)
                return status;
        }
    *interference = tlc_calibration_interference(ns[0], ns[1], pairs);
    return TLC_OK;
}

// The campaign in what is left of the time, between two halves of the readings in company.
static enum tlc_status run_campaign(const struct tlc_campaign_options *options, uint64_t started_ns,
                                    struct company *company, json_t **document,
                                    struct tlc_error *error)
{
    struct tlc_campaign_options bounded = *options;
    struct tlc_plan plan = *options->plan;
    uint64_t before_ns = tlc_now_ns();
    measure_company(options, company);
    uint64_t half_ns = tlc_now_ns() - before_ns;
    double spent_ns = (double)(tlc_now_ns() - started_ns + half_ns);
    plan.schedule.at_most_us = (uint64_t)fmax(1e6, MOST_SECONDS * 1e6 - spent_ns / 1e3);
    bounded.plan = &plan;
    enum tlc_status status = tlc_campaign_run(&bounded, document, error);
    if (*document)
        measure_company(options, company);
    return status;
}

enum tlc_status tlc_calibrate(const struct tlc_campaign_options *options, json_t **document,
                              struct tlc_error *error)
{
    json_t *interference = NULL;
    struct tlc_error judging = {0};
    struct company company = {.count = COMPANY_PER_BLOCK * options->plan->schedule.blocks};
    uint64_t started_ns = tlc_now_ns();
    *document = NULL;
    enum tlc_status status = tlc_calibration_check_plan(options->plan, error);
    company.ratios = calloc(company.count + 1, sizeof *company.ratios);
    if (status == TLC_OK && !company.ratios)
        status = tlc_fail(error, TLC_ENVIRONMENT, "calibrate: out of memory");
    if (status == TLC_OK)
        status = measure_interference(options, &interference, error);
    if (status == TLC_OK)
        status = run_campaign(options, started_ns, &company, document, error);
    if (*document) {
        json_object_set_new(*document, "command", json_string("calibrate"));
        json_object_set(*document, "interference", interference);
        json_object_set_new(*document, "company", company_json(&company));
        enum tlc_status judged = tlc_calibration_judge(*document, options->plan, &judging);
        // Refused samples are the campaign's to tell; without any, the verdict speaks.
        if (status == TLC_OK && judged != TLC_OK) {
            *error = judging;
            status = judged;
        }
    }
    free(company.ratios);
    json_decref(interference);
    return status;
}
