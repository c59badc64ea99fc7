// The life of a connection, driven without sockets over a scripted TLS client.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "generator/connection.h"

// The scripted client's ClientHello is "hello". From the server 'R' asks for another ClientHello,
// 'S' completes the handshake, 'P' as a resumed one ("fin" is then to be sent), 'T' is a ticket,
// lower case letters are application data and 'X' is a fault, answered by the alert "!".
struct script {
    struct tlc_session base;
    char output[64];
    size_t output_count, sent;
    uint8_t data[64];
    size_t data_count;
    unsigned tickets;
    bool done, resumed, hello_seen;
};

static struct script *script(const struct tlc_session *session)
{
    return (struct script *)(uintptr_t)session;
}

static void say(struct script *mine, const char *text)
{
    memmove(mine->output, mine->output + mine->sent, mine->output_count - mine->sent);
    mine->output_count -= mine->sent;
    mine->sent = 0;
    memcpy(mine->output + mine->output_count, text, strlen(text));
    mine->output_count += strlen(text);
}

static enum tlc_session_state script_start(struct tlc_session *session, uint64_t now_ms,
                                           bool *offered)
{
    (void)now_ms;
    *offered = false;
    *script(session) = (struct script){.base = *session};
    say(script(session), "hello");
    return TLC_SESSION_WAIT;
}

static const uint8_t *script_output(struct tlc_session *session, size_t *count)
{
    *count = script(session)->output_count - script(session)->sent;
    return (const uint8_t *)script(session)->output + script(session)->sent;
}

static void script_output_sent(struct tlc_session *session, size_t count)
{
    script(session)->sent += count;
}

static enum tlc_session_state script_input(struct tlc_session *session, const uint8_t *bytes,
                                           size_t count, uint64_t now_ms)
{
    (void)now_ms;
    struct script *mine = script(session);
    for (size_t i = 0; i < count; i++) {
        mine->hello_seen = true;
        if (bytes[i] == 'R')
            say(mine, "again");
        if (bytes[i] == 'S' || bytes[i] == 'P') {
            mine->done = true;
            mine->resumed = bytes[i] == 'P';
            say(mine, "fin");
        }
        mine->tickets += bytes[i] == 'T';
        if (bytes[i] >= 'a')
            mine->data[mine->data_count++] = bytes[i];
        if (bytes[i] == 'X') {
            say(mine, "!");
            return TLC_SESSION_FAILED;
        }
    }
    return mine->done ? TLC_SESSION_DONE : TLC_SESSION_WAIT;
}

static bool script_hello_seen(const struct tlc_session *session)
{
    return script(session)->hello_seen;
}

static bool script_facts(struct tlc_session *session, struct tlc_facts *facts)
{
    *facts = (struct tlc_facts){.version = 0x0304, .psk_mode = -1, .alpn = ""};
    return script(session)->done;
}

static bool script_resumed(struct tlc_session *session)
{
    return script(session)->resumed;
}

static unsigned script_tickets(struct tlc_session *session)
{
    return script(session)->tickets;
}

static void script_failure(const struct tlc_session *session, char kind[TLC_FAILURE_BYTES])
{
    (void)session;
    strcpy(kind, "fault");
}

static bool script_write(struct tlc_session *session, const uint8_t *bytes, size_t count)
{
    char text[32] = "";
    memcpy(text, bytes, count);
    say(script(session), text);
    return true;
}

static const uint8_t *script_received(struct tlc_session *session, size_t *count)
{
    *count = script(session)->data_count;
    return script(session)->data;
}

static bool script_close(struct tlc_session *session)
{
    say(script(session), "bye");
    return true;
}

static const struct tlc_engine_kind scripted = {
    .name = "scripted",
    .start = script_start,
    .output = script_output,
    .output_sent = script_output_sent,
    .input = script_input,
    .hello_seen = script_hello_seen,
    .facts = script_facts,
    .resumed = script_resumed,
    .tickets = script_tickets,
    .failure = script_failure,
    .write = script_write,
    .received = script_received,
    .close = script_close,
};

// A kind that knows the stop points, as the lean engine does: 'E' is the ServerHello to stop at.
static enum tlc_session_state stopping_input(struct tlc_session *session, const uint8_t *bytes,
                                             size_t count, uint64_t now_ms)
{
    if (count && bytes[0] == 'E')
        return TLC_SESSION_STOPPED;
    return script_input(session, bytes, count, now_ms);
}

static bool stopping_facts(struct tlc_session *session, struct tlc_facts *facts)
{
    (void)session;
    *facts = (struct tlc_facts){
        .version = 0x0304, .group = 29, .psk_mode = -1, .alpn = "", .partial = true};
    return true;
}

