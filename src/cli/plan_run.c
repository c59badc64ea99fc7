#include "cli/plan_run.h"

#include <errno.h>
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
#include "cli/common.h"
#include "cli/measuring.h"
#include "measure/machine.h"
#include "report/report.h"
#include "result/result.h"

enum tlc_status tlc_choose_output(const char *given, const char *plan, char *path, size_t capacity,
                                  struct tlc_error *error)
{
    if (given) {
        snprintf(path, capacity, "%s", given);
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

enum tlc_status tlc_can_be_written(const char *command, const char *option, const char *path,
                                   struct tlc_error *error)
{
    struct stat found;
    if (!*path)
        return tlc_fail(error, TLC_USAGE, "%s: %s: an empty name; name a file", command, option);
    if (!stat(path, &found))
        return S_ISREG(found.st_mode)
                   ? TLC_OK
                   : tlc_fail(error, TLC_USAGE,
                              "%s: %s %s: not a file; name one that is a file or does not exist",
                              command, option, path);
    char folder[1024];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    return access(slash ? folder : ".", W_OK)
               ? tlc_fail_errno(error, "%s: %s %s", command, option, path)
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

int tlc_finish_run(enum tlc_status status, json_t *result, const char *output, bool json,
                   struct tlc_error *error)
{
    char journal[1040];
    snprintf(journal, sizeof journal, "%s.journal", output);
    if (!result) {
        int code = tlc_report_error(error);
        tell_how_to_go_on(output, journal);
        return code;
    }
    struct tlc_error writing = {0};
    if (tlc_result_write(result, output, &writing) != TLC_OK) {
        if (!access(journal, R_OK))
            fprintf(stderr, "tlscost: the samples are kept in %s\n", journal);
        return tlc_report_error(&writing);
    }
    // An interrupted or broken campaign keeps its journal, for --continue.
    if (status == TLC_OK || status == TLC_REFUSED)
        remove(journal);
    struct tlc_error printing = {0};
    int code = TLC_OK;
    if (json)
        tlc_print_json(result);
    else
        code = tell_report(result, output, &printing);
    if (status != TLC_OK)
        code = tlc_report_error(error);
    if (status != TLC_OK && status != TLC_REFUSED)
        tell_how_to_go_on(output, journal);
    return code;
}

static void tell_plan(const struct tlc_plan *plan)
{
    for (size_t i = 0; i < plan->left_out_count; i++)
        fprintf(stderr, "tlscost: arm '%s' is left out: %s\n", plan->left_out[i].arm,
                plan->left_out[i].reason);
    fprintf(stderr, "tlscost: plan '%s': %zu arms, %u blocks of fresh %s, about %.0f s\n",
            plan->name, plan->arm_count, plan->schedule.blocks,
            strcmp(plan->workload, "network") ? "processes" : "servers", tlc_plan_seconds(plan));
}

static enum tlc_status run_campaign(const struct tlc_plan_run *run, const char *journal,
                                    json_t **result, struct tlc_error *error)
{
    struct tlc_measuring measuring;
    enum tlc_status status = tlc_measuring_begin(&measuring, "run", run->measuring, error);
    measuring.campaign.plan = run->plan;
    measuring.campaign.journal = journal;
    measuring.campaign.go_on = run->go_on;
    // A campaign that goes on keeps the arms that it began with.
    if (status == TLC_OK && !run->go_on)
        status = tlc_campaign_leave_out(run->plan, &measuring.campaign, error);
    if (status == TLC_OK) {
        json_t *environment = tlc_machine_describe();
        json_t *calibration = tlc_calibration_find(environment);
        json_decref(environment);
        measuring.campaign.calibration = calibration;
        if (!run->measuring->quiet)
            tell_plan(run->plan);
        status = tlc_campaign_run(&measuring.campaign, result, error);
        json_decref(calibration);
    }
    tlc_measuring_end(&measuring, run->keep_logs);
    return status;
}

static enum tlc_status write_format(const struct tlc_plan_run *run, const json_t *result,
                                    struct tlc_error *error)
{
    FILE *to = fopen(run->format_to, "we");
    if (!to)
        return tlc_fail_errno(error, "%s: %s", run->format, run->format_to);
    enum tlc_status status = tlc_report_write(result, run->format, to, error);
    if (fclose(to) && status == TLC_OK)
        status = tlc_fail_errno(error, "%s: %s", run->format, run->format_to);
    return status;
}

int tlc_plan_run(const struct tlc_plan_run *run, struct tlc_error *error)
{
    char journal[1040];
    json_t *result = NULL;
    struct tlc_error writing = {0};
    snprintf(journal, sizeof journal, "%s.journal", run->output);
    if (tlc_can_be_written("run", "--output", run->output, error) != TLC_OK)
        return tlc_report_error(error);
    enum tlc_status status = run_campaign(run, journal, &result, error);
    int code = tlc_finish_run(status, result, run->output, run->measuring->json, error);
    if (result && run->format && write_format(run, result, &writing) != TLC_OK) {
        int failed = tlc_report_error(&writing);
        code = code == TLC_INTERRUPTED ? code : failed;
    }
    json_decref(result);
    return code;
}
