#include "evidence/audit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/names.h"
#include "base/process.h"
#include "evidence/audit_parts.h"
#include "measure/clock.h"

enum {
    TRIES = 8, // where only some of the processes behind an address share keys
    COMMAND_MS = 60000,
    WATCH_OFFERS = 30,
    LEAST_WATCH_US = 100000
};

static void tell(const struct tlc_audit *audit, const char *format, ...) TLC_PRINTF(2, 3);
static void tell(const struct tlc_audit *audit, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (audit->options->progress)
        audit->options->progress(text, audit->options->user);
}

static uint64_t now_us(void)
{
    return tlc_now_ns() / 1000;
}

static void sleep_until(uint64_t us)
{
    struct timespec time = {.tv_sec = (time_t)(us / 1000000),
                            .tv_nsec = (long)(us % 1000000 * 1000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL))
        ;
}

// The version that the questions are put in.
static uint16_t version_of(const struct tlc_ticket_facts *facts)
{
    return facts->tls13 ? TLC_TLS13 : TLC_TLS12;
}

static enum tlc_status visit_as(struct tlc_audit *audit, size_t server, uint16_t version,
                                unsigned psk_modes, const struct tlc_pass *offered, size_t wanted,
                                struct tlc_visit *visit, struct tlc_error *error)
{
    const struct tlc_audit_options *options = audit->options;
    struct tlc_ticket_facts *facts = &audit->facts[server];
    if (facts->connections++)
        sleep_until(now_us() + options->pause_us);
    return tlc_visit_make(&(struct tlc_visit_options){.address = facts->address,
                                                      .server_name = options->server_name,
                                                      .plugin = options->plugin,
                                                      .groups = options->groups,
                                                      .group_count = options->group_count,
                                                      .version = version,
                                                      .psk_modes = psk_modes,
                                                      .offered = offered,
                                                      .wanted = wanted,
                                                      .timeout_ms = options->timeout_ms},
                          visit, error);
}

static enum tlc_status visit(struct tlc_audit *audit, size_t server, const struct tlc_pass *offered,
                             size_t wanted, struct tlc_visit *made, struct tlc_error *error)
{
    return visit_as(audit, server, version_of(&audit->facts[server]), TLC_PSK_DHE_KE, offered,
                    wanted, made, error);
}

// A fresh pass of a server; its version is 0 when the server gives none.
static enum tlc_status fetch_pass(struct tlc_audit *audit, size_t server, struct tlc_pass *pass,
                                  struct tlc_error *error)
{
    struct tlc_visit made;
    *pass = (struct tlc_pass){.version = 0};
    enum tlc_status status = visit(audit, server, NULL, 1, &made, error);
    if (status == TLC_OK && !tlc_visit_take(&made, pass))
        pass->version = 0;
    tlc_visit_clear(&made);
    return status;
}

static enum tlc_status offer(struct tlc_audit *audit, size_t server, const struct tlc_pass *pass,
                             enum tlc_answer *accepted, struct tlc_error *error)
{
    struct tlc_visit made;
    *accepted = TLC_UNKNOWN;
    if (!pass->version || pass->version != version_of(&audit->facts[server]))
        return TLC_OK;
    enum tlc_status status = visit(audit, server, pass, 0, &made, error);
    if (status == TLC_OK)
        *accepted = made.resumed ? TLC_YES : TLC_NO;
    tlc_visit_clear(&made);
    return status;
}

// Where every ticket is taken at once, one question is enough; else chance has a say.
static bool is_whole(const struct tlc_ticket_facts *facts)
{
    return facts->offered && facts->resumed == facts->offered;
}

static unsigned tries(const struct tlc_ticket_facts *facts)
{
    return is_whole(facts) || !facts->resumed ? 1 : TRIES;
}

// Tickets of `from`, each offered once to `to`: whether any was accepted.
static enum tlc_status offer_across(struct tlc_audit *audit, size_t from, size_t to,
                                    enum tlc_answer *accepted, struct tlc_error *error)
{
    unsigned most = tries(&audit->facts[from]) > tries(&audit->facts[to])
                        ? tries(&audit->facts[from])
                        : tries(&audit->facts[to]);
    enum tlc_status status = TLC_OK;
    *accepted = TLC_UNKNOWN;
    for (unsigned i = 0; i < most && status == TLC_OK && *accepted != TLC_YES; i++) {
        struct tlc_pass pass;
        status = fetch_pass(audit, from, &pass, error);
        if (status == TLC_OK)
            status = offer(audit, to, &pass, accepted, error);
        tlc_pass_clear(&pass);
    }
    return status;
}

