// tlscost: a table of subcommands.
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/commands.h"

static const struct {
    const char *name, *summary;
    tlc_command *run;
} commands[] = {
    {"run", "run a plan: arms interleaved, checked, with intervals", tlc_cmd_run},
    {"plans", "list the ready plans and the question each answers", tlc_cmd_plans},
    {"speed", "raw operations of a library's cryptography, with intervals", tlc_cmd_speed},
    {"attribute", "where the server's CPU time of a handshake goes, part by part",
     tlc_cmd_attribute},
    {"report", "print the report of a result again, or in another format", tlc_cmd_report},
    {"calibrate", "prove the instrument on this machine: known costs are read back",
     tlc_cmd_calibrate},
    {"doctor", "find what on this machine would spoil a measurement", tlc_cmd_doctor},
    {"compare", "two campaigns, or two arms of one, set against each other", tlc_cmd_compare},
    {"connect-time", "what a client waits on a long path, phase by phase", tlc_cmd_connect_time},
    {"count", "instructions of each side of a handshake, under callgrind", tlc_cmd_count},
    {"history", "the trend of each arm over a folder of results, changes marked", tlc_cmd_history},
    {"probe", "show what one verified connection to a server negotiates", tlc_cmd_probe},
    {"tickets", "audit the resumption of running servers, with remedies", tlc_cmd_tickets},
    {"serve", "serve a TLS stack as the server under test", tlc_cmd_serve},
    {"load", "make handshakes against a server and count what happened", tlc_cmd_load},
    {"pair", "both sides of a handshake in one process, each side's cost", tlc_cmd_pair},
    {"certs", "make a test CA and leaf certificates", tlc_cmd_certs},
    {"stacks", "list, check and get TLS libraries to measure", tlc_cmd_stacks},
};

static void print_usage(FILE *to)
{
    fprintf(to,
            "tlscost %s: what a TLS handshake costs a server, measured with evidence\n\n"
            "Usage: tlscost COMMAND [OPTION...]\n\nCommands:\n",
            TLC_VERSION);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(to, "  %-12s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\nExamples:\n"
                "  tlscost run --quick             what moves the cost of a handshake, in 30 s\n"
                "  tlscost run certificates -o r.json\n"
                "  tlscost report r.json --format markdown\n"
                "  tlscost probe 127.0.0.1:4433\n"
                "\n'tlscost COMMAND --help' explains a command; the manual page is tlscost(1).\n"
                "Exit codes: 0 done; 1 wrong usage or plan; 2 the machine lacks something;\n"
                "3 figures refused by checks; 4 a claim crossed a gate; 130 interrupted.\n");
}

// A full disk must not pass for success. A reader that has gone is the command's own matter.
static int end_output(int code)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || errno == EPIPE)
        return code;
    fprintf(stderr, "tlscost: write the output: %s\n", strerror(errno));
    return code ? code : TLC_ENVIRONMENT;
}

static int unknown_command(const char *name)
{
    fprintf(stderr, "tlscost: '%s': no such command; commands are", name);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(stderr, "%s %s", i ? "," : "", commands[i].name);
    fprintf(stderr, "\n");
    return TLC_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return TLC_USAGE;
    }
    argp_err_exit_status = TLC_USAGE;
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
        print_usage(stdout);
        return TLC_OK;
    }
    if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
        printf("tlscost %s\n", TLC_VERSION);
        return TLC_OK;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(name, commands[i].name))
            continue;
        char full[64];
        snprintf(full, sizeof full, "tlscost %s", name);
        argv[1] = full;
        return end_output(commands[i].run(argc - 1, argv + 1));
    }
    return unknown_command(name);
}
