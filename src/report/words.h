// Figures and verdicts in words (private to the room).
#ifndef TLC_REPORT_WORDS_H
#define TLC_REPORT_WORDS_H

#include "report/model.h"

// How a workload is told.
struct tlc_workload_words {
    const char *workload;
    const char *arms;                // "handshakes over sockets"
    const char *cpu, *each;          // "server CPU" microseconds "per completed handshake"
    const char *instances;           // what intervals are taken over
    const char *own;                 // "servers" of their own
    const char *servers, *generator; // what runs on the two sets of CPUs
};
const struct tlc_workload_words *tlc_words_of_arm(const struct tlc_report_arm *arm);
// Of the first arm's workload.
const struct tlc_workload_words *tlc_words_of_report(const struct tlc_report_model *model);

// Every function fills a buffer of TLC_WORDS bytes and returns it.
enum { TLC_WORDS = 160 };

char *tlc_words_figure(double value, char *words); // "331.0"; "-" when it is not a number
char *tlc_words_rate(double value, char *words);   // "3024"
char *tlc_words_ratio(double value, char *words);
char *tlc_words_figure_range(struct tlc_figure figure, char *words); // "329 to 333", "-"
char *tlc_words_ratio_range(struct tlc_figure figure, char *words);
// "costs 23 % more", "costs 5.2 times as much", "the same within 3 %", "no claim".
char *tlc_words_verdict(const struct tlc_report_arm *arm, double margin, char *words);
// A limit or value of a check: a share as per cent, a count as it is.
char *tlc_words_check_value(const char *check, double value, char *words);
// "2026-11-30T11:00:00Z, passed: equal arms 1.000 (0.998 to 1.002), ...": the calibration a result
// cites; empty when it has no such member.
char *tlc_words_calibration(const struct tlc_report_model *model, char *words);
// "; made in 33.2 s clean, 0.16 s from the cache": a stack's build by its manifest, as far as told.
char *tlc_words_made(const json_t *stack, char *words);
// "2 min 41 s" between two times of a result; empty when they cannot be read.
char *tlc_words_duration(const char *started, const char *finished, char *words);

#endif