static enum tlc_status first_tls13(struct tlc_audit *audit, size_t server, struct tlc_error *error)
{
    struct tlc_ticket_facts *facts = &audit->facts[server];
    struct tlc_visit made;
    enum tlc_status status =
        visit_as(audit, server, TLC_TLS13, TLC_PSK_DHE_KE, NULL, TLC_PASSES_ALL, &made, error);
    if (status == TLC_OK) {
        facts->tls13 = true;
        facts->group = tlc_name(TLC_NAME_GROUP, made.group);
        facts->tickets = made.tickets;
        facts->lifetime_s = made.lifetime_s;
        facts->ticket_bytes = made.ticket_bytes;
    }
    tlc_visit_clear(&made);
    return status;
}

static enum tlc_status first_tls12(struct tlc_audit *audit, size_t server, struct tlc_error *error)
{
    struct tlc_ticket_facts *facts = &audit->facts[server];
    struct tlc_visit made, again;
    struct tlc_pass pass = {.version = 0};
    enum tlc_status status = visit_as(audit, server, TLC_TLS12, 0, NULL, 1, &made, error);
    if (status == TLC_OK) {
        facts->tls12 = true;
        facts->old.ticket = made.tickets > 0;
        facts->old.lifetime_s = made.lifetime_s;
        facts->old.sessions = (unsigned)made.pass_count;
    }
    if (status == TLC_OK && tlc_visit_take(&made, &pass)) {
        status = visit_as(audit, server, TLC_TLS12, 0, &pass, 0, &again, error);
        facts->old.accepted = status == TLC_OK && again.resumed ? TLC_YES : TLC_NO;
        tlc_visit_clear(&again);
    }
    tlc_pass_clear(&pass);
    tlc_visit_clear(&made);
    return status;
}

// What a server speaks. One that refuses TLS 1.3 may have TLS 1.2 still; refusing both is an error.
static enum tlc_status first_visits(struct tlc_audit *audit, size_t server, struct tlc_error *error)
{
    struct tlc_ticket_facts *facts = &audit->facts[server];
    struct tlc_error why = {.text = ""};
    enum tlc_status status = first_tls13(audit, server, error);
    if (status != TLC_OK && status != TLC_REFUSED)
        return status;
    if (first_tls12(audit, server, &why) == TLC_OK && !facts->tls13) {
        facts->tickets = facts->old.sessions;
        facts->lifetime_s = facts->old.lifetime_s;
        return TLC_OK;
    }
    return status;
}

// Each visit brings the ticket of the one before, as a browser does.
static enum tlc_status visits_in_a_row(struct tlc_audit *audit, size_t server,
                                       struct tlc_error *error)
{
    struct tlc_ticket_facts *facts = &audit->facts[server];
    struct tlc_pass pass;
    enum tlc_status status = fetch_pass(audit, server, &pass, error);
    while (status == TLC_OK && facts->visits < audit->options->visits) {
        struct tlc_visit made;
        bool brings = pass.version != 0;
        status = visit(audit, server, brings ? &pass : NULL, 1, &made, error);
        facts->visits++;
        facts->offered += brings;
        facts->resumed += status == TLC_OK && made.resumed;
        struct tlc_pass fresh;
        if (status == TLC_OK && tlc_visit_take(&made, &fresh)) {
            tlc_pass_clear(&pass);
            pass = fresh;
        }
        tlc_visit_clear(&made);
    }
    tlc_pass_clear(&pass);
    return status;
}

// A client that offers one mode only: whether it gets tickets, and comes back with one.
static enum tlc_status ask_mode(struct tlc_audit *audit, size_t server, unsigned mode,
                                unsigned *tickets, enum tlc_answer *accepted,
                                struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (unsigned i = 0;
         i < tries(&audit->facts[server]) && status == TLC_OK && *accepted != TLC_YES; i++) {
        struct tlc_visit made, again;
        struct tlc_pass pass;
        status = visit_as(audit, server, TLC_TLS13, mode, NULL, 1, &made, error);
        *tickets = status == TLC_OK ? made.tickets : 0;
        if (status == TLC_OK && tlc_visit_take(&made, &pass)) {
            status = visit_as(audit, server, TLC_TLS13, mode, &pass, 0, &again, error);
            *accepted = status == TLC_OK && again.resumed ? TLC_YES : TLC_NO;
            tlc_visit_clear(&again);
            tlc_pass_clear(&pass);
        }
        tlc_visit_clear(&made);
    }
    return status;
}

