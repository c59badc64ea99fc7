// A forged server for one test program: see tests/fuzz/forge.h.
#ifndef TEST_TLS13_FORGED_H
#define TEST_TLS13_FORGED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../fuzz/forge.h"
#include "base/names.h"

#define CIPHER TLC_AES_128_GCM_SHA256

static struct forge forge;

static int open_forge(void **state)
{
    (void)state;
    return forge_open(&forge, 1) ? 0 : -1;
}

static int close_forge(void **state)
{
    (void)state;
    forge_close(&forge);
    return 0;
}

static void expect_failed(const char *kind, const char *text)
{
    assert_int_equal(tlc_tls13_state(forge.client), TLC_TLS13_FAILED);
    assert_string_equal(tlc_tls13_failure(forge.client), text);
    assert_string_equal(tlc_tls13_failure_kind(forge.client), kind);
}

static void begin(bool ticket)
{
    assert_true(forge_start(&forge, ticket));
}

static void feed(const void *bytes, size_t count)
{
    tlc_tls13_input(forge.client, bytes, count, forge.now_ms);
}

#endif
