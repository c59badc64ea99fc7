// Raw operations of our own X25519: each back end stands where a library has its provider.
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/x25519.h"
#include "workload/operations.h"

enum { BYTES = TLC_X25519_BYTES, ALL = TLC_X25519_BYTES * TLC_X25519_BATCH, REPEATS = 1000 };

struct own_row {
    const char *name;
    bool (*once)(struct tlc_stack_operation *operation);
    bool (*check)(struct tlc_stack_operation *operation);
};

struct tlc_stack_operation {
    const struct own_row *row;
    const struct tlc_x25519_backend *backend, *other; // the other one knows the right results
    uint8_t scalars[ALL], peers[ALL], nines[ALL], a_bytes[ALL], b_bytes[ALL], out[ALL];
    struct tlc_x25519_point point;
    struct tlc_x25519_element a, b, value;
};

static unsigned lanes_of(const struct tlc_stack_operation *operation)
{
    return operation->backend->field->lanes;
}

// Whether each lane of `out` is what the other back end makes of this lane's scalar and point.
static bool is_product(struct tlc_stack_operation *operation, const uint8_t *points)
{
    uint8_t want[BYTES];
    for (size_t at = 0; at < (size_t)BYTES * lanes_of(operation); at += BYTES) {
        operation->other->derive(want, operation->scalars + at, points + at);
        if (memcmp(want, operation->out + at, BYTES) != 0)
            return false;
    }
    return true;
}

static bool is_public_key(struct tlc_stack_operation *operation)
{
    return is_product(operation, operation->nines);
}

static bool is_shared_secret(struct tlc_stack_operation *operation)
{
    return is_product(operation, operation->peers);
}

static bool new_scalars(struct tlc_stack_operation *operation)
{
    for (unsigned i = 0; i < lanes_of(operation); i++)
        if (RAND_priv_bytes(operation->scalars + BYTES * i, BYTES) != 1)
            return false;
    return true;
}

static bool keygen(struct tlc_stack_operation *operation)
{
    if (!new_scalars(operation))
        return false;
    operation->backend->public_key(operation->out, operation->scalars);
    return true;
}

static bool keygen_variable(struct tlc_stack_operation *operation)
{
    if (!new_scalars(operation))
        return false;
    operation->backend->derive(operation->out, operation->scalars, operation->nines);
    return true;
}

static bool public_fixed(struct tlc_stack_operation *operation)
{
    operation->backend->public_key(operation->out, operation->scalars);
    return true;
}

static bool public_variable(struct tlc_stack_operation *operation)
{
    operation->backend->derive(operation->out, operation->scalars, operation->nines);
    return true;
}

static bool derive(struct tlc_stack_operation *operation)
{
    operation->backend->derive(operation->out, operation->scalars, operation->peers);
    return true;
}

static bool base_multiply(struct tlc_stack_operation *operation)
{
    operation->backend->base_multiply(&operation->point, operation->scalars);
    return true;
}

static bool base_multiply_check(struct tlc_stack_operation *operation)
{
    operation->backend->map(operation->out, &operation->point);
    return is_public_key(operation);
}

static bool map(struct tlc_stack_operation *operation)
{
    operation->backend->map(operation->out, &operation->point);
    return true;
}

// ---- the field

static bool multiply(struct tlc_stack_operation *operation)
{
    operation->value = operation->a;
    operation->backend->field->multiply(&operation->value, &operation->b, REPEATS);
    return true;
}

static bool square(struct tlc_stack_operation *operation)
{
    operation->value = operation->a;
    operation->backend->field->square(&operation->value, REPEATS);
    return true;
}

static bool invert(struct tlc_stack_operation *operation)
{
    operation->value = operation->a;
    operation->backend->field->invert(&operation->value);
    return true;
}

// The same by the other back end, lane by lane.
static bool is_field_value(struct tlc_stack_operation *operation,
                           void (*make)(const struct tlc_x25519_field *field,
                                        struct tlc_x25519_element *a,
                                        const struct tlc_x25519_element *b))
{
    const struct tlc_x25519_field *field = operation->other->field;
    operation->backend->field->store(operation->out, &operation->value);
    for (size_t at = 0; at < (size_t)BYTES * lanes_of(operation); at += BYTES) {
        struct tlc_x25519_element a, b;
        uint8_t want[BYTES];
        field->load(&a, operation->a_bytes + at);
        field->load(&b, operation->b_bytes + at);
        make(field, &a, &b);
        field->store(want, &a);
        if (memcmp(want, operation->out + at, BYTES) != 0)
            return false;
    }
    return true;
}

static void make_products(const struct tlc_x25519_field *field, struct tlc_x25519_element *a,
                          const struct tlc_x25519_element *b)
{
    field->multiply(a, b, REPEATS);
}

static void make_squares(const struct tlc_x25519_field *field, struct tlc_x25519_element *a,
                         const struct tlc_x25519_element *b)
{
    (void)b;
    field->square(a, REPEATS);
}

