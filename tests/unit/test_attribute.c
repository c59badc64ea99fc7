#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/tally.h"

// ---- perf's text

struct kept {
    struct tlc_chain chain;
    char text[8192];
    size_t chains;
};

static const char *copy(struct kept *kept, size_t *used, const char *text)
{
    char *at = kept->text + *used;
    assert_true(*used + strlen(text) < sizeof kept->text);
    *used += (size_t)sprintf(at, "%s", text) + 1;
    return at;
}

static void keep(void *user, const struct tlc_chain *chain)
{
    struct kept *kept = user;
    size_t used = 0;
    kept->chains++;
    kept->chain.count = chain->count;
    for (size_t i = 0; i < chain->count && i < 8; i++)
        kept->chain.frames[i] = (struct tlc_frame){copy(kept, &used, chain->frames[i].symbol),
                                                   copy(kept, &used, chain->frames[i].file)};
}

static struct tlc_perf_script_counts parse(const char *text, size_t piece, struct kept *kept)
{
    struct tlc_perf_script *script = tlc_perf_script_new(keep, kept);
    assert_non_null(script);
    for (size_t at = 0; at < strlen(text); at += piece)
        tlc_perf_script_feed(script, text + at,
                             strlen(text) - at < piece ? strlen(text) - at : piece);
    struct tlc_perf_script_counts counts = tlc_perf_script_end(script);
    tlc_perf_script_free(script);
    return counts;
}

static void chains_are_read_whatever_the_pieces(void **state)
{
    (void)state;
#define FIRST                                                                                      \
    "16182   760.934722: \n\t           d54e7 leaf (/usr/lib/libc.so.6)\n"                         \
    "\t        aa crypto/tls.(*Conn).Handshake (/srv/a server)\n"                                  \
    "\t        bb [unknown] ([unknown])\n"
    static const char text[] =
        FIRST "\n    7/8     1.0: \n\tffffffff82083d67 tcp_ack ([kernel.kallsyms])\n";
    for (size_t piece = 1; piece < sizeof text; piece++) {
        struct kept *kept = calloc(1, sizeof *kept);
        struct tlc_perf_script_counts counts = parse(text, piece, kept);
        assert_int_equal(counts.samples, 2);
        assert_int_equal(counts.garbled, 0);
        assert_int_equal(kept->chain.count, 1);
        assert_string_equal(kept->chain.frames[0].symbol, "tcp_ack");
        assert_string_equal(kept->chain.frames[0].file, "[kernel.kallsyms]");
        free(kept);
    }
    struct kept *kept = calloc(1, sizeof *kept);
    parse(FIRST, sizeof text, kept);
    assert_string_equal(kept->chain.frames[1].symbol, "crypto/tls.(*Conn).Handshake");
    assert_string_equal(kept->chain.frames[1].file, "a server");
    assert_string_equal(kept->chain.frames[2].symbol, "");
    assert_string_equal(kept->chain.frames[2].file, "");
    free(kept);
}

static void garbled_lines_are_counted_and_passed_over(void **state)
{
    (void)state;
    struct kept *kept = calloc(1, sizeof *kept);
    struct tlc_perf_script_counts counts =
        parse("\t  12 early (/a)\nWarning: no symbols\n 1 2.0: \n\t  zz not hex (/a)\n"
              "\t  12 no file\n\t  12 good (/a)\n\t  1234567890abcdef0 wide (/a)\n\n\n\n"
              " 1 3.0: 44 only (/lib/b)\n",
              5, kept);
    assert_int_equal(counts.samples, 2);
    assert_int_equal(counts.garbled, 5);
    assert_string_equal(kept->chain.frames[0].symbol, "only");
    free(kept);
}

