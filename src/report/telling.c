#include "report/telling.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static char *format_text(struct tlc_telling *telling, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
static char *format_text(struct tlc_telling *telling, const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    telling->broken = telling->broken || !text;
    return text;
}

void tlc_tell_heading(struct tlc_telling *telling, unsigned level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(telling, format, arguments);
    va_end(arguments);
    if (text)
        telling->emitter->heading(telling->emitter->user, level, text);
    free(text);
}

void tlc_tell_paragraph(struct tlc_telling *telling, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(telling, format, arguments);
    va_end(arguments);
    if (text)
        telling->emitter->paragraph(telling->emitter->user, text);
    free(text);
}

void tlc_tell_alert(struct tlc_telling *telling, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(telling, format, arguments);
    va_end(arguments);
    if (text)
        telling->emitter->alert(telling->emitter->user, text);
    free(text);
}

void tlc_tell_item(struct tlc_telling *telling, const char *label, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(telling, format, arguments);
    va_end(arguments);
    if (text)
        telling->emitter->item(telling->emitter->user, label, text);
    free(text);
}

void tlc_tell_row(struct tlc_telling *telling, struct tlc_table *table, const char *const *cells)
{
    telling->broken = !tlc_table_add(table, cells) || telling->broken;
}

void tlc_tell_table(struct tlc_telling *telling, struct tlc_table *table)
{
    telling->emitter->table(telling->emitter->user, table);
    tlc_table_free(table);
}

enum tlc_status tlc_told(const struct tlc_telling *telling, struct tlc_error *error)
{
    return telling->broken ? tlc_fail(error, TLC_ENVIRONMENT, "report: out of memory") : TLC_OK;
}

void tlc_tell_section(struct tlc_telling *telling, const char *heading, const char *paragraph,
                      struct tlc_table *table)
{
    if (!table->row_count) {
        tlc_table_free(table);
        return;
    }
    tlc_tell_heading(telling, 2, "%s", heading);
    tlc_tell_paragraph(telling, "%s", paragraph);
    tlc_tell_table(telling, table);
}