static enum tlc_status ask_modes(struct tlc_audit *audit, size_t server, struct tlc_error *error)
{
    struct tlc_ticket_facts *facts = &audit->facts[server];
    if (!facts->tls13)
        return TLC_OK;
    enum tlc_status status = ask_mode(audit, server, TLC_PSK_DHE_KE, &facts->dhe_ke.tickets,
                                      &facts->dhe_ke.accepted, error);
    if (status == TLC_OK)
        status =
            ask_mode(audit, server, TLC_PSK_KE, &facts->ke.tickets, &facts->ke.accepted, error);
    return status;
}

static enum tlc_status ask_twice(struct tlc_audit *audit, size_t server, struct tlc_error *error)
{
    struct tlc_ticket_facts *facts = &audit->facts[server];
    struct tlc_pass pass;
    enum tlc_answer first = TLC_UNKNOWN;
    if (!is_whole(facts))
        return TLC_OK; // a refusal could be another process's
    enum tlc_status status = fetch_pass(audit, server, &pass, error);
    if (status == TLC_OK)
        status = offer(audit, server, &pass, &first, error);
    if (status == TLC_OK && first == TLC_YES)
        status = offer(audit, server, &pass, &facts->second_use, error);
    tlc_pass_clear(&pass);
    return status;
}

static enum tlc_status ask_others(struct tlc_audit *audit, struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t from = 0; from < audit->count; from++)
        for (size_t to = 0; to < audit->count && status == TLC_OK; to++)
            if (from != to)
                status = offer_across(audit, from, to, &audit->facts[from].accepted_by[to], error);
    return status;
}

// Passes that wait for their time: for each server one for each of several questions.
struct stock {
    struct tlc_pass pass;
    uint64_t taken_us;
};

static enum tlc_status fill_stock(struct tlc_audit *audit, size_t each, struct stock **stock,
                                  struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    *stock = calloc(audit->count * each + 1, sizeof **stock);
    if (!*stock)
        return tlc_fail(error, TLC_ENVIRONMENT, "tickets: out of memory");
    for (size_t i = 0; i < audit->count * each && status == TLC_OK; i++) {
        status = fetch_pass(audit, i / each, &(*stock)[i].pass, error);
        (*stock)[i].taken_us = now_us();
    }
    return status;
}

static void empty_stock(struct tlc_audit *audit, size_t each, struct stock *stock)
{
    for (size_t i = 0; stock && i < audit->count * each; i++)
        tlc_pass_clear(&stock[i].pass);
    free(stock);
}

static enum tlc_status ask_later(struct tlc_audit *audit, struct tlc_error *error)
{
    const struct tlc_audit_options *options = audit->options;
    size_t each = options->after_count;
    struct stock *stock = NULL;
    if (!each)
        return TLC_OK;
    enum tlc_status status = fill_stock(audit, each, &stock, error);
    for (size_t time = 0; time < each && status == TLC_OK; time++)
        for (size_t i = 0; i < audit->count && status == TLC_OK; i++) {
            struct tlc_ticket_facts *facts = &audit->facts[i];
            const struct stock *one = &stock[i * each + time];
            sleep_until(one->taken_us + options->after_us[time]);
            facts->after[time].us = now_us() - one->taken_us;
            facts->after_count = time + 1;
            status = offer(audit, i, &one->pass, &facts->after[time].accepted, error);
        }
    empty_stock(audit, each, stock);
    return status;
}

static enum tlc_status run_command(const struct tlc_audit *audit, struct tlc_error *error)
{
    char *said = NULL;
    int code = 0;
    tell(audit, "running %s", audit->options->rotate_command[0]);
    enum tlc_status status =
        tlc_process_output(audit->options->rotate_command, COMMAND_MS, &said, &code, error);
    if (status == TLC_OK && code)
        status = tlc_fail(error, TLC_ENVIRONMENT, "rotate command: %s: ended with %d: %.200s",
                          audit->options->rotate_command[0], code, said ? said : "");
    free(said);
    if (status == TLC_OK)
        sleep_until(now_us() + audit->options->rotate_wait_us);
    return status;
}

static enum tlc_status ask_after_rotation(struct tlc_audit *audit, struct tlc_error *error)
{
    struct stock *stock = NULL;
    if (!audit->options->rotate_command)
        return TLC_OK;
    enum tlc_status status = fill_stock(audit, 1, &stock, error);
    if (status == TLC_OK)
        status = run_command(audit, error);
    for (size_t i = 0; i < audit->count && status == TLC_OK; i++) {
        struct tlc_ticket_facts *facts = &audit->facts[i];
        status = offer(audit, i, &stock[i].pass, &facts->rotation_old, error);
        if (status == TLC_OK)
            status = offer_across(audit, i, i, &facts->rotation_fresh, error);
    }
    empty_stock(audit, 1, stock);
    return status;
}

