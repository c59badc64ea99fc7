#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpu_mask.h"
#include "base/error.h"
#include "base/message.h"
#include "base/names.h"
#include "base/process.h"

static void names_round_trip(void **state)
{
    (void)state;
    for (int kind = TLC_NAME_VERSION; kind <= TLC_NAME_SIGNATURE; kind++)
        for (size_t i = 0; tlc_name_at((enum tlc_name_kind)kind, i); i++) {
            const char *name = tlc_name_at((enum tlc_name_kind)kind, i);
            assert_string_equal(
                name, tlc_name((enum tlc_name_kind)kind, tlc_code((enum tlc_name_kind)kind, name)));
        }
    assert_int_equal(tlc_code(TLC_NAME_GROUP, "P-256"), TLC_GROUP_SECP256R1);
    assert_int_equal(tlc_code(TLC_NAME_GROUP, "x25519mlkem768"), TLC_GROUP_X25519MLKEM768);
    assert_int_equal(tlc_code(TLC_NAME_GROUP, "nothing"), 0);
    assert_string_equal(tlc_name(TLC_NAME_GROUP, 0x9999), "0x9999");
    assert_string_equal(tlc_name(TLC_NAME_ALERT, 0), "close_notify");
}

static void lists_parse_in_order(void **state)
{
    (void)state;
    uint16_t codes[4];
    size_t count;
    struct tlc_error error = {0};
    assert_int_equal(tlc_codes_parse(TLC_NAME_GROUP, "X25519:P-256", codes, 4, &count, &error),
                     TLC_OK);
    assert_int_equal(count, 2);
    assert_int_equal(codes[0], TLC_GROUP_X25519);
    assert_int_equal(codes[1], TLC_GROUP_SECP256R1);
    assert_int_equal(tlc_codes_parse(TLC_NAME_GROUP, "X25519:", codes, 4, &count, &error),
                     TLC_USAGE);
    assert_int_equal(tlc_codes_parse(TLC_NAME_GROUP, "X25519:moon", codes, 4, &count, &error),
                     TLC_USAGE);
    assert_non_null(strstr(error.text, "'moon'"));
    assert_non_null(strstr(error.text, "X25519MLKEM768"));
    assert_int_equal(tlc_codes_parse(TLC_NAME_GROUP, "X25519,X448", codes, 1, &count, &error),
                     TLC_USAGE);
}

static void messages_round_trip_and_fail_cleanly(void **state)
{
    (void)state;
    int ends[2];
    struct tlc_error error = {0};
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    json_t *sent = json_pack("{s:s, s:[i, i]}", "command", "slice", "list", 1, 2), *received = NULL;
    assert_int_equal(tlc_message_send(ends[0], sent, &error), TLC_OK);
    assert_int_equal(tlc_message_receive(ends[1], 1000, &received, &error), TLC_OK);
    assert_true(json_equal(sent, received));
    json_decref(sent);
    json_decref(received);
    assert_int_equal(tlc_message_receive(ends[1], 0, &received, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "no answer in time"));
    assert_int_equal(write(ends[0], "\3\0\0\0{x}", 7), 7);
    assert_int_equal(tlc_message_receive(ends[1], 1000, &received, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "not JSON"));
    assert_int_equal(write(ends[0], "\xff\xff\xff\xff", 4), 4);
    assert_int_equal(tlc_message_receive(ends[1], 1000, &received, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "too long"));
    close(ends[0]);
    assert_int_equal(tlc_message_receive(ends[1], 1000, &received, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "the peer has ended"));
    close(ends[1]);
}

static void a_missing_program_is_an_error(void **state)
{
    (void)state;
    const char *const arguments[] = {"/nonexistent/program", NULL};
    struct tlc_process process;
    struct tlc_error error = {0};
    assert_int_equal(
        tlc_process_start(&(struct tlc_process_options){.arguments = arguments}, &process, &error),
        TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "/nonexistent/program: No such file"));
    assert_int_equal(process.pid, 0);
}

