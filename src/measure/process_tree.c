// Run time of process trees. The CPU clock of another process (clock_getcpuclockid(3)) counts in
// nanoseconds where /proc/PID/stat counts in ticks.
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#include "measure/clock.h"
#include "measure/proc.h"
#include "measure/text.h"

struct member {
    pid_t pid;
    clockid_t clock;
    uint64_t run_ns; // as last seen
};

struct tlc_tree {
    struct member *members; // that live
    struct pollfd *watched; // pidfd of each, so that a reused pid is not taken for it
    size_t count, capacity;
    uint64_t ended_ns; // of members that ended
    bool scan;         // look through all processes instead of the kernel's lists of children
    pid_t *seen;       // all processes of the machine at the last look, sorted
    size_t seen_count;
    int loadavg; // /proc/loadavg
    char newest[24];
};

// --- finding processes ---

bool tlc_parse_process_stat(const char *stat_text, struct tlc_process_stat *process)
{
    const char *at = stat_text;
    uint64_t pid, parent;
    // The name may itself hold ") R 1", so only the last parenthesis ends it.
    const char *open = strchr(stat_text, '('), *close = strrchr(stat_text, ')');
    if (!tlc_text_number(&at, INT_MAX, &pid) || !open || open != at + 1 || !close || close < open ||
        close[1] != ' ' || !isalpha((unsigned char)close[2]) || close[3] != ' ')
        return false;
    at = close + 3;
    if (!tlc_text_number(&at, INT_MAX, &parent) || *at != ' ')
        return false;
    *process =
        (struct tlc_process_stat){.pid = (pid_t)pid, .parent = (pid_t)parent, .state = close[2]};
    snprintf(process->name, sizeof process->name, "%.*s", (int)(close - open - 1), open + 1);
    return true;
}

static int by_parent(const void *left, const void *right)
{
    const struct tlc_process_link *a = left, *b = right;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

static size_t first_child(const struct tlc_process_link *links, size_t count, pid_t parent)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (links[middle].parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t tlc_process_descendants(struct tlc_process_link *links, size_t count, pid_t root,
                               pid_t *pids, size_t capacity)
{
    size_t found = 0;
    qsort(links, count, sizeof *links, by_parent);
    for (size_t i = 0; i < count && capacity > 0 && found == 0; i++)
        if (links[i].pid == root)
            pids[found++] = root;
    // Every process has one parent, so in a sane list each is met once; a capacity of `count`
    // bounds the walk in an insane one.
    for (size_t next = 0; next < found; next++)
        for (size_t i = first_child(links, count, pids[next]);
             i < count && links[i].parent == pids[next] && found < capacity; i++)
            if (links[i].pid != root && links[i].pid != links[i].parent)
                pids[found++] = links[i].pid;
    return found;
}

static bool read_link(int proc, pid_t pid, struct tlc_process_link *link)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "%d/stat", (int)pid);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t count = read(fd, text, sizeof text - 1);
    close(fd);
    if (count <= 0)
        return false;
    text[count] = '\0';
    struct tlc_process_stat process;
    if (!tlc_parse_process_stat(text, &process))
        return false;
    *link = (struct tlc_process_link){process.pid, process.parent};
    return true;
}

// A growing list of pids.
struct pids {
    pid_t *pids;
    size_t count, capacity;
};

static bool push_pid(struct pids *list, pid_t pid)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 512;
        pid_t *grown = realloc(list->pids, capacity * sizeof *grown);
        if (!grown)
            return false;
        list->pids = grown;
        list->capacity = capacity;
    }
    list->pids[list->count++] = pid;
    return true;
}

static int by_pid(const void *left, const void *right)
{
    pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;
    return (a > b) - (a < b);
}

// All processes of the machine, sorted.
static bool list_pids(DIR *proc, struct pids *list)
{
    bool good = true;
    for (struct dirent *entry; good && (entry = readdir(proc)) != NULL;) {
        const char *at = entry->d_name;
        uint64_t pid;
        if (tlc_text_number(&at, INT_MAX, &pid))
            good = push_pid(list, (pid_t)pid);
    }
    if (list->count > 0)
        qsort(list->pids, list->count, sizeof *list->pids, by_pid);
    return good;
}

// --- members ---

static bool is_member(const struct tlc_tree *tree, pid_t pid)
{
    for (size_t i = 0; i < tree->count; i++)
        if (tree->members[i].pid == pid)
            return true;
    return false;
}

