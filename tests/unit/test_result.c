#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "result/result.h"
#include "result/rounds.h"

static char folder[] = "/tmp/tlscost-test-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_text(const char *name, const char *text, const char *mode)
{
    FILE *file = fopen(path_of(name), mode);
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"r.json", "link.json", "j", "j2", "bad.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    return rmdir(folder); // fails when a temporary file was left behind
}

static void a_document_round_trips(void **state)
{
    (void)state;
    struct tlc_error error = {0};
    json_t *result = tlc_result_new("probe", json_pack("{s:i}", "cpus", 2)), *read = NULL;
    json_object_set_new(result, "value", json_real(0.1));
    assert_int_equal(strlen(json_string_value(json_object_get(result, "started"))), 20);
    assert_int_equal(tlc_result_write(result, path_of("r.json"), &error), TLC_OK);
    struct stat is;
    assert_int_equal(stat(path_of("r.json"), &is), 0);
    assert_int_equal(is.st_mode & 0600, 0600);
    assert_int_equal(tlc_result_read(path_of("r.json"), &read, &error), TLC_OK);
    assert_true(json_equal(result, read));
    json_decref(read);
    json_decref(result);
}

static void writing_follows_a_link_and_replaces_the_file(void **state)
{
    (void)state;
    struct tlc_error error = {0};
    json_t *result = tlc_result_new("probe", json_object()), *read = NULL;
    write_text("r.json", "old", "w");
    assert_int_equal(symlink("r.json", path_of("link.json")), 0);
    assert_int_equal(tlc_result_write(result, path_of("link.json"), &error), TLC_OK);
    struct stat is;
    assert_int_equal(lstat(path_of("link.json"), &is), 0);
    assert_true(S_ISLNK(is.st_mode));
    assert_int_equal(tlc_result_read(path_of("r.json"), &read, &error), TLC_OK);
    assert_true(json_equal(result, read));
    json_decref(read);
    assert_int_equal(tlc_result_write(result, "/dev/null", &error), TLC_OK);
    assert_int_equal(tlc_result_write(result, folder, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "is a folder"));
    assert_int_equal(tlc_result_write(result, "/nonexistent/r.json", &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "/nonexistent/r.json: No such file"));
    json_decref(result);
}

static void read_fails(const char *text, const char *words)
{
    struct tlc_error error = {0};
    json_t *read = NULL;
    write_text("bad.json", text, "w");
    assert_int_equal(tlc_result_read(path_of("bad.json"), &read, &error), TLC_USAGE);
    assert_null(read);
    if (!strstr(error.text, words) || !strstr(error.text, "bad.json"))
        fail_msg("'%s' is not in '%s'", words, error.text);
}

#define HEAD                                                                                       \
    "{\"schema\":\"" TLC_RESULT_SCHEMA "\",\"command\":\"run\",\"started\":\"x\","                 \
    "\"environment\":{}"

static void reading_names_the_line_or_the_member(void **state)
{
    (void)state;
    struct tlc_error error = {0};
    json_t *read;
    assert_int_equal(tlc_result_read("/nonexistent.json", &read, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "/nonexistent.json"));
    read_fails("{\n\"schema\":\n", "bad.json:3: not JSON");
    read_fails("", "not JSON");
    read_fails("[]", "not a JSON object");
    read_fails("{}", "schema: missing");
    read_fails("{\"schema\":1}", "schema: not a string");
    read_fails("{\"schema\":\"a\",\"schema\":\"b\"}", "duplicate");
    read_fails("{\"schema\":\"x\",\"command\":\"run\",\"started\":\"x\",\"environment\":{}}",
               "schema 'x': unknown; this tlscost reads");
    read_fails(HEAD "}", "plan: missing");
    read_fails(HEAD ",\"plan\":{},\"setup\":{\"interrupted\":false},\"stacks\":[],\"arms\":[1]}",
               "arms[0]: not an object");
    read_fails(HEAD ",\"plan\":{},\"setup\":{\"interrupted\":false},\"stacks\":[],\"arms\":"
                    "[{\"name\":\"a\",\"lever\":null,\"role\":\"arm\",\"accepted\":true,"
                    "\"refused\":[],\"cost_us\":{\"estimate\":1,\"low\":\"x\"}}]}",
               "arms[0].cost_us.low: not a number or null");
    read_fails(HEAD ",\"plan\":{},\"setup\":{\"interrupted\":false},\"stacks\":[],\"arms\":[],"
                    "\"checks\":[],\"refused_samples\":0,"
                    "\"campaign\":{\"accepted\":true,\"reasons\":[]}}",
               "arms: none");
}

static void every_fixture_of_a_run_is_read(void **state)
{
    (void)state;
    static const char *const names[] = {"accepted", "refused", "interrupted", "few-blocks",
                                        "hostile"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        struct tlc_error error = {0};
        json_t *read = NULL;
        snprintf(path, sizeof path, "%s/fixtures/results/%s.json", TLC_TESTS_DIR, names[i]);
        if (tlc_result_read(path, &read, &error) != TLC_OK)
            fail_msg("%s", error.text);
        assert_true(json_array_size(json_object_get(read, "arms")) >= 3);
        json_decref(read);
    }
}

