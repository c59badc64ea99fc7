// Fuzz target of the lean client: bytes from a hostile server.
//
// The first byte of an input chooses: bit 0 the mode, bit 1 whether a ticket is offered, bit 2
// whether CertificateVerify is verified. Mode 0 feeds the rest as it comes from the wire, in pieces
// of the size in the second byte. Mode 1 reads steps, so that what stands behind encryption is
// reached: the forged server protects what the input says (see `step`).
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "forge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static struct forge forges[2];

static void prepare(void)
{
    static bool ready;
    if (!ready && !(forge_open(&forges[0], 0) && forge_open(&forges[1], 1)))
        abort();
    ready = true;
}

static uint8_t take_byte(struct tlc_reader *input)
{
    uint8_t value = 0;
    return tlc_read_u8(input, &value) ? value : 0;
}

static struct tlc_reader take_text(struct tlc_reader *input)
{
    struct tlc_reader text = {0};
    uint16_t bytes = 0;
    if (!tlc_read_u16(input, &bytes))
        return text;
    text.left = bytes < input->left ? bytes : input->left;
    return tlc_read_bytes(input, text.left, &text.at) ? text : (struct tlc_reader){0};
}

static void send_text(struct forge *forge, struct tlc_reader *input, uint8_t type)
{
    struct tlc_reader text = take_text(input);
    if (text.left > 0)
        forge_send(forge, type, text.at, text.left);
}

static void use_connection(struct forge *forge, struct tlc_reader *input)
{
    struct tlc_tls13_ticket ticket;
    struct tlc_error error;
    struct tlc_reader text = take_text(input);
    if (tlc_tls13_write(forge->client, text.at, text.left, &error) == TLC_OK &&
        take_byte(input) == 0 && tlc_tls13_close(forge->client, &error) != TLC_OK)
        abort();
    while (tlc_tls13_take_ticket(forge->client, &ticket))
        if (ticket.identity_bytes == 0 || ticket.psk_bytes == 0)
            abort();
}

static void step(struct forge *forge, struct tlc_reader *input)
{
    uint8_t flags;
    struct tlc_reader text;
    switch (take_byte(input) % 7) {
    case 0: // bytes as they are
        text = take_text(input);
        if (text.left > 0)
            tlc_tls13_input(forge->client, text.at, text.left, forge->now_ms);
        break;
    case 1: // a record of any type
        send_text(forge, input, take_byte(input));
        break;
    case 2: // a handshake message
        send_text(forge, input, TLC_RECORD_HANDSHAKE);
        break;
    case 3: // a good ServerHello
        flags = take_byte(input);
        forge_server_hello(forge, (uint16_t)(TLC_AES_128_GCM_SHA256 + (flags >> 2) % 4),
                           (flags & 1) != 0, (flags & 2) != 0);
        break;
    case 4: // a good Finished
        forge_finished(forge);
        break;
    case 5:
        use_connection(forge, input);
        break;
    default: // application data
        send_text(forge, input, TLC_RECORD_DATA);
    }
}

static void feed_raw(struct forge *forge, struct tlc_reader input)
{
    size_t piece = 1u + take_byte(&input);
    while (input.left > 0) {
        const uint8_t *bytes;
        size_t part = piece < input.left ? piece : input.left;
        if (!tlc_read_bytes(&input, part, &bytes))
            abort();
        tlc_tls13_input(forge->client, bytes, part, forge->now_ms);
    }
}

// What must hold whatever came in.
static void check(const struct tlc_tls13_client *client)
{
    size_t count;
    enum tlc_tls13_state state = tlc_tls13_state(client);
    const uint8_t *bytes = tlc_tls13_output(client, &count);
    if (count > 0 && bytes == NULL)
        abort();
    if ((state == TLC_TLS13_FAILED) != (*tlc_tls13_failure(client) != '\0') ||
        (state == TLC_TLS13_FAILED) != (*tlc_tls13_failure_kind(client) != '\0'))
        abort();
    if (state == TLC_TLS13_DONE && client->now.phase != TLC_PHASE_CONNECTED)
        abort();
    if (client->in.count > TLC_RECORD_HEADER_BYTES + TLC_MAX_CIPHERTEXT)
        abort();
    if (client->messages.count > TLC_MAX_MESSAGE + TLC_MAX_PLAINTEXT + 4)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    struct tlc_reader input = {data, count};
    uint8_t mode = take_byte(&input);
    prepare();
    struct forge *forge = &forges[mode >> 2 & 1];
    if (!forge_start(forge, (mode & 2) != 0))
        abort();
    if ((mode & 1) == 0)
        feed_raw(forge, input);
    for (int steps = 0; (mode & 1) != 0 && input.left > 0 && steps < 200; steps++)
        step(forge, &input);
    check(forge->client);
    return 0;
}