static void stop_ends_the_whole_group(void **state)
{
    (void)state;
    const char *const arguments[] = {"sh", "-c", "trap '' TERM; sleep 60 & echo $! >&3; wait",
                                     NULL};
    struct tlc_process process;
    struct tlc_error error = {0};
    assert_int_equal(
        tlc_process_start(&(struct tlc_process_options){.arguments = arguments, .control = true},
                          &process, &error),
        TLC_OK);
    char text[32] = "";
    assert_true(read(process.control, text, sizeof text - 1) > 0);
    pid_t grandchild = (pid_t)strtol(text, NULL, 10);
    assert_true(tlc_process_alive(&process, NULL));
    tlc_process_stop(&process, 50);
    assert_int_equal(process.pid, 0);
    assert_int_equal(process.control, -1);
    for (int i = 0; i < 500 && kill(grandchild, 0) == 0; i++) {
        char path[64], line[256] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", grandchild);
        FILE *file = fopen(path, "r");
        if (!file || (fgets(line, sizeof line, file) && strstr(line, ") Z"))) {
            if (file)
                fclose(file);
            return;
        }
        fclose(file);
        usleep(2000);
    }
    assert_int_not_equal(kill(grandchild, 0), 0);
}

static void output_of_a_command(void **state)
{
    (void)state;
    char *text = NULL;
    int code;
    struct tlc_error error = {0};
    const char *const good[] = {"sh", "-c", "echo out; echo err >&2; exit 3", NULL};
    assert_int_equal(tlc_process_output(good, 5000, &text, &code, &error), TLC_OK);
    assert_int_equal(code, 3);
    assert_string_equal(text, "out\nerr\n");
    free(text);
    const char *const slow[] = {"sleep", "60", NULL};
    assert_int_equal(tlc_process_output(slow, 20, &text, &code, &error), TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "no end after"));
}

static void masks_are_read_as_the_library_reads_them(void **state)
{
    (void)state;
    static const char *const good[] = {"~0x200000200000000:~0x0", ":~0x80100", "0x0", "~1:~2:~3",
                                       "::~7"};
    static const char *const bad[] = {"",
                                      ":",
                                      "~",
                                      "x",
                                      "~0x",
                                      "0x1 0x2",
                                      "0x1;",
                                      "none",
                                      "~~1",
                                      "1:::::::::1",
                                      "0x123456789abcdef01"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!tlc_cpu_mask_known(good[i]))
            fail_msg("'%s' is a mask", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (tlc_cpu_mask_known(bad[i]))
            fail_msg("'%s' is no mask", bad[i]);
}

static void an_account_shows_whether_a_mask_was_obeyed(void **state)
{
    (void)state;
    char account[64], small[8], why[128] = "";
    assert_true(tlc_cpu_account("OpenSSL 3.5; CPUINFO: OPENSSL_ia32cap=0x7:0x80100 env:~0x1",
                                account, sizeof account));
    assert_string_equal(account, "0x7:0x80100");
    assert_false(
        tlc_cpu_account("OpenSSL 3.5; CPUINFO: OPENSSL_ia32cap=0x7:0x80100", small, sizeof small));
    assert_false(tlc_cpu_account("wolfSSL 5.9", account, sizeof account));
    assert_true(tlc_cpu_mask_obeyed(":~0x20000000", "0x7:0x80100", why, sizeof why));
    assert_false(tlc_cpu_mask_obeyed(":~0x80000", "0x7:0x80100", why, sizeof why));
    assert_non_null(strstr(why, "vector 1"));
    assert_non_null(strstr(why, "0x80000"));
    // The library sets bit 10 of the first vector itself; a number in place of ~ names what stays.
    assert_true(tlc_cpu_mask_obeyed("~0x400", "0x400:0x0", why, sizeof why));
    assert_true(tlc_cpu_mask_obeyed("0x3", "0x401:0x0", why, sizeof why));
    assert_false(tlc_cpu_mask_obeyed("0x3", "0x404:0x0", why, sizeof why));
    assert_false(tlc_cpu_mask_obeyed("0x3", "nothing", why, sizeof why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_round_trip),
        cmocka_unit_test(lists_parse_in_order),
        cmocka_unit_test(messages_round_trip_and_fail_cleanly),
        cmocka_unit_test(a_missing_program_is_an_error),
        cmocka_unit_test(stop_ends_the_whole_group),
        cmocka_unit_test(output_of_a_command),
        cmocka_unit_test(masks_are_read_as_the_library_reads_them),
        cmocka_unit_test(an_account_shows_whether_a_mask_was_obeyed),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
