// The report for a terminal.
#include <stdlib.h>
#include <string.h>

#include "report/exporters.h"
#include "report/text.h"

enum {
    DEFAULT_WIDTH = 100,
    LEAST_WIDTH = 40,
    INDENT = 2,
    GAP = 2,
    LABEL_COLUMNS = 18,
    NAME_MAX_COLUMNS = 40
};

struct terminal {
    FILE *to;
    size_t width;
    bool utf8, colour;
    bool in_list; // the last thing written was an item
};

static const char bold[] = "\033[1m", red[] = "\033[1;31m", dim[] = "\033[2m", plain[] = "\033[0m";

static void style(const struct terminal *terminal, const char *escape)
{
    if (terminal->colour)
        fputs(escape, terminal->to);
}

static void spaces(const struct terminal *terminal, size_t count)
{
    fprintf(terminal->to, "%*s", (int)count, "");
}

// Cuts a name that would push everything else off the screen.
static char *shorten(char *name)
{
    static const char rest[] = "...";
    if (!name || tlc_text_width(name) <= NAME_MAX_COLUMNS)
        return name;
    size_t kept = tlc_text_fit(name, NAME_MAX_COLUMNS - strlen(rest));
    char *cut = realloc(name, strlen(name) + sizeof rest);
    if (cut)
        strcpy(cut + kept, rest);
    return cut ? cut : name;
}

static void end_list(struct terminal *terminal)
{
    if (terminal->in_list)
        fputc('\n', terminal->to);
    terminal->in_list = false;
}

// Writes clean text in lines of the terminal's width. `column` is where the first line begins,
// `indent` where the others do.
static void wrap(const struct terminal *terminal, const char *text, size_t column, size_t indent)
{
    size_t at = column;
    bool first = true;
    while (*text) {
        text += strspn(text, " ");
        size_t bytes = strcspn(text, " ");
        if (!bytes)
            break;
        char *word = strndup(text, bytes);
        size_t columns = word ? tlc_text_width(word) : bytes;
        free(word);
        if (!first && at + 1 + columns > terminal->width) {
            fputc('\n', terminal->to);
            spaces(terminal, indent);
            at = indent;
        } else if (!first) {
            fputc(' ', terminal->to);
            at++;
        }
        fwrite(text, 1, bytes, terminal->to);
        at += columns;
        text += bytes;
        first = false;
    }
    fputc('\n', terminal->to);
}

static void write_heading(void *user, unsigned level, const char *raw)
{
    struct terminal *terminal = user;
    char *text = tlc_text_plain(raw, terminal->utf8);
    end_list(terminal);
    style(terminal, bold);
    if (text)
        wrap(terminal, text, 0, 0);
    style(terminal, plain);
    free(text);
    if (level == 1)
        fputc('\n', terminal->to);
}

static void write_text(struct terminal *terminal, const char *raw, const char *escape)
{
    char *text = tlc_text_plain(raw, terminal->utf8);
    end_list(terminal);
    style(terminal, escape);
    if (text)
        wrap(terminal, text, 0, 0);
    style(terminal, plain);
    fputc('\n', terminal->to);
    free(text);
}

static void write_paragraph(void *user, const char *raw)
{
    write_text(user, raw, "");
}

static void write_alert(void *user, const char *raw)
{
    write_text(user, raw, red);
}

static void write_item(void *user, const char *raw_label, const char *raw)
{
    struct terminal *terminal = user;
    char *label = shorten(tlc_text_plain(raw_label, terminal->utf8));
    char *text = tlc_text_plain(raw, terminal->utf8);
    size_t width = label ? tlc_text_width(label) : 0;
    size_t column = INDENT + (width > LABEL_COLUMNS ? width : LABEL_COLUMNS) + GAP;
    spaces(terminal, INDENT);
    style(terminal, dim);
    fputs(label ? label : "", terminal->to);
    style(terminal, plain);
    spaces(terminal, column - INDENT - width);
    wrap(terminal, text ? text : "", column, INDENT + LABEL_COLUMNS + GAP);
    free(label);
    free(text);
    terminal->in_list = true;
}

// A table with its cells made clean and its columns measured.
struct layout {
    const struct tlc_table *table;
    char *(*cells)[TLC_TABLE_COLUMNS]; // row 0 holds the titles
    size_t rows, widths[TLC_TABLE_COLUMNS];
};

static void free_layout(struct layout *layout)
{
    for (size_t row = 0; layout->cells && row < layout->rows; row++)
        for (size_t i = 0; i < TLC_TABLE_COLUMNS; i++)
            free(layout->cells[row][i]);
    free(layout->cells);
}

