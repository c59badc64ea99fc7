// Whole reports of the fixture results, against golden files and against what must hold in any.
// TLC_UPDATE_GOLDEN=1 writes the golden files anew; read the difference before committing it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "result/result.h"

static json_t *fixture(const char *name)
{
    char path[512];
    struct tlc_error error = {0};
    json_t *result = NULL;
    snprintf(path, sizeof path, "%s/fixtures/results/%s.json", TLC_TESTS_DIR, name);
    if (tlc_result_read(path, &result, &error) != TLC_OK)
        fail_msg("%s", error.text);
    return result;
}

static char *render(const json_t *result, const char *format,
                    const struct tlc_report_options *options)
{
    char *text = NULL;
    size_t size;
    struct tlc_error error = {0};
    FILE *to = open_memstream(&text, &size);
    if (tlc_report_write_with(result, format, options, to, &error) != TLC_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fclose(to), 0);
    return text;
}

static const struct tlc_report_options wide = {
    .width = 140, .utf8 = true, .references = TLC_REFERENCES_DIR};

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s: missing; run with TLC_UPDATE_GOLDEN=1", path);
    char *text = calloc(1, 1 << 20);
    size_t count = fread(text, 1, (1 << 20) - 1, file);
    text[count] = '\0';
    fclose(file);
    return text;
}

static void is_golden(const char *name, const char *format,
                      const struct tlc_report_options *options, const char *golden)
{
    char path[512];
    json_t *result = fixture(name);
    char *text = render(result, format, options);
    snprintf(path, sizeof path, "%s/fixtures/results/golden/%s", TLC_TESTS_DIR, golden);
    if (getenv("TLC_UPDATE_GOLDEN")) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
    }
    char *expected = read_file(path);
    if (strcmp(text, expected)) {
        size_t at = 0;
        while (text[at] == expected[at])
            at++;
        fail_msg("%s differs at byte %zu: '%.60s' is not '%.60s'", golden, at, text + at,
                 expected + at);
    }
    free(expected);
    free(text);
    json_decref(result);
}

static void reports_are_golden(void **state)
{
    (void)state;
    struct tlc_report_options narrow = {
        .width = 72, .utf8 = false, .references = TLC_REFERENCES_DIR};
    struct tlc_report_options coloured = {.width = 100, .utf8 = true, .colour = true};
    is_golden("accepted", "terminal", &wide, "accepted.txt");
    is_golden("accepted", "terminal", &narrow, "accepted-narrow.txt");
    is_golden("accepted", "markdown", &wide, "accepted.md");
    is_golden("refused", "terminal", &wide, "refused.txt");
    is_golden("refused", "terminal", &coloured, "refused-colour.txt");
    is_golden("refused", "markdown", &wide, "refused.md");
    is_golden("refused", "csv", &wide, "refused.csv");
    is_golden("interrupted", "terminal", &wide, "interrupted.txt");
    is_golden("few-blocks", "terminal", &wide, "few-blocks.txt");
    is_golden("hostile", "terminal", &wide, "hostile.txt");
    is_golden("hostile", "markdown", &wide, "hostile.md");
    is_golden("hostile", "csv", &wide, "hostile.csv");
}

static void an_arm_refused_as_a_whole_is_told_beside_its_samples(void **state)
{
    (void)state;
    json_t *result = fixture("accepted");
    json_t *arm = json_array_get(json_object_get(result, "arms"), 2);
    json_object_set_new(arm, "accepted", json_false());
    json_object_set_new(arm, "refused",
                        json_pack("[{s:s, s:i}, {s:s, s:i}]", "check", "steal", "count", 1, "check",
                                  "generator-limited", "count", 6));
    char *text = render(result, "csv", &wide);
    const char *first = strstr(text, "\r\necdsa-p384,");
    assert_non_null(strstr(text, ",arm_accepted,arm_refused\r\nbaseline,"));
    assert_non_null(first);
    assert_non_null(strstr(first, ",false,steal;generator-limited\r\n"));
    assert_non_null(strstr(text, ",true,\r\n"));
    free(text);
    json_decref(result);
}

static void a_calibration_without_a_sample_is_told_as_such(void **state)
{
    (void)state;
    json_t *result = fixture("interrupted");
    json_t *calibration = json_object_get(result, "calibration");
    json_object_set_new(calibration, "a_a", json_null());
    json_object_set_new(calibration, "accepted_samples", json_integer(0));
    json_object_set_new(calibration, "refused", json_pack("[s, s]", "steal", "accounting"));
    char *text = render(result, "terminal", &wide);
    assert_non_null(strstr(text, "NOT passed (2026-11-29T18:31:07Z): no sample accepted: steal, "
                                 "accounting"));
    assert_null(strstr(text, "equal arms -"));
    free(text);
    json_decref(result);
}

