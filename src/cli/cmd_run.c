// tlscost run: reads a plan, runs its campaign, writes the result and prints the report.
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/directory.h"
#include "campaign/calibrate.h"
#include "campaign/campaign.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/connect_run.h"
#include "cli/measuring.h"
#include "cli/share.h"
#include "measure/machine.h"
#include "plan/plan.h"
#include "report/report.h"
#include "result/result.h"

struct options {
    const char *plan, *output, *go_on, *server_cpus, *generator_cpus;
    uint64_t blocks, at_most_us;
    double until;
    bool quick, quiet, keep_logs;
    struct tlc_error error;
};

enum {
    KEY_QUICK = 256,
    KEY_CONTINUE,
    KEY_SERVER_CPUS,
    KEY_GENERATOR_CPUS,
    KEY_BLOCKS,
    KEY_UNTIL,
    KEY_AT_MOST,
    KEY_KEEP_LOGS
};

static const struct argp_option argp_options[] = {
    {"quick", KEY_QUICK, NULL, 0, "The same arms in about 30 seconds of measuring", 0},
    {"output", 'o', "FILE", 0,
     "Where the result goes (default: a dated file in the state directory)", 0},
    {"continue", KEY_CONTINUE, "FILE", 0,
     "Go on with a campaign that was broken off; FILE is its result file", 0},
    {"blocks", KEY_BLOCKS, "N", 0, "Fresh servers this many times (at least 6 for intervals)", 0},
    {"until", KEY_UNTIL, "SHARE", 0,
     "As many blocks as make the half-width of every interval this narrow, for example 1%", 0},
    {"at-most", KEY_AT_MOST, "TIME", 0, "Begin no block that would end later, for example 5min", 0},
    {"server-cpus", KEY_SERVER_CPUS, "LIST", 0,
     "CPUs of the servers, for example 2-3 (default: chosen)", 0},
    {"generator-cpus", KEY_GENERATOR_CPUS, "LIST", 0, "CPUs of the generator and the orchestrator",
     0},
    {"quiet", 'q', NULL, 0, "No progress on standard error", 0},
    {"keep-logs", KEY_KEEP_LOGS, NULL, 0, "Keep the logs of servers and generator, and say where",
     0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_QUICK:
        options->quick = true;
        return 0;
    case 'o':
        options->output = argument;
        return 0;
    case KEY_CONTINUE:
        options->go_on = argument;
        return 0;
    case KEY_BLOCKS:
        if (tlc_parse_number("--blocks", argument, 1, 1000, &options->blocks, &options->error) !=
            TLC_OK)
            argp_error(state, "%s", options->error.text);
        return 0;
    case KEY_UNTIL:
        if (!tlc_parse_share(argument, &options->until) || options->until <= 0)
            argp_error(state, "--until: '%s': not a share; write for example 1%%", argument);
        return 0;
    case KEY_AT_MOST:
        if (tlc_parse_duration(argument, &options->at_most_us, &options->error) != TLC_OK)
            argp_error(state, "%s", options->error.text);
        return 0;
    case KEY_SERVER_CPUS:
        options->server_cpus = argument;
        return 0;
    case KEY_GENERATOR_CPUS:
        options->generator_cpus = argument;
        return 0;
    case 'q':
        options->quiet = true;
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
    if (status == TLC_OK && options->until > 0)
        (*plan)->schedule.until = options->until;
    if (status == TLC_OK && options->at_most_us)
        (*plan)->schedule.at_most_us = options->at_most_us;
    return status;
}

// Default result file: STATE/tlscost/PLAN-DATE.json.
static enum tlc_status choose_output(const struct options *options, const char *plan, char *path,
                                     size_t capacity, struct tlc_error *error)
{
    if (options->go_on || options->output) {
        snprintf(path, capacity, "%s", options->go_on ? options->go_on : options->output);
        return TLC_OK;
    }
    char directory[512], stamp[32];
    enum tlc_status status =
        tlc_directory_of_user(TLC_DIRECTORY_STATE, directory, sizeof directory, error);
    if (status != TLC_OK)
        return status;
    const char *name = strrchr(plan, '/') ? strrchr(plan, '/') + 1 : plan;
    time_t now = time(NULL);
    struct tm parts;
    localtime_r(&now, &parts);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &parts);
    snprintf(path, capacity, "%s/%.*s-%s.json", directory, (int)strcspn(name, "."), name, stamp);
    return TLC_OK;
}

// Found out before minutes of measuring, not after.
static enum tlc_status can_be_written(const char *path, struct tlc_error *error)
{
    struct stat found;
    if (!stat(path, &found))
        return S_ISREG(found.st_mode)
                   ? TLC_OK
                   : tlc_fail(
                         error, TLC_USAGE,
                         "run: --output %s: not a file; name one that is a file or does not exist",
                         path);
    char folder[1024];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    return access(slash ? folder : ".", W_OK) ? tlc_fail_errno(error, "run: --output %s", path)
                                              : TLC_OK;
}

static bool reader_is_gone(int fd)
{
    struct pollfd end = {.fd = fd};
    return poll(&end, 1, 0) > 0 && (end.revents & POLLERR);
}

