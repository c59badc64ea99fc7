#include "test_x25519_support.h"

#include <openssl/evp.h>

static const uint8_t nine[BYTES] = {9};

// Through one lane after the other, the rest random, so that no lane may depend on another.
static void derive_in_lane(const struct tlc_x25519_backend *b, unsigned lane, uint8_t *shared,
                           const uint8_t *scalar, const uint8_t *u)
{
    uint8_t scalars[LANES][BYTES], us[LANES][BYTES], out[LANES][BYTES];
    fill_random(scalars[0], sizeof scalars);
    fill_random(us[0], sizeof us);
    memcpy(scalars[lane], scalar, BYTES);
    memcpy(us[lane], u, BYTES);
    b->derive(out[0], scalars[0], us[0]);
    memcpy(shared, out[lane], BYTES);
}

static void public_in_lane(const struct tlc_x25519_backend *b, unsigned lane, uint8_t *public_key,
                           const uint8_t *scalar)
{
    uint8_t scalars[LANES][BYTES], out[LANES][BYTES];
    fill_random(scalars[0], sizeof scalars);
    memcpy(scalars[lane], scalar, BYTES);
    b->public_key(out[0], scalars[0]);
    memcpy(public_key, out[lane], BYTES);
}

static void check_vector(const char *scalar_hex, const char *u_hex, const char *want_hex)
{
    uint8_t scalar[BYTES], u[BYTES], want[BYTES], got[BYTES];
    from_hex(scalar, scalar_hex);
    from_hex(u, u_hex);
    from_hex(want, want_hex);
    const struct tlc_x25519_backend *b;
    for (size_t i = 0; (b = runnable(i)); i++)
        for (unsigned lane = 0; lane < b->field->lanes; lane++) {
            derive_in_lane(b, lane, got, scalar, u);
            assert_bytes(got, want, b->name);
        }
}

static void rfc7748_vectors(void **state) // section 5.2
{
    (void)state;
    check_vector("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                 "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
                 "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
    check_vector("4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
                 "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
                 "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957");
}

static void check_key_pair(const char *scalar_hex, const char *public_hex, const char *peer_hex,
                           const char *shared_hex)
{
    uint8_t scalar[BYTES], want[BYTES], got[BYTES];
    const struct tlc_x25519_backend *b;
    from_hex(scalar, scalar_hex);
    from_hex(want, public_hex);
    for (size_t i = 0; (b = runnable(i)); i++)
        for (unsigned lane = 0; lane < b->field->lanes; lane++) {
            public_in_lane(b, lane, got, scalar);
            assert_bytes(got, want, b->name);
        }
    check_vector(scalar_hex, peer_hex, shared_hex);
}

static void rfc7748_diffie_hellman(void **state) // section 6.1
{
    (void)state;
    static const char alice[] = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a";
    static const char alice_public[] =
        "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a";
    static const char bob[] = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";
    static const char bob_public[] =
        "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f";
    static const char shared[] = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742";
    check_key_pair(alice, alice_public, bob_public, shared);
    check_key_pair(bob, bob_public, alice_public, shared);
}

// k and u start as 9; then u becomes the old k, and k the result (RFC 7748, section 5.2). In each
// lane, so that all lanes go the same way.
static void iterate(const struct tlc_x25519_backend *b, unsigned times, uint8_t *k)
{
    uint8_t u[LANES * BYTES], result[LANES * BYTES];
    size_t bytes = b->field->lanes * (size_t)BYTES;
    spread(k, b->field->lanes, nine);
    spread(u, b->field->lanes, nine);
    for (unsigned i = 0; i < times; i++) {
        b->derive(result, k, u);
        memcpy(u, k, bytes);
        memcpy(k, result, bytes);
    }
}

static void rfc7748_iterated(void **state)
{
    (void)state;
    static const struct {
        unsigned times;
        const char *want;
    } cases[] = {
        {1, "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"},
        {1000, "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"},
    };
    const struct tlc_x25519_backend *b;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t i = 0; (b = runnable(i)); i++) {
            uint8_t k[LANES * BYTES], want[BYTES];
            from_hex(want, cases[c].want);
            iterate(b, cases[c].times, k);
            for (unsigned lane = 0; lane < b->field->lanes; lane++)
                assert_bytes(k + BYTES * lane, want, b->name);
        }
}

