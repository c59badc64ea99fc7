// Lends the plug-in's library, which is hidden in it, to modules that wrap its own algorithms.
#include <dlfcn.h>

#include "stacks/lent_library.h"
#include "stacks/openssl_plugin.h"

bool openssl_lend_library(const char *module)
{
#define MEMBER(name) .name = name,
    static const struct tlc_lent_library library = {TLC_LENT_FUNCTIONS(MEMBER)};
#undef MEMBER
    // It stays open: the library that loads it a moment later gets the same one.
    void *handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    tlc_lend_library *lend = NULL;
    if (handle)
        *(void **)&lend = dlsym(handle, TLC_LENT_SYMBOL);
    if (lend)
        lend(&library);
    else if (handle)
        dlclose(handle);
    return lend != NULL;
}