// A closed pipe (`run | head`) takes nothing from the result, which is in its file.
static int tell_report(const json_t *result, const char *output, struct tlc_error *error)
{
    if (tlc_report_write(result, "terminal", stdout, error) == TLC_OK) {
        printf("\nResult: %s\n", output);
        if (!fflush(stdout))
            return TLC_OK;
        tlc_fail_errno(error, "report: write");
    }
    fprintf(stderr, "tlscost: the result is in %s; 'tlscost report' prints it again\n", output);
    return reader_is_gone(STDOUT_FILENO) ? TLC_OK : tlc_report_error(error);
}

static void tell_how_to_go_on(const char *output, const char *journal)
{
    if (!access(journal, R_OK))
        fprintf(stderr, "To go on: tlscost run --continue %s\n", output);
}

static int finish(enum tlc_status status, json_t *result, const char *output, const char *journal,
                  const struct tlc_progress *progress, struct tlc_error *error)
{
    tlc_progress_end(progress);
    if (!result) {
        int code = tlc_report_error(error);
        tell_how_to_go_on(output, journal);
        return code;
    }
    struct tlc_error writing = {0};
    if (tlc_result_write(result, output, &writing) != TLC_OK) {
        fprintf(stderr, "tlscost: the samples are kept in %s\n", journal);
        return tlc_report_error(&writing);
    }
    // An interrupted or broken campaign keeps its journal, for --continue.
    if (status == TLC_OK || status == TLC_REFUSED)
        remove(journal);
    struct tlc_error printing = {0};
    int code = tell_report(result, output, &printing);
    if (status != TLC_OK)
        code = tlc_report_error(error);
    if (status != TLC_OK && status != TLC_REFUSED)
        tell_how_to_go_on(output, journal);
    return code;
}

static enum tlc_status run_campaign(const struct options *options, struct tlc_plan *plan,
                                    const char *journal, struct tlc_progress *progress,
                                    json_t **result, struct tlc_error *error)
{
    char cache[512], work[640];
    struct tlc_campaign_options campaign = {.plan = plan,
                                            .journal = journal,
                                            .go_on = options->go_on,
                                            .progress = tlc_progress_show,
                                            .user = progress};
    enum tlc_status status = tlc_directory_of_user(TLC_DIRECTORY_CACHE, cache, sizeof cache, error);
    if (status == TLC_OK)
        status = tlc_directory_temporary("tlscost-run", work, sizeof work, error);
    if (status != TLC_OK)
        return status;
    campaign.certificate_directory = cache;
    campaign.work_directory = work;
    status = tlc_choose_cpus(options->server_cpus, options->generator_cpus, &campaign.server_cpus,
                             &campaign.generator_cpus, error);
    json_t *environment = tlc_machine_describe();
    json_t *calibration = tlc_calibration_find(environment);
    json_decref(environment);
    campaign.calibration = calibration;
    if (status == TLC_OK) {
        if (!progress->quiet)
            fprintf(stderr,
                    "tlscost: plan '%s': %zu arms, %u blocks of fresh servers, about %.0f s\n",
                    plan->name, plan->arm_count, plan->schedule.blocks, tlc_plan_seconds(plan));
        status = tlc_campaign_run(&campaign, result, error);
    }
    json_decref(calibration);
    if (options->keep_logs)
        fprintf(stderr, "tlscost: logs are in %s\n", work);
    else
        tlc_directory_remove(work);
    return status;
}

// All arms wait at once, so there are no slices, no journal, and no CPUs to keep apart.
static enum tlc_status run_connect(const struct options *options, const struct tlc_plan *plan,
                                   json_t **result, struct tlc_error *error)
{
    if (options->blocks || options->server_cpus || options->generator_cpus)
        return tlc_fail(
            error, TLC_USAGE,
            "run: plan '%s' has the workload connect, which has neither blocks nor CPUs "
            "of its own; leave out --blocks, --server-cpus and --generator-cpus",
            plan->name);
    struct tlc_connect_options connect = {.plan = plan, .seed = 1};
    return tlc_connect_measure(&connect, options->quiet, options->keep_logs, result, error);
}

int tlc_cmd_run(int argc, char **argv)
{
    struct options options = {0};
    const struct argp argp = {argp_options, parse_option, "[PLAN]", documentation,
                              NULL,         NULL,         NULL};
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    struct tlc_error error = {0};
    struct tlc_plan *plan = NULL;
    json_t *result = NULL;
    char output[1024], journal[1040];
    struct tlc_progress progress;
    tlc_progress_init(&progress, options.quiet);
    tlc_catch_interrupts();
    enum tlc_status status = choose_output(&options, options.plan ? options.plan : "levers", output,
                                           sizeof output, &error);
    snprintf(journal, sizeof journal, "%s.journal", output);
    if (status == TLC_OK)
        status = can_be_written(output, &error);
    if (status == TLC_OK)
        status = read_plan(&options, journal, &plan, &error);
    if (status != TLC_OK)
        return tlc_report_error(&error);
    if (tlc_is_connect_plan(plan))
        status = run_connect(&options, plan, &result, &error);
    else
        status = run_campaign(&options, plan, journal, &progress, &result, &error);
    int code = finish(status, result, output, journal, &progress, &error);
    json_decref(result);
    tlc_plan_free(plan);
    return code;
}