static bool grow(struct tlc_tree *tree)
{
    size_t capacity = tree->capacity ? 2 * tree->capacity : 16;
    struct member *members = realloc(tree->members, capacity * sizeof *members);
    if (members)
        tree->members = members;
    struct pollfd *watched = realloc(tree->watched, capacity * sizeof *watched);
    if (watched)
        tree->watched = watched;
    if (members && watched)
        tree->capacity = capacity;
    return members && watched;
}

static bool add_member(struct tlc_tree *tree, pid_t pid)
{
    clockid_t clock;
    if (is_member(tree, pid))
        return true;
    if (clock_getcpuclockid(pid, &clock) != 0)
        return false;
    if (tree->count == tree->capacity && !grow(tree))
        return false;
    // Without a pidfd (descriptors used up, an old kernel) the pid alone must do.
    tree->watched[tree->count] = (struct pollfd){.fd = pidfd_open(pid, 0), .events = POLLIN};
    tree->members[tree->count++] = (struct member){.pid = pid, .clock = clock};
    return true;
}

// Processes that were not there at the last look. Only they can be new descendants: the parent of a
// process changes to nobody but a reaper above it.
static struct tlc_process_link *read_new(const struct tlc_tree *tree, int proc,
                                         const struct pids *now, size_t *count)
{
    struct tlc_process_link *links = calloc(now->count + 1, sizeof *links);
    *count = 0;
    for (size_t i = 0; links && i < now->count; i++)
        if (tree->seen_count == 0 ||
            !bsearch(&now->pids[i], tree->seen, tree->seen_count, sizeof *tree->seen, by_pid))
            *count += read_link(proc, now->pids[i], &links[*count]);
    return links;
}

static void add_descendants(struct tlc_tree *tree, struct tlc_process_link *links, size_t count)
{
    size_t known = tree->count;
    // The members are roots, so they must be in the list; their own parents do not matter.
    struct tlc_process_link *all = calloc(count + 1, sizeof *all);
    pid_t *found = calloc(count + 1, sizeof *found);
    for (size_t i = 0; all && found && i < known; i++) {
        memcpy(all, links, count * sizeof *all);
        all[count] = (struct tlc_process_link){tree->members[i].pid, 0};
        size_t descendants =
            tlc_process_descendants(all, count + 1, tree->members[i].pid, found, count + 1);
        for (size_t j = 0; j < descendants; j++)
            add_member(tree, found[j]);
    }
    free(found);
    free(all);
}

static bool look_for_new(struct tlc_tree *tree)
{
    struct pids now = {0};
    struct tlc_process_link *links = NULL;
    size_t count = 0;
    DIR *proc = opendir("/proc");
    bool good = proc && list_pids(proc, &now);
    if (good)
        links = read_new(tree, dirfd(proc), &now, &count);
    if (links) {
        add_descendants(tree, links, count);
        free(tree->seen);
        tree->seen = now.pids;
        tree->seen_count = now.count;
    } else {
        free(now.pids);
    }
    if (proc)
        closedir(proc);
    good = links != NULL;
    free(links);
    return good;
}

// The last field of /proc/loadavg is the pid created last (proc(5)). False when it is the one of
// the last look: then nothing can be new.
static bool something_was_created(struct tlc_tree *tree)
{
    char text[128];
    ssize_t count = tree->loadavg < 0 ? -1 : pread(tree->loadavg, text, sizeof text - 1, 0);
    if (count <= 0)
        return true;
    text[count] = '\0';
    const char *newest = strrchr(text, ' ');
    if (!newest || strlen(newest) >= sizeof tree->newest)
        return true;
    bool same = !strcmp(tree->newest, newest);
    snprintf(tree->newest, sizeof tree->newest, "%s", newest);
    return !same;
}

// Adds the children of one process that its threads list (proc(5)); false when the kernel keeps no
// such lists or the process is gone.
static bool add_listed_children(struct tlc_tree *tree, pid_t pid)
{
    char path[64];
    bool listed = false;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;) {
        char file[600];
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(file, sizeof file, "%s/%s/children", path, entry->d_name);
        char *text = tlc_text_read(file);
        const char *at = text;
        uint64_t child;
        while (text && tlc_text_number(&at, INT_MAX, &child))
            add_member(tree, (pid_t)child);
        listed = listed || text;
        free(text);
    }
    if (tasks)
        closedir(tasks);
    return listed;
}

// Members added on the way are visited too.
static bool follow_lists(struct tlc_tree *tree)
{
    bool listed = false;
    for (size_t i = 0; i < tree->count; i++)
        listed = add_listed_children(tree, tree->members[i].pid) || listed;
    return listed;
}

