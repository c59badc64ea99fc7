// The subcommands: one file each, one line each in main.c's table.
#ifndef TLC_CLI_COMMANDS_H
#define TLC_CLI_COMMANDS_H

// Every command takes its own argc and argv (argv[0] is "tlscost NAME") and returns the exit code.
typedef int tlc_command(int argc, char **argv);

tlc_command tlc_cmd_attribute, tlc_cmd_calibrate, tlc_cmd_certs, tlc_cmd_compare,
    tlc_cmd_connect_time, tlc_cmd_count, tlc_cmd_doctor, tlc_cmd_history, tlc_cmd_load,
    tlc_cmd_pair, tlc_cmd_plans, tlc_cmd_probe, tlc_cmd_report, tlc_cmd_run, tlc_cmd_serve,
    tlc_cmd_speed, tlc_cmd_stacks, tlc_cmd_tickets;

#endif