static void a_baseline_of_one_operation_is_called_by_it(void **state)
{
    (void)state;
    json_t *result = fixture("accepted");
    json_t *arms = json_object_get(json_object_get(result, "plan"), "arms");
    json_t *settings = json_array_get(arms, 0);
    json_object_set_new(settings, "workload", json_string("primitive"));
    json_object_set_new(settings, "operation", json_string("x25519-keygen"));
    char *text = render(result, "benchstat", &wide);
    assert_non_null(strstr(text, "BenchmarkOperation/arm=x25519-keygen\t"));
    assert_null(strstr(text, "arm=baseline"));
    free(text);
    text = render(result, "jmh-json", &wide);
    assert_non_null(strstr(text, ".x25519-keygen\""));
    free(text);
    // Two of one name would be taken as one.
    json_object_set_new(settings, "operation", json_string("ed25519"));
    text = render(result, "benchstat", &wide);
    assert_non_null(strstr(text, "BenchmarkOperation/arm=baseline\t"));
    free(text);
    json_decref(result);
}

static void no_terminal_escape_comes_from_data(void **state)
{
    (void)state;
    json_t *result = fixture("hostile");
    static const char *const formats[] = {"terminal", "markdown", "csv"};
    for (size_t i = 0; i < 3; i++) {
        char *text = render(result, formats[i], &wide);
        for (const char *at = text; *at; at++)
            if ((unsigned char)*at < ' ' && *at != '\n' && *at != '\r')
                fail_msg("%s: control character %d at byte %zu", formats[i], *at,
                         (size_t)(at - text));
        assert_null(strstr(text, "\u202e"));
        assert_null(strstr(text, "\xc2\x9b"));
        free(text);
    }
    char *text = render(result, "terminal", &(struct tlc_report_options){.width = 80});
    for (const char *at = text; *at; at++)
        assert_true((unsigned char)*at < 0x7f);
    free(text);
    json_decref(result);
}

static size_t bars_in(const char *line, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    return count;
}

static void every_row_of_a_markdown_table_has_its_cells(void **state)
{
    (void)state;
    static const char *const names[] = {"accepted", "refused", "interrupted", "hostile"};
    for (size_t i = 0; i < 4; i++) {
        json_t *result = fixture(names[i]);
        char *text = render(result, "markdown", &wide);
        size_t expected = 0, rows = 0;
        for (const char *line = text; *line;) {
            size_t length = strcspn(line, "\n");
            size_t bars = *line == '|' ? bars_in(line, length) : 0;
            if (bars && expected && bars != expected)
                fail_msg("%s: %.*s", names[i], (int)length, line);
            expected = bars;
            rows += bars != 0;
            line += length + (line[length] == '\n');
        }
        assert_true(rows > 10);
        free(text);
        json_decref(result);
    }
}

static void a_refused_arm_shows_its_check_and_no_figure(void **state)
{
    (void)state;
    json_t *result = fixture("refused");
    // Even figures that stand in the document must not come out.
    json_t *arm = NULL;
    size_t index;
    json_array_foreach(json_object_get(result, "arms"), index, arm)
    {
        if (!strcmp(json_string_value(json_object_get(arm, "name")), "rsa-2048"))
            break;
    }
    json_object_set_new(
        arm, "cost_us",
        json_pack("{s:f, s:f, s:f}", "estimate", 777.7, "low", 777.1, "high", 778.2));
    static const char *const formats[] = {"terminal", "markdown"};
    const struct tlc_report_options unwrapped = {.width = 1000};
    for (size_t i = 0; i < 2; i++) {
        char *text = render(result, formats[i], &unwrapped);
        const char *first = strstr(text, "REFUSED"), *table = strstr(text, "rate/s");
        assert_non_null(first);
        assert_true(first < table); // said before any figure
        assert_non_null(strstr(text, "refused: certificate"));
        assert_non_null(strstr(text, "asked rsa-2048, got ecdsa-p256"));
        assert_non_null(strstr(text, "Make the server serve the arm's certificate"));
        assert_non_null(strstr(text, "7 of 48 samples were refused"));
        assert_null(strstr(text, "777"));
        free(text);
    }
    json_decref(result);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    struct tlc_error error = {0};
    json_t *result = fixture("accepted");
    FILE *null = fopen("/dev/null", "w"), *full = fopen("/dev/full", "w");
    assert_int_equal(tlc_report_write_with(result, "html5", &wide, null, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "'html5': unknown; known are terminal, markdown, csv"));
    assert_int_equal(tlc_report_write_with(result, "csv", &wide, full, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "No space left"));
    json_object_set_new(result, "command", json_string("probe"));
    assert_int_equal(tlc_report_write_with(result, "csv", &wide, null, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "'probe' has no report"));
    fclose(null);
    fclose(full);
    json_decref(result);
}

