#include "stacks/loader.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/process.h"
#include "stacks/whole_file.h"

struct loaded {
    struct tlc_stack_plugin plugin;
    struct stat file; // as it was when it was loaded
    struct loaded *next;
};

static struct loaded *all_loaded;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

#define FOLDERS_MAX 24

struct folders {
    char *paths[FOLDERS_MAX];
    size_t count;
};

static void add_folder(struct folders *folders, const char *format, ...) TLC_PRINTF(2, 3);

static void add_folder(struct folders *folders, const char *format, ...)
{
    char *path = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&path, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    if (!*path || folders->count == FOLDERS_MAX)
        free(path);
    else
        folders->paths[folders->count++] = path;
}

static void add_named_folders(struct folders *folders, const char *list)
{
    while (list && *list) {
        size_t length = strcspn(list, ":");
        add_folder(folders, "%.*s", (int)length, list);
        list += length + (list[length] == ':');
    }
}

// Where `tlscost stacks get` puts what it builds.
static void add_user_folder(struct folders *folders)
{
    char cache[PATH_MAX];
    struct tlc_error ignored;
    if (tlc_directory_name_of_user(TLC_DIRECTORY_CACHE, cache, sizeof cache, &ignored) == TLC_OK)
        add_folder(folders, "%s/stacks", cache);
}

static void find_folders(struct folders *folders)
{
    folders->count = 0;
    add_named_folders(folders, getenv("TLSCOST_STACKS"));
    const char *program = tlc_program_path(), *slash = strrchr(program, '/');
    if (slash) {
        int length = (int)(slash - program);
        add_folder(folders, "%.*s/stacks", length, program);
        add_folder(folders, "%.*s/../stacks", length, program);
        add_folder(folders, "%.*s/../" TLC_STACK_RELATIVE, length, program);
    }
    add_folder(folders, "%s", TLC_STACK_FOLDER);
    add_user_folder(folders);
}

static void free_folders(struct folders *folders)
{
    for (size_t i = 0; i < folders->count; i++)
        free(folders->paths[i]);
}

struct ids {
    char **names;
    size_t count;
};

static bool has_id(const struct ids *ids, const char *name)
{
    for (size_t i = 0; i < ids->count; i++)
        if (!strcmp(ids->names[i], name))
            return true;
    return false;
}

static void add_id(struct ids *ids, const char *file)
{
    size_t length = strlen(file);
    if (length <= 3 || file[0] == '.' || strcmp(file + length - 3, ".so") != 0)
        return;
    char *name = strndup(file, length - 3);
    char **grown = NULL;
    if (name && !has_id(ids, name))
        grown = realloc(ids->names, (ids->count + 2) * sizeof *grown);
    if (!grown) {
        free(name);
        return;
    }
    ids->names = grown;
    grown[ids->count++] = name;
    grown[ids->count] = NULL;
}

static int compare_ids(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

char **tlc_stack_ids(void)
{
    struct folders folders;
    struct ids ids = {.names = calloc(1, sizeof *ids.names), .count = 0};
    if (!ids.names)
        return NULL;
    find_folders(&folders);
    for (size_t i = 0; i < folders.count; i++) {
        DIR *folder = opendir(folders.paths[i]);
        for (struct dirent *entry; folder && (entry = readdir(folder));)
            add_id(&ids, entry->d_name);
        if (folder)
            closedir(folder);
    }
    free_folders(&folders);
    qsort(ids.names, ids.count, sizeof *ids.names, compare_ids);
    return ids.names;
}

void tlc_stack_ids_free(char **ids)
{
    for (char **id = ids; id && *id; id++)
        free(*id);
    free(ids);
}

// The file of an id or path; the caller frees it. NULL when there is none.
static char *find_file(const char *id)
{
    char *found = NULL;
    if (strchr(id, '/'))
        return realpath(id, NULL);
    struct folders folders;
    find_folders(&folders);
    for (size_t i = 0; !found && i < folders.count; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s.so", folders.paths[i], id) < 0)
            break;
        found = realpath(path, NULL);
        free(path);
    }
    free_folders(&folders);
    return found;
}

// Whether the manifest FOLDER/NAME says that the recipe made the plug-in beside it.
static bool made_by(const char *folder, const char *name, const char *recipe)
{
    char path[4096];
    size_t length = strlen(name);
    if (length <= 5 || strcmp(name + length - 5, ".json") != 0 ||
        (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return false;
    json_t *manifest = json_load_file(path, 0, NULL);
    const char *made = json_string_value(json_object_get(manifest, "recipe"));
    bool same = made && !strcmp(made, recipe);
    json_decref(manifest);
    return same;
}

char *tlc_stack_made_by(const char *folder, const char *recipe)
{
    char newest[NAME_MAX + 1] = "", *path = NULL, *found = NULL;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (made_by(folder, entry->d_name, recipe) && strverscmp(entry->d_name, newest) > 0)
            snprintf(newest, sizeof newest, "%s", entry->d_name);
    if (entries)
        closedir(entries);
    int length = (int)strlen(newest) - (int)strlen(".json");
    if (length > 0 && asprintf(&path, "%s/%.*s.so", folder, length, newest) >= 0) {
        found = realpath(path, NULL);
        free(path);
    }
    return found;
}

static char *find_made_by(const char *recipe)
{
    char *found = NULL;
    struct folders folders;
    find_folders(&folders);
    for (size_t i = 0; !found && i < folders.count; i++)
        found = tlc_stack_made_by(folders.paths[i], recipe);
    free_folders(&folders);
    return found;
}

char *tlc_provider_find(const char *provider)
{
    size_t length = strcspn(provider, "?");
    char *found = NULL;
    struct folders folders;
    if (memchr(provider, '/', length))
        return strdup(provider);
    find_folders(&folders);
    for (size_t i = 0; !found && i < folders.count; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/../providers/%.*s.so", folders.paths[i], (int)length, provider) < 0)
            break;
        char *module = realpath(path, NULL);
        if (module && asprintf(&found, "%s%s", module, provider + length) < 0)
            found = NULL;
        free(module);
        free(path);
    }
    free_folders(&folders);
    return found ? found : strdup(provider);
}

// Appends ", word" where it fits.
static void append_word(char *list, size_t capacity, const char *word)
{
    size_t used = strlen(list);
    if (used + strlen(word) + 3 < capacity)
        snprintf(list + used, capacity - used, "%s%s", used ? ", " : "", word);
}

static enum tlc_status fail_not_found(const char *id, struct tlc_error *error)
{
    char **ids = tlc_stack_ids(), found[512] = "", searched[1024] = "";
    for (char **one = ids; one && *one; one++)
        append_word(found, sizeof found, *one);
    tlc_stack_ids_free(ids);
    struct folders folders;
    find_folders(&folders);
    for (size_t i = 0; i < folders.count; i++)
        append_word(searched, sizeof searched, folders.paths[i]);
    free_folders(&folders);
    char recipe[80], file[PATH_MAX];
    snprintf(recipe, sizeof recipe, "recipes/%.60s.recipe", id);
    if (!strchr(id, '/') && tlc_directory_shipped(recipe, file, sizeof file))
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "stack: %.60s: not made yet; make it with 'tlscost stacks get %.60s'", id,
                        id);
    return tlc_fail(error, TLC_ENVIRONMENT,
                    "stack: %.64s: no such plug-in; found are: %s; folders searched: %.500s", id,
                    found[0] ? found : "none", searched);
}

static enum tlc_status check_table(const char *path, const struct tlc_stack *stack,
                                   struct tlc_error *error)
{
    if (stack->abi != TLC_STACK_ABI || stack->table_bytes != sizeof *stack)
        return tlc_fail(
            error, TLC_ENVIRONMENT,
            "stack: %s: built for plug-in ABI %u with a table of %u bytes, this program "
            "has %u with %zu; build it again",
            path, stack->abi, stack->table_bytes, TLC_STACK_ABI, sizeof *stack);
    if (!stack->name || !stack->version || !stack->build || !stack->supports ||
        !stack->context_new || !stack->context_free || !stack->connection_on_socket ||
        !stack->handshake || !stack->read || !stack->write || !stack->close ||
        !stack->connection_free || !stack->evidence)
        return tlc_fail(error, TLC_ENVIRONMENT, "stack: %s: a required function is missing", path);
    return TLC_OK;
}

static char *id_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > 3 && !strcmp(name + length - 3, ".so"))
        length -= 3;
    return strndup(name, length);
}

