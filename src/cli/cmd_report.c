// tlscost report: tells a result again, in another format if asked.
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "report/report.h"
#include "result/result.h"

struct options {
    const char *file, *format, *output;
};

static const struct argp_option argp_options[] = {
    {"format", 'f', "NAME", 0,
     "terminal (default), markdown, csv (all samples), json, benchstat (Go benchmark lines), "
     "jmh-json, or folded (stacks of attributed arms)",
     0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0},
    {0},
};

static bool is_format(const char *name)
{
    for (size_t i = 0; tlc_report_format_at(i); i++)
        if (!strcmp(tlc_report_format_at(i), name))
            return true;
    return false;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'f':
        if (!is_format(argument))
            argp_error(state,
                       "format '%s': unknown; known are terminal, markdown, csv, json, benchstat, "
                       "jmh-json, folded",
                       argument);
        options->format = argument;
        return 0;
    case 'o':
        options->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (options->file)
            argp_error(state, "'%s': one result at a time", argument);
        options->file = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no result; name a file that 'tlscost run -o FILE' wrote");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char documentation[] =
    "Print the report of a result again: what each lever costs, with intervals, checks, refused "
    "samples and published figures of the same comparison. Nothing is measured; FILE '-' is "
    "standard input."
    "\vExamples:\n"
    "  tlscost report r.json\n"
    "  tlscost report r.json --format markdown -o report.md\n"
    "  tlscost report r.json --format csv | sort\n"
    "  tlscost report r.json --format benchstat > new.txt\n\n"
    "TLSCOST_REFERENCES names another folder of published results. NO_COLOR switches colour off.";

static enum tlc_status write_report(const json_t *result, const struct options *options,
                                    struct tlc_error *error)
{
    if (!options->output)
        return tlc_report_write(result, options->format, stdout, error);
    struct stat from, onto;
    if (!stat(options->file, &from) && !stat(options->output, &onto) &&
        from.st_dev == onto.st_dev && from.st_ino == onto.st_ino)
        return tlc_fail(error, TLC_USAGE,
                        "report: --output %s: is the result itself; name another file",
                        options->output);
    FILE *to = fopen(options->output, "we");
    if (!to)
        return tlc_fail_errno(error, "report: %s", options->output);
    enum tlc_status status = tlc_report_write(result, options->format, to, error);
    if (fclose(to) && status == TLC_OK)
        status = tlc_fail_errno(error, "report: %s", options->output);
    return status;
}

int tlc_cmd_report(int argc, char **argv)
{
    struct options options = {.format = "terminal"};
    const struct argp argp = {argp_options, parse_option, "FILE", documentation, NULL, NULL, NULL};
    argp_err_exit_status = TLC_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    struct tlc_error error = {0};
    json_t *result = NULL;
    enum tlc_status status = tlc_result_read(options.file, &result, &error);
    if (status == TLC_OK)
        status = write_report(result, &options, &error);
    json_decref(result);
    return status == TLC_OK ? TLC_OK : tlc_report_error(&error);
}
