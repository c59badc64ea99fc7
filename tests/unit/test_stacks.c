// The plug-in loader and the OpenSSL plug-in.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/names.h"
#include "stacks/loader.h"
#include "stacks/self_test.h"
#include "stacks/verdict.h"

// A plug-in under another name; a link would be the same file, which is loaded once.
static int copy_file(const char *from, const char *into)
{
    char command[1200];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, into);
    return system(command); // NOLINT(cert-env33-c): a test's own paths
}

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

// The manifest beside a plug-in says which recipe made it; the newest version stands for the
// recipe.
static void loads_by_the_recipe_that_made_it(void **state)
{
    (void)state;
    char folder[256], path[400], searched[600];
    struct tlc_error error;
    static const char *const versions[] = {"9.9.9", "9.10.1", "9.2.0"};
    assert_int_equal(tlc_directory_temporary("recipe", folder, sizeof folder, &error), TLC_OK);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/other-%s.so", folder, versions[i]);
        assert_int_equal(copy_file(load("openssl")->path, path), 0);
        snprintf(path, sizeof path, "%s/other-%s.json", folder, versions[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs("{\"recipe\": \"other-9\"}", file);
        fclose(file);
    }
    const char *before = getenv("TLSCOST_STACKS");
    snprintf(searched, sizeof searched, "%s", before ? before : "");
    setenv("TLSCOST_STACKS", folder, 1);
    assert_string_equal(load("other-9")->id, "other-9.10.1");
    const struct tlc_stack_plugin *plugin;
    assert_int_equal(tlc_stack_load("other-8", &plugin, &error), TLC_ENVIRONMENT);
    if (before)
        setenv("TLSCOST_STACKS", searched, 1);
    else
        unsetenv("TLSCOST_STACKS");
    tlc_directory_remove(folder);
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

// A file that was cut off is not given to the system's loader, which would have the process killed.
static void refuses_what_was_cut_off(void **state)
{
    (void)state;
    char path[] = "/tmp/cut-off-XXXXXX";
    static char bytes[64 * 1024];
    struct tlc_error error = {TLC_OK, ""};
    const struct tlc_stack_plugin *plugin;
    FILE *from = fopen(load("openssl")->path, "rb");
    assert_non_null(from);
    assert_int_equal(fread(bytes, 1, sizeof bytes, from), sizeof bytes);
    fclose(from);
    static const struct {
        size_t length;
        const char *says;
    } cuts[] = {{0, "no ELF-64"}, {10, "no ELF-64"}, {100, "cut off"}, {sizeof bytes, "cut off"}};
    int file = mkstemp(path);
    assert_true(file >= 0);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        assert_int_equal(pwrite(file, bytes, cuts[i].length, 0), (ssize_t)cuts[i].length);
        assert_int_equal(tlc_stack_load(path, &plugin, &error), TLC_ENVIRONMENT);
        if (!strstr(error.text, cuts[i].says))
            fail_msg("%zu bytes: %s", cuts[i].length, error.text);
    }
    close(file);
    unlink(path);
}

// A campaign's servers load the file again in each block.
static void sees_a_file_that_was_replaced(void **state)
{
    (void)state;
    char folder[256], path[400], other[400];
    struct tlc_error error;
    const struct tlc_stack_plugin *plugin;
    assert_int_equal(tlc_directory_temporary("replaced", folder, sizeof folder, &error), TLC_OK);
    snprintf(path, sizeof path, "%s/one.so", folder);
    snprintf(other, sizeof other, "%s/other.so", folder);
    assert_int_equal(copy_file(load("openssl")->path, path), 0);
    assert_int_equal(copy_file(load("openssl")->path, other), 0);
    assert_int_equal(tlc_stack_load(path, &plugin, &error), TLC_OK);
    assert_false(tlc_stack_is_replaced(plugin));
    assert_int_equal(rename(other, path), 0);
    assert_true(tlc_stack_is_replaced(plugin));
    tlc_directory_remove(folder);
    assert_true(tlc_stack_is_replaced(plugin));
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
    bool retry = false, hybrid = false, operation = false;
    json_array_foreach(rows, index, row)
    {
        assert_true(json_is_true(json_object_get(row, "ok")));
        retry |= !strcmp(json_string_value(json_object_get(row, "feature")), "hello-retry-request");
        hybrid |= !strcmp(json_string_value(json_object_get(row, "group")), "X25519MLKEM768");
        operation |= !strcmp(json_string_value(json_object_get(row, "feature")),
                             "operation mlkem-768-decapsulate");
    }
    assert_true(retry && hybrid && operation);
    json_decref(rows);
}

static enum tlc_status load_broken(const char *name, const struct tlc_stack_plugin **plugin,
                                   struct tlc_error *error)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.so", TLC_BROKEN_STACKS, name);
    return tlc_stack_load(path, plugin, error);
}

