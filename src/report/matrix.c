#include "report/matrix.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "report/exporters.h"
#include "report/telling.h"
#include "report/words.h"

enum { CLIENTS = TLC_TABLE_COLUMNS - 1 };

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

static const char *at(const json_t *list, size_t index)
{
    const char *text = json_string_value(json_array_get(list, index));
    return text ? text : "";
}

static const json_t *cell_of(const json_t *cells, const char *server, const char *client)
{
    size_t index;
    json_t *cell;
    json_array_foreach((json_t *)(uintptr_t)cells, index, cell)
    {
        if (!strcmp(text_of(cell, "server"), server) && !strcmp(text_of(cell, "client"), client))
            return cell;
    }
    return NULL;
}

// Failed cells by their reasons, in the order in which these come first: {text, server and client
// of the first cell, cells}.
static json_t *reasons_of(const json_t *cells)
{
    json_t *reasons = json_array(), *cell;
    size_t index;
    json_array_foreach((json_t *)(uintptr_t)cells, index, cell)
    {
        if (json_is_true(json_object_get(cell, "ok")))
            continue;
        const char *text = text_of(cell, "reason");
        json_t *reason = NULL;
        for (size_t i = 0; !reason && i < json_array_size(reasons); i++)
            if (!strcmp(text_of(json_array_get(reasons, i), "text"), text))
                reason = json_array_get(reasons, i);
        if (reason) {
            json_int_t count = json_integer_value(json_object_get(reason, "cells"));
            json_object_set_new(reason, "cells", json_integer(count + 1));
        } else {
            json_array_append_new(reasons, json_pack("{s:s, s:s, s:s, s:i}", "text", text, "server",
                                                     text_of(cell, "server"), "client",
                                                     text_of(cell, "client"), "cells", 1));
        }
    }
    return reasons;
}

// Counted from 1.
static size_t number_of_reason(const json_t *reasons, const json_t *cell)
{
    for (size_t i = 0; i < json_array_size(reasons); i++)
        if (!strcmp(text_of(json_array_get(reasons, i), "text"), text_of(cell, "reason")))
            return i + 1;
    return 0;
}

static void tell_servers(struct tlc_telling *telling, const json_t *matrix, const json_t *reasons,
                         size_t first)
{
    const json_t *clients = json_object_get(matrix, "clients"),
                 *servers = json_object_get(matrix, "servers");
    struct tlc_table_column columns[CLIENTS + 1] = {{"server \\ client", false, 0}};
    struct tlc_table table;
    size_t count = json_array_size(clients) - first;
    count = count < CLIENTS ? count : CLIENTS;
    for (size_t i = 0; i < count; i++)
        columns[i + 1] = (struct tlc_table_column){at(clients, first + i), true, 0};
    tlc_table_init(&table, columns, count + 1);
    for (size_t row = 0; row < json_array_size(servers); row++) {
        char words[CLIENTS][TLC_WORDS];
        const char *cells[TLC_TABLE_COLUMNS] = {at(servers, row)};
        for (size_t i = 0; i < count; i++) {
            const json_t *cell =
                cell_of(json_object_get(matrix, "cells"), at(servers, row), at(clients, first + i));
            bool good = json_is_true(json_object_get(cell, "ok"));
            snprintf(words[i], TLC_WORDS, good ? "ok" : "no (%zu)",
                     number_of_reason(reasons, cell));
            cells[i + 1] = words[i];
        }
        tlc_tell_row(telling, &table, cells);
    }
    tlc_tell_table(telling, &table);
}

static void tell_failures(struct tlc_telling *telling, const json_t *reasons)
{
    size_t index;
    json_t *reason;
    if (json_array_size(reasons))
        tlc_tell_heading(telling, 2, "what failed");
    json_array_foreach((json_t *)(uintptr_t)reasons, index, reason)
    {
        char label[TLC_WORDS], more[TLC_WORDS] = "";
        json_int_t cells = json_integer_value(json_object_get(reason, "cells"));
        snprintf(label, sizeof label, "%zu", index + 1);
        if (cells > 1)
            snprintf(more, sizeof more, " and %" JSON_INTEGER_FORMAT " more", cells - 1);
        tlc_tell_item(telling, label, "server %s, client %s%s: %s", text_of(reason, "server"),
                      text_of(reason, "client"), more, text_of(reason, "text"));
    }
}

static void figure_words(const json_t *cell, const char *member, char words[2][TLC_WORDS])
{
    const json_t *interval = json_object_get(cell, member);
    const struct tlc_figure figure = {tlc_json_number(interval, "estimate"),
                                      tlc_json_number(interval, "low"),
                                      tlc_json_number(interval, "high")};
    tlc_words_figure(figure.estimate, words[0]);
    tlc_words_figure_range(figure, words[1]);
}

static void tell_costs(struct tlc_telling *telling, const json_t *cells)
{
    char server[32], client[32];
    struct tlc_table table;
    size_t index;
    json_t *cell;
    snprintf(server, sizeof server, "server %s", telling->emitter->microseconds);
    snprintf(client, sizeof client, "client %s", telling->emitter->microseconds);
    const struct tlc_table_column columns[] = {{"server", false, 0}, {"client", false, 0},
                                               {server, true, 0},    {"server 95 %", true, 0},
                                               {client, true, 0},    {"client 95 %", true, 0}};
    tlc_table_init(&table, columns, sizeof columns / sizeof *columns);
    json_array_foreach((json_t *)(uintptr_t)cells, index, cell)
    {
        char of_server[2][TLC_WORDS], of_client[2][TLC_WORDS];
        if (!json_is_object(json_object_get(cell, "server_us")))
            continue;
        figure_words(cell, "server_us", of_server);
        figure_words(cell, "client_us", of_client);
        tlc_tell_row(telling, &table,
                     (const char *const[]){text_of(cell, "server"), text_of(cell, "client"),
                                           of_server[0], of_server[1], of_client[0], of_client[1]});
    }
    tlc_tell_section(telling, "cost of a handshake",
                     "CPU time of each side; plug-ins against plug-ins in memory, servers of other "
                     "makers over loopback, where the client's is not told.",
                     &table);
}

static enum tlc_status tell_matrix(const void *what, const struct tlc_emitter *emitter,
                                   struct tlc_error *error)
{
    const json_t *matrix = what, *asked = json_object_get(matrix, "asked"),
                 *cells = json_object_get(matrix, "cells");
    struct tlc_telling telling = {.emitter = emitter};
    json_t *reasons = reasons_of(cells);
    tlc_tell_heading(&telling, 2, "%s, %s, %s, %s", text_of(asked, "version"),
                     text_of(asked, "groups"), text_of(asked, "certificate"),
                     text_of(asked, "resumption"));
    for (size_t i = 0; i < json_array_size(json_object_get(matrix, "clients")); i += CLIENTS)
        tell_servers(&telling, matrix, reasons, i);
    tell_failures(&telling, reasons);
    tell_costs(&telling, cells);
    json_decref(reasons);
    return tlc_told(&telling, error);
}

enum tlc_status tlc_matrix_report_write(const json_t *matrix, FILE *to, struct tlc_error *error)
{
    return tlc_emit("terminal", tell_matrix, matrix, to, error);
}
