#include "report/report.h"

#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/process.h"
#include "report/connect_time.h"
#include "report/exporters.h"

static const struct {
    const char *name;
    tlc_exporter *export;
} formats[] = {{"terminal", tlc_export_terminal},
               {"markdown", tlc_export_markdown},
               {"csv", tlc_export_csv},
               {"json", tlc_export_json},
               {"benchstat", tlc_export_benchstat},
               {"jmh-json", tlc_export_jmh},
               {"folded", tlc_export_folded}};

enum { FORMATS = sizeof formats / sizeof *formats };

const char *tlc_report_format_at(size_t index)
{
    return index < FORMATS ? formats[index].name : NULL;
}

// A calibration is a few lines that need no layout.
static enum tlc_status write_calibration(const json_t *document, const char *format, FILE *to,
                                         struct tlc_error *error)
{
    bool markdown = !strcmp(format, "markdown");
    if (!markdown && strcmp(format, "terminal") != 0)
        return tlc_fail(error, TLC_USAGE,
                        "report: format '%.32s': a calibration has terminal and markdown", format);
    fputs(markdown ? "```\n" : "", to);
    tlc_calibration_print(document, to);
    fputs(markdown ? "```\n" : "", to);
    return fflush(to) || ferror(to) ? tlc_fail_errno(error, "report: write") : TLC_OK;
}

enum tlc_status tlc_report_write_with(const json_t *result, const char *format,
                                      const struct tlc_report_options *options, FILE *to,
                                      struct tlc_error *error)
{
    size_t chosen = 0;
    while (chosen < FORMATS && strcmp(formats[chosen].name, format))
        chosen++;
    if (chosen == FORMATS)
        return tlc_fail(error, TLC_USAGE,
                        "report: format '%.32s': unknown; known are terminal, markdown, csv, json, "
                        "benchstat, jmh-json, folded",
                        format);
    const char *command = json_string_value(json_object_get(result, "command"));
    if (command && !strcmp(command, "calibrate"))
        return write_calibration(result, formats[chosen].name, to, error);
    struct tlc_report_model *model;
    struct tlc_published published;
    enum tlc_status status = tlc_report_model_new(result, &model, error);
    if (status != TLC_OK)
        return status;
    status = tlc_published_read(options->references, &published, error);
    if (status == TLC_OK) {
        status = formats[chosen].export(model, &published, options, to, error);
        tlc_published_free(&published);
    }
    tlc_report_model_free(model);
    if (status == TLC_OK && (fflush(to) || ferror(to)))
        status = tlc_fail_errno(error, "report: write");
    return status;
}

// Asks the locale's character set without changing the locale of the process.
static bool is_utf8_locale(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!locale)
        return false;
    bool utf8 = !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
    freelocale(locale);
    return utf8;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

static struct tlc_report_options options_for(FILE *to)
{
    struct tlc_report_options options = {.utf8 = is_utf8_locale()};
    struct winsize size;
    int fd = fileno(to);
    const char *terminal = getenv("TERM");
    if (fd < 0 || !isatty(fd))
        return options;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0)
        options.width = size.ws_col;
    options.colour = !is_set("NO_COLOR") && terminal && strcmp(terminal, "dumb");
    return options;
}

enum tlc_status tlc_tell_run(const void *what, const struct tlc_emitter *emitter,
                             struct tlc_error *error)
{
    const struct tlc_run_report *report = what;
    return tlc_sections_write(report->model, report->published, emitter, error);
}

enum tlc_status tlc_emit(const char *format, tlc_teller *tell, const void *what, FILE *to,
                         struct tlc_error *error)
{
    struct tlc_report_options options = options_for(to);
    enum tlc_status status;
    if (!strcmp(format, "terminal"))
        status = tlc_emit_terminal(tell, what, &options, to, error);
    else if (!strcmp(format, "markdown"))
        status = tlc_emit_markdown(tell, what, to, error);
    else
        return tlc_fail(error, TLC_USAGE,
                        "report: format '%.32s': not for this kind of result; write terminal or "
                        "markdown",
                        format);
    if (status == TLC_OK && (fflush(to) || ferror(to)))
        status = tlc_fail_errno(error, "report: write");
    return status;
}

// The folder of published results: told, beside the program, in the checkout, installed.
static const char *find_references(char *path)
{
    static const char *const beside[] = {"references", "../references", "../../references",
                                         "../share/tlscost/references"};
    const char *told = getenv("TLSCOST_REFERENCES");
    const char *program = tlc_program_path(), *slash = program ? strrchr(program, '/') : NULL;
    if (told && *told)
        return told;
    for (size_t i = 0; slash && i < sizeof beside / sizeof *beside; i++) {
        char candidate[PATH_MAX];
        int length = snprintf(candidate, sizeof candidate, "%.*s/%s", (int)(slash - program),
                              program, beside[i]);
        if (length < PATH_MAX && realpath(candidate, path))
            return path;
    }
    return NULL;
}

enum tlc_status tlc_report_write(const json_t *result, const char *format, FILE *to,
                                 struct tlc_error *error)
{
    char references[PATH_MAX];
    if (tlc_is_connect_time(result))
        return tlc_connect_time_write(result, format, to, error);
    struct tlc_report_options options = options_for(to);
    options.references = find_references(references);
    return tlc_report_write_with(result, format, &options, to, error);
}
