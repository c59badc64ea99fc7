// What subcommands share of their command lines: the options of all that run a campaign, an argp
// child, and ways to take arguments.
#ifndef TLC_CLI_ARGUMENTS_H
#define TLC_CLI_ARGUMENTS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct tlc_measuring_options {
    const char *server_cpus, *generator_cpus; // lists; NULL: chosen
    const char *output;                       // NULL: not given
    bool json, quiet;
};

// `children` of the command's struct argp. The command hands its struct tlc_measuring_options over
// at ARGP_KEY_INIT: state->child_inputs[0]. Keys from 1000 on are taken.
extern const struct argp_child tlc_measuring_children[];

// "'WORD': takes options only", and ends the program.
void tlc_options_only(struct argp_state *state, const char *argument);
// Whole numbers within low..high; anything else is an argp_error that names the option.
void tlc_take_number(struct argp_state *state, const char *option, const char *text, uint64_t low,
                     uint64_t high, uint64_t *value);

#endif
