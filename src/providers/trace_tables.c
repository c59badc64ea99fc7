// Tables of algorithms with stubs in front of their functions. They are kept for as long as the
// module is loaded: the functions of a library are the same in all of its contexts.
#include <stdlib.h>
#include <string.h>

#include "providers/trace.h"

struct wrapped_dispatch {
    const OSSL_DISPATCH *inner;
    const char *names;
    OSSL_DISPATCH *outer;
};

struct wrapped_table {
    const OSSL_ALGORITHM *inner;
    const char *property;
    OSSL_ALGORITHM *outer;
};

static struct wrapped_dispatch *dispatches;
static struct wrapped_table *tables;
static size_t dispatch_count, table_count;

// Room for one more; the count is the caller's to raise.
static void *grown(void *list, size_t count, size_t bytes)
{
    if (count & (count - 1))
        return list;
    return realloc(list, (count ? 2 * count : 1) * bytes);
}

static OSSL_DISPATCH *make_dispatch(int operation, const OSSL_ALGORITHM *algorithm)
{
    size_t count = 0;
    while (algorithm->implementation[count].function_id)
        count++;
    OSSL_DISPATCH *outer = calloc(count + 1, sizeof *outer);
    for (size_t i = 0; outer && i < count; i++) {
        const OSSL_DISPATCH *inner = &algorithm->implementation[i];
        outer[i] = (OSSL_DISPATCH){inner->function_id,
                                   trace_stub_for(operation, inner, algorithm->algorithm_names)};
        if (!outer[i].function) {
            free(outer);
            return NULL;
        }
    }
    return outer;
}

static const OSSL_DISPATCH *wrap_dispatch(int operation, const OSSL_ALGORITHM *algorithm)
{
    for (size_t i = 0; i < dispatch_count; i++)
        if (dispatches[i].inner == algorithm->implementation &&
            !strcmp(dispatches[i].names, algorithm->algorithm_names))
            return dispatches[i].outer;
    struct wrapped_dispatch *list = grown(dispatches, dispatch_count, sizeof *list);
    OSSL_DISPATCH *outer = list ? make_dispatch(operation, algorithm) : NULL;
    dispatches = list ? list : dispatches;
    if (outer)
        dispatches[dispatch_count++] =
            (struct wrapped_dispatch){algorithm->implementation, algorithm->algorithm_names, outer};
    return outer;
}

static bool fill_table(int operation, const OSSL_ALGORITHM *inner, const char *property,
                       OSSL_ALGORITHM *outer, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        outer[i] = inner[i];
        outer[i].implementation = wrap_dispatch(operation, &inner[i]);
        if (property)
            outer[i].property_definition = property;
        if (!outer[i].implementation)
            return false;
    }
    return true;
}

bool trace_wrap(int operation, const OSSL_ALGORITHM *inner, const char *property,
                const OSSL_ALGORITHM **wrapped)
{
    *wrapped = inner;
    if (!inner || !trace_wraps(operation))
        return true;
    for (size_t i = 0; i < table_count; i++)
        if (tables[i].inner == inner && tables[i].property == property) {
            *wrapped = tables[i].outer;
            return true;
        }
    size_t count = 0;
    while (inner[count].algorithm_names)
        count++;
    struct wrapped_table *list = grown(tables, table_count, sizeof *list);
    OSSL_ALGORITHM *outer = list ? calloc(count + 1, sizeof *outer) : NULL;
    tables = list ? list : tables;
    if (!outer || !fill_table(operation, inner, property, outer, count))
        return false; // what was made so far stays: the module does not start
    tables[table_count++] = (struct wrapped_table){inner, property, outer};
    *wrapped = outer;
    return true;
}
