// Raw operations of the OpenSSL plug-in and of our own X25519: each runs, its result is checked, and
// what is not there is refused by name.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "primitives/x25519.h"
#include "workload/operations.h"

static struct tlc_library library_of(const char *stack)
{
    struct tlc_library library;
    struct tlc_error error;
    if (tlc_library_find(stack, &library, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return library;
}

static void run_one(const struct tlc_library *library, const char *name, const char *provider,
                    uint64_t count)
{
    struct tlc_stack_error why = {{0}};
    struct tlc_stack_operation *operation =
        library->operations->operation_new(name, provider, &why);
    if (!operation)
        fail_msg("%s: %s", name, why.text);
    if (!library->operations->run(operation, count, &why) ||
        !library->operations->check(operation, &why) ||
        !library->operations->run(operation, count, &why) ||
        !library->operations->check(operation, &why))
        fail_msg("%s: %s", name, why.text);
    const char *served_by = library->operations->provider(operation);
    if (!*served_by || (provider && strcmp(served_by, provider) != 0))
        fail_msg("%s: provider '%s', asked '%s'", name, served_by, provider ? provider : "any");
    library->operations->operation_free(operation);
}

static void every_operation_of_openssl_gives_right_results(void **state)
{
    (void)state;
    struct tlc_library library = library_of("openssl");
    const char *name;
    size_t count = 0;
    for (; (name = library.operations->name_at(count)); count++)
        run_one(&library, name, NULL, 2);
    assert_true(count >= 50);
}

static void every_operation_of_ours_gives_right_results(void **state)
{
    (void)state;
    struct tlc_library library = library_of(TLC_OWN_STACK);
    size_t count;
    const struct tlc_x25519_backend *const *all = tlc_x25519_backends(&count);
    const char *name;
    for (size_t i = 0; (name = library.operations->name_at(i)); i++)
        for (size_t k = 0; k < count; k++)
            if (all[k]->supported())
                run_one(&library, name, all[k]->name, 2 * tlc_own_lanes(all[k]->name));
}

static void an_explicit_provider_serves_in_a_library_context_of_its_own(void **state)
{
    (void)state;
    struct tlc_library library = library_of("openssl");
    run_one(&library, "x25519-derive", "default", 2);
    run_one(&library, "certificate-parse", "default", 2);
    run_one(&library, "transcript-sha384", "default", 2);
}

static void what_is_not_there_is_refused_by_name(void **state)
{
    (void)state;
    struct tlc_library library = library_of("openssl");
    struct tlc_stack_error why = {{0}};
    struct tlc_error error = {0};
    assert_null(library.operations->operation_new("x25519-teleport", NULL, &why));
    assert_string_equal(why.text, "no operation is called 'x25519-teleport'");
    assert_null(library.operations->operation_new("x25519-keygen", "no-such-provider", &why));
    assert_non_null(strstr(why.text, "provider: "));
    assert_int_equal(tlc_library_has(&library, "x25519-teleport", &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "has no operation 'x25519-teleport'"));
    assert_int_equal(tlc_library_find("no-such-stack", &library, &error), TLC_ENVIRONMENT);
    library = library_of(TLC_OWN_STACK);
    assert_null(library.operations->operation_new("x25519-keygen", "no-such-back-end", &why));
    assert_non_null(strstr(why.text, "no such back end"));
    assert_null(library.operations->operation_new("rsa-2048-sign", NULL, &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_of_openssl_gives_right_results),
        cmocka_unit_test(every_operation_of_ours_gives_right_results),
        cmocka_unit_test(an_explicit_provider_serves_in_a_library_context_of_its_own),
        cmocka_unit_test(what_is_not_there_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
