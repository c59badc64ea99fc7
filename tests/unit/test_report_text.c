// Text, figures, bars and published comparisons of the report.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/exporters.h"
#include "report/text.h"
#include "report/words.h"

static void becomes(char *made, const char *expected)
{
    assert_non_null(made);
    assert_string_equal(made, expected);
    free(made);
}

static void plain_text_holds_nothing_that_steers_a_terminal(void **state)
{
    (void)state;
    becomes(tlc_text_plain("a\x1b[31mb\x07", true), "a?[31mb?");
    becomes(tlc_text_plain("a\nb\tc", true), "a b c");
    becomes(tlc_text_plain("caf\u00e9", true), "caf\u00e9");
    becomes(tlc_text_plain("caf\u00e9", false), "caf?");
    becomes(tlc_text_plain("\xc2\x9b"
                           "31m",
                           true),
            "?31m");                                           // C1: a one-character escape
    becomes(tlc_text_plain("\u202egnp\u202c", true), "?gnp?"); // right-to-left override
    becomes(tlc_text_plain("x\u200by", true), "x?y");          // zero width
    becomes(tlc_text_plain("\xff\xc0\xaf\xed\xa0\x80", true), "??????"); // no UTF-8, surrogates
    becomes(tlc_text_plain("\xe2\x82", true), "??");                     // cut short
    becomes(tlc_text_plain("", true), "");
}

static void markdown_escapes_its_own_characters(void **state)
{
    (void)state;
    becomes(tlc_text_markdown("a|b `c` *d* _e_ [f] <g> & \\ #h"),
            "a\\|b \\`c\\` \\*d\\* \\_e\\_ \\[f\\] &lt;g&gt; &amp; \\\\ \\#h");
    becomes(tlc_text_markdown("a\n| b"), "a \\| b");
    becomes(tlc_text_markdown("http://x: y"), "http\\://x: y");
    becomes(tlc_text_markdown("\x1b]0;t\x07"), "?\\]0;t?");
}

static void csv_quotes_and_disarms_formulas(void **state)
{
    (void)state;
    becomes(tlc_text_csv("plain"), "plain");
    becomes(tlc_text_csv("a,b"), "\"a,b\"");
    becomes(tlc_text_csv("say \"x\""), "\"say \"\"x\"\"\"");
    becomes(tlc_text_csv("=1+1"), "'=1+1");
    becomes(tlc_text_csv("@x,y"), "\"'@x,y\"");
    becomes(tlc_text_csv("a\r\nb"), "a  b");
}

static void width_counts_columns_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(tlc_text_width("abc"), 3);
    assert_int_equal(tlc_text_width("caf\u00e9"), 4);
    assert_int_equal(tlc_text_width("e\u0301"), 1);
    assert_int_equal(tlc_text_width("\u6f22\u5b57"), 4);
    assert_int_equal(tlc_text_fit("\u6f22\u5b57", 3), 3);
    assert_int_equal(tlc_text_fit("abc", 2), 2);
    assert_int_equal(tlc_text_fit("abc", 9), 3);
}

static void figures_have_few_digits(void **state)
{
    (void)state;
    char words[TLC_WORDS];
    assert_string_equal(tlc_words_figure(5114.46, words), "5114.5");
    assert_string_equal(tlc_words_figure(1.234, words), "1.23");
    assert_string_equal(tlc_words_figure(NAN, words), "-");
    assert_string_equal(tlc_words_rate(3024.4, words), "3024");
    assert_string_equal(tlc_words_rate(19.44, words), "19.4");
    assert_string_equal(tlc_words_ratio(1.0136, words), "1.014");
    assert_string_equal(tlc_words_ratio(15.46, words), "15.5");
    assert_string_equal(tlc_words_ratio(INFINITY, words), "-");
    struct tlc_figure figure = {1, 0.99, 2.5};
    assert_string_equal(tlc_words_ratio_range(figure, words), "0.990 to 2.50");
    figure.high = NAN;
    assert_string_equal(tlc_words_ratio_range(figure, words), "-");
    assert_string_equal(tlc_words_duration("2026-11-30T10:00:00Z", "2026-11-30T10:02:41Z", words),
                        "2 min 41 s");
    assert_string_equal(tlc_words_duration("2026-11-30T10:00:00Z", "soon", words), "");
    assert_string_equal(tlc_words_duration("2026-11-30T10:00:00Z", "2026-11-30T09:00:00Z", words),
                        "");
}