static void hostile_text_stays_within_bounds(void **state)
{
    (void)state;
    struct kept *kept = calloc(1, sizeof *kept);
    size_t bytes = 3u << 20, used = 0;
    char *text = malloc(bytes);
    used += (size_t)sprintf(text, "1 2.0: \n\t 1 ");
    memset(text + used, 'x', 9000); // a line longer than any
    used += 9000;
    used += (size_t)sprintf(text + used, " (/a)\n");
    for (int i = 0; i < 400; i++) // a chain deeper than any
        used += (size_t)sprintf(text + used, "\t %d f%d (/a)\n", i, i);
    used += (size_t)sprintf(text + used, "\n2 3.0: \n");
    for (int i = 0; i < 100; i++) { // names larger than the room for them
        used += (size_t)sprintf(text + used, "\t 1 ");
        memset(text + used, 'y', 3000);
        used += 3000;
        used += (size_t)sprintf(text + used, " (/a)\n");
    }
    text[used] = '\0';
    struct tlc_perf_script *script = tlc_perf_script_new(keep, kept);
    // Only the last chain is looked at, whose names would not fit here.
    kept->chain.count = 0;
    tlc_perf_script_free(script);
    struct tlc_tally *tally;
    struct tlc_components *components = tlc_components_new();
    tally = tlc_tally_new(components, false);
    script = tlc_perf_script_new(tlc_tally_take, tally);
    tlc_perf_script_feed(script, text, used);
    struct tlc_perf_script_counts counts = tlc_perf_script_end(script);
    assert_int_equal(counts.samples, 2);
    assert_true(counts.cut >= 1 + (400 - TLC_CHAIN_FRAMES) + 70);
    tlc_perf_script_free(script);
    tlc_tally_free(tally);
    tlc_components_free(components);
    free(text);
    free(kept);
}

// ---- tables

static void patterns_fit_names(void **state)
{
    (void)state;
    assert_true(tlc_pattern_fits("tls13_hkdf_expand*", "tls13_hkdf_expand_ex"));
    assert_true(tlc_pattern_fits("crypto/tls.(*Conn).*", "crypto/tls.(*Conn).Handshake"));
    assert_true(tlc_pattern_fits("*", ""));
    assert_true(tlc_pattern_fits("a*b*c", "a-b-b-c"));
    assert_false(tlc_pattern_fits("a*b*c", "a-b-b-d"));
    assert_false(tlc_pattern_fits("read", "reads"));
    assert_false(tlc_pattern_fits("read*x", "read"));
}

static struct tlc_components *small_tables(void)
{
    static const char one[] = "name: one\nallocation: [malloc]\ncomponents:\n"
                              "  - part: key schedule\n    anchors: [expand]\n    helpers: [mac]\n"
                              "  - part: transcript\n    helpers: [update]\n"
                              "  - part: state machine\n    around: [machine]\n"
                              "  - part: server loop\n    around: [loop]\n"
                              "cut:\n  - leaves: [block]\n    like: [block, final]\n";
    static const char two[] = "name: two\nfiles: [\"[*\"]\ncomponents:\n"
                              "  - part: system calls, TCP\n    anchors: [do_syscall_64]\n"
                              "  - part: softirq, interrupts\n    anchors: [handle_softirqs]\n";
    static const char three[] = "name: three\nfiles: [\"stripped*\"]\nnameless: unknown\n";
    static const char four[] = "name: four\nfiles: [\"ssl*\"]\nnameless: state machine\n";
    struct tlc_error error;
    struct tlc_components *components = tlc_components_new();
    assert_int_equal(tlc_components_add(components, four, strlen(four), "four", &error), TLC_OK);
    assert_int_equal(tlc_components_add(components, one, strlen(one), "one", &error), TLC_OK);
    assert_int_equal(tlc_components_add(components, two, strlen(two), "two", &error), TLC_OK);
    assert_int_equal(tlc_components_add(components, three, strlen(three), "three", &error), TLC_OK);
    return components;
}

// "leaf/file ..." outward; the file may be missing.
static struct tlc_place place_of(const struct tlc_components *components, const char *frames,
                                 bool tagged)
{
    static struct tlc_chain chain;
    static char text[512];
    chain.count = 0;
    snprintf(text, sizeof text, "%s", frames);
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *file = strchr(word, '/');
        if (file)
            *file++ = '\0';
        chain.frames[chain.count++] =
            (struct tlc_frame){strcmp(word, "?") ? word : "", file ? file : ""};
    }
    return tlc_components_place(components, &chain, tagged);
}

static struct tlc_place place(const struct tlc_components *components, const char *frames)
{
    return place_of(components, frames, false);
}