// One more offer of each server's ticket from the start; a single-use server has nothing to show.
static enum tlc_status watch_once(struct tlc_audit *audit, const struct stock *stock,
                                  struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; i < audit->count && status == TLC_OK; i++) {
        struct tlc_ticket_facts *facts = &audit->facts[i];
        enum tlc_answer accepted;
        if (facts->second_use == TLC_NO || facts->watch_refused_us)
            continue;
        uint64_t age_us = now_us() - stock[i].taken_us;
        status = offer(audit, i, &stock[i].pass, &accepted, error);
        facts->watched = facts->watched || accepted != TLC_UNKNOWN;
        facts->watch_offers += accepted != TLC_UNKNOWN;
        if (accepted == TLC_YES)
            facts->watch_accepted_us = age_us;
        else if (accepted == TLC_NO)
            facts->watch_refused_us = age_us;
    }
    return status;
}

static enum tlc_status keep_watch(struct tlc_audit *audit, struct tlc_error *error)
{
    uint64_t watch_us = audit->options->watch_us, step_us = watch_us / WATCH_OFFERS;
    struct stock *stock = NULL;
    if (!watch_us)
        return TLC_OK;
    if (step_us < LEAST_WATCH_US)
        step_us = LEAST_WATCH_US;
    tell(audit, "watching for %.0f s", (double)watch_us / 1e6);
    enum tlc_status status = fill_stock(audit, 1, &stock, error);
    uint64_t start_us = now_us();
    for (uint64_t at = step_us; at <= watch_us && status == TLC_OK; at += step_us) {
        sleep_until(start_us + at);
        status = watch_once(audit, stock, error);
    }
    empty_stock(audit, 1, stock);
    return status;
}

static enum tlc_status ask_each(struct tlc_audit *audit, size_t server, struct tlc_error *error)
{
    tell(audit, "visiting %s", audit->facts[server].address);
    enum tlc_status status = first_visits(audit, server, error);
    if (status == TLC_OK)
        status = visits_in_a_row(audit, server, error);
    if (status == TLC_OK)
        status = ask_modes(audit, server, error);
    if (status == TLC_OK)
        status = ask_twice(audit, server, error);
    return status;
}

// Keeps the facts of the servers that can be visited, and why the others cannot.
static enum tlc_status ask_all(struct tlc_audit *audit, struct tlc_error *error)
{
    const struct tlc_audit_options *options = audit->options;
    for (size_t i = 0; i < options->address_count; i++) {
        struct tlc_error why = {0};
        audit->facts[audit->count] = (struct tlc_ticket_facts){.address = options->addresses[i]};
        if (ask_each(audit, audit->count, &why) == TLC_OK) {
            audit->count++;
            continue;
        }
        if (options->address_count > 1)
            tell(audit, "left out: %s", why.text);
        audit->failed[audit->failed_count].address = options->addresses[i];
        audit->failed[audit->failed_count++].why = why;
    }
    if (audit->count)
        return TLC_OK;
    *error = audit->failed[0].why;
    return error->status;
}

// What is left to say when the others were audited.
static enum tlc_status conclude(const struct tlc_audit *audit, struct tlc_error *error)
{
    const struct tlc_error *why = &audit->failed[0].why;
    if (!audit->failed_count)
        return TLC_OK;
    return tlc_fail(error, why->status, "tickets: %zu of %zu servers left out: %.400s",
                    audit->failed_count, audit->options->address_count, why->text);
}

enum tlc_status tlc_audit_tickets(const struct tlc_audit_options *options, json_t **json,
                                  struct tlc_error *error)
{
    *json = NULL;
    struct tlc_audit *audit = calloc(1, sizeof *audit);
    if (!audit)
        return tlc_fail(error, TLC_ENVIRONMENT, "tickets: out of memory");
    audit->options = options;
    enum tlc_status status = ask_all(audit, error);
    if (status == TLC_OK && audit->count > 1)
        status = ask_others(audit, error);
    if (status == TLC_OK)
        status = ask_later(audit, error);
    if (status == TLC_OK)
        status = ask_after_rotation(audit, error);
    if (status == TLC_OK)
        status = keep_watch(audit, error);
    if (status == TLC_OK) {
        *json = tlc_audit_json(audit);
        status = conclude(audit, error);
    }
    free(audit);
    return status;
}