static void verdict_is(const char *verdict, double ratio, const char *expected)
{
    char words[TLC_WORDS];
    struct tlc_report_arm arm = {.verdict = verdict, .ratio = {ratio, NAN, NAN}};
    assert_string_equal(tlc_words_verdict(&arm, 0.03, words), expected);
}

static void verdicts_are_words(void **state)
{
    (void)state;
    verdict_is("slower", 1.234, "costs 23 % more");
    verdict_is("slower", 1.0123, "costs 1.2 % more");
    verdict_is("slower", 5.18, "costs 5.2 times as much");
    verdict_is("faster", 0.75, "costs 25 % less");
    verdict_is("equivalent", 1.01, "the same within 3 %");
    verdict_is("no-claim", 1.01, "no claim");
    verdict_is("baseline", NAN, "baseline");
    verdict_is("slower", NAN, "slower");
}

static void values_of_checks_have_their_unit(void **state)
{
    (void)state;
    char words[TLC_WORDS];
    assert_string_equal(tlc_words_check_value("errors", 3, words), "3");
    assert_string_equal(tlc_words_check_value("steal", 0.02, words), "2.0 %");
    assert_string_equal(tlc_words_check_value("negative-control", 0, words), "0.0 %");
    assert_string_equal(tlc_words_check_value("negative-control", 0.03, words), "3.0 %");
    assert_string_equal(tlc_words_check_value("steal", NAN, words), "-");
}

static void drawing(const struct tlc_bar *bars, size_t count, size_t width, bool utf8,
                    const char *expected)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    tlc_draw_bars(bars, count, "us", width, utf8, to);
    assert_int_equal(fclose(to), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void bars_are_to_scale_and_show_their_interval(void **state)
{
    (void)state;
    const struct tlc_bar bars[] = {{"one", {10, 10, 10}, NULL},
                                   {"four", {40, 30, 50}, NULL},
                                   {"five", {25, NAN, NAN}, NULL},
                                   {"bad", {NAN, NAN, NAN}, "refused: errors"}};
    drawing(bars, 4, 38, false,
            "  one   ####                 10.0 us\n"
            "  four  ############----|--- 40.0 us\n"
            "  five  ##########           25.0 us\n"
            "  bad   refused: errors\n");
    drawing(bars + 1, 1, 0, true,
            "  four  \u2588\u2588\u2588\u2588\u2588\u2588\u2591\u2591"
            "\u2502\u2591 40.0 us\n");
    drawing(bars + 3, 1, 60, false, "  bad  refused: errors\n");
    drawing(bars, 0, 60, false, "");
}

static json_t *settings(const char *certificate, const char *groups)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "certificate", certificate, "groups", groups,
                     "resumption", "none", "accept", "shared");
}

static size_t find(const char *key, json_t *arm, json_t *baseline,
                   struct tlc_published_match *matches, size_t capacity)
{
    struct tlc_published published;
    struct tlc_error error = {0};
    if (tlc_published_read(TLC_REFERENCES_DIR, &published, &error) != TLC_OK)
        fail_msg("%s", error.text);
    size_t count = tlc_published_find(&published, key, arm, baseline, matches, capacity);
    tlc_published_free(&published);
    json_decref(arm);
    json_decref(baseline);
    return count;
}

