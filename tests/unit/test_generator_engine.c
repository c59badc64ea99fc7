// Both TLS engines against a server in memory, on a clock that the test sets.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "certs/certs.h"
#include "generator/engine.h"
#include "stacks/loader.h"

static const struct tlc_stack_plugin *plugin;
static struct tlc_certs_pair pair;
static struct tlc_stack_context *server_context;

static void start_server(uint32_t lifetime_s)
{
    const struct tlc_stack_certificate certificate = {.chain_pem = pair.chain_pem,
                                                      .key_pem = pair.key_pem};
    const struct tlc_stack_config config = {
        .certificates = &certificate,
        .certificate_count = 1,
        .ticket_mode = TLC_TICKETS_STATELESS,
        .tickets_per_handshake = 2,
        .session_lifetime_s = lifetime_s,
    };
    struct tlc_stack_error error;
    plugin->stack->context_free(server_context);
    server_context = plugin->stack->context_new(TLC_STACK_SERVER, &config, &error);
    assert_non_null(server_context);
}

struct outcome {
    bool offered, resumed;
    unsigned tickets;
};

static void to_server(struct tlc_session *client, struct tlc_stack_connection *server)
{
    size_t count;
    const uint8_t *bytes = client->kind->output(client, &count);
    if (count)
        assert_true(plugin->stack->memory_feed(server, bytes, count));
    client->kind->output_sent(client, count);
}

// Carries what the server says to the client; true when there was something.
static bool to_client(struct tlc_stack_connection *server, struct tlc_session *client,
                      uint64_t now_ms, enum tlc_session_state *state)
{
    uint8_t bytes[16384];
    size_t count = plugin->stack->memory_take(server, bytes, sizeof bytes);
    if (count)
        *state = client->kind->input(client, bytes, count, now_ms);
    return count > 0;
}

// One whole handshake with its tickets at a time of the client's clock.
static struct outcome shake_hands(struct tlc_session *client, uint64_t now_ms)
{
    struct tlc_stack_error error = {.text = ""};
    struct outcome outcome;
    struct tlc_facts facts;
    struct tlc_stack_connection *server =
        plugin->stack->connection_on_memory(server_context, NULL, &error);
    assert_non_null(server);
    enum tlc_session_state state = client->kind->start(client, now_ms, &outcome.offered);
    bool moved = true;
    while (moved && state != TLC_SESSION_FAILED) {
        to_server(client, server);
        if (plugin->stack->handshake(server, &error) == TLC_STEP_FAILED)
            fail_msg("server: %s", error.text);
        moved = to_client(server, client, now_ms, &state);
    }
    assert_int_equal(state, TLC_SESSION_DONE);
    assert_true(client->kind->facts(client, &facts));
    assert_int_equal(facts.version, TLC_TLS13);
    outcome.resumed = client->kind->resumed(client);
    outcome.tickets = client->kind->tickets(client);
    assert_int_equal(facts.resumed, outcome.resumed);
    plugin->stack->connection_free(server);
    return outcome;
}

static const struct tlc_engine_kind *const engines[] = {&tlc_engine_lean, &tlc_engine_full};

struct client {
    struct tlc_engine_context *context;
    struct tlc_session *session;
};

static struct client make_client(const struct tlc_engine_kind *kind, double resume_ratio)
{
    const struct tlc_target_options options = {.address = "127.0.0.1:1",
                                               .plugin = plugin,
                                               .resume_ratio = resume_ratio,
                                               .psk_modes = TLC_PSK_DHE_KE};
    struct client client;
    struct tlc_error error;
    if (kind->context_new(&options, &client.context, &error) != TLC_OK)
        fail_msg("%s", error.text);
    client.context->resumption.ratio = resume_ratio;
    client.session = kind->session_new(client.context);
    assert_non_null(client.session);
    return client;
}

static void free_client(struct client client)
{
    client.session->kind->session_free(client.session);
    client.context->kind->context_free(client.context);
}

static void tickets_that_have_arrived_are_offered_and_honoured(void **state)
{
    (void)state;
    start_server(7200);
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct client client = make_client(engines[i], 1);
        struct outcome first = shake_hands(client.session, 1000);
        assert_false(first.offered);
        assert_false(first.resumed);
        assert_int_equal(first.tickets, 2);
        for (unsigned k = 0; k < 5; k++) {
            struct outcome next = shake_hands(client.session, 2000 + k);
            assert_true(next.offered);
            assert_true(next.resumed);
        }
        free_client(client);
    }
}

static void nothing_is_offered_that_was_not_asked_for(void **state)
{
    (void)state;
    start_server(7200);
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        struct client client = make_client(engines[i], 0);
        for (unsigned k = 0; k < 3; k++) {
            struct outcome outcome = shake_hands(client.session, 1000);
            assert_false(outcome.offered);
            assert_false(outcome.resumed);
        }
        free_client(client);
    }
}

static void tickets_are_not_offered_past_their_lifetime(void **state)
{
    (void)state;
    start_server(1);
    struct client client = make_client(&tlc_engine_lean, 1);
    shake_hands(client.session, 10000);
    assert_true(shake_hands(client.session, 10999).offered);
    // By now every ticket is older than its second: none is left to offer.
    struct outcome late = shake_hands(client.session, 12000);
    assert_false(late.offered);
    assert_false(late.resumed);
    assert_true(shake_hands(client.session, 12100).offered);
    free_client(client);
}

static void refused_tickets_are_not_counted_as_resumed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        start_server(7200);
        struct client client = make_client(engines[i], 1);
        shake_hands(client.session, 1000);
        start_server(7200); // with other ticket keys
        struct outcome refused = shake_hands(client.session, 1001);
        assert_true(refused.offered);
        assert_false(refused.resumed);
        free_client(client);
    }
}

static int set_up(void **state)
{
    (void)state;
    struct tlc_error error;
    if (tlc_stack_load("openssl", &plugin, &error) != TLC_OK ||
        tlc_certs_in_memory("ecdsa-p256", &pair, &error) != TLC_OK) {
        print_error("%s\n", error.text);
        return 1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    plugin->stack->context_free(server_context);
    tlc_certs_pair_free(&pair);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tickets_that_have_arrived_are_offered_and_honoured),
        cmocka_unit_test(nothing_is_offered_that_was_not_asked_for),
        cmocka_unit_test(tickets_are_not_offered_past_their_lifetime),
        cmocka_unit_test(refused_tickets_are_not_counted_as_resumed),
    };
    return cmocka_run_group_tests_name("generator engines", tests, set_up, tear_down);
}
