#include "cli/tickets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const json_t *get(const json_t *object, const char *name)
{
    return json_object_get(object, name);
}

static int number(const json_t *object, const char *name)
{
    return (int)json_integer_value(get(object, name));
}

static void label(const char *text)
{
    printf("  %-20s", text);
}

static const char *said(const json_t *answer)
{
    return json_is_null(answer) ? "not to be told" : json_is_true(answer) ? "accepted" : "refused";
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

static void print_lifetime(const json_t *lifetime)
{
    json_int_t seconds = json_integer_value(lifetime);
    if (!seconds)
        printf("not told");
    else if (seconds % 3600 == 0)
        printf("%" JSON_INTEGER_FORMAT " h", seconds / 3600);
    else if (seconds % 60 == 0)
        printf("%" JSON_INTEGER_FORMAT " min", seconds / 60);
    else
        printf("%" JSON_INTEGER_FORMAT " s", seconds);
}

static void print_tickets(const json_t *server)
{
    int tickets = number(server, "tickets");
    const char *store = json_string_value(get(server, "session_in"));
    label("tickets");
    if (!tickets) {
        printf("none\n");
        return;
    }
    printf("%d a handshake", tickets);
    if (store)
        printf(", %d bytes: the session is kept %s", number(server, "ticket_bytes"),
               strcmp(store, "ticket") ? "by the server" : "in the ticket");
    printf("\n");
    label("lifetime");
    print_lifetime(get(server, "lifetime_s"));
    printf("\n");
}

static void print_mode(const json_t *modes, const char *name)
{
    const json_t *mode = get(modes, name);
    if (!mode)
        return;
    label(name);
    if (number(mode, "tickets"))
        printf("%s\n", said(get(mode, "accepted")));
    else
        printf("no ticket for a client that offers it alone\n");
}

static void print_tls12(const json_t *old)
{
    if (!old || json_is_null(old))
        return;
    const char *kind = json_string_value(get(old, "kind"));
    label("TLS 1.2");
    if (!strcmp(kind, "none")) {
        printf("no resumption offered\n");
        return;
    }
    printf("%s", strcmp(kind, "ticket") ? "session ids" : "tickets");
    if (json_is_integer(get(old, "lifetime_s"))) {
        printf(", lifetime ");
        print_lifetime(get(old, "lifetime_s"));
    }
    printf(": %s\n", said(get(old, "accepted")));
}

static void print_times(const json_t *server)
{
    size_t index;
    const json_t *entry;
    json_array_foreach(get(server, "after"), index, entry)
    {
        char text[40];
        snprintf(text, sizeof text, "after %.3g s", json_number_value(get(entry, "seconds")));
        label(text);
        printf("%s\n", said(get(entry, "accepted")));
    }
}

static void print_watch(const json_t *watch)
{
    if (!watch || json_is_null(watch))
        return;
    const json_t *yes = get(watch, "accepted_at_s"), *no = get(watch, "refused_at_s");
    label("under watch");
    printf("%d offer%s of one ticket", number(watch, "offers"), plural(number(watch, "offers")));
    if (json_is_number(yes))
        printf(", accepted until it was %.3g s old", json_number_value(yes));
    if (json_is_number(no))
        printf(", refused when it was %.3g s old", json_number_value(no));
    printf("\n");
}

static void print_rest(const json_t *server)
{
    const json_t *visits = get(server, "visits"), *rotation = get(server, "rotation");
    if (number(server, "tickets")) {
        label("the same one twice");
        printf("%s\n", said(get(server, "second_use")));
        label("visits in a row");
        printf("%d of %d resumed\n", number(visits, "resumed"), number(visits, "offered"));
        print_times(server);
    }
    if (rotation && !json_is_null(rotation)) {
        label("after the rotation");
        printf("a ticket from before it %s, a fresh one %s\n", said(get(rotation, "old_accepted")),
               said(get(rotation, "fresh_accepted")));
    }
    print_watch(get(server, "watch"));
    print_tls12(get(server, "tls12"));
    label("connections made");
    printf("%d\n", number(server, "connections"));
}

static void print_findings(const json_t *findings)
{
    static const char *const servers[] = {"nginx", "haproxy", "go"};
    size_t index;
    const json_t *finding;
    json_array_foreach(findings, index, finding)
    {
        const json_t *remedy = get(finding, "remedy");
        printf("  %c %s: %s\n", json_is_true(get(finding, "wrong")) ? '!' : '-',
               json_string_value(get(finding, "code")), json_string_value(get(finding, "text")));
        for (size_t i = 0; i < 3 && !json_is_null(remedy); i++)
            printf("      %-8s %s\n", servers[i], json_string_value(get(remedy, servers[i])));
    }
}

static void print_server(const json_t *server)
{
    const json_t *versions = get(server, "versions");
    printf("%s  ", json_string_value(get(server, "address")));
    for (size_t i = 0; i < json_array_size(versions); i++)
        printf("%s%s", i ? ", " : "", json_string_value(json_array_get(versions, i)));
    printf("\n");
    print_tickets(server);
    print_mode(get(server, "psk_modes"), "psk_dhe_ke");
    print_mode(get(server, "psk_modes"), "psk_ke");
    print_rest(server);
    print_findings(get(server, "findings"));
}

static void print_shared(const json_t *shared)
{
    size_t index;
    const json_t *entry;
    if (!json_array_size(shared))
        return;
    printf("\nTickets of one server offered to another\n");
    json_array_foreach(shared, index, entry)
        printf("  %s -> %s: %s\n", json_string_value(get(entry, "from")),
               json_string_value(get(entry, "to")), said(get(entry, "accepted")));
}

void tlc_tickets_print(const json_t *audit)
{
    size_t index;
    const json_t *server;
    json_array_foreach(get(audit, "servers"), index, server)
    {
        if (index)
            printf("\n");
        print_server(server);
    }
    print_shared(get(audit, "shared"));
    json_array_foreach(get(audit, "failed"), index, server)
        printf("%s%s  not audited: %s\n", index ? "" : "\n",
               json_string_value(get(server, "address")), json_string_value(get(server, "reason")));
}
