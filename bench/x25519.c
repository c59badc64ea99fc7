// build/bench/x25519: our X25519 part by part and back end by back end, beside libcrypto's
// (docs/x25519.md). Every result is compared with one that was known before.
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "bench/interval.h"
#include "measure/clock.h"
#include "measure/machine.h"
#include "primitives/x25519.h"
#include "result/result.h"

enum {
    ROUNDS = 101,
    ROUNDS_QUICK = 21,
    SLICE_US = 200,        // of each cell in each round, about
    FIELD_OPERATIONS = 64, // one after the other in each call
    CELLS = 80,
    RATIOS = 64,
    BYTES = TLC_X25519_BYTES,
    ALL = TLC_X25519_BYTES * TLC_X25519_BATCH
};

static const uint8_t nine[BYTES] = {9};

// What all cells work on, and the results they must have.
static struct {
    uint8_t scalars[ALL], peers[ALL], nines[ALL], a[ALL], b[ALL];
    uint8_t publics[ALL], shared[ALL], product[ALL], square[ALL], inverse[ALL];
} known;

struct operation;

struct cell {
    const struct tlc_x25519_backend *backend; // NULL: libcrypto
    const struct operation *operation;
    unsigned calls; // in a slice
    struct tlc_x25519_point point;
    struct tlc_x25519_element a, b;
    double us[ROUNDS]; // for one key or one field operation
};

struct operation {
    const char *name, *summary;
    unsigned count; // what one call does in each lane
    bool ours, libcrypto;
    bool (*run)(struct cell *cell); // false for a wrong result
};

static unsigned lanes(const struct cell *cell)
{
    return cell->backend ? cell->backend->field->lanes : 1;
}

static bool equal(const struct cell *cell, const uint8_t *got, const uint8_t *want)
{
    return memcmp(got, want, (size_t)BYTES * lanes(cell)) == 0;
}

// The library's way to a shared secret from 32 bytes of the peer; the own key stays loaded.
static bool libcrypto_derive(void)
{
    static EVP_PKEY_CTX *context;
    uint8_t shared[BYTES];
    size_t count = BYTES;
    if (!context) {
        EVP_PKEY *own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, known.scalars, BYTES);
        context = own ? EVP_PKEY_CTX_new(own, NULL) : NULL;
        EVP_PKEY_free(own);
        if (!context || EVP_PKEY_derive_init(context) != 1)
            return false;
    }
    EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, known.peers, BYTES);
    bool done = peer && EVP_PKEY_derive_set_peer(context, peer) == 1 &&
                EVP_PKEY_derive(context, shared, &count) == 1;
    EVP_PKEY_free(peer);
    return done && memcmp(shared, known.shared, BYTES) == 0;
}

static bool run_derive(struct cell *cell)
{
    uint8_t shared[ALL];
    if (!cell->backend)
        return libcrypto_derive();
    cell->backend->derive(shared, known.scalars, known.peers);
    return equal(cell, shared, known.shared);
}

static bool run_public_variable(struct cell *cell)
{
    uint8_t publics[ALL];
    cell->backend->derive(publics, known.scalars, known.nines);
    return equal(cell, publics, known.publics);
}

static bool run_public(struct cell *cell)
{
    uint8_t publics[ALL];
    cell->backend->public_key(publics, known.scalars);
    return equal(cell, publics, known.publics);
}

// A key pair from the library's random numbers, as a server makes it.
static bool libcrypto_keygen(void)
{
    static EVP_PKEY_CTX *context;
    static unsigned calls;
    uint8_t scalar[BYTES], got[BYTES], want[BYTES];
    size_t count = BYTES;
    EVP_PKEY *key = NULL;
    if (!context) {
        context = EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, NULL);
        if (!context || EVP_PKEY_keygen_init(context) != 1)
            return false;
    }
    bool done =
        EVP_PKEY_keygen(context, &key) == 1 && EVP_PKEY_get_raw_public_key(key, got, &count) == 1;
    // One key in 64 is checked, so that the check weighs little on the library's side.
    if (done && calls++ % 64 == 0) {
        done = EVP_PKEY_get_raw_private_key(key, scalar, &count) == 1;
        tlc_x25519_public(want, scalar);
        done = done && memcmp(got, want, BYTES) == 0;
    }
    EVP_PKEY_free(key);
    return done;
}