struct vector {
    unsigned number;
    char result[16], private_key[65], public_key[65], shared[65];
};

static void check_wycheproof(const struct vector *vector)
{
    uint8_t scalar[BYTES], u[BYTES], want[BYTES], got[BYTES];
    from_hex(scalar, vector->private_key);
    from_hex(u, vector->public_key);
    from_hex(want, vector->shared);
    const struct tlc_x25519_backend *b;
    for (size_t i = 0; (b = runnable(i)); i++) {
        derive_in_lane(b, vector->number % b->field->lanes, got, scalar, u);
        assert_bytes(got, want, b->name);
    }
    assert_int_equal(tlc_x25519(got, scalar, u), strcmp(vector->result, "zero") != 0);
    assert_bytes(got, want, "default");
}

static void wycheproof_vectors(void **state)
{
    (void)state;
    FILE *file = fopen(TLC_TESTS_DIR "/vectors/x25519/wycheproof.txt", "r");
    char line[512];
    unsigned seen = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct vector vector;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%u %15s %64s %64s %64s", &vector.number, vector.result,
                                vector.private_key, vector.public_key, vector.shared),
                         5);
        check_wycheproof(&vector);
        seen++;
    }
    fclose(file);
    assert_int_equal(seen, 518);
}

// The fixed base has to give what the ladder gives for u = 9: for scalars whose digits are extreme,
// and for random ones, in every lane.
static void check_public(const struct tlc_x25519_backend *b, const uint8_t scalar[BYTES])
{
    uint8_t want[BYTES], got[BYTES];
    tlc_x25519_find("limbs51", NULL)->derive(want, scalar, nine);
    for (unsigned lane = 0; lane < b->field->lanes; lane++) {
        public_in_lane(b, lane, got, scalar);
        assert_bytes(got, want, b->name);
    }
}

static void fixed_base_is_variable_base(void **state)
{
    (void)state;
    const struct tlc_x25519_backend *b;
    for (size_t i = 0; (b = runnable(i)); i++) {
        uint8_t scalar[BYTES];
        for (unsigned byte = 0; byte < 256; byte++) {
            memset(scalar, (int)byte, sizeof scalar);
            check_public(b, scalar);
        }
        for (unsigned bit = 0; bit < 256; bit++) { // one bit, and all up to it
            memset(scalar, 0, sizeof scalar);
            scalar[bit / 8] = (uint8_t)(1 << bit % 8);
            check_public(b, scalar);
            memset(scalar, 255, bit / 8);
            check_public(b, scalar);
        }
        for (unsigned k = 0; k < 200 / SLOWER; k++) {
            fill_random(scalar, sizeof scalar);
            check_public(b, scalar);
        }
    }
}

static void steps_make_the_public_key(void **state)
{
    (void)state;
    const struct tlc_x25519_backend *b;
    for (size_t i = 0; (b = runnable(i)); i++) {
        uint8_t scalars[LANES * BYTES], want[LANES * BYTES], got[LANES * BYTES];
        struct tlc_x25519_point point;
        fill_random(scalars, sizeof scalars);
        b->public_key(want, scalars);
        b->base_multiply(&point, scalars);
        b->map(got, &point);
        for (unsigned lane = 0; lane < b->field->lanes; lane++)
            assert_bytes(got + BYTES * lane, want + BYTES * lane, b->name);
    }
}

// libcrypto's public key of `scalar`, and its shared secret with `u`; false when it refuses u.
static bool libcrypto(const uint8_t *scalar, const uint8_t *u, uint8_t *public_key, uint8_t *shared)
{
    size_t count = BYTES;
    EVP_PKEY *own = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, scalar, BYTES);
    EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, u, BYTES);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(own, NULL);
    assert_true(own && peer && context);
    assert_int_equal(EVP_PKEY_get_raw_public_key(own, public_key, &count), 1);
    assert_int_equal(EVP_PKEY_derive_init(context), 1);
    assert_int_equal(EVP_PKEY_derive_set_peer(context, peer), 1);
    bool accepted = EVP_PKEY_derive(context, shared, &count) == 1;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(peer);
    EVP_PKEY_free(own);
    return accepted;
}

