#include "base/process_marked.h"

#include <dirent.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void variable_of(unsigned mark, char *variable, size_t capacity)
{
    // Of one length: the size of the environment moves the stack of what is measured.
    snprintf(variable, capacity, "TLSCOST_PROCESS=%010ld-%010u", (long)getpid(), mark);
}

unsigned tlc_process_mark(char *variable, size_t capacity)
{
    static atomic_uint last;
    unsigned mark = atomic_fetch_add(&last, 1) + 1;
    variable_of(mark, variable, capacity);
    return mark;
}

// The variable stands at the beginning of the environment or behind the end of another.
static bool holds(const char *environment, size_t count, const char *variable)
{
    size_t length = strlen(variable) + 1; // with its end
    for (const char *at = environment, *end = environment + count; (size_t)(end - at) >= length;) {
        if (!memcmp(at, variable, length))
            return true;
        const char *next = memchr(at, '\0', (size_t)(end - at));
        if (!next)
            break;
        at = next + 1;
    }
    return false;
}

static bool is_marked(const char *pid, const char *variable)
{
    enum { MOST = 256 * 1024 };
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/environ", pid);
    FILE *file = fopen(path, "re");
    char *text = file ? malloc(MOST) : NULL;
    size_t count = text ? fread(text, 1, MOST, file) : 0;
    bool found = text && holds(text, count, variable);
    free(text);
    if (file)
        fclose(file);
    return found;
}

static size_t end_once(const char *variable)
{
    size_t ended = 0;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (*end || pid <= 1 || pid == (long)getpid() || !is_marked(entry->d_name, variable))
            continue;
        ended += !kill((pid_t)pid, SIGKILL);
    }
    if (processes)
        closedir(processes);
    return ended;
}

void tlc_process_end_marked(unsigned mark)
{
    enum { MOST_ROUNDS = 10 };
    char variable[64];
    variable_of(mark, variable, sizeof variable);
    // What was forked while the table was read is found by the next look.
    for (int round = 0; round < MOST_ROUNDS && end_once(variable); round++)
        usleep(1000);
}