static bool run_keygen(struct cell *cell)
{
    static unsigned calls;
    uint8_t scalars[ALL], publics[ALL], want[BYTES];
    if (!cell->backend)
        return libcrypto_keygen();
    for (unsigned i = 0; i < lanes(cell); i++)
        if (RAND_priv_bytes(scalars + BYTES * i, BYTES) != 1)
            return false;
    cell->backend->public_key(publics, scalars);
    if (calls++ % 64 != 0)
        return true;
    tlc_x25519_find("limbs51", NULL)->derive(want, scalars, nine);
    return memcmp(publics, want, BYTES) == 0;
}

static bool run_base_multiply(struct cell *cell)
{
    struct tlc_x25519_point point;
    uint8_t got[ALL], want[ALL];
    cell->backend->base_multiply(&point, known.scalars);
    cell->backend->field->store(got, &point.z);
    cell->backend->field->store(want, &cell->point.z);
    return equal(cell, got, want);
}

static bool run_map(struct cell *cell)
{
    uint8_t publics[ALL];
    cell->backend->map(publics, &cell->point);
    return equal(cell, publics, known.publics);
}

static bool stored(const struct cell *cell, const struct tlc_x25519_element *a, const uint8_t *want)
{
    uint8_t got[ALL];
    cell->backend->field->store(got, a);
    return equal(cell, got, want);
}

static bool run_invert(struct cell *cell)
{
    struct tlc_x25519_element a = cell->a;
    cell->backend->field->invert(&a);
    return stored(cell, &a, known.inverse);
}

static bool run_multiply(struct cell *cell)
{
    struct tlc_x25519_element a = cell->a;
    cell->backend->field->multiply(&a, &cell->b, FIELD_OPERATIONS);
    return stored(cell, &a, known.product);
}

static bool run_square(struct cell *cell)
{
    struct tlc_x25519_element a = cell->a;
    cell->backend->field->square(&a, FIELD_OPERATIONS);
    return stored(cell, &a, known.square);
}

static const struct operation operations[] = {
    {"derive", "shared secret (variable base)", 1, true, true, run_derive},
    {"keygen", "random bytes and public key", 1, true, true, run_keygen},
    {"public-variable", "public key by the ladder", 1, true, false, run_public_variable},
    {"public-fixed", "public key by the table", 1, true, false, run_public},
    {"base-multiply", "its table multiplication", 1, true, false, run_base_multiply},
    {"map", "its map to u, with the inversion", 1, true, false, run_map},
    {"invert", "field inversion", 1, true, false, run_invert},
    {"multiply", "field multiplication", FIELD_OPERATIONS, true, false, run_multiply},
    {"square", "field square", FIELD_OPERATIONS, true, false, run_square},
};

enum { OPERATIONS = sizeof operations / sizeof *operations };

static struct cell cells[CELLS];
static size_t cell_count;

static const char *backend_name(const struct cell *cell)
{
    return cell->backend ? cell->backend->name : "libcrypto";
}

static void add_cell(const struct tlc_x25519_backend *backend, const struct operation *operation)
{
    if (cell_count == CELLS || !(backend ? operation->ours : operation->libcrypto))
        return;
    struct cell *cell = &cells[cell_count++];
    cell->backend = backend;
    cell->operation = operation;
    if (!backend)
        return;
    backend->base_multiply(&cell->point, known.scalars);
    backend->field->load(&cell->a, known.a);
    backend->field->load(&cell->b, known.b);
}

// The first back end gives the results that all others, and libcrypto, have to have too.
static enum tlc_status make_known(struct tlc_error *error)
{
    const struct tlc_x25519_backend *plain = tlc_x25519_find("limbs51", error);
    struct tlc_x25519_element a, b, t;
    if (RAND_bytes(known.scalars, ALL) != 1 || RAND_bytes(known.peers, ALL) != 1 ||
        RAND_bytes(known.a, ALL) != 1 || RAND_bytes(known.b, ALL) != 1)
        return tlc_fail(error, TLC_ENVIRONMENT, "x25519: libcrypto: no random numbers");
    for (size_t i = 0; i < ALL; i += BYTES) {
        memcpy(known.nines + i, nine, BYTES);
        plain->derive(known.publics + i, known.scalars + i, nine);
        plain->derive(known.shared + i, known.scalars + i, known.peers + i);
        plain->field->load(&a, known.a + i);
        plain->field->load(&b, known.b + i);
        t = a;
        plain->field->invert(&t);
        plain->field->store(known.inverse + i, &t);
        t = a;
        plain->field->multiply(&t, &b, FIELD_OPERATIONS);
        plain->field->store(known.product + i, &t);
        plain->field->square(&a, FIELD_OPERATIONS);
        plain->field->store(known.square + i, &a);
    }
    return TLC_OK;
}