static void make_inverse(const struct tlc_x25519_field *field, struct tlc_x25519_element *a,
                         const struct tlc_x25519_element *b)
{
    (void)b;
    field->invert(a);
}

static bool multiply_check(struct tlc_stack_operation *operation)
{
    return is_field_value(operation, make_products);
}

static bool square_check(struct tlc_stack_operation *operation)
{
    return is_field_value(operation, make_squares);
}

static bool invert_check(struct tlc_stack_operation *operation)
{
    return is_field_value(operation, make_inverse);
}

static const struct own_row rows[] = {
    {"x25519-keygen", keygen, is_public_key},
    {"x25519-keygen-variable", keygen_variable, is_public_key},
    {"x25519-derive", derive, is_shared_secret},
    {"x25519-public", public_fixed, is_public_key},
    {"x25519-public-variable", public_variable, is_public_key},
    {"x25519-base-multiply", base_multiply, base_multiply_check},
    {"x25519-map", map, is_public_key},
    {"x25519-invert", invert, invert_check},
    {"x25519-multiply-1000", multiply, multiply_check},
    {"x25519-square-1000", square, square_check},
};

enum { ROWS = sizeof rows / sizeof *rows };

static const char *name_at(size_t index)
{
    return index < ROWS ? rows[index].name : NULL;
}

unsigned tlc_own_lanes(const char *name)
{
    size_t count;
    const struct tlc_x25519_backend *const *all = tlc_x25519_backends(&count);
    for (size_t i = 0; name && i < count; i++)
        if (!strcmp(all[i]->name, name))
            return all[i]->field->lanes;
    return 1;
}

static bool fill(struct tlc_stack_operation *operation)
{
    size_t all = (size_t)BYTES * lanes_of(operation);
    if (RAND_priv_bytes(operation->scalars, (int)all) != 1 ||
        RAND_bytes(operation->peers, (int)all) != 1 ||
        RAND_bytes(operation->a_bytes, (int)all) != 1 ||
        RAND_bytes(operation->b_bytes, (int)all) != 1)
        return false;
    for (size_t at = 0; at < all; at += BYTES)
        operation->nines[at] = 9;
    operation->backend->field->load(&operation->a, operation->a_bytes);
    operation->backend->field->load(&operation->b, operation->b_bytes);
    operation->backend->base_multiply(&operation->point, operation->scalars);
    return true;
}

// By name, or the fastest for one key.
static const struct tlc_x25519_backend *find(const char *name, struct tlc_stack_error *error)
{
    struct tlc_error why = {0};
    const struct tlc_x25519_backend *backend =
        name ? tlc_x25519_find(name, &why) : tlc_x25519_best(1);
    if (!backend)
        snprintf(error->text, sizeof error->text, "%.250s", why.text);
    return backend;
}

static struct tlc_stack_operation *operation_new(const char *name, const char *provider,
                                                 struct tlc_stack_error *error)
{
    struct tlc_stack_error unused;
    error = error ? error : &unused;
    size_t row = 0, count;
    while (row < ROWS && strcmp(rows[row].name, name) != 0)
        row++;
    const struct tlc_x25519_backend *backend = find(provider, error);
    if (!backend)
        return NULL;
    struct tlc_stack_operation *operation =
        row < ROWS ? aligned_alloc(64, (sizeof *operation + 63) / 64 * 64) : NULL;
    if (!operation) {
        snprintf(error->text, sizeof error->text, "no operation is called '%.64s'", name);
        return NULL;
    }
    memset(operation, 0, sizeof *operation);
    const struct tlc_x25519_backend *const *all = tlc_x25519_backends(&count);
    operation->row = &rows[row];
    operation->backend = backend;
    operation->other = backend == all[0] ? all[1] : all[0];
    if (fill(operation))
        return operation;
    snprintf(error->text, sizeof error->text, "no random numbers");
    free(operation);
    return NULL;
}

static bool run(struct tlc_stack_operation *operation, uint64_t count,
                struct tlc_stack_error *error)
{
    unsigned lanes = lanes_of(operation);
    if (count % lanes) {
        snprintf(error->text, sizeof error->text, "%s works on %u keys at once: %s",
                 operation->backend->name, lanes, "ask for a multiple of that");
        return false;
    }
    for (uint64_t i = 0; i < count; i += lanes)
        if (!operation->row->once(operation)) {
            snprintf(error->text, sizeof error->text, "no random numbers");
            return false;
        }
    return true;
}

static bool check(struct tlc_stack_operation *operation, struct tlc_stack_error *error)
{
    if (operation->row->check(operation))
        return true;
    snprintf(error->text, sizeof error->text, "%s of %s: a wrong result", operation->row->name,
             operation->backend->name);
    return false;
}

static const char *provider_of(struct tlc_stack_operation *operation)
{
    return operation->backend->name;
}

static void operation_free(struct tlc_stack_operation *operation)
{
    free(operation);
}

const struct tlc_stack_operations tlc_own_operations = {
    .name_at = name_at,
    .operation_new = operation_new,
    .run = run,
    .check = check,
    .provider = provider_of,
    .operation_free = operation_free,
};
