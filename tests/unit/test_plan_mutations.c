// Damaged plans are refused with a line or read as valid ones; nothing else may happen. Runs under
// the sanitizers in their build.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

enum { MUTATIONS = 4000, MOST_BYTES = 8192 };

static char original[MOST_BYTES];
static size_t original_bytes;
static uint64_t random_state = 7;

static size_t below(size_t limit) // splitmix64
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (size_t)((z ^ (z >> 31)) % limit);
}

static int read_original(void **state)
{
    (void)state;
    FILE *file = fopen(TLC_TESTS_DIR "/fixtures/plans/everything.yaml", "rb");
    if (!file)
        return -1;
    original_bytes = fread(original, 1, sizeof original, file);
    fclose(file);
    return original_bytes > 500 && original_bytes < MOST_BYTES ? 0 : -1;
}

// Returns whether the text was a plan. Copied to its exact size, so that a read past its end shows.
static bool try_text(const char *text, size_t count)
{
    struct tlc_plan *plan;
    struct tlc_error error = {0};
    char *exact = malloc(count ? count : 1);
    memcpy(exact, text, count);
    enum tlc_status status = tlc_plan_parse(exact, count, "damaged.yaml", &plan, &error);
    free(exact);
    if (status == TLC_OK) {
        assert_true(plan->arm_count >= 1 && plan->schedule.blocks >= 6);
        for (size_t i = 0; i < plan->arm_count; i++)
            assert_true(*plan->arms[i].name && *plan->arms[i].certificate);
        tlc_plan_free(plan);
        return true;
    }
    assert_null(plan);
    assert_int_equal(status, TLC_USAGE);
    static const char start[] = "plan: damaged.yaml:";
    if (strncmp(error.text, start, sizeof start - 1) ||
        !isdigit((unsigned char)error.text[sizeof start - 1]))
        fail_msg("%s", error.text);
    return false;
}

static void truncations(void **state)
{
    (void)state;
    size_t accepted = 0;
    for (size_t count = 0; count <= original_bytes; count++)
        accepted += try_text(original, count);
    assert_true(accepted >= 1);                 // the whole
    assert_true(accepted < original_bytes / 2); // cuts between entries leave a plan, others do not
}

static void mutate(char *text, size_t *count)
{
    static const char special[] = ":-[]{},#&*!|>'\"%@` \t\n\0\xff\x80"
                                  "09azP";
    size_t at = below(*count);
    switch (below(5)) {
    case 0: // one byte
        text[at] = (char)below(256);
        break;
    case 1: // a byte that means something
        text[at] = special[below(sizeof special)];
        break;
    case 2: // a piece left out
    {
        size_t gone = 1 + below(*count - at < 40 ? *count - at : 40);
        memmove(text + at, text + at + gone, *count - at - gone);
        *count -= gone;
        break;
    }
    case 3: // a piece twice
    {
        size_t again = 1 + below(*count - at < 40 ? *count - at : 40);
        if (*count + again < MOST_BYTES) {
            memmove(text + at + again, text + at, *count - at);
            *count += again;
        }
        break;
    }
    default: // two bytes swapped
    {
        size_t other = below(*count);
        char kept = text[at];
        text[at] = text[other];
        text[other] = kept;
    }
    }
}

static void mutations(void **state)
{
    (void)state;
    unsigned accepted = 0;
    for (unsigned i = 0; i < MUTATIONS; i++) {
        char text[MOST_BYTES];
        size_t count = original_bytes;
        memcpy(text, original, count);
        for (size_t changes = 1 + below(4); changes > 0; changes--)
            mutate(text, &count);
        accepted += try_text(text, count);
    }
    assert_in_range(accepted, 1, MUTATIONS - 1); // comments and texts may change, structure not
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncations),
        cmocka_unit_test(mutations),
    };
    return cmocka_run_group_tests(tests, read_original, NULL);
}