static void stopping_failure(const struct tlc_session *session, char kind[TLC_FAILURE_BYTES])
{
    (void)session;
    strcpy(kind, "alert-illegal_parameter");
}

static const struct tlc_engine_kind stopping = {
    .name = "stopping",
    .stops = true,
    .start = script_start,
    .output = script_output,
    .output_sent = script_output_sent,
    .input = stopping_input,
    .hello_seen = script_hello_seen,
    .facts = stopping_facts,
    .resumed = script_resumed,
    .tickets = script_tickets,
    .failure = stopping_failure,
};

struct fixture {
    struct script session;
    struct tlc_counters counters;
    struct tlc_tally tally;
    struct tlc_expectation expect;
    struct tlc_life life;
    struct tlc_load_connection connection;
};

static void set_up(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->session.base.kind = &scripted;
    f->expect.resumed = -1;
    f->life = (struct tlc_life){.timeout_ns = 1000, .expect = &f->expect, .tally = &f->tally};
    f->connection = (struct tlc_load_connection){.life = &f->life, .session = &f->session.base};
    tlc_tally_begin(&f->tally, &f->counters, true, UINT64_MAX);
}

static void expect_output(struct fixture *f, const char *text)
{
    size_t count;
    const uint8_t *bytes = tlc_load_connection_output(&f->connection, &count);
    assert_int_equal(count, strlen(text));
    assert_memory_equal(bytes, text, count);
}

static enum tlc_ask send_all(struct fixture *f, const char *text, uint64_t now_ns)
{
    expect_output(f, text);
    return tlc_load_connection_sent(&f->connection, strlen(text), now_ns);
}

static enum tlc_ask receive(struct fixture *f, const char *text, uint64_t now_ns)
{
    return tlc_load_connection_input(&f->connection, (const uint8_t *)text, strlen(text), now_ns);
}

// Takes a connection to the point where the server's flight has been answered.
static enum tlc_ask shake_hands(struct fixture *f)
{
    assert_int_equal(tlc_load_connection_begin(&f->connection, 100, 150), TLC_ASK_SEND);
    assert_int_equal(send_all(f, "hello", 2100), TLC_ASK_RECEIVE);
    assert_int_equal(receive(f, "S", 3100), TLC_ASK_SEND);
    return send_all(f, "fin", 4100);
}

static uint64_t error_count(struct fixture *f, const char *kind)
{
    struct tlc_error error;
    assert_int_equal(tlc_tally_finish(&f->tally, &error), TLC_OK);
    uint64_t count = (uint64_t)json_integer_value(json_object_get(f->counters.errors, kind));
    assert_int_equal(tlc_counters_errors(&f->counters), count);
    return count;
}

static void expect_failure(struct fixture *f, const char *kind)
{
    tlc_load_connection_closed(&f->connection);
    assert_int_equal(f->counters.started, 1);
    assert_int_equal(f->counters.handshakes, 0);
    if (error_count(f, kind) != 1)
        fail_msg("not counted as %s but %s", kind, json_dumps(f->counters.errors, 0));
    tlc_counters_free(&f->counters);
}

static void expect_handshake(struct fixture *f)
{
    tlc_load_connection_closed(&f->connection);
    assert_true(tlc_load_connection_idle(&f->connection));
    assert_int_equal(f->counters.handshakes, 1);
    assert_int_equal(error_count(f, "none"), 0);
}

static void a_handshake_ends_by_reset_once_finished_was_sent(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    assert_int_equal(shake_hands(&f), TLC_ASK_CLOSE);
    assert_false(tlc_load_connection_orderly(&f.connection));
    assert_int_equal(f.counters.handshakes, 0); // not before the end
    expect_handshake(&f);
    assert_int_equal(f.counters.latency_connect_us[0], 2);
    assert_int_equal(f.counters.latency_hello_us[0], 3);
    assert_int_equal(f.counters.latency_done_us[0], 3);
    assert_int_equal(f.counters.bytes_sent, 8);
    assert_int_equal(f.counters.bytes_received, 1);
    tlc_counters_free(&f.counters);
}

static void expected_tickets_are_awaited_in_any_split(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.life.tickets_expected = 2;
    assert_int_equal(shake_hands(&f), TLC_ASK_RECEIVE);
    assert_int_equal(receive(&f, "T", 5000), TLC_ASK_RECEIVE);
    assert_int_equal(receive(&f, "T", 6000), TLC_ASK_CLOSE);
    expect_handshake(&f);
    assert_int_equal(f.counters.tickets, 2);
    tlc_counters_free(&f.counters);
}

