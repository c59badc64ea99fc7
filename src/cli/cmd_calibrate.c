// tlscost calibrate: reads what is known beforehand, and says whether the instrument can be trusted
// on this machine.
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign/calibrate.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/measuring.h"
#include "cli/plan_run.h"
#include "plan/plan.h"
#include "report/report.h"
#include "result/result.h"

struct options {
    struct tlc_measuring_options measuring;
    const char *plan;
    bool quick;
};

enum { KEY_PLAN = 256, KEY_QUICK };

static const struct argp_option argp_options[] = {
    {"quick", KEY_QUICK, NULL, 0, "In about a minute, with wider intervals", 0},
    {"plan", KEY_PLAN, "PLAN", 0, "Name or file of the plan (default: calibration)", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->measuring;
        return 0;
    case KEY_QUICK:
        options->quick = true;
        return 0;
    case KEY_PLAN:
        options->plan = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char documentation[] =
    "Prove the instrument on this machine, in under 3 minutes: two equal arms must not differ, CPU "
    "time that the server burns on purpose must be read back, the first and the last place of a "
    "round must cost the same, and cheap and honest clients must cost the server the same. Also "
    "tells how much load on the generator's CPUs slows the server's. The verdict is kept, and "
    "later "
    "results of this machine cite it."
    "\vExamples:\n"
    "  tlscost calibrate\n"
    "  tlscost calibrate --json > calibration.json\n"
    "  tlscost calibrate --server-cpus 1 --generator-cpus 0\n\n"
    "Exit codes: 0 all passed; 3 a part failed or could not be shown.";

static enum tlc_status read_plan(const struct options *options, struct tlc_plan **plan,
                                 struct tlc_error *error)
{
    char *path = NULL;
    enum tlc_status status =
        tlc_plan_find(options->plan ? options->plan : "calibration", &path, error);
    if (status == TLC_OK)
        status = tlc_plan_read(path, plan, error);
    free(path);
    if (status == TLC_OK && options->quick)
        tlc_plan_make_quick(*plan);
    return status == TLC_OK ? tlc_calibration_check_plan(*plan, error) : status;
}

static enum tlc_status run(const struct options *options, const struct tlc_plan *plan,
                           json_t **document, struct tlc_error *error)
{
    struct tlc_measuring measuring;
    // A calibration that was broken off is begun anew, so its journal goes with the logs.
    enum tlc_status status =
        tlc_measuring_begin(&measuring, "calibrate", &options->measuring, error);
    measuring.campaign.plan = plan;
    if (status == TLC_OK) {
        if (!options->measuring.quiet)
            fprintf(stderr, "tlscost: calibrating takes about %.0f s; leave the machine alone\n",
                    tlc_calibration_seconds(plan));
        status = tlc_calibrate(&measuring.campaign, document, error);
    }
    tlc_measuring_end(&measuring, false);
    return status;
}

static void tell(const json_t *document, const char *stored)
{
    tlc_calibration_print(document, stdout);
    if (stored)
        printf("Kept for later reports of this machine: %s\n", stored);
}

static enum tlc_status deliver(const struct options *options, const json_t *document,
                               bool interrupted, struct tlc_error *error)
{
    char stored[800];
    enum tlc_status status = TLC_OK;
    // Half a calibration must not replace a whole one.
    if (!interrupted)
        status = tlc_calibration_store(document, stored, sizeof stored, error);
    struct tlc_error writing = {0};
    if (options->measuring.output &&
        tlc_result_write(document, options->measuring.output, &writing) != TLC_OK) {
        *error = writing;
        status = writing.status;
    }
    if (options->measuring.json)
        tlc_print_json(document);
    else if (!options->measuring.output || strcmp(options->measuring.output, "-") != 0)
        tell(document, interrupted || status != TLC_OK ? NULL : stored);
    return status;
}

int tlc_cmd_calibrate(int argc, char **argv)
{
    struct options options = {0};
    const struct argp argp = {argp_options,           parse_option, NULL, documentation,
                              tlc_measuring_children, NULL,         NULL};
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    struct tlc_error error = {0}, delivering = {0};
    struct tlc_plan *plan = NULL;
    json_t *document = NULL;
    tlc_catch_interrupts();
    const char *output = options.measuring.output;
    enum tlc_status status = read_plan(&options, &plan, &error);
    if (status == TLC_OK && output && strcmp(output, "-") != 0)
        status = tlc_can_be_written("calibrate", "--output", output, &error);
    if (status == TLC_OK)
        status = run(&options, plan, &document, &error);
    if (document && deliver(&options, document, status == TLC_INTERRUPTED, &delivering) != TLC_OK &&
        status == TLC_OK) {
        status = delivering.status;
        error = delivering;
    }
    json_decref(document);
    tlc_plan_free(plan);
    return status == TLC_OK ? TLC_OK : tlc_report_error(&error);
}
