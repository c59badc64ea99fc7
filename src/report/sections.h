// What a report says, in order, without saying how it looks (private to the room).
#ifndef TLC_REPORT_SECTIONS_H
#define TLC_REPORT_SECTIONS_H

#include "report/model.h"
#include "report/published.h"
#include "report/table.h"

struct tlc_bar {
    const char *label;
    struct tlc_figure figure;
    const char *refused; // names of the checks when the arm has no figure; else NULL
};

// One exporter: lays out and escapes what it is given. All text is raw.
struct tlc_emitter {
    void *user;
    const char *microseconds; // the unit as this exporter can write it
    void (*heading)(void *user, unsigned level, const char *text);
    void (*paragraph)(void *user, const char *text);
    void (*alert)(void *user, const char *text); // a paragraph that must not be overlooked
    void (*item)(void *user, const char *label, const char *text); // one of a list
    void (*table)(void *user, const struct tlc_table *table);
    void (*bars)(void *user, const struct tlc_bar *bars, size_t count); // NULL: not drawn
};

enum tlc_status tlc_sections_write(const struct tlc_report_model *model,
                                   const struct tlc_published *published,
                                   const struct tlc_emitter *emitter,
                                   struct tlc_error *error) TLC_CHECKED;

#endif