static void published_comparisons_are_found_either_way_round(void **state)
{
    (void)state;
    struct tlc_published_match matches[8];
    assert_int_equal(find("certificate", settings("rsa-2048", "X25519"),
                          settings("ecdsa-p256", "X25519"), matches, 8),
                     1);
    assert_float_equal(matches[0].ratio_cost, 14040.0 / 2713, 0.01);
    assert_int_equal(find("certificate", settings("ecdsa-p256", "X25519"),
                          settings("rsa-2048", "X25519"), matches, 8),
                     1);
    assert_float_equal(matches[0].ratio_cost, 2713.0 / 14040, 0.001);
    // A server alone stands before client and server together.
    assert_true(find("groups", settings("ecdsa-p256", "X25519"),
                     settings("ecdsa-p256", "X25519MLKEM768"), matches, 8) >= 3);
    assert_float_equal(matches[0].ratio_cost, 10729.0 / 14387, 0.001);
    // Names of one group are equal.
    assert_int_equal(find("groups", settings("ecdsa-p256", "P-256"),
                          settings("ecdsa-p256", "X25519MLKEM768"), matches, 8),
                     2);
    // What is held fixed must be so: nothing is published for a hybrid key exchange under ed25519.
    assert_int_equal(find("groups", settings("ed25519", "X25519"),
                          settings("ed25519", "X25519MLKEM768"), matches, 8),
                     0);
    assert_int_equal(find("certificate", settings("ed25519", "X25519"),
                          settings("ecdsa-p256", "X25519"), matches, 8),
                     0);
    assert_int_equal(find("workers", settings("ed25519", "X25519"),
                          settings("ecdsa-p256", "X25519"), matches, 8),
                     0);
}

// What is given as a ratio must be the ratio of the figures beside it.
static void published_ratios_agree_with_their_figures(void **state)
{
    (void)state;
    struct tlc_published published;
    struct tlc_error error = {0};
    size_t source, index, with_figures = 0;
    json_t *file, *comparison;
    assert_int_equal(tlc_published_read(TLC_REFERENCES_DIR, &published, &error), TLC_OK);
    json_array_foreach(published.sources, source, file)
    {
        json_array_foreach(json_object_get(file, "comparisons"), index, comparison)
        {
            double value = 0, baseline = 0, rate = 0, cost = 0;
            const char *unit = "";
            if (json_unpack(comparison, "{s:{s:F, s:F, s:s}, s?F, s?F}", "figures", "value", &value,
                            "baseline", &baseline, "unit", &unit, "ratio_rate", &rate, "ratio_cost",
                            &cost))
                continue;
            with_figures++;
            double given = strstr(unit, "/s") ? rate : cost;
            assert_true(fabs(given / (value / baseline) - 1) < 0.001);
        }
    }
    assert_true(with_figures >= 10);
    assert_true(published.server_alone >= 1);
    tlc_published_free(&published);
}

static void broken_references_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {{"{\n", "x.json:2"},
                 {"{\"title\":\"t\"}", "x.json: system: missing"},
                 {"{\"title\":\"t\",\"system\":\"s\",\"host\":\"h\",\"method\":\"m\","
                  "\"measures\":\"x\",\"comparisons\":[{\"lever\":\"groups\",\"value\":\"a\","
                  "\"baseline\":\"b\"}]}",
                  "comparisons[0]: lever, value, baseline and one of"}};
    char folder[] = "/tmp/tlscost-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.json", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tlc_published published;
        struct tlc_error error = {0};
        FILE *file = fopen(path, "w");
        fputs(cases[i].text, file);
        fclose(file);
        assert_int_equal(tlc_published_read(folder, &published, &error), TLC_USAGE);
        if (!strstr(error.text, cases[i].words))
            fail_msg("'%s' is not in '%s'", cases[i].words, error.text);
    }
    remove(path);
    struct tlc_published published;
    struct tlc_error error = {0};
    assert_int_equal(tlc_published_read(folder, &published, &error), TLC_OK);
    assert_int_equal(json_array_size(published.sources), 0);
    tlc_published_free(&published);
    remove(folder);
    assert_int_equal(tlc_published_read(folder, &published, &error), TLC_OK);
    tlc_published_free(&published);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_holds_nothing_that_steers_a_terminal),
        cmocka_unit_test(markdown_escapes_its_own_characters),
        cmocka_unit_test(csv_quotes_and_disarms_formulas),
        cmocka_unit_test(width_counts_columns_not_bytes),
        cmocka_unit_test(figures_have_few_digits),
        cmocka_unit_test(verdicts_are_words),
        cmocka_unit_test(values_of_checks_have_their_unit),
        cmocka_unit_test(bars_are_to_scale_and_show_their_interval),
        cmocka_unit_test(published_comparisons_are_found_either_way_round),
        cmocka_unit_test(published_ratios_agree_with_their_figures),
        cmocka_unit_test(broken_references_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
