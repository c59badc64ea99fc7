// The functions of a back end, over the field, base_multiply and variable_multiply that were
// included before. Private to the room.
#ifndef TLC_PRIMITIVES_PARTS_H
#define TLC_PRIMITIVES_PARTS_H

#include <string.h>

#include "primitives/x25519.h"

_Static_assert(sizeof(fe) <= sizeof(struct tlc_x25519_element), "an element holds a field element");

static inline fe part_get(const struct tlc_x25519_element *a)
{
    fe value;
    memcpy(&value, a, sizeof value);
    return value;
}

static inline void part_put(struct tlc_x25519_element *out, const fe *value)
{
    memcpy(out, value, sizeof *value);
}

static void part_load(struct tlc_x25519_element *out, const uint8_t *bytes)
{
    fe value;
    fe_load(&value, bytes);
    part_put(out, &value);
}

static void part_store(uint8_t *bytes, const struct tlc_x25519_element *a)
{
    fe value = part_get(a);
    fe_store(bytes, &value);
}

// Sums and differences are brought into the range of a product again by a multiplication with 1, as
// fe_add and fe_sub may leave that to the next product.
static void part_put_sum(struct tlc_x25519_element *out, const fe *sum)
{
    fe one, value;
    fe_set(&one, 1);
    fe_mul(&value, sum, &one);
    part_put(out, &value);
}

static void part_add(struct tlc_x25519_element *a, const struct tlc_x25519_element *b)
{
    fe left = part_get(a), right = part_get(b);
    fe_add(&left, &left, &right);
    part_put_sum(a, &left);
}

static void part_subtract(struct tlc_x25519_element *a, const struct tlc_x25519_element *b)
{
    fe left = part_get(a), right = part_get(b);
    fe_sub(&left, &left, &right);
    part_put_sum(a, &left);
}

static void part_multiply(struct tlc_x25519_element *a, const struct tlc_x25519_element *b,
                          size_t count)
{
    fe value = part_get(a), factor = part_get(b);
    for (size_t i = 0; i < count; i++)
        fe_mul(&value, &value, &factor);
    part_put(a, &value);
}

static void part_square(struct tlc_x25519_element *a, size_t count)
{
    fe value = part_get(a);
    for (size_t i = 0; i < count; i++)
        fe_sq(&value, &value);
    part_put(a, &value);
}

static void part_multiply_a24(struct tlc_x25519_element *a)
{
    fe value = part_get(a);
    fe_mul_a24(&value, &value);
    part_put(a, &value);
}

static void part_invert(struct tlc_x25519_element *a)
{
    fe value = part_get(a);
    fe_invert(&value, &value);
    part_put(a, &value);
}

static void part_derive(uint8_t *shared, const uint8_t *scalars, const uint8_t *u)
{
    fe x, z;
    variable_multiply(&x, &z, scalars, u);
    fe_invert(&z, &z);
    fe_mul(&x, &x, &z);
    fe_store(shared, &x);
}

static void part_base_multiply(struct tlc_x25519_point *point, const uint8_t *scalars)
{
    fe y, z;
    base_multiply(&y, &z, scalars);
    part_put(&point->y, &y);
    part_put(&point->z, &z);
}

static void part_map(uint8_t *u, const struct tlc_x25519_point *point)
{
    fe y = part_get(&point->y), z = part_get(&point->z), value;
    edwards_to_u(&value, &y, &z);
    fe_store(u, &value);
}

static void part_public_key(uint8_t *public_keys, const uint8_t *scalars)
{
    fe y, z, u;
    base_multiply(&y, &z, scalars);
    edwards_to_u(&u, &y, &z);
    fe_store(public_keys, &u);
}

static const struct tlc_x25519_field part_field = {
    .lanes = FE_LANES,
    .load = part_load,
    .store = part_store,
    .add = part_add,
    .subtract = part_subtract,
    .multiply = part_multiply,
    .square = part_square,
    .multiply_a24 = part_multiply_a24,
    .invert = part_invert,
};

#define PART_FUNCTIONS                                                                             \
    .field = &part_field, .derive = part_derive, .public_key = part_public_key,                    \
    .base_multiply = part_base_multiply, .map = part_map

#endif