static void a_resumed_handshake_has_its_own_number_of_tickets(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.life.tickets_expected = 2;
    f.life.tickets_expected_resumed = 1;
    tlc_load_connection_begin(&f.connection, 0, 0);
    send_all(&f, "hello", 1);
    assert_int_equal(receive(&f, "P", 2), TLC_ASK_SEND);
    assert_int_equal(send_all(&f, "fin", 3), TLC_ASK_RECEIVE);
    assert_int_equal(receive(&f, "T", 4), TLC_ASK_CLOSE);
    expect_handshake(&f);
    tlc_counters_free(&f.counters);
}

static void output_that_the_server_must_answer_is_known(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    tlc_load_connection_begin(&f.connection, 0, 0);
    assert_true(tlc_load_connection_waits_after_output(&f.connection));
    f.life.split_at = 1;
    assert_false(tlc_load_connection_waits_after_output(&f.connection));
    f.life.split_at = 0;
    send_all(&f, "hello", 1);
    receive(&f, "S", 2);
    assert_false(tlc_load_connection_waits_after_output(&f.connection));
    f.life.tickets_expected = f.life.tickets_expected_resumed = 1;
    assert_true(tlc_load_connection_waits_after_output(&f.connection));
    receive(&f, "T", 2); // tickets may come before the client's Finished
    assert_false(tlc_load_connection_waits_after_output(&f.connection));
}

static void a_kept_handshake_survives_the_next_one(void **state)
{
    (void)state;
    struct fixture f;
    struct tlc_kept_handshake kept;
    set_up(&f);
    assert_int_equal(shake_hands(&f), TLC_ASK_CLOSE);
    assert_true(tlc_load_connection_keep(&f.connection, &kept));
    assert_true(tlc_load_connection_idle(&f.connection));
    assert_int_equal(f.counters.handshakes, 0);
    tlc_load_connection_begin(&f.connection, 0, 0);
    tlc_load_connection_broke(&f.connection, EPIPE);
    assert_false(tlc_load_connection_keep(&f.connection, &kept)); // nothing to keep: it is counted
    tlc_tally_handshake(&f.tally, &f.expect, &kept.facts, &kept.times);
    assert_int_equal(f.counters.handshakes, 1);
    assert_int_equal(error_count(&f, "reset"), 1);
    tlc_counters_free(&f.counters);
}

static void a_server_that_ends_before_its_tickets_is_an_error(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.life.tickets_expected = 2;
    assert_int_equal(shake_hands(&f), TLC_ASK_RECEIVE);
    assert_int_equal(receive(&f, "T", 5000), TLC_ASK_RECEIVE);
    assert_int_equal(tlc_load_connection_ended(&f.connection), TLC_ASK_CLOSE);
    expect_failure(&f, "closed-before-tickets");
    set_up(&f);
    f.life.tickets_expected = 1;
    shake_hands(&f);
    assert_int_equal(tlc_load_connection_broke(&f.connection, ECONNRESET), TLC_ASK_CLOSE);
    expect_failure(&f, "reset-before-tickets");
}

static void a_hello_retry_request_sends_a_second_client_hello(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    tlc_load_connection_begin(&f.connection, 0, 0);
    send_all(&f, "hello", 1);
    assert_int_equal(receive(&f, "R", 2), TLC_ASK_SEND);
    assert_int_equal(send_all(&f, "again", 3), TLC_ASK_RECEIVE);
    assert_int_equal(receive(&f, "S", 4), TLC_ASK_SEND);
    assert_int_equal(send_all(&f, "fin", 5), TLC_ASK_CLOSE);
    expect_handshake(&f);
    tlc_counters_free(&f.counters);
}

static void fin_waits_for_the_servers_fin(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.life.close = TLC_CLOSE_FIN;
    assert_int_equal(shake_hands(&f), TLC_ASK_SHUTDOWN);
    assert_int_equal(tlc_load_connection_shut(&f.connection), TLC_ASK_RECEIVE);
    assert_int_equal(receive(&f, "TT", 5), TLC_ASK_RECEIVE);
    assert_int_equal(receive(&f, "X", 6), TLC_ASK_RECEIVE); // an alert answers the bare FIN
    assert_int_equal(tlc_load_connection_ended(&f.connection), TLC_ASK_CLOSE);
    assert_true(tlc_load_connection_orderly(&f.connection));
    expect_handshake(&f);
    assert_int_equal(f.counters.tickets, 2);
    tlc_counters_free(&f.counters);
}

