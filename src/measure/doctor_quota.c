// The examination of control groups: a quota stops a server in the middle of a slice.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/doctor_parts.h"
#include "measure/text.h"

enum { PATH_BYTES = 400 };

// Where the group of this process keeps its CPU limit.
struct group {
    char mount[PATH_BYTES], path[PATH_BYTES];
    bool unified; // version 2: cpu.max; else cpu.cfs_quota_us
};

// Whether a comma-separated list has a word.
static bool has_word(const char *list, size_t length, const char *word)
{
    size_t wanted = strlen(word);
    for (const char *at = list; at < list + length;) {
        size_t part = strcspn(at, ",\n");
        if (at + part > list + length)
            part = (size_t)(list + length - at);
        if (part == wanted && !strncmp(at, word, wanted))
            return true;
        at += part + 1;
    }
    return false;
}

// A line of /proc/self/mounts is "device folder type options 0 0" (fstab(5)).
static bool find_mount(const char *mounts, bool unified, char *folder)
{
    for (const char *line = mounts; line && *line; line = tlc_text_next_line(line)) {
        char type[32], options[512];
        if (sscanf(line, "%*s %399s %31s %511s", folder, type, options) != 3)
            continue;
        if (unified ? !strcmp(type, "cgroup2")
                    : !strcmp(type, "cgroup") && has_word(options, strlen(options), "cpu"))
            return true;
    }
    return false;
}

// A line of /proc/self/cgroup is "number:controllers:path"; version 2 has no controllers
// (cgroups(7)).
static bool find_path(const char *cgroup, bool unified, char *path)
{
    for (const char *line = cgroup; line && *line; line = tlc_text_next_line(line)) {
        const char *controllers = strchr(line, ':');
        const char *at = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!at)
            continue;
        size_t length = (size_t)(at - controllers - 1);
        if (unified ? length == 0 : has_word(controllers + 1, length, "cpu")) {
            snprintf(path, PATH_BYTES, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
            return true;
        }
    }
    return false;
}

static bool find_group(const struct tlc_patient *patient, bool unified, struct group *group)
{
    char *mounts = tlc_patient_read(patient, "/proc/self/mounts");
    char *cgroup = tlc_patient_read(patient, "/proc/self/cgroup");
    *group = (struct group){.unified = unified};
    bool found = mounts && cgroup && find_mount(mounts, unified, group->mount) &&
                 find_path(cgroup, unified, group->path);
    free(cgroup);
    free(mounts);
    return found;
}

// CPUs that the group at `path` may use, from "QUOTA PERIOD" or two files; 0: no limit.
static double limit_at(const struct tlc_patient *patient, const struct group *group,
                       const char *path, bool *known)
{
    double quota = 0, period = 0;
    if (group->unified) {
        char *text = tlc_patient_read(patient, "%s%s/cpu.max", group->mount, path);
        if (text)
            *known = true;
        if (!text || sscanf(text, "%lf %lf", &quota, &period) != 2)
            quota = 0; // "max 100000"
        free(text);
    } else {
        char *text = tlc_patient_read(patient, "%s%s/cpu.cfs_quota_us", group->mount, path);
        char *length = tlc_patient_read(patient, "%s%s/cpu.cfs_period_us", group->mount, path);
        if (text && length)
            *known = true;
        quota = text ? strtod(text, NULL) : 0;
        period = length ? strtod(length, NULL) : 0;
        free(length);
        free(text);
    }
    return quota > 0 && period > 0 ? quota / period : 0;
}

// The tightest limit of the group and those above it; `where` gets whose it is.
static double tightest(const struct tlc_patient *patient, struct group *group, char *where,
                       bool *known)
{
    double least = 0;
    if (!strcmp(group->path, "/"))
        group->path[0] = '\0';
    for (;;) {
        double limit = limit_at(patient, group, group->path, known);
        if (limit > 0 && !(least > 0 && least <= limit)) {
            least = limit;
            snprintf(where, 2 * PATH_BYTES, "%s%s", group->mount, group->path);
        }
        char *last = strrchr(group->path, '/');
        if (!last)
            return least;
        *last = '\0';
    }
}

void tlc_examine_quota(const struct tlc_patient *patient, struct tlc_finding *finding)
{
    struct group group;
    char where[2 * PATH_BYTES];
    bool known = false;
    for (int unified = 1; unified >= 0; unified--) {
        if (!find_group(patient, unified, &group))
            continue;
        double cpus = tightest(patient, &group, where, &known);
        if (cpus <= 0)
            continue;
        tlc_find(finding, TLC_FINDING_SPOILS,
                 "at most %.2f CPUs (%.300s): when they are used up, the kernel stops every "
                 "process of the group until the next period",
                 cpus, where);
        if (unified)
            tlc_remedy(finding, "echo max | sudo tee %.400s/cpu.max", where);
        else
            tlc_remedy(finding, "echo -1 | sudo tee %.400s/cpu.cfs_quota_us", where);
        return;
    }
    if (known)
        tlc_find(finding, TLC_FINDING_GOOD, "none");
    else
        tlc_find(finding, TLC_FINDING_UNKNOWN,
                 "no group's CPU limit can be read here; there may be none");
}
