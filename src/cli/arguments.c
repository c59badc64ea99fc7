#include "cli/arguments.h"

#include "cli/common.h"

enum { KEY_JSON = 1000, KEY_SERVER_CPUS, KEY_GENERATOR_CPUS };

static const struct argp_option argp_options[] = {
    {"output", 'o', "FILE", 0, "Where the whole result goes, every sample in it", 0},
    {"json", KEY_JSON, NULL, 0, "Print the result as JSON in place of the report", 0},
    {"server-cpus", KEY_SERVER_CPUS, "LIST", 0,
     "CPUs of the servers or workers, for example 2-3 (default: chosen)", 0},
    {"generator-cpus", KEY_GENERATOR_CPUS, "LIST", 0,
     "CPUs of the generator and of this command (default: chosen)", 0},
    {"quiet", 'q', NULL, 0, "No progress on standard error", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct tlc_measuring_options *options = state->input;
    switch (key) {
    case 'o':
        options->output = argument;
        return 0;
    case KEY_JSON:
        options->json = true;
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
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp measuring = {.options = argp_options, .parser = parse_option};
const struct argp_child tlc_measuring_children[] = {{&measuring, 0, NULL, 0}, {0}};

void tlc_options_only(struct argp_state *state, const char *argument)
{
    argp_error(state, "'%s': takes options only", argument);
}

void tlc_take_number(struct argp_state *state, const char *option, const char *text, uint64_t low,
                     uint64_t high, uint64_t *value)
{
    struct tlc_error error;
    if (tlc_parse_number(option, text, low, high, value, &error) != TLC_OK)
        argp_error(state, "%s", error.text);
}
