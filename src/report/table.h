// A table of raw text; each exporter escapes and lays it out (private to the room).
#ifndef TLC_REPORT_TABLE_H
#define TLC_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { TLC_TABLE_COLUMNS = 9 };

struct tlc_table_column {
    const char *title;
    bool right;    // figures stand to the right
    unsigned part; // when the table is too wide it is cut in parts; column 0 stands in each
};

struct tlc_table {
    const struct tlc_table_column *columns;
    size_t column_count, row_count;
    char *(*rows)[TLC_TABLE_COLUMNS]; // owned; never NULL within the columns
};

void tlc_table_init(struct tlc_table *table, const struct tlc_table_column *columns, size_t count);
// Adds a row and copies its cells. False when memory runs out.
bool tlc_table_add(struct tlc_table *table, const char *const *cells);
void tlc_table_free(struct tlc_table *table);

#endif