static void compare_batch(const struct tlc_x25519_backend *b, uint8_t scalars[LANES][BYTES],
                          uint8_t us[LANES][BYTES], uint8_t publics[LANES][BYTES],
                          uint8_t shared[LANES][BYTES])
{
    for (unsigned k = 0; k < LANES; k += b->field->lanes) {
        uint8_t got[LANES][BYTES];
        b->public_key(got[0], scalars[k]);
        for (unsigned lane = 0; lane < b->field->lanes; lane++)
            assert_bytes(got[lane], publics[k + lane], b->name);
        b->derive(got[0], scalars[k], us[k]);
        for (unsigned lane = 0; lane < b->field->lanes; lane++)
            assert_bytes(got[lane], shared[k + lane], b->name);
    }
}

// 100 000 random inputs; the back ends take them in turn, eight at a time, and every tenth batch
// goes through all of them.
static void agrees_with_libcrypto(void **state)
{
    (void)state;
    for (unsigned batch = 0; batch < 100000 / LANES / SLOWER; batch++) {
        uint8_t scalars[LANES][BYTES], us[LANES][BYTES], publics[LANES][BYTES],
            shared[LANES][BYTES];
        const struct tlc_x25519_backend *b;
        fill_random(scalars[0], sizeof scalars);
        fill_random(us[0], sizeof us);
        for (unsigned k = 0; k < LANES; k++)
            assert_true(libcrypto(scalars[k], us[k], publics[k], shared[k]));
        size_t backends = 0;
        while (runnable(backends))
            backends++;
        for (size_t i = 0; (b = runnable(i)); i++)
            if (batch % 10 == 0 || batch % backends == i)
                compare_batch(b, scalars, us, publics, shared);
    }
}

static void defaults_agree(void **state)
{
    (void)state;
    uint8_t scalars[LANES][BYTES], us[LANES][BYTES], got[LANES][BYTES], publics[LANES][BYTES],
        want[BYTES];
    fill_random(scalars[0], sizeof scalars);
    fill_random(us[0], sizeof us);
    memset(us[3], 0, BYTES); // a point of small order
    assert_int_equal(
        tlc_x25519_batch(got, (const uint8_t(*)[BYTES])scalars, (const uint8_t(*)[BYTES])us),
        1 << 3);
    tlc_x25519_public_batch(publics, (const uint8_t(*)[BYTES])scalars);
    for (unsigned k = 0; k < LANES; k++) {
        assert_int_equal(tlc_x25519(want, scalars[k], us[k]), k != 3);
        assert_bytes(got[k], want, "batch");
        tlc_x25519_public(want, scalars[k]);
        assert_bytes(publics[k], want, "public batch");
    }
}

static void back_ends_have_names(void **state)
{
    (void)state;
    struct tlc_error error;
    size_t count;
    const struct tlc_x25519_backend *const *all = tlc_x25519_backends(&count);
    assert_true(count >= 2);
    for (size_t i = 0; i < count; i++) {
        const struct tlc_x25519_backend *found = tlc_x25519_find(all[i]->name, &error);
        assert_ptr_equal(found, all[i]->supported() ? all[i] : NULL);
        if (!found)
            assert_int_equal(error.status, TLC_ENVIRONMENT);
    }
    assert_null(tlc_x25519_find("limbs26", &error));
    assert_int_equal(error.status, TLC_USAGE);
    assert_non_null(strstr(error.text, "limbs26: no such back end"));
    assert_non_null(tlc_x25519_best(1));
    assert_null(tlc_x25519_best(3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rfc7748_vectors),
        cmocka_unit_test(rfc7748_diffie_hellman),
        cmocka_unit_test(rfc7748_iterated),
        cmocka_unit_test(wycheproof_vectors),
        cmocka_unit_test(fixed_base_is_variable_base),
        cmocka_unit_test(steps_make_the_public_key),
        cmocka_unit_test(agrees_with_libcrypto),
        cmocka_unit_test(defaults_agree),
        cmocka_unit_test(back_ends_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