// Opens the file and puts it on the list; takes `path`. The caller holds the lock.
static enum tlc_status open_plugin(char *path, const struct tlc_stack_plugin **plugin,
                                   struct tlc_error *error)
{
    void *handle = NULL;
    struct loaded *entry = NULL;
    const struct tlc_stack *stack = NULL;
    enum tlc_status status = tlc_stack_check_whole(path, error);
    if (status)
        goto fail;
    // RTLD_NODELETE: libraries register thread destructors that must outlive any dlclose.
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        status = tlc_fail(error, TLC_ENVIRONMENT, "stack: %s: %s", path, dlerror());
        goto fail;
    }
    stack = dlsym(handle, TLC_STACK_SYMBOL);
    if (!stack) {
        status = tlc_fail(error, TLC_ENVIRONMENT, "stack: %s: not a plug-in: no symbol %s", path,
                          TLC_STACK_SYMBOL);
        goto fail;
    }
    status = check_table(path, stack, error);
    if (status)
        goto fail;
    entry = calloc(1, sizeof *entry);
    char *id = id_of(path);
    if (!entry || !id) {
        free(id);
        status = tlc_fail(error, TLC_ENVIRONMENT, "stack: %s: out of memory", path);
        goto fail;
    }
    entry->plugin =
        (struct tlc_stack_plugin){.stack = stack, .id = id, .path = path, .handle = handle};
    if (stat(path, &entry->file))
        entry->file = (struct stat){0};
    entry->next = all_loaded;
    all_loaded = entry;
    *plugin = &entry->plugin;
    return TLC_OK;
fail:
    free(entry);
    free(path);
    if (handle)
        dlclose(handle);
    return status;
}

enum tlc_status tlc_stack_load(const char *id, const struct tlc_stack_plugin **plugin,
                               struct tlc_error *error)
{
    *plugin = NULL;
    char *path = find_file(id);
    if (!path && !strchr(id, '/'))
        path = find_made_by(id);
    if (!path)
        return fail_not_found(id, error);
    enum tlc_status status = TLC_OK;
    pthread_mutex_lock(&all_lock);
    for (struct loaded *entry = all_loaded; entry && !*plugin; entry = entry->next)
        if (!strcmp(entry->plugin.path, path))
            *plugin = &entry->plugin;
    if (*plugin)
        free(path);
    else
        status = open_plugin(path, plugin, error);
    pthread_mutex_unlock(&all_lock);
    return status;
}

bool tlc_stack_is_replaced(const struct tlc_stack_plugin *plugin)
{
    const struct loaded *entry = (const struct loaded *)plugin; // its first member
    struct stat now;
    return stat(plugin->path, &now) || now.st_ino != entry->file.st_ino ||
           now.st_dev != entry->file.st_dev || now.st_size != entry->file.st_size ||
           now.st_mtim.tv_sec != entry->file.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != entry->file.st_mtim.tv_nsec;
}
