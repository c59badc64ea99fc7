// Arms over time: what their slices' buckets say together; private to the room.
#ifndef TLC_CAMPAIGN_CURVES_H
#define TLC_CAMPAIGN_CURVES_H

#include <jansson.h>

// Gives each arm of a summarised result whose accepted samples have buckets a `curve`:
// {bucket_ms, event_bucket (null: no event), handshakes:[], resumed:[] (shares), cost_us:[] (of a
// handshake), resumed_before, resumed_least, recovered_ms, extra_full, extra_cpu_s{}}. The figures
// from resumed_least on are null without an event:
// - resumed_before, resumed_least: shares before the event, and in the worst bucket behind it;
// - recovered_ms: from the event until the share is back, 0: it never fell, null: it did not;
// - extra_full: full handshakes behind the event in a slice, above the share before it;
// - extra_cpu_s: what they cost the server, derived: CPU time behind the event, less that of as
// many
//   handshakes at their price before it; the interval is over instances.
// Pure.
void tlc_curves_add(json_t *arms);

#endif
