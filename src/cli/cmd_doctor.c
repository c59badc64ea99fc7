// tlscost doctor: what on this machine would spoil a measurement, and the remedy for each.
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "measure/doctor.h"
#include "measure/machine.h"
#include "measure/proc.h"
#include "result/result.h"

struct options {
    const char *server_cpus, *generator_cpus;
    char **command; // NULL-terminated, behind "--"; NULL: none
    bool json, apply;
};

enum { KEY_JSON = 256, KEY_APPLY, KEY_SERVER_CPUS, KEY_GENERATOR_CPUS };
enum { LOOK_SECONDS = 1, STOP_MS = 5000 };

static const struct argp_option argp_options[] = {
    {"json", KEY_JSON, NULL, 0, "Print one JSON document on standard output", 0},
    {"apply", KEY_APPLY, NULL, 0,
     "Change settings for the time of COMMAND, or until a signal comes, and put them back", 0},
    {"server-cpus", KEY_SERVER_CPUS, "LIST", 0,
     "CPUs that servers would run on (default: as 'tlscost run' chooses)", 0},
    {"generator-cpus", KEY_GENERATOR_CPUS, "LIST", 0, "CPUs that the generator would run on", 0},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case KEY_JSON:
        options->json = true;
        return 0;
    case KEY_APPLY:
        options->apply = true;
        return 0;
    case KEY_SERVER_CPUS:
        options->server_cpus = argument;
        return 0;
    case KEY_GENERATOR_CPUS:
        options->generator_cpus = argument;
        return 0;
    case ARGP_KEY_ARGS:
        options->command = state->argv + state->next;
        return 0;
    case ARGP_KEY_END:
        if (options->command && !options->apply)
            argp_error(state, "'%s': a command is run with --apply only", options->command[0]);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char documentation[] =
    "Look for what on this machine would spoil a measurement, and tell the remedy for each as a "
    "command. It takes a second, in which the machine should do nothing else. Nothing is changed "
    "without --apply."
    "\vExamples:\n"
    "  tlscost doctor\n"
    "  sudo tlscost doctor --apply                  hold the changes until Ctrl-C\n"
    "  sudo tlscost doctor --apply -- tlscost run   hold them for one run\n\n"
    "--apply changes the governor, boost, the port range, somaxconn and perf_event_paranoid where "
    "they need it, and this command's limit of open files. All of it is put back when the command "
    "ends, also by a signal; only SIGKILL and a crash of the machine prevent that, so it tells "
    "what "
    "the settings were. The exit code is 0 once the machine was examined, or the command's.";

// --- looking ---

static enum tlc_status choose_sets(const struct options *options, struct tlc_patient *patient,
                                   struct tlc_error *error)
{
    if (sched_getaffinity(0, sizeof patient->usable_cpus, &patient->usable_cpus))
        return tlc_fail_errno(error, "doctor: read the affinity");
    // A machine that cannot be split is a finding, not an error.
    if (tlc_machine_split_cpus(&patient->server_cpus, &patient->generator_cpus, error) != TLC_OK)
        patient->server_cpus = patient->generator_cpus = patient->usable_cpus;
    enum tlc_status status = TLC_OK;
    if (options->server_cpus)
        status = tlc_cpus_parse(options->server_cpus, &patient->server_cpus, error);
    if (status == TLC_OK && options->generator_cpus)
        status = tlc_cpus_parse(options->generator_cpus, &patient->generator_cpus, error);
    return status;
}

static void look(struct tlc_patient *patient)
{
    struct rlimit limit;
    struct timespec pause = {.tv_sec = LOOK_SECONDS};
    patient->privileged = geteuid() == 0;
    if (!getrlimit(RLIMIT_NOFILE, &limit))
        patient->fd_limit = limit.rlim_cur;
    tlc_counters_text_read(patient->root, &patient->before);
    while (nanosleep(&pause, &pause))
        ;
    tlc_counters_text_read(patient->root, &patient->after);
}

// --- telling ---

static size_t count_state(const struct tlc_finding *findings, size_t count,
                          enum tlc_finding_state state)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += findings[i].state == state;
    return sum;
}

static void print_findings(const struct tlc_finding *findings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("%-8s %-18s %s\n", tlc_finding_state_name(findings[i].state), findings[i].name,
               findings[i].text);
        if (*findings[i].remedy)
            printf("%-8s %-18s $ %s\n", "", "", findings[i].remedy);
    }
    size_t spoils = count_state(findings, count, TLC_FINDING_SPOILS);
    printf("\n%zu of %zu findings would spoil a measurement", spoils, count);
    printf(spoils ? "; the lines with $ tell the remedy.\n" : ".\n");
}