static void refuses_broken_tables(void **state)
{
    (void)state;
    const struct tlc_stack_plugin *plugin;
    struct tlc_error error = {TLC_OK, ""};
    assert_int_equal(load_broken("broken-abi", &plugin, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "ABI 999"));
    assert_null(plugin);
    assert_int_equal(load_broken("broken-empty", &plugin, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "required function is missing"));
    assert_null(plugin);
}

static void survives_a_crash_when_asked(void **state)
{
    (void)state;
    const struct tlc_stack_plugin *plugin;
    struct tlc_error error;
    json_t *rows = NULL;
    assert_int_equal(load_broken("broken-asked", &plugin, &error), TLC_OK);
    assert_int_equal(tlc_stack_self_test(plugin, &rows, &error), TLC_ENVIRONMENT);
    assert_non_null(
        strstr(error.text, "broken-asked: asked what it supports: the library crashed: signal 11"));
    assert_int_equal(json_array_size(rows), 0);
    json_decref(rows);
}

static void names_the_case_that_crashes(void **state)
{
    (void)state;
    const struct tlc_stack_plugin *plugin;
    struct tlc_error error = {TLC_OK, ""};
    json_t *rows = NULL;
    assert_int_equal(load_broken("broken-crash", &plugin, &error), TLC_OK);
    assert_int_equal(tlc_stack_self_test(plugin, &rows, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "handshake TLSv1.3 X25519 ecdsa-p256"));
    assert_non_null(strstr(error.text, "signal 11"));
    // The matrix case and what every stack is tested for; a crash ends none of the others.
    assert_int_equal(json_array_size(rows), 3);
    const char *reason = json_string_value(json_object_get(json_array_get(rows, 2), "reason"));
    assert_string_equal(reason, "server context: no contexts here");
    size_t index;
    json_t *row;
    json_array_foreach(rows, index, row) assert_true(json_is_false(json_object_get(row, "ok")));
    json_decref(rows);
}

// What the first use found is kept by the file's hash, and the next use only reads it.
static void keeps_verdicts(void **state)
{
    (void)state;
    char folder[] = "/tmp/tlscost-verdicts-XXXXXX", kept[600];
    const struct tlc_stack_plugin *broken;
    struct tlc_error error = {TLC_OK, ""};
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("XDG_STATE_HOME", folder, 1), 0);
    assert_int_equal(load_broken("broken-crash", &broken, &error), TLC_OK);
    assert_int_equal(tlc_stack_require_verdict(broken, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "signal 11"));
    assert_non_null(strstr(error.text, "tlscost stacks verify broken-crash"));

    // Told to have passed, it is not tested again.
    tlc_stack_keep_verdict(broken, TLC_OK, &error);
    assert_int_equal(tlc_stack_require_verdict(broken, &error), TLC_OK);
    tlc_stack_keep_verdict(broken, TLC_ENVIRONMENT, &(struct tlc_error){.text = "kept words"});
    assert_int_equal(tlc_stack_require_verdict(broken, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "kept words"));

    // A verdict that cannot be read is no verdict.
    snprintf(kept, sizeof kept, "%s/tlscost/self-tests", folder);
    DIR *entries = opendir(kept);
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries));)
        if (entry->d_name[0] != '.') {
            snprintf(kept, sizeof kept, "%s/tlscost/self-tests/%.200s", folder, entry->d_name);
            assert_int_equal(truncate(kept, 3), 0);
        }
    closedir(entries);
    assert_int_equal(tlc_stack_require_verdict(broken, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "signal 11"));
    assert_int_equal(tlc_stack_require_verdict(load("openssl"), &error), TLC_OK);
    tlc_directory_remove(folder);
    unsetenv("XDG_STATE_HOME");
}

// In this process, so that the sanitizers see what the plug-in leaves behind.
static void leaks_nothing(void **state)
{
    (void)state;
    struct tlc_self_test_certificates *certificates = calloc(1, sizeof *certificates);
    struct tlc_error error;
    struct tlc_reason reason = {""};
    assert_non_null(certificates);
    for (size_t i = 0; i < TLC_SELF_KEY_TYPES && tlc_certs_name_at(i); i++)
        if (!strcmp(tlc_certs_name_at(i), "ecdsa-p256") || !strcmp(tlc_certs_name_at(i), "ed25519"))
            assert_int_equal(
                tlc_certs_in_memory(tlc_certs_name_at(i), &certificates->pairs[i], &error), TLC_OK);
    const enum tlc_self_test_feature features[] = {
        TLC_SELF_SOCKET, TLC_SELF_RETRY, TLC_SELF_STATEFUL, TLC_SELF_TICKET_KEYS,
        TLC_SELF_SNI,    TLC_SELF_ALPN,  TLC_SELF_COOKIE};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        const struct tlc_self_test_case one = {.feature = features[i],
                                               .version = TLC_TLS13,
                                               .group = TLC_GROUP_X25519,
                                               .signature = 0x0403};
        if (!tlc_self_test_run(load("openssl")->stack, &one, certificates, &reason))
            fail_msg("%s: %s", tlc_self_test_feature_name(features[i]), reason.text);
    }
    for (size_t i = 0; i < TLC_SELF_KEY_TYPES; i++)
        tlc_certs_pair_free(&certificates->pairs[i]);
    free(certificates);
}

