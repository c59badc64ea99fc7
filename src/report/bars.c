// Bars of cost with their intervals, drawn with characters.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/exporters.h"
#include "report/text.h"
#include "report/words.h"

// Solid up to the low end of the interval, a shade across it, a mark at the estimate.
struct glyphs {
    const char *solid, *shade, *estimate;
};
static const struct glyphs blocks = {"\u2588", "\u2591", "\u2502"};
static const struct glyphs ascii = {"#", "-", "|"};

enum { LABEL_MAX = 28, VALUE_COLUMNS = 10, BAR_MIN = 10 };

static double largest_of(const struct tlc_bar *bars, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        const struct tlc_figure *figure = &bars[i].figure;
        if (bars[i].refused)
            continue;
        if (isfinite(figure->estimate) && figure->estimate > largest)
            largest = figure->estimate;
        if (isfinite(figure->high) && figure->high > largest)
            largest = figure->high;
    }
    return largest;
}

static size_t cell_of(double value, double largest, size_t cells)
{
    double at = value / largest * (double)cells;
    return at <= 0 ? 0 : at >= (double)cells ? cells : (size_t)(at + 0.5);
}

static void draw_bar(const struct tlc_figure *figure, double largest, size_t cells,
                     const struct glyphs *glyphs, FILE *to)
{
    size_t estimate = cell_of(figure->estimate, largest, cells), low = estimate, high = estimate;
    if (isfinite(figure->low) && isfinite(figure->high)) {
        low = cell_of(figure->low, largest, cells);
        high = cell_of(figure->high, largest, cells);
    }
    // An interval narrower than a cell has no room for its marks: the bar alone tells all.
    if (high - low < 2)
        low = high = estimate;
    size_t mark = estimate > low && estimate == high ? estimate - 1 : estimate;
    for (size_t cell = 0; cell < cells; cell++) {
        if (cell < low)
            fputs(glyphs->solid, to);
        else if (cell >= high)
            fputc(' ', to);
        else
            fputs(cell == mark ? glyphs->estimate : glyphs->shade, to);
    }
}

static void draw_label(const char *raw, size_t columns, bool utf8, FILE *to)
{
    char *label = tlc_text_plain(raw, utf8);
    size_t bytes = label ? tlc_text_fit(label, columns) : 0;
    if (label)
        label[bytes] = '\0';
    size_t width = label ? tlc_text_width(label) : 0;
    fprintf(to, "  %s%*s", label ? label : "", (int)(columns - width), "");
    free(label);
}

void tlc_draw_bars(const struct tlc_bar *bars, size_t count, const char *unit, size_t width,
                   bool utf8, FILE *to)
{
    double largest = largest_of(bars, count);
    size_t labels = 0;
    for (size_t i = 0; i < count; i++) {
        size_t columns = tlc_text_width(bars[i].label);
        labels = columns > labels ? columns : labels;
    }
    if (labels > LABEL_MAX)
        labels = LABEL_MAX;
    size_t taken = 2 + labels + 2 + VALUE_COLUMNS;
    size_t cells = width > taken + BAR_MIN ? width - taken : BAR_MIN;
    for (size_t i = 0; i < count; i++) {
        char value[TLC_WORDS];
        draw_label(bars[i].label, labels, utf8, to);
        fputs("  ", to);
        if (bars[i].refused || !isfinite(bars[i].figure.estimate) || largest <= 0) {
            char *refused = tlc_text_plain(bars[i].refused ? bars[i].refused : "no figure", utf8);
            fprintf(to, "%s\n", refused ? refused : "refused");
            free(refused);
            continue;
        }
        draw_bar(&bars[i].figure, largest, cells, utf8 ? &blocks : &ascii, to);
        fprintf(to, " %s %s\n", tlc_words_figure(bars[i].figure.estimate, value), unit);
    }
}