static void a_journal_keeps_its_lines(void **state)
{
    (void)state;
    struct tlc_error error = {0};
    struct tlc_journal *journal, *second;
    json_t *header = json_pack("{s:s}", "plan", "levers"), *read_header, *entries;
    assert_int_equal(tlc_journal_create(path_of("j"), header, &journal, &error), TLC_OK);
    for (int i = 0; i < 3; i++) {
        json_t *entry = json_pack("{s:i, s:f}", "i", i, "x", 1.0 / 3.0);
        assert_int_equal(tlc_journal_append(journal, entry, &error), TLC_OK);
        json_decref(entry);
    }
    assert_int_equal(tlc_journal_create(path_of("j"), header, &second, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "exists already"));
    assert_int_equal(tlc_journal_open(path_of("j"), &read_header, &entries, &second, &error),
                     TLC_USAGE);
    assert_non_null(strstr(error.text, "another tlscost is writing it"));
    tlc_journal_close(journal);
    assert_int_equal(tlc_journal_open(path_of("j"), &read_header, &entries, &journal, &error),
                     TLC_OK);
    assert_true(json_equal(header, read_header));
    assert_int_equal(json_array_size(entries), 3);
    json_t *last = json_array_get(entries, 2);
    assert_int_equal(json_integer_value(json_object_get(last, "i")), 2);
    assert_true(json_real_value(json_object_get(last, "x")) == 1.0 / 3.0);
    tlc_journal_close(journal);
    json_decref(read_header);
    json_decref(entries);
    json_decref(header);
}

static void a_torn_last_line_is_dropped_and_written_over(void **state)
{
    (void)state;
    struct tlc_error error = {0};
    struct tlc_journal *journal;
    json_t *header, *entries, *entry = json_pack("{s:i}", "i", 9);
    write_text("j", "{\"i\":3", "a");
    assert_int_equal(tlc_journal_open(path_of("j"), &header, &entries, &journal, &error), TLC_OK);
    assert_int_equal(json_array_size(entries), 3);
    assert_int_equal(tlc_journal_append(journal, entry, &error), TLC_OK);
    tlc_journal_close(journal);
    json_decref(header);
    json_decref(entries);
    assert_int_equal(tlc_journal_open(path_of("j"), &header, &entries, &journal, &error), TLC_OK);
    assert_int_equal(json_array_size(entries), 4);
    assert_true(json_equal(json_array_get(entries, 3), entry));
    tlc_journal_close(journal);
    json_decref(header);
    json_decref(entries);
    json_decref(entry);
}

static void open_fails(const char *text, const char *words)
{
    struct tlc_error error = {0};
    struct tlc_journal *journal;
    json_t *header, *entries;
    write_text("j2", text, "w");
    assert_int_equal(tlc_journal_open(path_of("j2"), &header, &entries, &journal, &error),
                     TLC_USAGE);
    assert_null(header);
    assert_null(entries);
    assert_null(journal);
    if (!strstr(error.text, words))
        fail_msg("'%s' is not in '%s'", words, error.text);
}

static void damage_before_the_end_is_an_error(void **state)
{
    (void)state;
    struct tlc_error error = {0};
    struct tlc_journal *journal;
    json_t *header, *entries;
    open_fails("{}\n{\"i\":\n{\"i\":1}\n", "j2:2: damaged");
    open_fails("{}\n[1]\n", "j2:2: damaged: not an object");
    open_fails("", "holds no complete line");
    open_fails("{\"plan\":", "holds no complete line");
    assert_int_equal(tlc_journal_open("/nonexistent", &header, &entries, &journal, &error),
                     TLC_ENVIRONMENT);
}

// Without duets a round has one slice of each arm; with them the baseline has one in every visit.
static void slices_pair_by_round_or_by_visit(void **state)
{
    (void)state;
    static const struct {
        int rounds[2], positions[2];
        bool duet, pair;
    } cases[] = {{{1, 1}, {0, 3}, false, true},
                 {{1, 2}, {0, 0}, false, false},
                 {{1, 1}, {2, 2}, true, true},
                 {{1, 1}, {2, 3}, true, false},
                 {{1, 2}, {2, 2}, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *slices[2];
        for (int k = 0; k < 2; k++)
            slices[k] = json_pack("{s:i, s:i, s:b}", "round", cases[i].rounds[k], "position",
                                  cases[i].positions[k], "duet", cases[i].duet);
        assert_int_equal(tlc_slices_pair(slices[0], slices[1]), cases[i].pair);
        json_decref(slices[0]);
        json_decref(slices[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_round_trips),
        cmocka_unit_test(writing_follows_a_link_and_replaces_the_file),
        cmocka_unit_test(reading_names_the_line_or_the_member),
        cmocka_unit_test(every_fixture_of_a_run_is_read),
        cmocka_unit_test(a_journal_keeps_its_lines),
        cmocka_unit_test(a_torn_last_line_is_dropped_and_written_over),
        cmocka_unit_test(slices_pair_by_round_or_by_visit),
        cmocka_unit_test(damage_before_the_end_is_an_error),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
