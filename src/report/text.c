#include "report/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Decodes one character of UTF-8 (RFC 3629); *size gets its bytes, at least 1. Returns UINT32_MAX
// for what is none.
static uint32_t decode(const char *text, size_t *size)
{
    const unsigned char *at = (const unsigned char *)text;
    *size = 1;
    if (at[0] < 0x80)
        return at[0];
    size_t count = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4)
        return UINT32_MAX;
    uint32_t code = at[0] & (0x7fu >> count);
    for (size_t i = 1; i < count; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return UINT32_MAX;
        code = code << 6 | (at[i] & 0x3f);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < least[count] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return UINT32_MAX;
    *size = count;
    return code;
}

struct span {
    uint32_t first, last;
};

static bool is_in(uint32_t code, const struct span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (code >= spans[i].first && code <= spans[i].last)
            return true;
    return false;
}

// C0, DEL, C1, soft hyphen, zero-width and direction marks, line separators, invisible operators,
// byte order mark, interlinear marks, tags.
static bool is_dangerous(uint32_t code)
{
    static const struct span spans[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    return code == UINT32_MAX || is_in(code, spans, sizeof spans / sizeof *spans);
}

char *tlc_text_plain(const char *text, bool utf8)
{
    char *clean = malloc(strlen(text) + 1), *into = clean;
    while (clean && *text) {
        size_t size;
        uint32_t code = decode(text, &size);
        if (code == ' ' || (code >= '\t' && code <= '\r'))
            *into++ = ' ';
        else if (is_dangerous(code) || (code > 0x7e && !utf8))
            *into++ = '?';
        else
            for (size_t i = 0; i < size; i++)
                *into++ = text[i];
        text += size;
    }
    if (clean)
        *into = '\0';
    return clean;
}

char *tlc_text_markdown(const char *text)
{
    char *plain = tlc_text_plain(text, true);
    char *escaped = plain ? malloc(5 * strlen(plain) + 1) : NULL, *into = escaped;
    for (const char *at = plain; escaped && *at; at++) {
        const char *entity = *at == '&'   ? "&amp;"
                             : *at == '<' ? "&lt;"
                             : *at == '>' ? "&gt;"
                                          : NULL;
        if (entity) {
            into = stpcpy(into, entity);
            continue;
        }
        bool link = *at == ':' && at[1] == '/' && at[2] == '/'; // GFM links bare addresses
        if (link || strchr("\\`*_{}[]|~#!$@", *at))
            *into++ = '\\';
        *into++ = *at;
    }
    if (escaped)
        *into = '\0';
    free(plain);
    return escaped;
}

char *tlc_text_csv(const char *text)
{
    char *plain = tlc_text_plain(text, true);
    if (!plain)
        return NULL;
    bool formula = *plain && strchr("=+-@", *plain);
    bool quoted = strpbrk(plain, ",\"") != NULL;
    char *field = malloc(2 * strlen(plain) + 4), *into = field;
    if (field) {
        if (quoted)
            *into++ = '"';
        if (formula)
            *into++ = '\'';
        for (const char *at = plain; *at; at++) {
            if (*at == '"')
                *into++ = '"';
            *into++ = *at;
        }
        if (quoted)
            *into++ = '"';
        *into = '\0';
    }
    free(plain);
    return field;
}

// Combining marks take no column, East Asian wide characters and emoji two (Unicode TR11). The
// blocks are coarse: a misjudged character shifts a column, no more.
static size_t columns_of(uint32_t code)
{
    static const struct span combining[] = {
        {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
        {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
    static const struct span wide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                       {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                       {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    if (is_in(code, combining, sizeof combining / sizeof *combining))
        return 0;
    return is_in(code, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

size_t tlc_text_width(const char *text)
{
    size_t width = 0, size;
    for (; *text; text += size)
        width += columns_of(decode(text, &size));
    return width;
}

size_t tlc_text_fit(const char *text, size_t columns)
{
    size_t bytes = 0, size;
    for (; text[bytes]; bytes += size) {
        size_t needed = columns_of(decode(text + bytes, &size));
        if (needed > columns)
            break;
        columns -= needed;
    }
    return bytes;
}
