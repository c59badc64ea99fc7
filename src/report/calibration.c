// What a calibration found, as text.
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "report/report.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

// "1.0003 [0.9981, 1.0022]"; "-" where nothing was accepted.
static void format_figure(const json_t *figure, const char *name, int digits, char *text,
                          size_t capacity)
{
    double estimate = tlc_json_number(figure, name);
    double low = tlc_json_number(figure, "low"), high = tlc_json_number(figure, "high");
    if (isnan(estimate))
        snprintf(text, capacity, "-");
    else if (isnan(low) || isnan(high))
        snprintf(text, capacity, "%.*f, no interval", digits, estimate);
    else
        snprintf(text, capacity, "%.*f [%.*f, %.*f]", digits, estimate, digits, low, digits, high);
}

static void print_points(const json_t *known_cost, FILE *to)
{
    size_t index;
    json_t *point;
    char text[96];
    json_array_foreach(json_object_get(known_cost, "points"), index, point)
    {
        format_figure(point, "estimate", 2, text, sizeof text);
        fprintf(to,
                "    %5.1f us asked, %6.2f burnt, charged %6.2f alone, %6.2f in company, read as "
                "%s us\n",
                tlc_json_number(point, "asked_us"), tlc_json_number(point, "burnt_us"),
                tlc_json_number(point, "alone_us"), tlc_json_number(point, "injected_us"), text);
    }
}

static void print_company(const json_t *company, FILE *to)
{
    char text[96];
    const char *why = text_of(company, "why");
    format_figure(company, "estimate", 4, text, sizeof text);
    if (why[0])
        fprintf(to, "    what work costs in company is not known, and counts as alone: %s\n", why);
    else
        fprintf(to, "    in memory, between handshakes, work costs %s of what it costs alone\n",
                text);
}

static void print_part(const json_t *document, const json_t *part, FILE *to)
{
    static const struct {
        const char *name, *title;
    } titles[] = {{"a_a", "equal arms"},
                  {"known_cost", "known cost"},
                  {"position", "last / first"},
                  {"fair_client", "cheap / honest"},
                  {"interference", "busy / idle"}};
    const char *name = text_of(part, "name"), *title = name;
    const json_t *figure = json_object_get(document, name);
    bool line = !strcmp(name, "known_cost");
    char text[96];
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (!strcmp(titles[i].name, name))
            title = titles[i].title;
    format_figure(figure, line ? "slope" : "estimate", 4, text, sizeof text);
    fprintf(to, "  %-15s %-28s %s\n", title, text, text_of(part, "outcome"));
    fprintf(to, "    %s\n", text_of(part, "text"));
    if (line) {
        print_company(json_object_get(document, "company"), to);
        print_points(figure, to);
    }
}

static void print_refusals(const json_t *verdict, FILE *to)
{
    const json_t *checks = json_object_get(verdict, "refused");
    for (size_t i = 0; i < json_array_size(checks); i++)
        fprintf(to, "%s%s",
                i ? ", " : "  by checks: ", json_string_value(json_array_get(checks, i)));
    if (json_array_size(checks))
        fputs("; docs/checks.md tells what to do\n", to);
    if (!tlc_json_number(verdict, "accepted_samples"))
        fputs("  no sample accepted: nothing is known of this machine\n", to);
}

void tlc_calibration_print(const json_t *document, FILE *to)
{
    const json_t *verdict = json_object_get(document, "verdict");
    const json_t *setup = json_object_get(document, "setup");
    size_t index;
    json_t *part, *reason;
    fprintf(to, "Calibration: servers on CPUs %s, generator on %s\n\n",
            text_of(setup, "server_cpus"), text_of(setup, "generator_cpus"));
    json_array_foreach(json_object_get(verdict, "parts"), index, part)
        print_part(document, part, to);
    json_array_foreach(json_object_get(json_object_get(document, "campaign"), "reasons"), index,
                       reason)
        fprintf(to, "  refused: %s\n", json_is_string(reason) ? json_string_value(reason) : "");
    print_refusals(verdict, to);
    fprintf(to, "\nVerdict: %s\n", text_of(verdict, "outcome"));
}
