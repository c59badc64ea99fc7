#include "attribute/perf_script.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 4096, TEXT_BYTES = 65536 };

struct tlc_perf_script {
    tlc_chain_taker *take;
    void *user;
    struct tlc_perf_script_counts counts;
    struct tlc_chain chain;
    bool open; // a header was seen and its sample not handed over yet
    size_t line_used, text_used;
    bool line_cut;
    char line[LINE_BYTES];
    char text[TEXT_BYTES]; // of the chain's frames
};

struct tlc_perf_script *tlc_perf_script_new(tlc_chain_taker *take, void *user)
{
    struct tlc_perf_script *script = calloc(1, sizeof *script);
    if (script) {
        script->take = take;
        script->user = user;
    }
    return script;
}

static void hand_over(struct tlc_perf_script *script)
{
    if (!script->open)
        return;
    script->open = false;
    script->counts.samples++;
    script->take(script->user, &script->chain);
}

// Keeps a text with the chain; NULL when there is no room.
static const char *keep(struct tlc_perf_script *script, const char *text, size_t bytes)
{
    if (bytes >= sizeof script->text - script->text_used)
        return NULL;
    char *kept = script->text + script->text_used;
    memcpy(kept, text, bytes);
    kept[bytes] = '\0';
    script->text_used += bytes + 1;
    return kept;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// "   8fa1b symbol of any characters (/path/of/file)"; false when it is something else.
static bool read_frame(const char *line, const char **symbol, size_t *symbol_bytes,
                       const char **file, size_t *file_bytes)
{
    while (*line == ' ' || *line == '\t')
        line++;
    const char *at = line;
    while (is_hex(*at))
        at++;
    if (at == line || at - line > 16 || *at != ' ')
        return false;
    const char *begin = at + 1, *end = begin + strlen(begin);
    if (end == begin || end[-1] != ')')
        return false;
    // A symbol may hold parentheses; the file's are the last ones, behind a space.
    const char *bracket = end;
    do
        bracket--;
    while (bracket > begin && !(*bracket == '(' && bracket[-1] == ' '));
    if (*bracket != '(')
        return false;
    *symbol = begin;
    *symbol_bytes = bracket > begin ? (size_t)(bracket - 1 - begin) : 0;
    const char *name = bracket + 1;
    for (at = name; at < end - 1; at++)
        if (*at == '/' && at + 1 < end - 1)
            name = at + 1;
    *file = name;
    *file_bytes = (size_t)(end - 1 - name);
    return true;
}

static bool is_unknown(const char *text, size_t bytes)
{
    static const char unknown[] = "[unknown]";
    return bytes == sizeof unknown - 1 && !memcmp(text, unknown, bytes);
}

static void take_frame(struct tlc_perf_script *script, const char *line)
{
    const char *symbol, *file;
    size_t symbol_bytes, file_bytes;
    if (!script->open || !read_frame(line, &symbol, &symbol_bytes, &file, &file_bytes)) {
        script->counts.garbled++;
        return;
    }
    struct tlc_frame frame = {"", ""};
    bool room = script->chain.count < TLC_CHAIN_FRAMES;
    if (room && !is_unknown(symbol, symbol_bytes))
        room = (frame.symbol = keep(script, symbol, symbol_bytes)) != NULL;
    if (room && !is_unknown(file, file_bytes))
        room = (frame.file = keep(script, file, file_bytes)) != NULL;
    if (room)
        script->chain.frames[script->chain.count++] = frame;
    else
        script->counts.cut++;
}

// "  1234  5678.901234: " or with the only frame of a sample without a chain behind it.
static const char *behind_header(const char *line)
{
    bool digit = false;
    for (; *line; line++) {
        if (*line >= '0' && *line <= '9')
            digit = true;
        else if (*line == ':' && digit)
            return line + 1;
        else if (*line != ' ' && *line != '.' && *line != '/' && *line != '-')
            return NULL;
    }
    return NULL;
}

static void take_header(struct tlc_perf_script *script)
{
    const char *rest = behind_header(script->line);
    hand_over(script);
    if (!rest) {
        script->counts.garbled++;
        return;
    }
    script->open = true;
    script->chain.count = script->text_used = 0;
    if (rest[strspn(rest, " ")])
        take_frame(script, rest);
}

static void take_line(struct tlc_perf_script *script)
{
    script->line[script->line_used] = '\0';
    if (!script->line[strspn(script->line, " \t\r")])
        hand_over(script);
    else if (script->line_cut)
        script->counts.cut++;
    else if (script->line[0] == '\t')
        take_frame(script, script->line);
    else
        take_header(script);
    script->line_used = 0;
    script->line_cut = false;
}

void tlc_perf_script_feed(struct tlc_perf_script *script, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '\n')
            take_line(script);
        else if (script->line_used + 1 < sizeof script->line)
            // A NUL would hide what stands behind it.
            script->line[script->line_used++] = text[i] ? text[i] : '?';
        else
            script->line_cut = true;
    }
}

struct tlc_perf_script_counts tlc_perf_script_end(struct tlc_perf_script *script)
{
    if (script->line_used)
        take_line(script);
    hand_over(script);
    return script->counts;
}

void tlc_perf_script_free(struct tlc_perf_script *script)
{
    free(script);
}