static void find_new(struct tlc_tree *tree)
{
    if (!something_was_created(tree))
        return;
    if (!tree->scan && follow_lists(tree))
        return;
    if (!look_for_new(tree))
        tree->newest[0] = '\0'; // look again next time
}

// --- reading ---

static void drop_member(struct tlc_tree *tree, size_t index)
{
    tree->ended_ns += tree->members[index].run_ns;
    if (tree->watched[index].fd >= 0)
        close(tree->watched[index].fd);
    tree->count--;
    tree->members[index] = tree->members[tree->count];
    tree->watched[index] = tree->watched[tree->count];
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;
    return clock_gettime(clock, &time) == 0
               ? (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec
               : 0;
}

static void note_run_time(struct member *member)
{
    uint64_t run_ns = clock_ns(member->clock);
    if (run_ns > member->run_ns)
        member->run_ns = run_ns;
}

// Before new ones are looked for, so that a new process under an old pid is seen as new.
static void drop_ended(struct tlc_tree *tree)
{
    bool asked = poll(tree->watched, (nfds_t)tree->count, 0) >= 0;
    for (size_t i = tree->count; i-- > 0;) {
        int pidfd = tree->watched[i].fd;
        bool watched = asked && pidfd >= 0;
        // Without a pidfd a clock that is gone or runs behind shows the end.
        if (watched ? !tree->watched[i].revents
                    : clock_ns(tree->members[i].clock) >= tree->members[i].run_ns)
            continue;
        // A zombie still has its clock, now with the final value, and keeps its pid.
        if (watched && pidfd_send_signal(pidfd, 0, NULL, 0) == 0)
            note_run_time(&tree->members[i]);
        drop_member(tree, i);
    }
}

uint64_t tlc_tree_read_ns(struct tlc_tree *tree, unsigned *processes)
{
    drop_ended(tree);
    if (tree->count > 0)
        find_new(tree);
    uint64_t sum = tree->ended_ns;
    for (size_t i = 0; i < tree->count; i++) {
        note_run_time(&tree->members[i]);
        sum += tree->members[i].run_ns;
    }
    if (processes)
        *processes = (unsigned)tree->count;
    return sum;
}

size_t tlc_tree_pids(const struct tlc_tree *tree, pid_t *pids, size_t capacity)
{
    for (size_t i = 0; i < tree->count && i < capacity; i++)
        pids[i] = tree->members[i].pid;
    return tree->count;
}

struct tlc_tree *tlc_tree_open(pid_t root)
{
    struct tlc_tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return NULL;
    tree->loadavg = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (root > 0 && add_member(tree, root))
        return tree;
    tlc_tree_close(tree);
    return NULL;
}

void tlc_tree_scan(struct tlc_tree *tree)
{
    tree->scan = true;
    tree->newest[0] = '\0';
}

void tlc_tree_close(struct tlc_tree *tree)
{
    if (!tree)
        return;
    for (size_t i = 0; i < tree->count; i++)
        if (tree->watched[i].fd >= 0)
            close(tree->watched[i].fd);
    if (tree->loadavg >= 0)
        close(tree->loadavg);
    free(tree->seen);
    free(tree->members);
    free(tree->watched);
    free(tree);
}

uint64_t tlc_tree_cpu_ns(pid_t root, unsigned *processes)
{
    struct tlc_tree *tree = tlc_tree_open(root);
    uint64_t run_ns = tree ? tlc_tree_read_ns(tree, processes) : 0;
    if (!tree && processes)
        *processes = 0;
    tlc_tree_close(tree);
    return run_ns;
}

// --- memory ---

static uint64_t pss_bytes(pid_t pid)
{
    char path[64];
    uint64_t kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    char *text = tlc_text_read(path);
    for (const char *line = text; line; line = tlc_text_next_line(line))
        if (!strncmp(line, "Pss:", 4)) {
            const char *at = line + 4;
            if (!tlc_text_number(&at, UINT64_MAX / 1024, &kilobytes))
                kilobytes = 0;
            break;
        }
    free(text);
    return kilobytes * 1024;
}

uint64_t tlc_tree_memory_bytes(pid_t root)
{
    uint64_t sum = 0;
    struct tlc_tree *tree = tlc_tree_open(root);
    if (tree)
        find_new(tree);
    for (size_t i = 0; tree && i < tree->count; i++)
        sum += pss_bytes(tree->members[i].pid);
    tlc_tree_close(tree);
    return sum;
}