static void make_cells(void)
{
    size_t count;
    const struct tlc_x25519_backend *const *all = tlc_x25519_backends(&count);
    for (size_t o = 0; o < OPERATIONS; o++) {
        add_cell(NULL, &operations[o]);
        for (size_t i = 0; i < count; i++)
            if (all[i]->supported())
                add_cell(all[i], &operations[o]);
    }
}

static enum tlc_status time_slice(struct cell *cell, double *us, struct tlc_error *error)
{
    bool right = true;
    uint64_t before = tlc_thread_cpu_ns();
    for (unsigned i = 0; right && i < cell->calls; i++)
        right = cell->operation->run(cell);
    double ns = (double)(tlc_thread_cpu_ns() - before);
    *us = ns / 1e3 / cell->calls / lanes(cell) / cell->operation->count;
    return right ? TLC_OK
                 : tlc_fail(error, TLC_REFUSED, "x25519: %s: %s: wrong result", backend_name(cell),
                            cell->operation->name);
}

// Warms up, and finds how many calls make a slice.
static enum tlc_status calibrate(struct cell *cell, struct tlc_error *error)
{
    double us = 0;
    cell->calls = 16;
    enum tlc_status status = time_slice(cell, &us, error);
    double call = us * lanes(cell) * cell->operation->count;
    cell->calls = call > 0 ? (unsigned)fmax(1, SLICE_US / call) : 1;
    return status;
}

// Round by round over all cells, forwards and backwards from another start each time, so that a
// drift of the machine's speed falls on all alike.
static enum tlc_status measure(unsigned rounds, struct tlc_error *error)
{
    enum tlc_status status = make_known(error);
    if (status == TLC_OK)
        make_cells();
    for (size_t i = 0; status == TLC_OK && i < cell_count; i++)
        status = calibrate(&cells[i], error);
    for (unsigned round = 0; round < rounds; round++)
        for (size_t i = 0; status == TLC_OK && i < cell_count; i++) {
            size_t at = (i + 7 * (size_t)round) % cell_count;
            struct cell *cell = &cells[round % 2 ? cell_count - 1 - at : at];
            status = time_slice(cell, &cell->us[round], error);
        }
    return status;
}

struct ratio {
    const struct cell *above, *below;
    struct tlc_interval interval;
};

static struct ratio ratios[RATIOS];
static size_t ratio_count;

static const struct cell *find(const char *backend, const char *operation)
{
    for (size_t i = 0; i < cell_count; i++)
        if (strcmp(backend_name(&cells[i]), backend) == 0 &&
            strcmp(cells[i].operation->name, operation) == 0)
            return &cells[i];
    return NULL;
}

// Paired within rounds: the interval is over the logarithms of a round's two figures.
static void add_ratio(const struct cell *above, const struct cell *below, unsigned rounds)
{
    double logs[ROUNDS];
    if (!above || !below || above == below || ratio_count == RATIOS)
        return;
    for (unsigned i = 0; i < rounds; i++)
        logs[i] = log(above->us[i] / below->us[i]);
    struct tlc_interval interval = tlc_signed_rank_interval(logs, rounds, 0.95);
    interval.estimate = exp(interval.estimate);
    interval.low = exp(interval.low);
    interval.high = exp(interval.high);
    ratios[ratio_count++] = (struct ratio){above, below, interval};
}

static void make_ratios(unsigned rounds)
{
    size_t count;
    const struct tlc_x25519_backend *const *all = tlc_x25519_backends(&count);
    for (size_t i = 0; i < count; i++)
        add_ratio(find(all[i]->name, "public-variable"), find(all[i]->name, "public-fixed"),
                  rounds);
    static const char *const against_libcrypto[] = {"keygen", "derive"};
    for (size_t o = 0; o < 2; o++)
        for (size_t i = 0; i < count; i++)
            add_ratio(find("libcrypto", against_libcrypto[o]),
                      find(all[i]->name, against_libcrypto[o]), rounds);
    static const char *const against_limbs51[] = {"multiply", "square", "invert"};
    for (size_t o = 0; o < 3; o++)
        for (size_t i = 1; i < count; i++)
            add_ratio(find("limbs51", against_limbs51[o]), find(all[i]->name, against_limbs51[o]),
                      rounds);
}

