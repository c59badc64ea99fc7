// Who listens where, from the kernel's tables, and the object that keeps servers on loopback.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/listening.h"
#include "measure/preload.h"

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n"
#define REST " 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0\n"
#define ANY4 "00000000:0000"
#define ANY6 "00000000000000000000000000000000:0000"

// Words are printed in the machine's order; these are of a little-endian one.
static void tables_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *table;
        bool beyond;
    } cases[] = {
        {HEAD, false},
        {"", false},
        {HEAD "   0: 0100007F:1F90 " ANY4 " 0A" REST, false},
        {HEAD "   0: 0200FE7F:1F90 " ANY4 " 0A" REST, false},
        {HEAD "   0: 00000000:1F90 " ANY4 " 0A" REST, true},
        {HEAD "   0: 0A00000A:1F90 " ANY4 " 0A" REST, true},
        // another port, another state
        {HEAD "   0: 00000000:1F91 " ANY4 " 0A" REST, false},
        {HEAD "   0: 0A00000A:1F90 0B00000A:1F90 01" REST, false},
        // later lines, and one without an end
        {HEAD "   0: 0100007F:1F90 " ANY4 " 0A" REST " 101: 00000000:1F90 " ANY4 " 0A", true},
        {HEAD "   0: 00000000000000000000000001000000:1F90 " ANY6 " 0A" REST, false},
        {HEAD "   0: 0000000000000000FFFF00000100007F:1F90 " ANY6 " 0A" REST, false},
        {HEAD "   0: 00000000000000000000000000000000:1F90 " ANY6 " 0A" REST, true},
        {HEAD "   0: 0000000000000000FFFF00000A00000A:1F90 " ANY6 " 0A" REST, true},
        {HEAD "   0: 000080FE000000000000000001000000:1F90 " ANY6 " 0A" REST, true},
        // what is no line of such a table
        {"00000000", false},
        {"   0: 0000:1F90 " ANY4 " 0A" REST, false},
    };
    if (htonl(1) == 1)
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tlc_listening_in(cases[i].table, 8080) != cases[i].beyond)
            fail_msg("case %zu: %s", i, cases[i].table);
}

// A socket on all addresses, listening; its port. -1 where there is no such family.
static int listen_everywhere(int family, bool only, uint16_t *port)
{
    struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
    socklen_t size = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int value = only;
    if (fd >= 0 && family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &value, sizeof value);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) || listen(fd, 1) ||
        getsockname(fd, (struct sockaddr *)&address, &size)) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *port = ntohs(family == AF_INET ? ((struct sockaddr_in *)&address)->sin_port
                                    : ((struct sockaddr_in6 *)&address)->sin6_port);
    return fd;
}

static bool is_beyond(uint16_t port)
{
    bool beyond;
    struct tlc_error error = {0};
    assert_int_equal(tlc_listening_beyond(port, &beyond, &error), TLC_OK);
    return beyond;
}

static bool accepts(int family, uint16_t port)
{
    struct sockaddr_in to4 = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    struct sockaddr_in6 to6 = {
        .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT, .sin6_port = htons(port)};
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && !(family == AF_INET ? connect(fd, (struct sockaddr *)&to4, sizeof to4)
                                               : connect(fd, (struct sockaddr *)&to6, sizeof to6));
    if (fd >= 0)
        close(fd);
    return good;
}

// This program runs as a server twice: as it is, and with the object preloaded.
static void a_server_on_all_addresses_is_kept_on_loopback(void **state)
{
    (void)state;
    static const struct {
        int family;
        bool only;
        int reached_by;
    } cases[] = {{AF_INET, false, AF_INET}, {AF_INET6, false, AF_INET}, {AF_INET6, true, AF_INET6}};
    bool kept = getenv("TLC_TEST_KEPT") != NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint16_t port = 0;
        int fd = listen_everywhere(cases[i].family, cases[i].only, &port);
        if (fd < 0 && cases[i].family == AF_INET6)
            continue; // a machine without IPv6
        assert_true(fd >= 0);
        if (is_beyond(port) == kept)
            fail_msg("case %zu: listens %s", i, kept ? "on other addresses" : "on loopback only");
        assert_true(accepts(cases[i].reached_by, port));
        close(fd);
    }
}

static void the_preloaded_object_does_it(void **state)
{
    (void)state;
    char file[4096], pair[4200];
    struct tlc_error error = {0};
    snprintf(pair, sizeof pair, "LD_PRELOAD=%s", TLC_LOOPBACK_OBJECT);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char *const arguments[] = {"test_listening", "kept", NULL};
        char *const environment[] = {pair, "TLC_TEST_KEPT=1",
                                     "ASAN_OPTIONS=verify_asan_link_order=0", NULL};
        execve("/proc/self/exe", arguments, environment);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(tlc_preload_file("test", "tlscost-none.so", file, sizeof file, &error),
                     TLC_ENVIRONMENT);
    assert_non_null(strstr(error.text, "test: tlscost-none.so: not found"));
}

int main(int argc, char **argv)
{
    (void)argv;
    const struct CMUnitTest kept[] = {
        cmocka_unit_test(a_server_on_all_addresses_is_kept_on_loopback)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_read),
        cmocka_unit_test(a_server_on_all_addresses_is_kept_on_loopback),
        cmocka_unit_test(the_preloaded_object_does_it)};
    return argc > 1 ? cmocka_run_group_tests(kept, NULL, NULL)
                    : cmocka_run_group_tests(tests, NULL, NULL);
}