static void a_thin_document_is_told_without_a_crash(void **state)
{
    (void)state;
    static const char thin[] =
        "{\"command\":\"run\",\"environment\":{\"a\":{\"b\":[1,2]}},\"plan\":{\"arms\":[1,{}]},"
        "\"stacks\":[{}],\"checks\":[{}],\"arms\":[{},{\"name\":\"x\",\"role\":\"arm\","
        "\"accepted\":true,\"refused\":[{}],\"samples\":[{\"refused\":[1]}]}]}";
    json_t *result = json_loads(thin, 0, NULL);
    assert_non_null(result);
    for (size_t i = 0; tlc_report_format_at(i); i++) {
        if (!strcmp(tlc_report_format_at(i), "folded"))
            continue; // nothing was attributed
        char *text = render(result, tlc_report_format_at(i), &wide);
        // An arm without a measured sample is no result of JMH's.
        assert_non_null(strstr(text, strcmp(tlc_report_format_at(i), "jmh-json") ? "x" : "[]"));
        free(text);
    }
    json_decref(result);
}

static void facts_over_all_arms_are_told(void **state)
{
    (void)state;
    json_t *result = fixture("accepted");
    json_t *arms = json_object_get(result, "arms");
    json_t *unclear = json_array_get(arms, 3), *alone = json_array_get(arms, 4);
    json_object_set_new(unclear, "verdict", json_string("no-claim"));
    json_object_set_new(unclear, "detectable", json_real(0.021));
    json_object_set_new(alone, "claim_holm", json_false());
    json_object_set_new(alone, "holm_p", json_real(0.125));
    json_object_set_new(json_array_get(arms, 5), "claim_holm", json_true());
    for (size_t i = 1; i < json_array_size(arms); i++)
        if (!json_object_get(json_array_get(arms, i), "holm_p"))
            json_object_set_new(json_array_get(arms, i), "holm_p", json_real(0.01));
    // Seven arms are tested together: six blocks are too few for that, nine are not.
    char *text = render(result, "markdown", &wide);
    assert_non_null(strstr(text, "6 blocks are too few"));
    assert_non_null(strstr(text, "at least 9 are needed"));
    assert_null(strstr(text, "hold over all arms together at"));
    free(text);
    for (size_t i = 0; i < json_array_size(arms); i++)
        json_object_set_new(json_array_get(arms, i), "instances", json_integer(9));
    json_object_set_new(alone, "outliers",
                        json_pack("[{s:i, s:s, s:f, s:f}]", "block", 3, "of", "ratio", "value",
                                  1.25, "score", 7.5));
    json_object_set_new(
        json_object_get(result, "campaign"), "order_effect",
        json_pack("{s:f, s:f, s:f}", "estimate", 1.002, "low", 1.001, "high", 1.003));
    json_object_set_new(
        alone, "settling",
        json_pack("{s:f, s:f, s:f}", "estimate", 0.955, "low", 0.93, "high", 0.965));
    json_object_set_new(unclear, "settling",
                        json_pack("{s:f, s:f, s:f}", "estimate", 0.97, "low", 0.95, "high", 0.985));
    text = render(result, "markdown", &wide);
    assert_non_null(strstr(text, "no claim (under 2.1 % cannot be seen)"));
    assert_non_null(strstr(text, "1 of 2 hold over all arms"));
    assert_non_null(strstr(text, "adjusted p 0.125"));
    assert_non_null(strstr(text, "in block 3: ratio 1.250, score 7.5"));
    assert_non_null(strstr(text, "the place in a round matters"));
    assert_non_null(
        strstr(text, "cost late in a block over the whole: 0.955 (95 %: 0.930 to 0.965)"));
    assert_null(strstr(text, "over the whole: 0.970")); // as small as what is called the same
    free(text);
    json_decref(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_are_golden),
        cmocka_unit_test(facts_over_all_arms_are_told),
        cmocka_unit_test(an_arm_refused_as_a_whole_is_told_beside_its_samples),
        cmocka_unit_test(a_calibration_without_a_sample_is_told_as_such),
        cmocka_unit_test(a_baseline_of_one_operation_is_called_by_it),
        cmocka_unit_test(no_terminal_escape_comes_from_data),
        cmocka_unit_test(every_row_of_a_markdown_table_has_its_cells),
        cmocka_unit_test(a_refused_arm_shows_its_check_and_no_figure),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(a_thin_document_is_told_without_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
