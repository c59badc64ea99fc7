// Formatted text for an emitter (private to the room).
#ifndef TLC_REPORT_TELLING_H
#define TLC_REPORT_TELLING_H

#include <stdbool.h>

#include "report/sections.h"

struct tlc_telling {
    const struct tlc_emitter *emitter;
    bool broken; // memory ran out
};

void tlc_tell_heading(struct tlc_telling *telling, unsigned level, const char *format, ...)
    TLC_PRINTF(3, 4);
void tlc_tell_paragraph(struct tlc_telling *telling, const char *format, ...) TLC_PRINTF(2, 3);
void tlc_tell_alert(struct tlc_telling *telling, const char *format, ...) TLC_PRINTF(2, 3);
void tlc_tell_item(struct tlc_telling *telling, const char *label, const char *format, ...)
    TLC_PRINTF(3, 4);
void tlc_tell_row(struct tlc_telling *telling, struct tlc_table *table, const char *const *cells);
// Writes the table and frees it.
void tlc_tell_table(struct tlc_telling *telling, struct tlc_table *table);
// What a teller returns at its end.
enum tlc_status tlc_told(const struct tlc_telling *telling, struct tlc_error *error) TLC_CHECKED;

// A heading, a paragraph and a table under it, which is freed; nothing when the table has no rows.
void tlc_tell_section(struct tlc_telling *telling, const char *heading, const char *paragraph,
                      struct tlc_table *table);

#endif
