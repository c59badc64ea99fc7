#include "tls13/random.h"

#include <openssl/rand.h>
#include <pthread.h>
#include <string.h>

static _Thread_local uint8_t pool[4096];
static _Thread_local size_t left;
static pthread_once_t watched = PTHREAD_ONCE_INIT;

// A child must not give out what its parent gives out.
static void forget_pool(void)
{
    left = 0;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_pool);
}

bool tlc_random(uint8_t *bytes, size_t count)
{
    if (count > left) {
        pthread_once(&watched, watch_forks);
        if (RAND_bytes(pool, sizeof(pool)) != 1)
            return false;
        left = sizeof(pool);
    }
    left -= count;
    memcpy(bytes, pool + left, count);
    return true;
}
