// tlscost compare: two campaigns, or two arms of one, set against each other.
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/share.h"
#include "report/compare.h"
#include "result/result.h"

struct options {
    const char *files[2], *arms[2], *format, *output;
    size_t file_count;
    bool json, arms_asked;
    struct tlc_compare_options compare;
};

enum { KEY_ARMS = 256, KEY_RELATIVE, KEY_ABSOLUTE, KEY_MARGIN, KEY_FAIL_ABOVE, KEY_JSON };

static const struct argp_option argp_options[] = {
    {"arms", KEY_ARMS, "X", 0, "Compare arms X and Y of one result, paired: --arms X Y or X,Y", 0},
    {"relative-to", KEY_RELATIVE, "ARM", 0,
     "Divide by this arm of the same block (default: the control, where both have the same)", 0},
    {"absolute", KEY_ABSOLUTE, NULL, 0, "Divide by nothing; the machine at two times is in it", 0},
    {"margin", KEY_MARGIN, "SHARE", 0,
     "Equivalent within this, for example 2% (default: the plan's)", 0},
    {"fail-above", KEY_FAIL_ABOVE, "SHARE", 0,
     "Exit code 4 when an arm is shown to cost more than this more, for example 3%", 0},
    {"format", 'f', "NAME", 0, "terminal (default) or markdown", 0},
    {"json", KEY_JSON, NULL, 0, "One JSON document on standard output", 0},
    {"output", 'o', "FILE", 0, "Write the JSON document to FILE as well", 0},
    {0},
};

static double share_of(struct argp_state *state, const char *option, const char *text)
{
    double share = NAN;
    if (!tlc_parse_share(text, &share))
        argp_error(state, "%s '%s': not a share; write for example 3%% or 0.03", option, text);
    return share;
}

// --arms takes the first name, or both with a comma between.
static void take_arms(struct options *options, char *argument)
{
    char *comma = strchr(argument, ',');
    options->arms_asked = true;
    options->arms[0] = argument;
    if (comma) {
        *comma = '\0';
        options->arms[1] = comma + 1;
    }
}

static void take_argument(struct options *options, struct argp_state *state, const char *argument)
{
    if (options->file_count == 2)
        argp_error(state, "'%s': two results at a time", argument);
    else
        options->files[options->file_count++] = argument;
}

// Options come before arguments, wherever they stood: of two arguments beside '--arms X' the one
// that is no file is Y.
static void settle_arms(struct options *options)
{
    if (!options->arms_asked || options->arms[1] || options->file_count != 2)
        return;
    bool second_is_file = !access(options->files[1], R_OK) && access(options->files[0], R_OK);
    options->arms[1] = options->files[second_is_file ? 0 : 1];
    options->files[0] = options->files[second_is_file ? 1 : 0];
    options->file_count = 1;
}

static void check_arguments(const struct options *options, struct argp_state *state)
{
    if (options->arms_asked && (!options->arms[1] || !*options->arms[0] || !*options->arms[1]))
        argp_error(state, "--arms: two names are needed, for example --arms baseline ed25519");
    if (options->arms_asked && options->file_count != 1)
        argp_error(state, "--arms: it compares within one result; name one file");
    if (!options->arms_asked && options->file_count != 2)
        argp_error(state, "two results are needed: BASE.json NEW.json");
    if (options->compare.absolute && options->compare.relative_to)
        argp_error(state, "--absolute and --relative-to exclude each other");
    if (options->arms_asked && (options->compare.absolute || options->compare.relative_to))
        argp_error(state, "--arms pairs its arms; leave out --absolute and --relative-to");
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_ARMS:
        take_arms(options, argument);
        return 0;
    case KEY_RELATIVE:
        options->compare.relative_to = argument;
        return 0;
    case KEY_ABSOLUTE:
        options->compare.absolute = true;
        return 0;
    case KEY_MARGIN:
        options->compare.margin = share_of(state, "--margin", argument);
        return 0;
    case KEY_FAIL_ABOVE:
        options->compare.fail_above = share_of(state, "--fail-above", argument);
        return 0;
    case 'f':
        if (strcmp(argument, "terminal") && strcmp(argument, "markdown"))
            argp_error(state, "format '%s': unknown; known are terminal, markdown", argument);
        options->format = argument;
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case 'o':
        options->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        take_argument(options, state, argument);
        return 0;
    case ARGP_KEY_END:
        settle_arms(options);
        check_arguments(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char documentation[] =
    "Compare two campaigns of the same plan: what each arm costs in NEW against BASE, with the "
    "interval of the ratio, in what plan and machine differ, and which differences the data "
    "support. With --arms: two arms of one campaign, which ran in the same rounds. Nothing is "
    "measured; docs/compare.md tells what the figures are."
    "\vExamples:\n"
    "  tlscost compare before.json after.json\n"
    "  tlscost compare before.json after.json --fail-above 3%  for CI: exit code 4\n"
    "  tlscost compare before.json after.json --relative-to X25519\n"
    "  tlscost compare r.json --arms rsa-2048 ed25519\n"
    "  tlscost compare before.json after.json --format markdown >> summary.md\n";

static enum tlc_status compare(const struct options *options, json_t **comparison,
                               struct tlc_error *error)
{
    json_t *results[2] = {NULL, NULL};
    enum tlc_status status = tlc_result_read(options->files[0], &results[0], error);
    if (status == TLC_OK && options->arms_asked)
        status = tlc_compare_arms(results[0], options->arms[0], options->arms[1], &options->compare,
                                  comparison, error);
    else if (status == TLC_OK)
        status = tlc_result_read(options->files[1], &results[1], error);
    if (status == TLC_OK && !options->arms_asked)
        status = tlc_compare_results(results[0], results[1], &options->compare, comparison, error);
    json_decref(results[0]);
    json_decref(results[1]);
    return status;
}

int tlc_cmd_compare(int argc, char **argv)
{
    struct options options = {.format = "terminal", .compare = {.margin = NAN, .fail_above = NAN}};
    const struct argp argp = {
        argp_options, parse_option, "BASE.json [NEW.json]", documentation, NULL, NULL, NULL};
    struct tlc_error error = {0};
    json_t *comparison = NULL;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options))
        return TLC_USAGE;
    options.compare.base_name = options.files[0];
    options.compare.new_name = options.arms_asked ? options.files[0] : options.files[1];
    enum tlc_status status = compare(&options, &comparison, &error);
    if (status == TLC_OK && options.output)
        status = tlc_result_write(comparison, options.output, &error);
    if (status == TLC_OK && options.json)
        tlc_print_json(comparison);
    else if (status == TLC_OK)
        status = tlc_compare_write(comparison, options.format, stdout, &error);
    if (status == TLC_OK)
        status = tlc_compare_gate(comparison, &error);
    json_decref(comparison);
    return status == TLC_OK ? TLC_OK : tlc_report_error(&error);
}
