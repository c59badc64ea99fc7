// The report as GitHub-flavoured Markdown.
#include <stdlib.h>

#include "report/exporters.h"
#include "report/text.h"

struct markdown {
    FILE *to;
    bool in_list;
};

static void put(const struct markdown *markdown, const char *raw)
{
    char *text = tlc_text_markdown(raw);
    if (text)
        fputs(text, markdown->to);
    free(text);
}

static void end_list(struct markdown *markdown)
{
    if (markdown->in_list)
        fputc('\n', markdown->to);
    markdown->in_list = false;
}

static void write_heading(void *user, unsigned level, const char *raw)
{
    struct markdown *markdown = user;
    end_list(markdown);
    fputs(level == 1 ? "# " : "## ", markdown->to);
    put(markdown, raw);
    fputs("\n\n", markdown->to);
}

static void write_paragraph(void *user, const char *raw)
{
    struct markdown *markdown = user;
    end_list(markdown);
    put(markdown, raw);
    fputs("\n\n", markdown->to);
}

static void write_alert(void *user, const char *raw)
{
    struct markdown *markdown = user;
    end_list(markdown);
    fputs("**", markdown->to);
    put(markdown, raw);
    fputs("**\n\n", markdown->to);
}

static void write_item(void *user, const char *label, const char *raw)
{
    struct markdown *markdown = user;
    fputs("- ", markdown->to);
    put(markdown, label);
    fputs(": ", markdown->to);
    put(markdown, raw);
    fputc('\n', markdown->to);
    markdown->in_list = true;
}

static void write_table(void *user, const struct tlc_table *table)
{
    struct markdown *markdown = user;
    end_list(markdown);
    for (size_t i = 0; i < table->column_count; i++) {
        fputs("| ", markdown->to);
        put(markdown, table->columns[i].title);
        fputc(' ', markdown->to);
    }
    fputs("|\n", markdown->to);
    for (size_t i = 0; i < table->column_count; i++)
        fputs(table->columns[i].right ? "| ---: " : "| --- ", markdown->to);
    fputs("|\n", markdown->to);
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++) {
            fputs("| ", markdown->to);
            put(markdown, table->rows[row][i]);
            fputc(' ', markdown->to);
        }
        fputs("|\n", markdown->to);
    }
    fputc('\n', markdown->to);
}

enum tlc_status tlc_emit_markdown(tlc_teller *tell, const void *what, FILE *to,
                                  struct tlc_error *error)
{
    struct markdown markdown = {.to = to};
    struct tlc_emitter emitter = {.user = &markdown,
                                  .microseconds = "\u00b5s",
                                  .heading = write_heading,
                                  .paragraph = write_paragraph,
                                  .alert = write_alert,
                                  .item = write_item,
                                  .table = write_table};
    return tell(what, &emitter, error);
}

enum tlc_status tlc_export_markdown(const struct tlc_report_model *model,
                                    const struct tlc_published *published,
                                    const struct tlc_report_options *options, FILE *to,
                                    struct tlc_error *error)
{
    (void)options;
    struct tlc_run_report report = {model, published};
    return tlc_emit_markdown(tlc_tell_run, &report, to, error);
}
