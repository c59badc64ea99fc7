#include "cli/recipe_build.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t script_group, interrupted;

// Hands the signal on to the script, and to what it runs: a shell heeds it only when that has
// ended.
static void hand_on(int signal)
{
    interrupted = 1;
    if (script_group > 0)
        kill(-(pid_t)script_group, signal);
}

// Starts the script in a group of its own; *output is the end of its standard output that is ours.
static enum tlc_status start(const char *script, const char *name, pid_t *child, int *output,
                             struct tlc_error *error)
{
    int ends[2];
    const char *const arguments[] = {script, "build", name, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (pipe(ends))
        return tlc_fail_errno(error, "stacks get: pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    errno = posix_spawn(child, script, &actions, &attributes, (char *const *)(uintptr_t)arguments,
                        environ);
    enum tlc_status status = errno ? tlc_fail_errno(error, "stacks get: %s", script) : TLC_OK;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[1]);
    *output = ends[0];
    if (status != TLC_OK)
        close(ends[0]);
    return status;
}

static void take_last_line(int output, char *line, size_t capacity)
{
    FILE *file = fdopen(output, "r");
    while (file && fgets(line, (int)capacity, file))
        line[strcspn(line, "\n")] = '\0';
    if (file)
        fclose(file);
}

enum tlc_status tlc_recipe_build(const char *script, const char *name, char *line, size_t capacity,
                                 struct tlc_error *error)
{
    struct sigaction before[2];
    const struct sigaction action = {.sa_handler = hand_on, .sa_flags = SA_RESTART};
    pid_t child;
    int output = -1, state = 0;
    interrupted = script_group = 0;
    sigaction(SIGINT, &action, &before[0]);
    sigaction(SIGTERM, &action, &before[1]);
    enum tlc_status status = start(script, name, &child, &output, error);
    if (status == TLC_OK) {
        script_group = child;
        if (interrupted) // before there was a group to hand it on to
            kill(-child, SIGTERM);
        take_last_line(output, line, capacity);
        while (waitpid(child, &state, 0) < 0 && errno == EINTR)
            ;
    }
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGTERM, &before[1], NULL);
    if (status != TLC_OK || (WIFEXITED(state) && WEXITSTATUS(state) == 0))
        return status;
    if (interrupted || WIFSIGNALED(state))
        return tlc_fail(error, TLC_INTERRUPTED, "stacks get: %s: interrupted", name);
    // The script's codes are ours: 1 is a wrong name or recipe, anything else a lack of the
    // machine.
    return tlc_fail(error, WEXITSTATUS(state) == TLC_USAGE ? TLC_USAGE : TLC_ENVIRONMENT,
                    "stacks get: %s: the recipe failed; its message is above", name);
}
