// Descriptions of servers that are not ours: read, refused with a line, filled in.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/server.h"

static const char whole[] = "name: edge\n"
                            "about: An edge.\n"
                            "recipe: edge-1\n"
                            "ready_file: '{work}/pid'\n"
                            "listens: everywhere\n"
                            "warm_up: 2.5s\n"
                            "directory: '{folder}'\n"
                            "stop: SIGQUIT\n"
                            "build:\n"
                            "  - run: [make, '{build}']\n"
                            "  - run: [strip, edge]\n"
                            "start: ['{prefix}/edge', -l, '{address}']\n"
                            "version: [edge, -v]\n"
                            "symbols: [edge, --map, '{pid}']\n"
                            "environment:\n"
                            "  - {name: THREADS, value: '{workers}'}\n"
                            "names:\n"
                            "  - {name: secp256r1, value: P-256}\n"
                            "lacks: [psk_ke, TLSv1.2]\n";

static void every_key_arrives(void **state)
{
    (void)state;
    struct tlc_server *server;
    struct tlc_error error = {0};
    assert_int_equal(tlc_server_parse(whole, strlen(whole), "/x/edge/server.yaml", &server, &error),
                     TLC_OK);
    assert_string_equal(server->name, "edge");
    assert_string_equal(server->about, "An edge.");
    assert_string_equal(server->folder, "/x/edge");
    assert_string_equal(server->recipe, "edge-1");
    assert_string_equal(server->ready_file, "{work}/pid");
    assert_string_equal(server->listens, "everywhere");
    assert_int_equal(server->warm_up_us, 2500000);
    assert_string_equal(server->directory, "{folder}");
    assert_int_equal(server->stop_signal, SIGQUIT);
    assert_int_equal(server->build_count, 2);
    assert_string_equal(server->build[1].words[0], "strip");
    assert_int_equal(server->start.count, 3);
    assert_string_equal(server->start.words[2], "{address}");
    assert_int_equal(server->version.count, 2);
    assert_int_equal(server->symbols.count, 3);
    assert_string_equal(server->symbols.words[2], "{pid}");
    assert_string_equal(server->environment[0].value, "{workers}");
    assert_string_equal(tlc_server_name_of(server, "secp256r1"), "P-256");
    assert_string_equal(tlc_server_name_of(server, "X25519"), "X25519");
    assert_int_equal(server->lacks.count, 2);
    tlc_server_free(server);
}

static void refused(const char *text, const char *want)
{
    struct tlc_server *server;
    struct tlc_error error = {0};
    assert_int_equal(tlc_server_parse(text, strlen(text), "s.yaml", &server, &error), TLC_USAGE);
    assert_null(server);
    if (!strstr(error.text, want))
        fail_msg("'%s' is not in '%s'", want, error.text);
}

static void mistakes_are_named_with_their_line(void **state)
{
    (void)state;
    refused("name: a\nabout: b\n", "start");
    refused("name: a\nabout: b\nstart: [x]\nstrat: [y]\n", "strat");
    refused("name: a\nabout: b\nstart: x\n", "s.yaml:3");
    refused("name: a\nabout: b\nstart: []\n", "s.yaml:3");
    refused("name: a\nabout: b\nstart: [x]\nbuild: [[x]]\n", "s.yaml:4");
    refused("name: a\nabout: b\nstart: [x]\nlistens: there\n",
            "'there': write loopback or everywhere");
    refused("name: a\nabout: b\nstart: [x]\nwarm_up: soon\n", "not a time");
    refused("name: a\nabout: b\nstart: [x]\nstop: SIGKILL\n", "write SIGTERM");
    refused("name: [\n", "s.yaml:");
    refused("", "s.yaml:1");
}

static void names_stay_in_the_folders_of_peers(void **state)
{
    (void)state;
    struct tlc_server *server;
    struct tlc_error error = {0};
    assert_int_equal(tlc_server_read("..", &server, &error), TLC_USAGE);
    assert_int_equal(tlc_server_read("no-such-server", &server, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "peers/no-such-server/server.yaml"));
    assert_int_equal(tlc_server_read("/no/such/file.yaml", &server, &error), TLC_ENVIRONMENT);
}

static const char *numbered(const char *name, void *user)
{
    return strcmp(name, "n") ? NULL : user;
}

static char *fill(const char *word, struct tlc_error *error)
{
    return tlc_fill_in(word, numbered, (void *)(uintptr_t) "7", error);
}

static void placeholders_are_filled_in(void **state)
{
    (void)state;
    static const char *const table[][2] = {{"", ""},        {"plain", "plain"},
                                           {"{n}", "7"},    {"a{n}{n}b", "a77b"},
                                           {"{{n}", "{n}"}, {"}{n}}", "}7}"}};
    struct tlc_error error = {0};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *text = fill(table[i][0], &error);
        assert_non_null(text);
        assert_string_equal(text, table[i][1]);
        free(text);
    }
}

static void unknown_placeholders_are_refused(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"{m}", "'{m}' stands for nothing"},
        {"a{n", "without its '}'"},
        {"{", "without its '}'"},
        {"{}", "stands for nothing"},
        {"{aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}", "without its '}'"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct tlc_error error = {0};
        assert_null(fill(table[i][0], &error));
        if (!strstr(error.text, table[i][1]))
            fail_msg("'%s' is not in '%s'", table[i][1], error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_arrives),
        cmocka_unit_test(mistakes_are_named_with_their_line),
        cmocka_unit_test(names_stay_in_the_folders_of_peers),
        cmocka_unit_test(placeholders_are_filled_in),
        cmocka_unit_test(unknown_placeholders_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