static void the_innermost_known_frame_decides(void **state)
{
    (void)state;
    struct tlc_components *components = small_tables();
    static const struct {
        const char *frames;
        enum tlc_part component;
    } all[] = {
        {"sha machine loop", TLC_PART_HELLO},
        {"sha loop", TLC_PART_SERVER},
        {"sha expand machine loop", TLC_PART_SCHEDULE},
        // What others call as well tells only where nothing else does, the outermost of it.
        {"sha update expand machine", TLC_PART_SCHEDULE},
        {"sha update machine", TLC_PART_TRANSCRIPT},
        {"sha update mac machine", TLC_PART_SCHEDULE},
        {"sha", TLC_PART_UNKNOWN},
        {"", TLC_PART_UNKNOWN},
        // The kernel's ways in are its own only in its own file.
        {"tcp_ack/[kernel] do_syscall_64/[kernel] write expand", TLC_PART_SYSTEM},
        {"rx/[kernel] handle_softirqs/[kernel] do_syscall_64/[kernel] loop", TLC_PART_SOFTIRQ},
        {"do_syscall_64/server machine", TLC_PART_HELLO},
        // Without names nothing is claimed but what surrounds more closely.
        {"?/stripped.so machine loop", TLC_PART_UNKNOWN},
        {"?/stripped.so expand ?/stripped.so machine", TLC_PART_SCHEDULE},
        {"?/other.so machine", TLC_PART_HELLO},
        // Nameless functions of a known part are around the others.
        {"sha ?/ssl.so loop", TLC_PART_HELLO},
        {"update ?/ssl.so loop", TLC_PART_TRANSCRIPT},
        {"loop ?/ssl.so", TLC_PART_SERVER},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_string_equal(tlc_part_name(place(components, all[i].frames).component),
                            tlc_part_name(all[i].component));
    // Where tags name the cryptography, what has no name is not it.
    assert_int_equal(place_of(components, "?/stripped.so machine loop", true).component,
                     TLC_PART_HELLO);
    assert_int_equal(place_of(components, "?/stripped.so", true).component, TLC_PART_UNKNOWN);
    assert_true(place(components, "malloc expand").allocation);
    assert_false(place(components, "sha expand").allocation);
    tlc_components_free(components);
}

static void take(struct tlc_tally *tally, const char *symbol, const char *caller)
{
    struct tlc_chain chain = {.count = caller ? 2 : 1};
    chain.frames[0] = (struct tlc_frame){symbol, "lib"};
    chain.frames[1] = (struct tlc_frame){caller, "lib"};
    tlc_tally_take(tally, &chain);
}

static double samples_of(const json_t *told, const char *component)
{
    return json_number_value(json_object_get(
        json_object_get(json_object_get(told, "components"), component), "samples"));
}

static void cut_chains_are_shared_out_as_whole_ones_were(void **state)
{
    (void)state;
    struct tlc_components *components = small_tables();
    struct tlc_tally *tally = tlc_tally_new(components, false);
    for (int i = 0; i < 3; i++)
        take(tally, "final", "expand");
    take(tally, "block", "update");
    for (int i = 0; i < 8; i++)
        take(tally, "block", NULL);
    take(tally, "other", NULL);
    json_t *told = tlc_tally_json(tally);
    assert_int_equal(json_integer_value(json_object_get(told, "samples")), 13);
    assert_int_equal(json_integer_value(json_object_get(told, "cut")), 8);
    assert_true(samples_of(told, "key schedule") == 3 + 6);
    assert_true(samples_of(told, "transcript") == 1 + 2);
    assert_true(samples_of(told, "unknown") == 1);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(told, "unknown"), "other")),
                     1);
    json_decref(told);
    tlc_tally_free(tally);
    tlc_components_free(components);
}

