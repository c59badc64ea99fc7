#include "measure/callgrind.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 1 << 20 };

// Names are written once, "(7) name", and later as "(7)".
struct names {
    char **text; // owned, by number
    size_t count;
};

struct parser {
    struct tlc_callgrind *counts;
    struct names functions, objects;
    size_t *index_of; // function and object to index + 1 in counts->functions, an open hash table
    size_t slots;
    size_t event, current; // column of "Ir"; index + 1 of the current function
    long function, object;
    bool skip, totals, broken;
};

static char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strdup(slash ? slash + 1 : path);
}

static bool set_name(struct names *names, size_t number, char *name)
{
    if (number >= names->count) {
        size_t count = 2 * number + 64;
        char **grown = realloc(names->text, count * sizeof *grown);
        if (!grown)
            return false;
        memset(grown + names->count, 0, (count - names->count) * sizeof *grown);
        names->text = grown;
        names->count = count;
    }
    free(names->text[number]);
    names->text[number] = name;
    return name != NULL;
}

// "(7) name" or "(7)": the number, -1 when it is neither.
static long read_name(struct names *names, char *value, bool is_path)
{
    char *end;
    if (*value != '(')
        return -1;
    unsigned long number = strtoul(value + 1, &end, 10);
    if (*end != ')' || number >= MOST_NAMES)
        return -1;
    end++;
    if (*end == ' ' && !set_name(names, number, is_path ? base_name(end + 1) : strdup(end + 1)))
        return -1;
    return number < names->count && names->text[number] ? (long)number : -1;
}

static size_t hash_of(const char *name, const char *object)
{
    size_t hash = 1469598103934665603u; // FNV-1a
    for (const char *at = name; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    for (const char *at = object; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    return hash;
}

static bool grow_table(struct parser *parser)
{
    struct tlc_callgrind *counts = parser->counts;
    size_t slots = parser->slots ? 2 * parser->slots : 1024;
    size_t *table = calloc(slots, sizeof *table);
    struct tlc_callgrind_function *functions =
        realloc(counts->functions, slots / 2 * sizeof *functions);
    if (functions)
        counts->functions = functions;
    if (!table || !functions) {
        free(table);
        return false;
    }
    for (size_t i = 0; i < counts->count; i++) {
        size_t slot = hash_of(functions[i].name, functions[i].object) % slots;
        while (table[slot])
            slot = (slot + 1) % slots;
        table[slot] = i + 1;
    }
    free(parser->index_of);
    parser->index_of = table;
    parser->slots = slots;
    return true;
}

// The function that now gets costs; it is added when it is new.
static bool find_function(struct parser *parser)
{
    struct tlc_callgrind *counts = parser->counts;
    const char *name = parser->function >= 0 ? parser->functions.text[parser->function] : "?";
    const char *object = parser->object >= 0 ? parser->objects.text[parser->object] : "?";
    if (counts->count + 1 >= parser->slots / 2 && !grow_table(parser))
        return false;
    size_t slot = hash_of(name, object) % parser->slots, found;
    while ((found = parser->index_of[slot]) != 0) {
        const struct tlc_callgrind_function *known = &counts->functions[found - 1];
        if (!strcmp(known->name, name) && !strcmp(known->object, object)) {
            parser->current = found;
            return true;
        }
        slot = (slot + 1) % parser->slots;
    }
    struct tlc_callgrind_function added = {strdup(name), strdup(object), 0};
    if (!added.name || !added.object) {
        free(added.name);
        free(added.object);
        return false;
    }
    counts->functions[counts->count++] = added;
    parser->index_of[slot] = parser->current = counts->count;
    return true;
}

// "line Ir [more]": costs of the current function, unless they are those of a call.
static void take_costs(struct parser *parser, char *line)
{
    char *at = line;
    if (parser->skip) {
        parser->skip = false;
        return;
    }
    for (size_t column = 0; column <= parser->event; column++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    if (!parser->current && !find_function(parser))
        parser->broken = true;
    else if (isdigit((unsigned char)*at))
        parser->counts->functions[parser->current - 1].self += strtoull(at, NULL, 10);
}

// The column of instructions among the events.
static void take_events(struct parser *parser, char *value)
{
    char *state, *event = strtok_r(value, " ", &state);
    for (size_t column = 0; event; event = strtok_r(NULL, " ", &state), column++)
        if (!strcmp(event, "Ir"))
            parser->event = column;
}

static void take_totals(struct parser *parser, char *value)
{
    for (size_t column = 0; column < parser->event; column++) {
        value += strcspn(value, " ");
        value += strspn(value, " ");
    }
    parser->totals = isdigit((unsigned char)*value) != 0;
    parser->counts->total = strtoull(value, NULL, 10);
}

static void take_line(struct parser *parser, char *line)
{
    if (isdigit((unsigned char)*line) || *line == '+' || *line == '-' || *line == '*') {
        take_costs(parser, line);
    } else if (!strncmp(line, "fn=", 3)) {
        parser->function = read_name(&parser->functions, line + 3, false);
        parser->current = 0;
    } else if (!strncmp(line, "ob=", 3)) {
        parser->object = read_name(&parser->objects, line + 3, true);
        parser->current = 0;
    } else if (!strncmp(line, "cfn=", 4)) {
        read_name(&parser->functions, line + 4, false);
    } else if (!strncmp(line, "cob=", 4)) {
        read_name(&parser->objects, line + 4, true);
    } else if (!strncmp(line, "calls=", 6)) {
        parser->skip = true;
    } else if (!strncmp(line, "events: ", 8)) {
        take_events(parser, line + 8);
    } else if (!strncmp(line, "totals: ", 8)) {
        take_totals(parser, line + 8);
    }
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->text[i]);
    free(names->text);
}

enum tlc_status tlc_callgrind_parse(const char *text, struct tlc_callgrind *counts,
                                    struct tlc_error *error)
{
    *counts = (struct tlc_callgrind){0};
    struct parser parser = {.counts = counts, .event = SIZE_MAX, .function = -1, .object = -1};
    char *copy = strdup(text), *state = NULL;
    enum tlc_status status = TLC_OK;
    for (char *line = copy ? strtok_r(copy, "\n", &state) : NULL; line && !parser.broken;
         line = strtok_r(NULL, "\n", &state))
        if (parser.event != SIZE_MAX || !strncmp(line, "events: ", 8))
            take_line(&parser, line);
    if (!copy || parser.broken)
        status = tlc_fail(error, TLC_ENVIRONMENT, "callgrind: out of memory");
    else if (parser.event == SIZE_MAX)
        status = tlc_fail(error, TLC_ENVIRONMENT, "callgrind: it counted no instructions (Ir)");
    else if (!parser.totals)
        status = tlc_fail(error, TLC_ENVIRONMENT, "callgrind: the file has no totals: not whole");
    free_names(&parser.functions);
    free_names(&parser.objects);
    free(parser.index_of);
    free(copy);
    if (status != TLC_OK)
        tlc_callgrind_free(counts);
    return status;
}

void tlc_callgrind_free(struct tlc_callgrind *counts)
{
    for (size_t i = 0; i < counts->count; i++) {
        free(counts->functions[i].name);
        free(counts->functions[i].object);
    }
    free(counts->functions);
    *counts = (struct tlc_callgrind){0};
}

uint64_t tlc_callgrind_self(const struct tlc_callgrind *counts, const char *name,
                            const char *object)
{
    for (size_t i = 0; i < counts->count; i++)
        if (!strcmp(counts->functions[i].name, name) &&
            !strcmp(counts->functions[i].object, object))
            return counts->functions[i].self;
    return 0;
}
