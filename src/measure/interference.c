#include "measure/interference.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/evp.h>

#include "measure/clock.h"

// RFC 7748, 6.1: Alice's private key, Bob's public key and their shared secret.
static const unsigned char private_key[32] = {
    0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d, 0x3c, 0x16, 0xc1, 0x72, 0x51, 0xb2, 0x66, 0x45,
    0xdf, 0x4c, 0x2f, 0x87, 0xeb, 0xc0, 0x99, 0x2a, 0xb1, 0x77, 0xfb, 0xa5, 0x1d, 0xb9, 0x2c, 0x2a};
static const unsigned char public_key[32] = {
    0xde, 0x9e, 0xdb, 0x7d, 0x7b, 0x7d, 0xc1, 0xb4, 0xd3, 0x5b, 0x61, 0xc2, 0xec, 0xe4, 0x35, 0x37,
    0x3f, 0x83, 0x43, 0xc8, 0x5b, 0x78, 0x67, 0x4d, 0xad, 0xfc, 0x7e, 0x14, 0x6f, 0x88, 0x2b, 0x4f};
static const unsigned char shared_secret[32] = {
    0x4a, 0x5d, 0x9d, 0x5b, 0xa4, 0xce, 0x2d, 0xe1, 0x72, 0x8e, 0x3b, 0xf4, 0x80, 0x35, 0x0f, 0x25,
    0xe0, 0x7e, 0x21, 0xc9, 0x47, 0xd1, 0x9e, 0x33, 0x76, 0xf0, 0x9b, 0x3c, 0x1e, 0x16, 0x17, 0x42};

struct window {
    atomic_bool stop;      // the busy threads end
    atomic_size_t running; // busy threads that have begun
};

struct job {
    struct window *window;
    unsigned operations; // 0: until `stop`
    uint64_t cpu_ns;
    bool right;
    pthread_t thread;
};

static EVP_PKEY_CTX *new_exchange(void)
{
    EVP_PKEY *own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, private_key, 32);
    EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, public_key, 32);
    EVP_PKEY_CTX *exchange = own ? EVP_PKEY_CTX_new(own, NULL) : NULL;
    if (exchange && (!peer || EVP_PKEY_derive_init(exchange) <= 0 ||
                     EVP_PKEY_derive_set_peer(exchange, peer) <= 0)) {
        EVP_PKEY_CTX_free(exchange);
        exchange = NULL;
    }
    EVP_PKEY_free(peer);
    EVP_PKEY_free(own);
    return exchange;
}

static bool derives_right(EVP_PKEY_CTX *exchange)
{
    unsigned char secret[32];
    size_t bytes = sizeof secret;
    return EVP_PKEY_derive(exchange, secret, &bytes) > 0 && bytes == sizeof secret &&
           !memcmp(secret, shared_secret, sizeof secret);
}

static void *work(void *argument)
{
    struct job *job = argument;
    EVP_PKEY_CTX *exchange = new_exchange();
    job->right = exchange && derives_right(exchange);
    if (!job->operations)
        atomic_fetch_add(&job->window->running, 1);
    uint64_t begin = tlc_thread_cpu_ns();
    for (unsigned i = 0; job->right && (!job->operations || i < job->operations); i++) {
        if (!job->operations && atomic_load_explicit(&job->window->stop, memory_order_relaxed))
            break;
        job->right = derives_right(exchange);
    }
    job->cpu_ns = tlc_thread_cpu_ns() - begin;
    EVP_PKEY_CTX_free(exchange);
    return NULL;
}

// Starts a job on each CPU of the set; returns how many could be started.
static size_t start_jobs(const cpu_set_t *cpus, unsigned operations, struct window *window,
                         struct job *jobs)
{
    size_t count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, cpus))
            continue;
        cpu_set_t one;
        pthread_attr_t attributes;
        CPU_ZERO(&one);
        CPU_SET((size_t)cpu, &one);
        if (pthread_attr_init(&attributes))
            break;
        jobs[count] = (struct job){.window = window, .operations = operations};
        bool started = !pthread_attr_setaffinity_np(&attributes, sizeof one, &one) &&
                       !pthread_create(&jobs[count].thread, &attributes, work, &jobs[count]);
        pthread_attr_destroy(&attributes);
        if (!started)
            break;
        count++;
    }
    return count;
}

static bool join_jobs(struct job *jobs, size_t count, uint64_t *cpu_ns)
{
    bool right = true;
    for (size_t i = 0; i < count; i++) {
        pthread_join(jobs[i].thread, NULL);
        right = right && jobs[i].right;
        *cpu_ns += jobs[i].cpu_ns;
    }
    return right;
}

static void await_running(struct window *window, size_t count)
{
    const struct timespec pause = {.tv_nsec = 50000};
    while (atomic_load(&window->running) < count)
        nanosleep(&pause, NULL);
}

enum tlc_status tlc_interference_window(const cpu_set_t *server, const cpu_set_t *generator,
                                        bool busy, unsigned operations, double *ns_per_operation,
                                        struct tlc_error *error)
{
    size_t servers = (size_t)CPU_COUNT(server), others = busy ? (size_t)CPU_COUNT(generator) : 0;
    struct job *jobs = calloc(servers + others + 1, sizeof *jobs);
    if (!jobs)
        return tlc_fail(error, TLC_ENVIRONMENT, "interference: out of memory");
    struct window window = {.stop = false};
    uint64_t cpu_ns = 0, spent = 0;
    size_t noise = busy ? start_jobs(generator, 0, &window, jobs + servers) : 0;
    await_running(&window, noise);
    size_t measured = start_jobs(server, operations, &window, jobs);
    bool right = join_jobs(jobs, measured, &cpu_ns);
    atomic_store(&window.stop, true);
    right = join_jobs(jobs + servers, noise, &spent) && right;
    free(jobs);
    if (measured < servers || noise < others || !servers)
        return tlc_fail(
            error, TLC_ENVIRONMENT,
            "interference: a thread could not be pinned; are all CPUs of the lists on?");
    if (!right)
        return tlc_fail(error, TLC_ENVIRONMENT,
                        "interference: X25519 gave a wrong result; libcrypto or the CPU is broken");
    *ns_per_operation = (double)cpu_ns / ((double)servers * operations);
    return TLC_OK;
}