// A server context shared by threads that resume all the time while another one rotates the keys;
// meant for the sanitizers, and no handshake may fail.
struct rotation {
    const struct tlc_stack *stack;
    struct tlc_stack_context *server, *client;
    atomic_bool stop;
    atomic_uint handshakes, failures;
};

static void *handshake_on(void *argument)
{
    struct rotation *rotation = argument;
    uint8_t session[4096];
    size_t bytes = 0;
    while (!atomic_load(&rotation->stop)) {
        struct tlc_pair pair;
        struct tlc_reason reason = {""};
        const struct tlc_stack_connection_options options = {
            .server_name = "localhost", .session = bytes ? session : NULL, .session_bytes = bytes};
        if (tlc_pair_open(&pair, rotation->stack, false, rotation->client, rotation->server,
                          &options, &reason) &&
            tlc_pair_handshake(&pair, &reason) && tlc_pair_echo(&pair, &reason)) {
            bytes = rotation->stack->session_export(pair.client, session, sizeof session);
            atomic_fetch_add(&rotation->handshakes, 1);
        } else {
            if (!atomic_fetch_add(&rotation->failures, 1))
                print_error("%s\n", reason.text);
        }
        tlc_pair_free(&pair);
    }
    return NULL;
}

static void replaces_ticket_keys_while_serving(void **state)
{
    (void)state;
    struct tlc_certs_pair certs;
    struct tlc_error error;
    struct tlc_stack_error why = {""};
    struct tlc_ticket_key keys[2] = {{{1}, {2}, {3}}, {{4}, {5}, {6}}};
    struct rotation rotation = {.stack = load("openssl")->stack};
    assert_int_equal(tlc_certs_in_memory("ecdsa-p256", &certs, &error), TLC_OK);
    const struct tlc_stack_certificate certificate = {.chain_pem = certs.chain_pem,
                                                      .key_pem = certs.key_pem};
    struct tlc_stack_config config = {.certificates = &certificate,
                                      .certificate_count = 1,
                                      .ticket_mode = TLC_TICKETS_STATELESS,
                                      .tickets_per_handshake = 1,
                                      .ticket_keys = keys,
                                      .ticket_key_count = 2};
    rotation.server = rotation.stack->context_new(TLC_STACK_SERVER, &config, &why);
    config = (struct tlc_stack_config){.trust_pem = certs.ca_pem};
    rotation.client = rotation.stack->context_new(TLC_STACK_CLIENT, &config, &why);
    assert_non_null(rotation.server);
    assert_non_null(rotation.client);
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, handshake_on, &rotation), 0);
    for (unsigned i = 0; i < 200 || atomic_load(&rotation.handshakes) < 50; i++) {
        memset(&keys[i % 2], (int)(i % 251), sizeof keys[0]);
        assert_true(rotation.stack->ticket_keys_replace(rotation.server, keys, 1 + i % 2, &why));
        sched_yield();
    }
    atomic_store(&rotation.stop, true);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&rotation.failures), 0);
    assert_false(rotation.stack->ticket_keys_replace(rotation.server, keys, 0, &why));
    assert_non_null(strstr(why.text, "at least one"));
    rotation.stack->context_free(rotation.client);
    rotation.stack->context_free(rotation.server);
    tlc_certs_pair_free(&certs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_once_by_id_and_path),
        cmocka_unit_test(loads_by_the_recipe_that_made_it),
        cmocka_unit_test(lists_ids),
        cmocka_unit_test(names_what_was_found),
        cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(survives_a_crash_when_asked),
        cmocka_unit_test(refuses_broken_tables),
        cmocka_unit_test(refuses_what_was_cut_off),
        cmocka_unit_test(sees_a_file_that_was_replaced),
        cmocka_unit_test(describes_itself),
        cmocka_unit_test(asks_the_library),
        cmocka_unit_test(refuses_bad_configurations),
        cmocka_unit_test(passes_its_self_test),
        cmocka_unit_test(names_the_case_that_crashes),
        cmocka_unit_test(keeps_verdicts),
        cmocka_unit_test(leaks_nothing),
        cmocka_unit_test(replaces_ticket_keys_while_serving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
