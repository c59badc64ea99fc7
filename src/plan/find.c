// Where plans are found: TLSCOST_PLANS, beside the program, in the checkout, installed.
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"
#include "plan/plan.h"
#include "plan/settings.h"

enum { FOLDERS = 4 };

struct folders {
    char path[FOLDERS][PATH_MAX];
    size_t count;
};

static void list_folders(struct folders *folders)
{
    static const char *const beside[] = {"plans", "../plans", "../share/tlscost/plans"};
    const char *chosen = getenv("TLSCOST_PLANS");
    const char *program = tlc_program_path();
    const char *slash = program ? strrchr(program, '/') : NULL;
    folders->count = 0;
    if (chosen && *chosen)
        snprintf(folders->path[folders->count++], PATH_MAX, "%s", chosen);
    for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
        char path[PATH_MAX];
        int length =
            snprintf(path, sizeof path, "%.*s/%s", (int)(slash - program), program, beside[i]);
        if (length < PATH_MAX && realpath(path, folders->path[folders->count]))
            folders->count++;
    }
}

static const char *name_in(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(name_in(*(char *const *)left), name_in(*(char *const *)right));
}

static bool listed(char *const *paths, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(name_in(paths[i]), name))
            return true;
    return false;
}

static void list_folder(const char *folder, char ***paths, size_t *count)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length <= 5 || entry->d_name[0] == '.' || strcmp(entry->d_name + length - 5, ".yaml") ||
            listed(*paths, *count, entry->d_name))
            continue;
        char *path = NULL;
        char **grown = realloc(*paths, (*count + 2) * sizeof *grown);
        if (grown)
            *paths = grown;
        if (!grown || asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
            break;
        (*paths)[(*count)++] = path;
        (*paths)[*count] = NULL;
    }
    if (directory)
        closedir(directory);
}

char **tlc_plan_list(void)
{
    struct folders folders;
    size_t count = 0;
    char **paths = calloc(1, sizeof *paths);
    list_folders(&folders);
    for (size_t i = 0; paths && i < folders.count; i++)
        list_folder(folders.path[i], &paths, &count);
    if (count)
        qsort(paths, count, sizeof *paths, by_name);
    return paths;
}

void tlc_plan_list_free(char **paths)
{
    for (char **path = paths; path && *path; path++)
        free(*path);
    free(paths);
}

static enum tlc_status fail_unknown(const char *name, struct tlc_error *error)
{
    enum { MOST = 64 };
    char known[600] = "", hint[128], *names[MOST];
    char **paths = tlc_plan_list();
    size_t count = 0, used = 0;
    for (; paths && paths[count] && count < MOST; count++) {
        names[count] = paths[count] + (name_in(paths[count]) - paths[count]);
        names[count][strlen(names[count]) - 5] = '\0'; // ".yaml"
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                     names[count]);
    }
    enum tlc_status status = tlc_fail(
        error, TLC_USAGE, "plan: '%.100s': no such plan%s; %s%s", name,
        tlc_did_you_mean(name, (const char *const *)names, count, hint, sizeof hint),
        count ? "write the path of a file, or one of " : "write the path of a file", known);
    tlc_plan_list_free(paths);
    return status;
}

static bool is_folder(const char *path)
{
    struct stat found;
    return !stat(path, &found) && S_ISDIR(found.st_mode);
}

enum tlc_status tlc_plan_find(const char *name, char **path, struct tlc_error *error)
{
    *path = NULL;
    size_t length = strlen(name);
    bool is_path = strchr(name, '/') || (length > 5 && !strcmp(name + length - 5, ".yaml"));
    if (is_path) {
        if (access(name, R_OK))
            return tlc_fail(error, TLC_USAGE, "plan: %s: %s; write the path of a readable file",
                            name, strerror(errno));
        if (is_folder(name))
            return tlc_fail(error, TLC_USAGE,
                            "plan: %s: a folder; write the path of one plan in it, or make it "
                            "TLSCOST_PLANS and write a plan's name",
                            name);
        *path = strdup(name);
        return *path ? TLC_OK : tlc_fail(error, TLC_ENVIRONMENT, "plan: out of memory");
    }
    struct folders folders;
    list_folders(&folders);
    for (size_t i = 0; i < folders.count && *name; i++) {
        if (asprintf(path, "%s/%s.yaml", folders.path[i], name) < 0)
            return tlc_fail(error, TLC_ENVIRONMENT, "plan: out of memory");
        if (!access(*path, R_OK) && !is_folder(*path))
            return TLC_OK;
        free(*path);
        *path = NULL;
    }
    return fail_unknown(name, error);
}
