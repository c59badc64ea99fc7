// Command lines of servers that are not ours: filled in for an arm, and run to their end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workload/external_command.h"

static const char description[] =
    "name: edge\nabout: An edge.\n"
    "recipe: edge-1\n"
    "start: ['{prefix}/edge', '-l{host}:{port}', '{groups}', '{version}', '{certificate}', "
    "'{key}', "
    "'{work}', 'w{workers}t{tickets}{attribute}', '{{x}', '{openssl_conf}', '{folder}']\n"
    "symbols: [map, '{pid}']\n"
    "version: [edge, '{address}']\n"
    "environment:\n  - {name: THREADS, value: '{workers}'}\n"
    "names:\n  - {name: secp256r1, value: P256}\n  - {name: TLSv1.3, value: '1.3'}\n";

static const char plan_text[] = "name: x\nquestion: q?\nbaseline: {server: edge, groups: "
                                "'P-256:X25519', workers: 2, tickets: 3, "
                                "certificate: ed25519, cpu_mask: '~0x20'}\n";

struct made {
    struct tlc_plan *plan;
    struct tlc_external external;
    struct tlc_external_values values;
};

static void make(struct made *made)
{
    struct tlc_error error = {0};
    char prefix[] = "/opt/edge", build[] = "/cache/edge";
    *made = (struct made){.plan = NULL};
    if (tlc_plan_parse(plan_text, strlen(plan_text), "p.yaml", &made->plan, &error) != TLC_OK)
        fail_msg("%s", error.text);
    if (tlc_server_parse(description, strlen(description), "/peers/edge/server.yaml",
                         &made->external.server, &error) != TLC_OK)
        fail_msg("%s", error.text);
    made->external.prefix = strdup(prefix);
    made->external.build = strdup(build);
    made->values = (struct tlc_external_values){.arm = &made->plan->arms[0],
                                                .external = &made->external,
                                                .certificates = "/c",
                                                .work = "/w",
                                                .address = "127.0.0.1:4433"};
}

static void unmake(struct made *made)
{
    tlc_external_close(&made->external);
    tlc_plan_free(made->plan);
}

static void words_and_environment_are_filled_in(void **state)
{
    (void)state;
    static const char *const want[] = {"/opt/edge/edge",
                                       "-l127.0.0.1:4433",
                                       "P256:X25519",
                                       "1.3",
                                       "/c/ed25519.pem",
                                       "/c/ed25519.key",
                                       "/w",
                                       "w2t3-",
                                       "{x}",
                                       "/dev/null",
                                       "/peers/edge",
                                       "--more",
                                       "one",
                                       NULL};
    static const char *const environment[] = {"THREADS=2", "OPENSSL_ia32cap=~0x20", "A=b", NULL};
    struct tlc_error error = {0};
    struct made made;
    struct tlc_line line;
    make(&made);
    const struct tlc_server *server = made.external.server;
    assert_int_equal(tlc_line_make(&server->start, "--more one", &made.values, &line, &error),
                     TLC_OK);
    assert_int_equal(tlc_line_add_environment(&line, (const char *const[]){"A=b", NULL}, &error),
                     TLC_OK);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (want[i])
            assert_string_equal(line.words[i], want[i]);
        else
            assert_null(line.words[i]);
    for (size_t i = 0; environment[i]; i++)
        assert_string_equal(line.environment[i], environment[i]);
    assert_null(line.environment[3]);
    tlc_line_free(&line);
    assert_null(line.words);
    unmake(&made);
}

// What builds a server, or asks its version, has no address, and no mask of CPU features.
static void placeholders_of_an_instance_are_unknown_before_it(void **state)
{
    (void)state;
    struct tlc_error error = {0};
    struct made made;
    struct tlc_line line;
    make(&made);
    const struct tlc_server *server = made.external.server;
    made.values.certificates = made.values.work = made.values.address = NULL;
    assert_int_not_equal(tlc_line_make(&server->version, NULL, &made.values, &line, &error),
                         TLC_OK);
    assert_non_null(strstr(error.text, "/peers/edge/server.yaml"));
    assert_non_null(strstr(error.text, "address"));
    assert_null(line.words);
    assert_int_not_equal(tlc_line_make(&server->symbols, NULL, &made.values, &line, &error),
                         TLC_OK);
    made.values.pid = 4711;
    assert_int_equal(tlc_line_make(&server->symbols, NULL, &made.values, &line, &error), TLC_OK);
    assert_string_equal(line.words[1], "4711");
    assert_string_equal(line.environment[0], "THREADS=2");
    assert_null(line.environment[1]);
    tlc_line_free(&line);
    unmake(&made);
}

static void a_command_that_fails_is_told_with_its_last_words(void **state)
{
    (void)state;
    char log[] = "/tmp/tlscost-test-XXXXXX";
    struct tlc_error error = {0};
    int fd = mkstemp(log);
    assert_true(fd >= 0);
    close(fd);
    char *good[] = {"true", NULL}, *bad[] = {"ls", "/no/such/thing", NULL};
    char *endless[] = {"sleep", "1000", NULL}, *none[] = {NULL};
    assert_int_equal(tlc_line_run(&(struct tlc_line){good, none, NULL}, log, 60000, &error), TLC_OK);
    assert_int_equal(tlc_line_run(&(struct tlc_line){bad, none, NULL}, log, 60000, &error),
                     TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "run: ls: it failed: "));
    assert_non_null(strstr(error.text, "/no/such/thing"));
    assert_int_equal(tlc_line_run(&(struct tlc_line){endless, none, NULL}, log, 10, &error),
                     TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "no end in time"));
    unlink(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_environment_are_filled_in),
        cmocka_unit_test(placeholders_of_an_instance_are_unknown_before_it),
        cmocka_unit_test(a_command_that_fails_is_told_with_its_last_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