static bool measure(const struct tlc_table *table, bool utf8, struct layout *layout)
{
    *layout = (struct layout){.table = table, .rows = table->row_count + 1};
    layout->cells = calloc(layout->rows, sizeof *layout->cells);
    for (size_t row = 0; layout->cells && row < layout->rows; row++)
        for (size_t i = 0; i < table->column_count; i++) {
            const char *raw = row ? table->rows[row - 1][i] : table->columns[i].title;
            char *cell = tlc_text_plain(raw, utf8);
            if (i == 0)
                cell = shorten(cell);
            if (!cell)
                return false;
            layout->cells[row][i] = cell;
            size_t width = tlc_text_width(cell);
            if (width > layout->widths[i])
                layout->widths[i] = width;
        }
    return layout->cells;
}

// Whether a column stands in the part; part -1 is the whole table.
static bool is_shown(const struct tlc_table *table, size_t column, int part)
{
    return column == 0 || part < 0 || table->columns[column].part == (unsigned)part;
}

static size_t width_of(const struct layout *layout, int part)
{
    size_t width = 0;
    for (size_t i = 0; i < layout->table->column_count; i++)
        if (is_shown(layout->table, i, part))
            width += GAP + layout->widths[i];
    return width;
}

static void write_row(const struct terminal *terminal, const struct layout *layout, size_t row,
                      int part)
{
    size_t owed = 0; // spaces that only come when something follows
    for (size_t i = 0; i < layout->table->column_count; i++) {
        if (!is_shown(layout->table, i, part))
            continue;
        const char *cell = layout->cells[row][i];
        size_t padding = layout->widths[i] - tlc_text_width(cell);
        bool right = layout->table->columns[i].right;
        owed += GAP + (right ? padding : 0);
        if (*cell) {
            spaces(terminal, owed);
            fputs(cell, terminal->to);
            owed = 0;
        }
        owed += right ? 0 : padding;
    }
    fputc('\n', terminal->to);
}

static void write_part(const struct terminal *terminal, const struct layout *layout, int part)
{
    style(terminal, dim);
    write_row(terminal, layout, 0, part);
    style(terminal, plain);
    for (size_t row = 1; row < layout->rows; row++)
        write_row(terminal, layout, row, part);
    fputc('\n', terminal->to);
}

static void write_table(void *user, const struct tlc_table *table)
{
    struct terminal *terminal = user;
    struct layout layout;
    end_list(terminal);
    if (measure(table, terminal->utf8, &layout)) {
        bool parted = false;
        for (size_t i = 0; i < table->column_count; i++)
            parted = parted || table->columns[i].part;
        if (!parted || width_of(&layout, -1) <= terminal->width) {
            write_part(terminal, &layout, -1);
        } else {
            write_part(terminal, &layout, 0);
            write_part(terminal, &layout, 1);
        }
    }
    free_layout(&layout);
}

static void write_bars(void *user, const struct tlc_bar *bars, size_t count)
{
    struct terminal *terminal = user;
    end_list(terminal);
    tlc_draw_bars(bars, count, terminal->utf8 ? "\u00b5s" : "us", terminal->width, terminal->utf8,
                  terminal->to);
    fputc('\n', terminal->to);
}

enum tlc_status tlc_emit_terminal(tlc_teller *tell, const void *what,
                                  const struct tlc_report_options *options, FILE *to,
                                  struct tlc_error *error)
{
    struct terminal terminal = {.to = to,
                                .width = options->width ? options->width : DEFAULT_WIDTH,
                                .utf8 = options->utf8,
                                .colour = options->colour};
    if (terminal.width < LEAST_WIDTH)
        terminal.width = LEAST_WIDTH;
    struct tlc_emitter emitter = {.user = &terminal,
                                  .microseconds = options->utf8 ? "\u00b5s" : "us",
                                  .heading = write_heading,
                                  .paragraph = write_paragraph,
                                  .alert = write_alert,
                                  .item = write_item,
                                  .table = write_table,
                                  .bars = write_bars};
    return tell(what, &emitter, error);
}

enum tlc_status tlc_export_terminal(const struct tlc_report_model *model,
                                    const struct tlc_published *published,
                                    const struct tlc_report_options *options, FILE *to,
                                    struct tlc_error *error)
{
    struct tlc_run_report report = {model, published};
    return tlc_emit_terminal(tlc_tell_run, &report, options, to, error);
}
