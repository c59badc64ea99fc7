// tlscost run: reads a plan, runs its campaign, writes the result and prints the report.
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/connect_run.h"
#include "cli/measuring.h"
#include "cli/plan_run.h"
#include "cli/share.h"
#include "plan/plan.h"
#include "result/result.h"

struct options {
    struct tlc_measuring_options measuring;
    const char *plan, *go_on;
    uint64_t blocks, at_most_us;
    double until;
    bool quick, keep_logs;
    struct tlc_error error;
};

enum { KEY_QUICK = 256, KEY_CONTINUE, KEY_BLOCKS, KEY_UNTIL, KEY_AT_MOST, KEY_KEEP_LOGS };

static const struct argp_option argp_options[] = {
    {"quick", KEY_QUICK, NULL, 0, "The same arms in about 30 seconds of measuring", 0},
    {"continue", KEY_CONTINUE, "FILE", 0,
     "Go on with a campaign that was broken off; FILE is its result file", 0},
    {"blocks", KEY_BLOCKS, "N", 0, "Fresh servers this many times (at least 6 for intervals)", 0},
    {"until", KEY_UNTIL, "SHARE", 0,
     "As many blocks as make the half-width of every interval this narrow, for example 1%", 0},
    {"at-most", KEY_AT_MOST, "TIME", 0, "Begin no block that would end later, for example 5min", 0},
    {"keep-logs", KEY_KEEP_LOGS, NULL, 0, "Keep the logs of servers and generator, and say where",
     0},
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
    case KEY_CONTINUE:
        options->go_on = argument;
        return 0;
    case KEY_BLOCKS:
        tlc_take_number(state, "--blocks", argument, 1, 1000, &options->blocks);
        return 0;
    case KEY_UNTIL:
        if (!tlc_parse_share(argument, &options->until) || options->until > 1)
            argp_error(state,
                       "--until: '%s': not a share from 0%% (after the plan's blocks) to 100%%; "
                       "write for example 1%%",
                       argument);
        return 0;
    case KEY_AT_MOST:
        if (tlc_parse_duration(argument, &options->at_most_us, &options->error) != TLC_OK)
            argp_error(state, "%s", options->error.text);
        return 0;
    case KEY_KEEP_LOGS:
        options->keep_logs = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "'%s': one plan at a time", argument);
        options->plan = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char documentation[] =
    "Run a plan: start the servers of all arms, check what they serve, measure in short "
    "interleaved "
    "slices, refuse what fails a check, and report costs and ratios with their intervals. PLAN is "
    "a "
    "name of 'tlscost plans' or a YAML file (default: levers)."
    "\vExamples:\n"
    "  tlscost run --quick -o r.json\n"
    "  tlscost run plans/groups.yaml --server-cpus 1 --generator-cpus 0\n"
    "  tlscost run groups --until 1% --at-most 5min\n"
    "  tlscost run --continue r.json     after a crash or a kill\n\n"
    "Finished samples are kept in FILE.journal until the result is written, so that nothing is "
    "lost.";

// The journal goes when its campaign is finished; its result then stands alone.
static enum tlc_status check_unfinished(const char *output, const char *journal,
                                        struct tlc_error *error)
{
    if (!access(journal, F_OK) || errno != ENOENT)
        return TLC_OK;
    if (access(output, F_OK))
        return tlc_fail(error, TLC_USAGE,
                        "run: --continue %s: neither it nor its journal %s is there; name the "
                        "result file of the campaign that was broken off",
                        output, journal);
    return tlc_fail(error, TLC_USAGE,
                    "run: --continue %s: its campaign is finished (there is no journal); 'tlscost "
                    "report %s' prints its report",
                    output, output);
}

// The plan of a journal that is continued, so that a changed file cannot mix two plans.
static enum tlc_status plan_of_journal(const char *journal, struct tlc_plan **plan,
                                       struct tlc_error *error)
{
    json_t *header, *entries;
    struct tlc_journal *opened;
    enum tlc_status status = tlc_journal_open(journal, &header, &entries, &opened, error);
    if (status != TLC_OK)
        return status;
    tlc_journal_close(opened);
    status = tlc_plan_from_json(json_object_get(header, "plan"), plan, error);
    json_decref(header);
    json_decref(entries);
    return status;
}

static enum tlc_status read_plan(const struct options *options, const char *journal,
                                 struct tlc_plan **plan, struct tlc_error *error)
{
    if (options->go_on) {
        if (options->plan)
            return tlc_fail(error, TLC_USAGE,
                            "run: --continue takes its plan from the journal; leave out '%s'",
                            options->plan);
        enum tlc_status status = check_unfinished(options->go_on, journal, error);
        return status == TLC_OK ? plan_of_journal(journal, plan, error) : status;
    }
    char *path = NULL;
    enum tlc_status status = tlc_plan_find(options->plan ? options->plan : "levers", &path, error);
    if (status == TLC_OK)
        status = tlc_plan_read(path, plan, error);
    free(path);
    if (status == TLC_OK && options->quick)
        tlc_plan_make_quick(*plan);
    if (status == TLC_OK && options->blocks)
        (*plan)->schedule.blocks = (unsigned)options->blocks;
    if (status == TLC_OK && options->until >= 0)
        (*plan)->schedule.until = options->until;
    if (status == TLC_OK && options->at_most_us)
        (*plan)->schedule.at_most_us = options->at_most_us;
    return status;
}

// All arms wait at once, so there are no slices, no journal, and no CPUs to keep apart.
static int run_connect(const struct options *options, const struct tlc_plan *plan,
                       const char *output, struct tlc_error *error)
{
    if (options->blocks || options->measuring.server_cpus || options->measuring.generator_cpus) {
        tlc_fail(error, TLC_USAGE,
                 "run: plan '%s' has the workload connect, which has neither blocks nor CPUs of "
                 "its own; leave out --blocks, --server-cpus and --generator-cpus",
                 plan->name);
        return tlc_report_error(error);
    }
    json_t *result = NULL;
    struct tlc_connect_options connect = {.plan = plan, .seed = 1};
    enum tlc_status status =
        tlc_connect_measure(&connect, options->measuring.quiet, options->keep_logs, &result, error);
    int code = tlc_finish_run(status, result, output, options->measuring.json, error);
    json_decref(result);
    return code;
}

int tlc_cmd_run(int argc, char **argv)
{
    struct options options = {.until = -1}; // as the plan says
    const struct argp argp = {argp_options,           parse_option, "[PLAN]", documentation,
                              tlc_measuring_children, NULL,         NULL};
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    struct tlc_error error = {0};
    struct tlc_plan *plan = NULL;
    char output[1024], journal[1040];
    tlc_catch_interrupts();
    enum tlc_status status =
        tlc_choose_output(options.go_on ? options.go_on : options.measuring.output,
                          options.plan ? options.plan : "levers", output, sizeof output, &error);
    snprintf(journal, sizeof journal, "%s.journal", output);
    if (status == TLC_OK)
        status = read_plan(&options, journal, &plan, &error);
    if (status != TLC_OK)
        return tlc_report_error(&error);
    const struct tlc_plan_run run = {.plan = plan,
                                     .output = output,
                                     .go_on = options.go_on,
                                     .keep_logs = options.keep_logs,
                                     .measuring = &options.measuring};
    int code = tlc_is_connect_plan(plan) ? run_connect(&options, plan, output, &error)
                                         : tlc_plan_run(&run, &error);
    tlc_plan_free(plan);
    return code;
}
