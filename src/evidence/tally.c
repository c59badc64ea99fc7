#include <math.h>

#include "evidence/checks.h"

// For "server-saturated" a small value is bad, for "resumption" one far from the share asked; for
// all others a large one.
static bool is_worse(enum tlc_check check, const struct tlc_check_outcome *outcome, double worst)
{
    if (isnan(outcome->value))
        return false;
    if (isnan(worst))
        return true;
    if (check == TLC_CHECK_SERVER_SATURATED)
        return outcome->value < worst;
    if (check == TLC_CHECK_RESUMPTION)
        return fabs(outcome->value - outcome->limit) > fabs(worst - outcome->limit);
    return outcome->value > worst;
}

void tlc_checks_tally(struct tlc_check_tally *tally, const struct tlc_check_outcome *outcomes)
{
    for (size_t i = 0; i < TLC_CHECK_COUNT; i++) {
        if (!outcomes[i].applied)
            continue;
        if (!tally->rows[i].applied) {
            tally->rows[i].applied = true;
            tally->rows[i].worst = NAN;
        }
        tally->rows[i].failed += outcomes[i].failed;
        if (is_worse((enum tlc_check)i, &outcomes[i], tally->rows[i].worst)) {
            tally->rows[i].worst = outcomes[i].value;
            tally->rows[i].limit = outcomes[i].limit;
        } else if (isnan(tally->rows[i].worst)) {
            tally->rows[i].limit = outcomes[i].limit;
        }
    }
}

static json_t *number_or_null(bool applied, double value)
{
    return applied && isfinite(value) ? json_real(value) : json_null();
}

json_t *tlc_checks_tally_to_json(const struct tlc_check_tally *tally)
{
    json_t *rows = json_array();
    for (size_t i = 0; rows && i < TLC_CHECK_COUNT; i++) {
        bool applied = tally->rows[i].applied;
        json_t *row =
            json_pack("{s:s, s:o, s:o, s:I, s:b}", "name", tlc_check_name((enum tlc_check)i),
                      "limit", number_or_null(applied, tally->rows[i].limit), "worst",
                      number_or_null(applied, tally->rows[i].worst), "failed",
                      (json_int_t)tally->rows[i].failed, "applied", applied);
        if (json_array_append_new(rows, row)) {
            json_decref(rows);
            rows = NULL;
        }
    }
    return rows;
}

enum tlc_status tlc_checks_to_json(const struct tlc_check_outcome *outcomes, json_t **refused,
                                   json_t **reasons, struct tlc_error *error)
{
    *refused = json_array();
    *reasons = json_array();
    for (size_t i = 0; i < TLC_CHECK_COUNT; i++) {
        if (!outcomes[i].failed)
            continue;
        if (json_array_append_new(*refused, json_string(tlc_check_name((enum tlc_check)i))) ||
            json_array_append_new(*reasons, json_string(outcomes[i].reason))) {
            json_decref(*refused);
            json_decref(*reasons);
            *refused = *reasons = NULL;
            return tlc_fail(error, TLC_ENVIRONMENT, "checks: out of memory");
        }
    }
    return TLC_OK;
}
