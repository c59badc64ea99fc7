// The module: OpenSSL's default provider, loaded in a library context of the module's own and
// served again through stubs. Inside that context a second provider stands in front of the default
// one, so that what algorithms ask of each other (a hybrid of its parts) passes stubs as well.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/core_names.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "measure/allocation_page.h"
#include "providers/parameters.h"
#include "providers/trace.h"

#define NAME    "tlscost-trace"
#define VERSION "1"
#define NESTED  "tlscost-trace-nested"

// Of the nested provider's algorithms. A query with a property of another name than the usual ones
// is an error until an algorithm with it is there.
static const char preferred[] = "provider=" NESTED;

enum { OPERATIONS = OSSL_OP__HIGHEST + 1, LENDERS = 16 };

// One library context that has loaded the module.
struct instance {
    struct instance *next;
    const struct tlc_lent_library *library;
    OSSL_LIB_CTX *context; // the module's own
    OSSL_PROVIDER *inner, *nested;
    void *inner_context;
    struct {
        const OSSL_ALGORITHM *outer, *nested;
        int no_cache;
    } algorithms[OPERATIONS];
    char text[256]; // "tlscost-operations"
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of all below
static struct instance *instances;
static struct tlc_lent_library lent[LENDERS];
static size_t lent_count;
static char page_file[1024];
static _Thread_local struct instance *starting; // whose nested provider is being loaded

__attribute__((visibility("default"))) tlc_lend_library tlscost_lend_library;
__attribute__((visibility("default"))) OSSL_provider_init_fn OSSL_provider_init;

// ---- errors

struct core {
    const OSSL_CORE_HANDLE *handle;
    OSSL_FUNC_core_get_params_fn *get_params;
    OSSL_FUNC_core_new_error_fn *new_error;
    OSSL_FUNC_core_vset_error_fn *vset_error;
    void (*any)(void); // one of its functions
};

static void fail(const struct core *core, const char *format, ...) TLC_PRINTF(2, 3);
static void fail(const struct core *core, const char *format, ...)
{
    va_list arguments;
    if (!core->new_error || !core->vset_error)
        return;
    va_start(arguments, format);
    core->new_error(core->handle);
    core->vset_error(core->handle, 1, format, arguments);
    va_end(arguments);
}

// ---- the library's functions

static void *home_of(void (*function)(void))
{
    Dl_info info;
    return dladdr(*(void **)&function, &info) ? info.dli_fbase : NULL;
}

void tlscost_lend_library(const struct tlc_lent_library *library)
{
    pthread_mutex_lock(&lock);
    bool known = false;
    for (size_t i = 0; i < lent_count; i++)
        known = known || lent[i].OSSL_LIB_CTX_new == library->OSSL_LIB_CTX_new;
    if (!known && lent_count < LENDERS)
        lent[lent_count++] = *library;
    pthread_mutex_unlock(&lock);
}

// The functions by name, out of the very object that loads the module: another libcrypto may be in
// the process, and be the first one that a search would find.
static bool ask_object(const struct core *core, struct tlc_lent_library *library)
{
    Dl_info info;
    if (!dladdr(*(void *const *)&core->any, &info))
        return false;
    void *object = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    object = object ? object : dlopen(NULL, RTLD_NOW); // the program itself
    bool found = object != NULL;
#define ASK(name)                                                                                  \
    if (found) {                                                                                   \
        *(void **)&library->name = dlsym(object, #name);                                           \
        found = library->name && home_of((void (*)(void))library->name) == info.dli_fbase;         \
    }
    TLC_LENT_FUNCTIONS(ASK)
#undef ASK
    if (object)
        dlclose(object);
    return found;
}

static const struct tlc_lent_library *library_of(const struct core *core)
{
    void *home = home_of(core->any);
    for (size_t i = 0; i < lent_count; i++)
        if (home_of((void (*)(void))lent[i].OSSL_LIB_CTX_new) == home)
            return &lent[i];
    struct tlc_lent_library asked;
    if (lent_count == LENDERS || !ask_object(core, &asked)) {
        Dl_info info = {0};
        dladdr(*(void *const *)&core->any, &info);
        fail(core, "%s hides its functions: the tracing provider needs them to be visible",
             info.dli_fname ? info.dli_fname : "the library");
        return NULL;
    }
    lent[lent_count] = asked;
    return &lent[lent_count++];
}

// ---- settings and the page

struct settings {
    const char *mode, *file, *burn, *burn_us;
};

static bool map_page(const struct core *core, const char *path)
{
    int flags = path ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS, file = -1;
    size_t bytes = sizeof *trace_state.page;
    if (path) {
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        struct stat found;
        if (file < 0 || fstat(file, &found) || !S_ISREG(found.st_mode) ||
            (found.st_size < (off_t)bytes && ftruncate(file, (off_t)bytes))) {
            fail(core, "file: %s: %s", path, strerror(errno));
            if (file >= 0)
                close(file);
            return false;
        }
    }
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (file >= 0)
        close(file);
    if (page == MAP_FAILED) {
        fail(core, "file: %s: %s", path ? path : "memory", strerror(errno));
        return false;
    }
    trace_state.page = page;
    snprintf(page_file, sizeof page_file, "%s", path ? path : "");
    return true;
}

static unsigned component_named(const char *name)
{
    unsigned component = 0;
    while (component < TLC_COMPONENT_COUNT && strcmp(tlc_component_name(component), name) != 0)
        component++;
    return component;
}

// What the page says of a burn is kept where the settings do not: others write it too.
static bool set_burn(const struct core *core, const struct settings *settings)
{
    struct tlc_trace_page *page = trace_state.page;
    char *end = NULL;
    if (!settings->burn)
        return true;
    unsigned component = component_named(settings->burn);
    unsigned long us = settings->burn_us ? strtoul(settings->burn_us, &end, 10) : 0;
    if (component == TLC_COMPONENT_COUNT || (end && *end) || us > 1000000) {
        fail(core, "burn: a component such as sign, and burn_us: 0 to 1000000");
        return false;
    }
    atomic_store(&page->burn_us, (uint32_t)us);
    atomic_store(&page->burn_component, component);
    return true;
}

static bool begin_page(const struct core *core, const struct settings *settings,
                       enum tlc_trace_mode mode)
{
    struct tlc_trace_page *page = trace_state.page;
    if (atomic_load(&page->magic) != TLC_TRACE_MAGIC) {
        atomic_store(&page->burn_component, TLC_NO_COMPONENT);
        atomic_store(&page->magic, TLC_TRACE_MAGIC);
    }
    trace_state.mode = mode;
    atomic_store(&page->mode, mode);
    *(void **)&trace_state.tell_allocations = dlsym(RTLD_DEFAULT, TLC_ALLOCATION_COMPONENT_SYMBOL);
    return set_burn(core, settings);
}

static bool configure(const struct core *core)
{
    struct settings settings = {0};
#define ASKED(name)                                                                                \
    {#name, OSSL_PARAM_UTF8_PTR, &settings.name, sizeof settings.name, OSSL_PARAM_UNMODIFIED}
    OSSL_PARAM asked[] = {
        ASKED(mode), ASKED(file), ASKED(burn), ASKED(burn_us), {NULL, 0, NULL, 0, 0}};
    if (core->get_params && !core->get_params(core->handle, asked))
        return false;
    enum tlc_trace_mode mode = !settings.mode || !strcmp(settings.mode, "tag") ? TLC_TRACE_TAG
                               : !strcmp(settings.mode, "timed")               ? TLC_TRACE_TIMED
                                                                               : TLC_TRACE_NONE;
    if (mode == TLC_TRACE_NONE) {
        fail(core, "mode: '%s': write tag or timed", settings.mode);
        return false;
    }
    if (trace_state.page) {
        if (mode == trace_state.mode && !strcmp(page_file, settings.file ? settings.file : ""))
            return true;
        fail(core, "one process traces in one way, into one file");
        return false;
    }
    return map_page(core, settings.file) && begin_page(core, &settings, mode);
}

// ---- one instance

// Kinds of operations that are nested in others and of interest there. What they cost in digests
// and ciphers is their own.
static bool is_nested(int operation)
{
    return operation == OSSL_OP_KEYMGMT || operation == OSSL_OP_KEYEXCH ||
           operation == OSSL_OP_KEM || operation == OSSL_OP_SIGNATURE || operation == OSSL_OP_RAND;
}

static const OSSL_ALGORITHM *query_nested(void *context, int operation, int *no_cache)
{
    (void)context;
    const OSSL_ALGORITHM *found = NULL;
    *no_cache = 0;
    pthread_mutex_lock(&lock);
    for (struct instance *one = instances; one && !found; one = one->next)
        if (one->inner_context == context && operation > 0 && operation < OPERATIONS)
            found = one->algorithms[operation].nested;
    pthread_mutex_unlock(&lock);
    return found;
}

static int start_nested(const OSSL_CORE_HANDLE *core, const OSSL_DISPATCH *in,
                        const OSSL_DISPATCH **out, void **context)
{
    static const OSSL_DISPATCH functions[] = {
        {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query_nested}, {0, NULL}};
    (void)core;
    (void)in;
    if (!starting)
        return 0;
    *out = functions;
    *context = starting->inner_context;
    return 1;
}

// All tables at once: what does not fit is an error now, and not an algorithm that is missing
// later.
static bool wrap_all(struct instance *one)
{
    for (int operation = 1; operation < OPERATIONS; operation++) {
        const OSSL_ALGORITHM *inner = one->library->OSSL_PROVIDER_query_operation(
            one->inner, operation, &one->algorithms[operation].no_cache);
        if (!trace_wrap(operation, inner, NULL, &one->algorithms[operation].outer) ||
            (is_nested(operation) &&
             !trace_wrap(operation, inner, preferred, &one->algorithms[operation].nested)))
            return false;
    }
    return true;
}

static void end(struct instance *one)
{
    const struct tlc_lent_library *library = one->library;
    if (one->nested)
        library->OSSL_PROVIDER_unload(one->nested);
    if (one->inner)
        library->OSSL_PROVIDER_unload(one->inner);
    library->OSSL_LIB_CTX_free(one->context);
    free(one);
}

static void leave_list(struct instance *one)
{
    struct instance **at = &instances;
    while (*at && *at != one)
        at = &(*at)->next;
    if (*at)
        *at = one->next;
}

static bool load_nested(const struct core *core, struct instance *one)
{
    const struct tlc_lent_library *library = one->library;
    starting = one;
    // The library asks for its tables at once.
    pthread_mutex_unlock(&lock);
    bool good = library->OSSL_PROVIDER_add_builtin(one->context, NESTED, start_nested) == 1 &&
                (one->nested = library->OSSL_PROVIDER_load(one->context, NESTED)) != NULL &&
                library->EVP_set_default_properties(one->context, "?provider=" NESTED) == 1;
    pthread_mutex_lock(&lock);
    starting = NULL;
    if (!good)
        fail(core, "the nested provider does not start");
    return good;
}

static struct instance *begin(const struct core *core)
{
    const struct tlc_lent_library *library = library_of(core);
    struct instance *one = library ? calloc(1, sizeof *one) : NULL;
    if (!one)
        return NULL;
    one->library = library;
    one->context = library->OSSL_LIB_CTX_new();
    one->inner = one->context ? library->OSSL_PROVIDER_load(one->context, "default") : NULL;
    if (!one->inner) {
        fail(core, "the library's default provider does not start");
        end(one);
        return NULL;
    }
    one->inner_context = library->OSSL_PROVIDER_get0_provider_ctx(one->inner);
    if (!wrap_all(one)) {
        fail(core, "this library has more functions than there are stubs, or memory has run out");
        end(one);
        return NULL;
    }
    one->next = instances;
    instances = one;
    if (load_nested(core, one))
        return one;
    leave_list(one);
    end(one);
    return NULL;
}

// ---- the provider's own functions; the context is the inner provider's

static struct instance *instance_of(const void *context)
{
    pthread_mutex_lock(&lock);
    struct instance *one = instances;
    while (one && one->inner_context != context)
        one = one->next;
    pthread_mutex_unlock(&lock);
    return one;
}

static void teardown(void *context)
{
    struct instance *one = instance_of(context);
    if (!one)
        return;
    pthread_mutex_lock(&lock);
    leave_list(one);
    pthread_mutex_unlock(&lock);
    end(one);
}

static const OSSL_ALGORITHM *query_operation(void *context, int operation, int *no_cache)
{
    const struct instance *one = instance_of(context);
    if (!one || operation <= 0 || operation >= OPERATIONS)
        return NULL;
    *no_cache = one->algorithms[operation].no_cache;
    return one->algorithms[operation].outer;
}

static int get_capabilities(void *context, const char *capability, OSSL_CALLBACK *callback,
                            void *argument)
{
    const struct instance *one = instance_of(context);
    return one &&
           one->library->OSSL_PROVIDER_get_capabilities(one->inner, capability, callback, argument);
}

static const OSSL_PARAM *gettable_params(void *context)
{
    (void)context;
    static const OSSL_PARAM known[] = {
        {OSSL_PROV_PARAM_NAME, OSSL_PARAM_UTF8_PTR, NULL, 0, 0},
        {OSSL_PROV_PARAM_VERSION, OSSL_PARAM_UTF8_PTR, NULL, 0, 0},
        {OSSL_PROV_PARAM_BUILDINFO, OSSL_PARAM_UTF8_PTR, NULL, 0, 0},
        {OSSL_PROV_PARAM_STATUS, OSSL_PARAM_INTEGER, NULL, sizeof(int), 0},
        {"tlscost-operations", OSSL_PARAM_UTF8_STRING, NULL, 0, 0},
        {NULL, 0, NULL, 0, 0},
    };
    return known;
}

// The counts are those of the page, which all instances share. What a handshake does many times
// tells nothing of handshakes.
static void write_operations(struct instance *one)
{
    size_t length = 0;
    for (unsigned i = 0; i < TLC_COMPONENT_KDF && length < sizeof one->text; i++)
        length += (size_t)snprintf(one->text + length, sizeof one->text - length, "%s%s=%" PRIu64,
                                   i ? " " : "", tlc_component_name(i),
                                   atomic_load(&trace_state.page->done[i]));
}

static int get_params(void *context, OSSL_PARAM list[])
{
    struct instance *one = instance_of(context);
    if (!one)
        return 0;
    pthread_mutex_lock(&lock);
    write_operations(one);
    int good = parameter_set_pointer(parameter_find(list, OSSL_PROV_PARAM_NAME), NAME) &&
               parameter_set_pointer(parameter_find(list, OSSL_PROV_PARAM_VERSION), VERSION) &&
               parameter_set_pointer(parameter_find(list, OSSL_PROV_PARAM_BUILDINFO),
                                     trace_state.mode == TLC_TRACE_TIMED ? "timed" : "tag") &&
               parameter_set_number(parameter_find(list, OSSL_PROV_PARAM_STATUS), 1) &&
               parameter_set_text(parameter_find(list, "tlscost-operations"), one->text);
    pthread_mutex_unlock(&lock);
    return good;
}

static const OSSL_DISPATCH provider_functions[] = {
    {OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))teardown},
    {OSSL_FUNC_PROVIDER_GETTABLE_PARAMS, (void (*)(void))gettable_params},
    {OSSL_FUNC_PROVIDER_GET_PARAMS, (void (*)(void))get_params},
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query_operation},
    {OSSL_FUNC_PROVIDER_GET_CAPABILITIES, (void (*)(void))get_capabilities},
    {0, NULL},
};

int OSSL_provider_init(const OSSL_CORE_HANDLE *handle, const OSSL_DISPATCH *in,
                       const OSSL_DISPATCH **out, void **context)
{
    struct core core = {.handle = handle, .any = in->function};
    for (; in->function_id; in++) {
        if (in->function_id == OSSL_FUNC_CORE_GET_PARAMS)
            core.get_params = OSSL_FUNC_core_get_params(in);
        else if (in->function_id == OSSL_FUNC_CORE_NEW_ERROR)
            core.new_error = OSSL_FUNC_core_new_error(in);
        else if (in->function_id == OSSL_FUNC_CORE_VSET_ERROR)
            core.vset_error = OSSL_FUNC_core_vset_error(in);
    }
    pthread_mutex_lock(&lock);
    struct instance *one = configure(&core) ? begin(&core) : NULL;
    if (one)
        atomic_fetch_add(&trace_state.page->loads, 1);
    pthread_mutex_unlock(&lock);
    if (!one)
        return 0;
    *out = provider_functions;
    *context = one->inner_context;
    return 1;
}
