#include "server/counters.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char other[] = "other";

// "error:0A000416:SSL routines::certificate unknown" carries codes that would make every build's
// words different, and "handshake: " says what all of these are about.
static const char *without_prefix(const char *text)
{
    static const char step[] = "handshake: ";
    const char *colon = strncmp(text, "error:", 6) ? NULL : strrchr(text, ':');
    if (colon && colon[1])
        return colon + 1;
    return strncmp(text, step, sizeof step - 1) ? text : text + sizeof step - 1;
}

static void shorten(const char *text, char *reason)
{
    size_t used = 0;
    for (text = without_prefix(text); *text && used < TLC_REASON_BYTES - 1; text++) {
        unsigned char byte = (unsigned char)*text;
        bool blank = !isgraph(byte);
        if (!blank || (used && reason[used - 1] != ' '))
            reason[used++] = blank ? ' ' : (char)byte;
    }
    while (used && reason[used - 1] == ' ')
        used--;
    reason[used] = '\0';
    if (!used)
        snprintf(reason, TLC_REASON_BYTES, "no reason given");
}

static struct tlc_reason *find_reason(struct tlc_worker_counters *counters, const char *text)
{
    uint32_t known = atomic_load_explicit(&counters->reason_count, memory_order_relaxed);
    for (uint32_t i = 0; i < known; i++)
        if (!strcmp(counters->reasons[i].text, text))
            return &counters->reasons[i];
    if (known == TLC_REASONS)
        return &counters->reasons[TLC_REASONS - 1];
    struct tlc_reason *fresh = &counters->reasons[known];
    snprintf(fresh->text, sizeof fresh->text, "%s", known == TLC_REASONS - 1 ? other : text);
    // Readers may look at the text only after they see the new count.
    atomic_store_explicit(&counters->reason_count, known + 1, memory_order_release);
    return fresh;
}

void tlc_count_failure(struct tlc_worker_counters *counters, const char *text)
{
    char reason[TLC_REASON_BYTES];
    shorten(text, reason);
    tlc_count(&find_reason(counters, reason)->count, 1);
    tlc_count(&counters->failures, 1);
}

static uint64_t value(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add_reason(json_t *failed, const char *text, json_int_t count)
{
    json_t *known = json_object_get(failed, text);
    if (!known && json_object_size(failed) >= TLC_REASONS - 1) {
        text = other;
        known = json_object_get(failed, text);
    }
    json_object_set_new(failed, text, json_integer(json_integer_value(known) + count));
}

void tlc_counters_read(const struct tlc_worker_counters *counters,
                       struct tlc_server_counters *snapshot)
{
    *snapshot = (struct tlc_server_counters){
        // Read before what it bounds, so that `open` (accepted - closed) is never negative.
        .closed = value(&counters->closed),
        .failed = json_object(),
    };
    snapshot->handshakes = value(&counters->handshakes);
    snapshot->resumed = value(&counters->resumed);
    snapshot->hello_retry_requests = value(&counters->hello_retry_requests);
    snapshot->client_certificates = value(&counters->client_certificates);
    snapshot->failures = value(&counters->failures);
    snapshot->broken = value(&counters->broken);
    snapshot->bytes_read = value(&counters->bytes_read);
    snapshot->bytes_written = value(&counters->bytes_written);
    snapshot->burnt_ns = value(&counters->burnt_ns);
    snapshot->accepted = value(&counters->accepted);
    uint32_t known = atomic_load_explicit(&counters->reason_count, memory_order_acquire);
    for (uint32_t i = 0; i < known; i++)
        add_reason(snapshot->failed, counters->reasons[i].text,
                   (json_int_t)value(&counters->reasons[i].count));
}

void tlc_server_counters_add(struct tlc_server_counters *into, struct tlc_server_counters *more)
{
    into->accepted += more->accepted;
    into->closed += more->closed;
    into->handshakes += more->handshakes;
    into->resumed += more->resumed;
    into->hello_retry_requests += more->hello_retry_requests;
    into->client_certificates += more->client_certificates;
    into->failures += more->failures;
    into->broken += more->broken;
    into->bytes_read += more->bytes_read;
    into->bytes_written += more->bytes_written;
    into->burnt_ns += more->burnt_ns;
    const char *text;
    json_t *count;
    if (!into->failed)
        into->failed = json_object();
    json_object_foreach(more->failed, text, count)
        add_reason(into->failed, text, json_integer_value(count));
    json_decref(more->failed);
    more->failed = NULL;
}

json_t *tlc_server_counters_json(const struct tlc_server_counters *counters)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "accepted",
                     (json_int_t)counters->accepted, "closed", (json_int_t)counters->closed, "open",
                     (json_int_t)(counters->accepted - counters->closed), "handshakes",
                     (json_int_t)counters->handshakes, "resumed", (json_int_t)counters->resumed,
                     "hello_retry_requests", (json_int_t)counters->hello_retry_requests,
                     "client_certificates", (json_int_t)counters->client_certificates, "failed",
                     (json_int_t)counters->failures, "broken", (json_int_t)counters->broken,
                     "bytes_read", (json_int_t)counters->bytes_read, "bytes_written",
                     (json_int_t)counters->bytes_written, "burnt_ns",
                     (json_int_t)counters->burnt_ns);
}
