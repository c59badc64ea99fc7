// Calibration: a campaign over what is known beforehand, and the proof or disproof read from it.
#ifndef TLC_CAMPAIGN_CALIBRATE_H
#define TLC_CAMPAIGN_CALIBRATE_H

#include <jansson.h>

#include "campaign/campaign.h"

// Which plans can calibrate: a control; arms that differ from the baseline in their burn alone, at
// least two; an arm with cheap key shares, or an honest one against a cheap baseline; bookends and
// duets. Errors name what is missing.
enum tlc_status tlc_calibration_check_plan(const struct tlc_plan *plan,
                                           struct tlc_error *error) TLC_CHECKED;

// About how long it takes.
double tlc_calibration_seconds(const struct tlc_plan *plan);

// Runs the interference windows, the readings in company and the campaign, and builds the document
// of `calibrate`. The status is TLC_REFUSED when a part failed or could not be shown; *document is
// NULL only when nothing can be said.
enum tlc_status tlc_calibrate(const struct tlc_campaign_options *options, json_t **document,
                              struct tlc_error *error) TLC_CHECKED;

// Puts a_a, known_cost, position, fair_client and verdict into `document`, which holds the arms of
// a campaign of `plan`, `interference` and `company`. Pure. TLC_REFUSED when a part did not pass.
enum tlc_status tlc_calibration_judge(json_t *document, const struct tlc_plan *plan,
                                      struct tlc_error *error) TLC_CHECKED;
// The interval of busy / idle over pairs of windows (ns an operation), as `interference`.
json_t *tlc_calibration_interference(const double *idle_ns, const double *busy_ns, size_t pairs);

// The interval of readings of what work costs in company (workload/company.h), as `company`.
json_t *tlc_calibration_company(const double *ratios, size_t count);

// What later results of the machine cite: figures, verdict, CPUs, date, machine. The caller's.
json_t *tlc_calibration_summary(const json_t *document);
// Keeps the summary in the user's state directory under the machine's identity; `path` (may be
// NULL) gets where.
enum tlc_status tlc_calibration_store(const json_t *document, char *path, size_t capacity,
                                      struct tlc_error *error) TLC_CHECKED;
// The summary kept of the machine that `environment` describes; NULL: none that can be read.
json_t *tlc_calibration_find(const json_t *environment);

#endif