static void close_notify_goes_before_the_fin(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.life.close = TLC_CLOSE_NOTIFY;
    assert_int_equal(shake_hands(&f), TLC_ASK_SEND);
    assert_int_equal(send_all(&f, "bye", 5), TLC_ASK_SHUTDOWN);
    tlc_load_connection_shut(&f.connection);
    // Servers that answer the close by a reset have completed the handshake all the same.
    assert_int_equal(tlc_load_connection_broke(&f.connection, ECONNRESET), TLC_ASK_CLOSE);
    assert_false(tlc_load_connection_orderly(&f.connection));
    expect_handshake(&f);
    tlc_counters_free(&f.counters);
}

static void echo_is_compared(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.life.echo = (const uint8_t *)"data";
    f.life.echo_bytes = 4;
    tlc_load_connection_begin(&f.connection, 0, 0);
    send_all(&f, "hello", 1);
    assert_int_equal(receive(&f, "S", 2), TLC_ASK_SEND);
    assert_int_equal(send_all(&f, "findata", 3), TLC_ASK_RECEIVE);
    assert_int_equal(receive(&f, "da", 4), TLC_ASK_RECEIVE);
    struct fixture good = f;
    good.connection.session = &good.session.base;
    good.connection.life = &good.life;
    good.life.tally = &good.tally;
    good.life.expect = &good.expect;
    good.tally.counters = &good.counters;
    assert_int_equal(receive(&good, "ta", 5), TLC_ASK_CLOSE);
    expect_handshake(&good);
    tlc_counters_free(&good.counters);
    assert_int_equal(receive(&f, "tb", 5), TLC_ASK_CLOSE);
    expect_failure(&f, "echo-differs");
}

static void a_split_client_hello_is_sent_in_pieces(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.life.split_at = 2;
    tlc_load_connection_begin(&f.connection, 0, 0);
    assert_int_equal(send_all(&f, "he", 1), TLC_ASK_SEND);
    assert_int_equal(send_all(&f, "llo", 2), TLC_ASK_RECEIVE);
    set_up(&f);
    f.life.split_every = 1;
    tlc_load_connection_begin(&f.connection, 0, 0);
    for (const char *at = "hello"; *at; at++)
        assert_int_equal(send_all(&f, (char[]){*at, 0}, 1), at[1] ? TLC_ASK_SEND : TLC_ASK_RECEIVE);
    // What finishes the handshake is not split.
    assert_int_equal(receive(&f, "S", 2), TLC_ASK_SEND);
    expect_output(&f, "fin");
}

static void a_fault_of_the_server_is_answered_by_an_alert(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    tlc_load_connection_begin(&f.connection, 0, 0);
    send_all(&f, "hello", 1);
    assert_int_equal(receive(&f, "X", 2), TLC_ASK_SEND);
    assert_int_equal(send_all(&f, "!", 3), TLC_ASK_CLOSE);
    expect_failure(&f, "fault");
    set_up(&f);
    tlc_load_connection_begin(&f.connection, 0, 0);
    send_all(&f, "hello", 1);
    receive(&f, "X", 2);
    // The reason stays the fault when the alert cannot be sent.
    assert_int_equal(tlc_load_connection_broke(&f.connection, EPIPE), TLC_ASK_CLOSE);
    expect_failure(&f, "fault");
}

static void stop_points_end_without_a_handshake(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.life.stop = TLC_STOP_AFTER_CLIENT_HELLO;
    tlc_load_connection_begin(&f.connection, 0, 0);
    send_all(&f, "hello", 1);
    assert_int_equal(receive(&f, "S", 2), TLC_ASK_CLOSE); // whatever the server answered
    tlc_load_connection_closed(&f.connection);
    assert_int_equal(f.counters.stopped, 1);
    assert_int_equal(f.counters.handshakes, 0);
    assert_int_equal(error_count(&f, "none"), 0);
    tlc_counters_free(&f.counters);
}