static void print(unsigned rounds)
{
    char text[INTERVAL_BYTES];
    printf("X25519: CPU time of one key or one field operation (%s; ifma8: an eighth of eight)\n"
           "  %-10s %-16s %-34s %s\n",
           OpenSSL_version(OPENSSL_VERSION), "back end", "operation", "", "us (95 % interval)");
    for (size_t i = 0; i < cell_count; i++) {
        const struct cell *cell = &cells[i];
        printf("  %-10s %-16s %-34s %s\n", backend_name(cell), cell->operation->name,
               cell->operation->summary,
               interval_text(tlc_signed_rank_interval(cell->us, rounds, 0.95), 4, text));
    }
    printf("\nratios of cost, paired within rounds\n");
    for (size_t i = 0; i < ratio_count; i++)
        printf("  %-10s %-16s over %-8s %-16s %s\n", backend_name(ratios[i].above),
               ratios[i].above->operation->name, backend_name(ratios[i].below),
               ratios[i].below->operation->name, interval_text(ratios[i].interval, 3, text));
}

static json_t *cell_to_json(const struct cell *cell, unsigned rounds)
{
    json_t *us = json_object(), *samples = json_array();
    interval_add(us, tlc_signed_rank_interval(cell->us, rounds, 0.95));
    for (unsigned i = 0; i < rounds; i++)
        json_array_append_new(samples, json_real(cell->us[i]));
    return json_pack("{s:s, s:s, s:i, s:I, s:o, s:o}", "backend", backend_name(cell), "operation",
                     cell->operation->name, "lanes", (int)lanes(cell), "operations_per_slice",
                     (json_int_t)cell->calls * lanes(cell) * cell->operation->count, "us", us,
                     "samples", samples);
}

static json_t *ratio_to_json(const struct ratio *ratio)
{
    json_t *object =
        json_pack("{s:{s:s, s:s}, s:{s:s, s:s}}", "above", "backend", backend_name(ratio->above),
                  "operation", ratio->above->operation->name, "below", "backend",
                  backend_name(ratio->below), "operation", ratio->below->operation->name);
    interval_add(object, ratio->interval);
    return object;
}

static void print_json(unsigned rounds)
{
    json_t *document = tlc_result_new("bench/x25519", tlc_machine_describe());
    json_t *list = json_array(), *pairs = json_array();
    for (size_t i = 0; i < cell_count; i++)
        json_array_append_new(list, cell_to_json(&cells[i], rounds));
    for (size_t i = 0; i < ratio_count; i++)
        json_array_append_new(pairs, ratio_to_json(&ratios[i]));
    json_object_set_new(document, "libcrypto", json_string(OpenSSL_version(OPENSSL_VERSION)));
    json_object_set_new(document, "rounds", json_integer(rounds));
    json_object_set_new(document, "operations", list);
    json_object_set_new(document, "ratios", pairs);
    json_dumpf(document, stdout, JSON_INDENT(2));
    printf("\n");
    json_decref(document);
}

struct options {
    bool json;
    unsigned rounds;
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *options = state->input;
    (void)text;
    if (key == 'j')
        options->json = true;
    else if (key == 'q')
        options->rounds = ROUNDS_QUICK;
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp_option list[] = {
        {"json", 'j', NULL, 0, "One JSON document on standard output", 0},
        {"quick", 'q', NULL, 0, "21 rounds instead of 101", 0},
        {0}};
    static const struct argp argp = {
        list,
        parse_option,
        NULL,
        "Measures X25519 part by part, for each way to do it that this processor has, beside "
        "libcrypto's. Short slices of all of them take turns, and every result is checked.\v"
        "Example: build/bench/x25519 --quick\n\n"
        "Exit codes: 0 measured; 1 wrong usage; 2 something is missing; 3 a result was wrong.",
        NULL,
        NULL,
        NULL};
    struct options options = {.rounds = ROUNDS};
    struct tlc_error error;
    argp_err_exit_status = TLC_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    enum tlc_status status = measure(options.rounds, &error);
    if (status != TLC_OK) {
        fprintf(stderr, "bench: %s\n", error.text);
        return (int)status;
    }
    make_ratios(options.rounds);
    (options.json ? print_json : print)(options.rounds);
    return TLC_OK;
}
