// The plug-in loader and the OpenSSL plug-in.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "stacks/loader.h"

static const struct tlc_stack_plugin *load(const char *id)
{
    const struct tlc_stack_plugin *plugin = NULL;
    struct tlc_error error = {TLC_OK, ""};
    if (tlc_stack_load(id, &plugin, &error))
        fail_msg("%s", error.text);
    return plugin;
}

static void loads_once_by_id_and_path(void **state)
{
    (void)state;
    const struct tlc_stack_plugin *plugin = load("openssl");
    assert_string_equal(plugin->id, "openssl");
    assert_string_equal(plugin->stack->name, "openssl");
    assert_int_equal(plugin->path[0], '/');
    assert_ptr_equal(load("openssl"), plugin);
    assert_ptr_equal(load(plugin->path), plugin);
}

static void lists_ids(void **state)
{
    (void)state;
    char **ids = tlc_stack_ids();
    size_t found = 0;
    for (char **id = ids; *id; id++)
        found += !strcmp(*id, "openssl");
    assert_int_equal(found, 1);
    tlc_stack_ids_free(ids);
}

static void names_what_was_found(void **state)
{
    (void)state;
    const struct tlc_stack_plugin *plugin = NULL;
    struct tlc_error error = {TLC_OK, ""};
    assert_int_equal(tlc_stack_load("nonesuch", &plugin, &error), TLC_ENVIRONMENT);
    assert_null(plugin);
    assert_non_null(strstr(error.text, "nonesuch"));
    assert_non_null(strstr(error.text, "openssl"));
    assert_non_null(strstr(error.text, "folders searched"));
}

static void refuses_other_files(void **state)
{
    (void)state;
    const struct tlc_stack_plugin *plugin = NULL;
    struct tlc_error error = {TLC_OK, ""};
    assert_int_equal(tlc_stack_load("/proc/self/exe", &plugin, &error), TLC_ENVIRONMENT);
    assert_null(plugin);
    assert_true(error.text[0] != '\0');
}

static void describes_itself(void **state)
{
    (void)state;
    json_t *facts = tlc_stack_describe(load("openssl"));
    assert_int_equal(strlen(json_string_value(json_object_get(facts, "sha256"))), 64);
    assert_string_equal(json_string_value(json_object_get(facts, "version")),
                        load("openssl")->stack->version());
    assert_non_null(json_object_get(facts, "manifest"));
    json_decref(facts);
}

static void asks_the_library(void **state)
{
    (void)state;
    const struct tlc_stack *stack = load("openssl")->stack;
    struct tlc_stack_error why = {""};
    assert_true(stack->supports(TLC_FEATURE_VERSION, TLC_TLS13, NULL));
    assert_true(stack->supports(TLC_FEATURE_GROUP, TLC_GROUP_X25519MLKEM768, NULL));
    assert_true(stack->supports(TLC_FEATURE_CIPHER, TLC_AES_128_GCM_SHA256, NULL));
    assert_true(stack->supports(TLC_FEATURE_SIGNATURE, 0x0905, NULL));
    assert_false(stack->supports(TLC_FEATURE_GROUP, 0x7777, &why));
    assert_non_null(strstr(why.text, stack->version()));
    assert_non_null(strstr(why.text, "0x7777"));
    assert_false(stack->supports(TLC_FEATURE_CIPHER, 0x00ff, &why));
    assert_false(stack->supports(TLC_FEATURE_VERSION, 0x0999, &why));
}

static void refuses_bad_configurations(void **state)
{
    (void)state;
    const struct tlc_stack *stack = load("openssl")->stack;
    struct tlc_stack_error error = {""};
    struct tlc_stack_config config = {.tickets_per_handshake = -1};
    assert_null(stack->context_new(TLC_STACK_SERVER, &config, &error));
    assert_string_equal(error.text, "server: no certificate");

    const uint16_t unknown = 0x7777;
    config.groups = &unknown;
    config.group_count = 1;
    assert_null(stack->context_new(TLC_STACK_CLIENT, &config, &error));
    assert_non_null(strstr(error.text, "groups"));

    const uint16_t suite = TLC_AES_128_GCM_SHA256;
    config =
        (struct tlc_stack_config){.max_version = TLC_TLS12, .ciphers = &suite, .cipher_count = 1};
    assert_null(stack->context_new(TLC_STACK_CLIENT, &config, &error));
    assert_non_null(strstr(error.text, "cipher suites"));

    config = (struct tlc_stack_config){.trust_pem = "not a certificate"};
    assert_null(stack->context_new(TLC_STACK_CLIENT, &config, &error));
    assert_non_null(strstr(error.text, "trusted certificates"));

    config = (struct tlc_stack_config){.library_options = "NoSuchOption=1"};
    assert_null(stack->context_new(TLC_STACK_CLIENT, &config, &error));
    assert_non_null(strstr(error.text, "library options"));

    config = (struct tlc_stack_config){.provider = "no-such-provider"};
    assert_null(stack->context_new(TLC_STACK_CLIENT, &config, &error));
    assert_non_null(strstr(error.text, "provider"));
}

static void passes_its_self_test(void **state)
{
    (void)state;
    json_t *rows = NULL;
    struct tlc_error error = {TLC_OK, ""};
    if (tlc_stack_self_test(load("openssl"), &rows, &error))
        fail_msg("%s", error.text);
    // Six classic and hybrid groups, nine key types: a run that tested little must not pass.
    assert_true(json_array_size(rows) > 60);
    size_t index;
    json_t *row;
    bool retry = false, hybrid = false;
    json_array_foreach(rows, index, row)
    {
        assert_true(json_is_true(json_object_get(row, "ok")));
        retry |= !strcmp(json_string_value(json_object_get(row, "feature")), "hello-retry-request");
        hybrid |= !strcmp(json_string_value(json_object_get(row, "group")), "X25519MLKEM768");
    }
    assert_true(retry && hybrid);
    json_decref(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_once_by_id_and_path),  cmocka_unit_test(lists_ids),
        cmocka_unit_test(names_what_was_found),       cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(describes_itself),           cmocka_unit_test(asks_the_library),
        cmocka_unit_test(refuses_bad_configurations), cmocka_unit_test(passes_its_self_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