// The scripted fault is then the server's alert, as the lean client names it.
static void a_refusal_that_is_expected_is_no_error(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.expect.refusal = true;
    f.life.stop = TLC_STOP_AFTER_CLIENT_HELLO;
    f.session.base.kind = &stopping;
    for (int i = 0; i < 2; i++) {
        tlc_load_connection_begin(&f.connection, 0, 0);
        send_all(&f, "hello", 1);
        if (i)
            assert_int_equal(tlc_load_connection_ended(&f.connection), TLC_ASK_CLOSE);
        else
            assert_int_equal(receive(&f, "X", 2), TLC_ASK_CLOSE);
        tlc_load_connection_closed(&f.connection);
    }
    assert_int_equal(f.counters.stopped, 2);
    assert_int_equal(f.counters.mismatches, 0);
    // A server that goes on instead is found out.
    tlc_load_connection_begin(&f.connection, 0, 0);
    send_all(&f, "hello", 1);
    assert_int_equal(receive(&f, "E", 2), TLC_ASK_CLOSE);
    tlc_load_connection_closed(&f.connection);
    assert_int_equal(f.counters.stopped, 3);
    assert_int_equal(f.counters.mismatches, 1);
    assert_int_equal(error_count(&f, "none"), 0);
    const json_t *errors = f.counters.errors;
    assert_int_equal(json_integer_value(json_object_get(errors, "mismatch-refusal")), 1);
    const json_t *answers = json_object_get(f.counters.negotiated, "answer");
    assert_int_equal(json_integer_value(json_object_get(answers, "alert-illegal_parameter")), 1);
    assert_int_equal(json_integer_value(json_object_get(answers, "closed")), 1);
    assert_int_equal(json_integer_value(json_object_get(answers, "ServerHello")), 1);
    tlc_counters_free(&f.counters);
}

static void socket_errors_are_named_by_phase(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *connecting, *connected;
    } errors[] = {
        {ECONNREFUSED, "connect-refused", "socket-ECONNREFUSED"},
        {ETIMEDOUT, "connect-timeout", "socket-ETIMEDOUT"},
        {EAGAIN, "connect-backlog-full", "socket-EAGAIN"},
        {EHOSTUNREACH, "connect-unreachable", "socket-EHOSTUNREACH"},
        {EADDRNOTAVAIL, "connect-no-free-port", "socket-EADDRNOTAVAIL"},
        {ENOBUFS, "connect-enobufs", "socket-ENOBUFS"},
        {ECONNRESET, "reset", "reset"},
        {EPIPE, "reset", "reset"},
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct fixture f;
        set_up(&f);
        tlc_load_connection_begin(&f.connection, 0, 0);
        tlc_load_connection_broke(&f.connection, errors[i].code);
        expect_failure(&f, errors[i].connecting);
        set_up(&f);
        tlc_load_connection_begin(&f.connection, 0, 0);
        send_all(&f, "hello", 1);
        tlc_load_connection_broke(&f.connection, errors[i].code);
        expect_failure(&f, errors[i].connected);
    }
}

static void silence_is_a_timeout(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    tlc_load_connection_begin(&f.connection, 0, 500);
    assert_int_equal(f.connection.deadline_ns, 1500);
    assert_int_equal(tlc_load_connection_expired(&f.connection), TLC_ASK_CLOSE);
    expect_failure(&f, "connect-timeout");
    set_up(&f);
    tlc_load_connection_begin(&f.connection, 0, 0);
    send_all(&f, "hello", 1);
    tlc_load_connection_expired(&f.connection);
    expect_failure(&f, "timeout");
    set_up(&f);
    tlc_load_connection_begin(&f.connection, 0, 0);
    send_all(&f, "hello", 1);
    assert_int_equal(tlc_load_connection_ended(&f.connection), TLC_ASK_CLOSE);
    expect_failure(&f, "closed-early");
    set_up(&f);
    f.life.close = TLC_CLOSE_FIN;
    shake_hands(&f);
    tlc_load_connection_shut(&f.connection);
    tlc_load_connection_expired(&f.connection);
    expect_failure(&f, "close-timeout");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handshake_ends_by_reset_once_finished_was_sent),
        cmocka_unit_test(expected_tickets_are_awaited_in_any_split),
        cmocka_unit_test(a_resumed_handshake_has_its_own_number_of_tickets),
        cmocka_unit_test(output_that_the_server_must_answer_is_known),
        cmocka_unit_test(a_kept_handshake_survives_the_next_one),
        cmocka_unit_test(a_server_that_ends_before_its_tickets_is_an_error),
        cmocka_unit_test(a_hello_retry_request_sends_a_second_client_hello),
        cmocka_unit_test(fin_waits_for_the_servers_fin),
        cmocka_unit_test(close_notify_goes_before_the_fin),
        cmocka_unit_test(echo_is_compared),
        cmocka_unit_test(a_split_client_hello_is_sent_in_pieces),
        cmocka_unit_test(a_fault_of_the_server_is_answered_by_an_alert),
        cmocka_unit_test(stop_points_end_without_a_handshake),
        cmocka_unit_test(a_refusal_that_is_expected_is_no_error),
        cmocka_unit_test(socket_errors_are_named_by_phase),
        cmocka_unit_test(silence_is_a_timeout),
    };
    return cmocka_run_group_tests_name("generator connection", tests, NULL, NULL);
}