static void wrong_tables_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } all[] = {
        {"name: a\ncomponents:\n  - part: nothing such\n", "'nothing such': there is no such"},
        {"name: a\nnameless: what\n", "'what': there is no such"},
        {"name: a\nanchor: [b]\n", "docs/attribute.md"},
        {"name: a\ncomponents:\n  - part: signature\n    anchors: []\n",
         "'signature': nothing belongs to it"},
        {"name: a\ncut:\n  - leaves: [b]\n", "cut 1: write both"},
        {"name: held\n", "another table is called 'held'"},
        {"name: [a\nb: {\n", "a.yaml:2: not YAML: did not find"},
        {"name: a\n\tb: c\n", "a.yaml:2: not YAML: found a tab"},
        {"name: a\nnameless: runtime\nanchor: [b]\n", "a.yaml:3: unknown key 'anchor'"},
        {"name: a\nname: b\n", "a.yaml:2: 'name' is given twice"},
        {"about: b\n", "'name' is missing; add it"},
        {"name: [a]\n", "a list cannot stand here; write one value"},
        {"name: ''\n", "an empty value; write at least 1"},
        {"name: &b a\nabout: *b\n", "a.yaml:2: an alias"},
        {"? [a]\n: b\n", "this cannot stand here"},
        {"", "docs/attribute.md"},
    };
    struct tlc_components *components = tlc_components_new();
    struct tlc_error held;
    assert_int_equal(tlc_components_add(components, "name: held\n", 11, "held.yaml", &held),
                     TLC_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct tlc_error error;
        assert_int_equal(
            tlc_components_add(components, all[i].text, strlen(all[i].text), "a.yaml", &error),
            TLC_USAGE);
        assert_non_null(strstr(error.text, "a.yaml"));
        if (!strstr(error.text, all[i].why))
            fail_msg("%s\nis not told as %s", error.text, all[i].why);
        assert_null(strstr(error.text, "Backtrace"));
    }
    struct tlc_error error;
    struct tlc_components *none;
    assert_int_equal(tlc_components_read("/nonexistent", &none, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "TLSCOST_COMPONENTS"));
    tlc_components_free(components);
}

// ---- the shipped tables on chains of real runs

static json_t *tell_fixture(const char *name)
{
    char path[512], piece[1000];
    struct tlc_error error;
    struct tlc_components *components;
    assert_int_equal(tlc_components_read(TLC_TESTS_DIR "/../components", &components, &error),
                     TLC_OK);
    struct tlc_tally *tally = tlc_tally_new(components, false);
    struct tlc_perf_script *script = tlc_perf_script_new(tlc_tally_take, tally);
    snprintf(path, sizeof path, TLC_TESTS_DIR "/fixtures/attribute/%s.txt", name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;)
        tlc_perf_script_feed(script, piece, got);
    fclose(file);
    assert_int_equal(tlc_perf_script_end(script).garbled, 0);
    json_t *told = tlc_tally_json(tally);
    tlc_perf_script_free(script);
    tlc_tally_free(tally);
    tlc_components_free(components);
    return told;
}

// NAME.expected has a line for each component: "12 key schedule", as read off the chains by eye.
static void check_fixture(const char *name)
{
    char path[512], line[200];
    json_t *told = tell_fixture(name);
    double sum = 0;
    snprintf(path, sizeof path, TLC_TESTS_DIR "/fixtures/attribute/%s.expected", name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *component;
        double expected = strtod(line, &component);
        component++;
        component[strcspn(component, "\n")] = '\0';
        double got = samples_of(told, component);
        if (fabs(got - expected) > 0.01)
            print_error("%s: %s: %.2f samples, %.2f expected\n", name, component, got, expected);
        assert_true(fabs(got - expected) <= 0.01);
        sum += expected;
    }
    fclose(file);
    assert_true(fabs((double)json_integer_value(json_object_get(told, "samples")) - sum) < 0.1);
    json_decref(told);
}

static void recorded_chains_are_told_apart(void **state)
{
    (void)state;
    check_fixture("openssl-x25519");
    check_fixture("openssl-hybrid");
    check_fixture("awslc-hybrid");
    check_fixture("gnutls-x25519");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_read_whatever_the_pieces),
        cmocka_unit_test(garbled_lines_are_counted_and_passed_over),
        cmocka_unit_test(hostile_text_stays_within_bounds),
        cmocka_unit_test(patterns_fit_names),
        cmocka_unit_test(the_innermost_known_frame_decides),
        cmocka_unit_test(cut_chains_are_shared_out_as_whole_ones_were),
        cmocka_unit_test(wrong_tables_are_refused_by_name),
        cmocka_unit_test(recorded_chains_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
