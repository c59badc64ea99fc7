#include "report/table.h"

#include <stdlib.h>
#include <string.h>

void tlc_table_init(struct tlc_table *table, const struct tlc_table_column *columns, size_t count)
{
    *table = (struct tlc_table){.columns = columns, .column_count = count};
}

bool tlc_table_add(struct tlc_table *table, const char *const *cells)
{
    char *(*rows)[TLC_TABLE_COLUMNS] =
        realloc(table->rows, (table->row_count + 1) * sizeof *table->rows);
    if (!rows)
        return false;
    table->rows = rows;
    memset(rows[table->row_count], 0, sizeof *rows);
    for (size_t i = 0; i < table->column_count; i++) {
        rows[table->row_count][i] = strdup(cells[i]);
        if (!rows[table->row_count][i]) {
            while (i-- > 0)
                free(rows[table->row_count][i]);
            return false;
        }
    }
    table->row_count++;
    return true;
}

void tlc_table_free(struct tlc_table *table)
{
    for (size_t row = 0; row < table->row_count; row++)
        for (size_t i = 0; i < table->column_count; i++)
            free(table->rows[row][i]);
    free(table->rows);
    table->rows = NULL;
    table->row_count = 0;
}