static void print_json(const struct tlc_patient *patient, const struct tlc_finding *findings,
                       size_t count)
{
    char servers[256], generators[256];
    tlc_cpus_format(&patient->server_cpus, servers, sizeof servers);
    tlc_cpus_format(&patient->generator_cpus, generators, sizeof generators);
    json_t *document = tlc_result_new("doctor", tlc_machine_describe());
    json_object_set_new(
        document, "setup",
        json_pack("{s:s, s:s}", "server_cpus", servers, "generator_cpus", generators));
    json_object_set_new(document, "findings", tlc_findings_json(findings, count));
    json_object_set_new(document, "spoils",
                        json_integer((json_int_t)count_state(findings, count, TLC_FINDING_SPOILS)));
    tlc_print_json(document);
    json_decref(document);
}

// --- changing ---

static void raise_fd_limit(void)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit))
            perror("tlscost: doctor: limit of open files");
    }
}

static void tell_changes(const struct tlc_applied *applied, const char *failures)
{
    for (size_t i = 0; i < applied->count; i++)
        fprintf(stderr, "tlscost: changed for now: %s (was '%s')\n", applied->made[i].path,
                applied->made[i].value);
    while (*failures) {
        size_t length = strcspn(failures, "\n");
        fprintf(stderr, "tlscost: not changed: %.*s\n", (int)length, failures);
        failures += length + (failures[length] == '\n');
    }
}

// The exit code of a command that has ended.
static int code_of(int how)
{
    return WIFSIGNALED(how) ? 128 + WTERMSIG(how) : WEXITSTATUS(how);
}

// Waits for the command's end, handing on signals; without a command, for a signal.
static int wait_for_end(struct tlc_process *process, const sigset_t *signals)
{
    for (;;) {
        int how = 0;
        if (process->pid > 0 && !tlc_process_alive(process, &how))
            return code_of(how);
        int number = sigwaitinfo(signals, NULL);
        if (number < 0 || number == SIGCHLD)
            continue;
        if (process->pid <= 0)
            return TLC_OK;
        kill(-process->pid, number);
    }
}

static enum tlc_status hold_changes(const struct options *options, const sigset_t *signals,
                                    int *code, struct tlc_error *error)
{
    struct tlc_process process = {.control = -1};
    if (options->command) {
        const struct tlc_process_options command = {.arguments =
                                                        (const char *const *)options->command};
        enum tlc_status status = tlc_process_start(&command, &process, error);
        if (status != TLC_OK)
            return status;
    } else {
        fprintf(stderr, "tlscost: the changes hold until this command ends (Ctrl-C)\n");
    }
    *code = wait_for_end(&process, signals);
    tlc_process_stop(&process, STOP_MS);
    return TLC_OK;
}

// Signals are blocked before the first change, so that none can end this process with one undone.
static int apply(const struct options *options, const char *root,
                 const struct tlc_finding *findings, size_t count)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    char failures[4096];
    sigset_t signals;
    int code = TLC_OK;
    struct tlc_error error = {0};
    struct tlc_applied applied = {0};
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        sigaddset(&signals, ending[i]);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    fflush(stdout);
    raise_fd_limit();
    tlc_doctor_apply(root, findings, count, &applied, failures, sizeof failures);
    tell_changes(&applied, failures);
    enum tlc_status status = hold_changes(options, &signals, &code, &error);
    size_t changed = applied.count, stuck = tlc_doctor_restore(&applied);
    if (stuck)
        fprintf(stderr, "tlscost: %zu of %zu settings could not be put back; see above\n", stuck,
                changed);
    else if (changed)
        fprintf(stderr, "tlscost: %zu settings are as they were\n", changed);
    if (status != TLC_OK)
        return tlc_report_error(&error);
    return stuck && code == TLC_OK ? TLC_ENVIRONMENT : code;
}

int tlc_cmd_doctor(int argc, char **argv)
{
    struct options options = {0};
    struct tlc_error error = {0};
    struct tlc_patient patient = {.root = ""};
    const struct argp argp = {
        argp_options, parse_option, "[--apply -- COMMAND...]", documentation, NULL, NULL, NULL};
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options))
        return TLC_USAGE;
    if (choose_sets(&options, &patient, &error) != TLC_OK)
        return tlc_report_error(&error);
    look(&patient);
    size_t count;
    struct tlc_finding *findings = tlc_doctor_examine(&patient, &count);
    int code = TLC_ENVIRONMENT;
    if (!findings)
        fprintf(stderr, "tlscost: doctor: out of memory\n");
    else {
        code = TLC_OK;
        if (options.json)
            print_json(&patient, findings, count);
        else
            print_findings(findings, count);
        if (options.apply)
            code = apply(&options, patient.root, findings, count);
    }
    tlc_findings_free(findings, count);
    tlc_counters_text_free(&patient.before);
    tlc_counters_text_free(&patient.after);
    return code;
}
