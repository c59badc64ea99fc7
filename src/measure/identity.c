// Which machine a result is of.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "measure/machine.h"

// What makes figures of one machine comparable; not what changes from hour to hour.
static const char *const facts[] = {"architecture", "boost",  "clock_source", "cores",
                                    "cpu_model",    "cpus",   "distribution", "governor",
                                    "hypervisor",   "kernel", "memory_bytes", "smt",
                                    "virtual"};

bool tlc_machine_identity(const json_t *environment, char hex[TLC_MACHINE_IDENTITY_BYTES])
{
    json_t *chosen = json_object();
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        json_t *fact = json_object_get(environment, facts[i]);
        json_object_set(chosen, facts[i], fact ? fact : json_null());
    }
    char *text = json_dumps(chosen, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned bytes = 0;
    bool made = text && EVP_Digest(text, strlen(text), digest, &bytes, EVP_sha256(), NULL) == 1 &&
                bytes * 2 + 1 <= TLC_MACHINE_IDENTITY_BYTES;
    hex[0] = '\0';
    for (unsigned i = 0; made && i < bytes; i++)
        snprintf(hex + (size_t)2 * i, 3, "%02x", digest[i]);
    free(text);
    json_decref(chosen);
    return made;
}
