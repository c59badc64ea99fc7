// Fuzz target of what reads perf's output: its text in pieces, the shipped shape of tables, the tally.
// The first byte is the size of the pieces.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/tally.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static const char table[] = "name: fuzz\nallocation: [\"m*c\"]\ncomponents:\n"
                            "  - part: signature\n    anchors: [\"s*\", \"*a*b*c*\"]\n"
                            "  - part: transcript\n    helpers: [\"h*\"]\n"
                            "  - part: state machine\n    around: [\"*\"]\n"
                            "cut:\n  - leaves: [\"sha*\"]\n    like: [\"S*\"]\n";

static struct tlc_components *components(void)
{
    static struct tlc_components *made;
    struct tlc_error error;
    if (!made) {
        made = tlc_components_new();
        if (!made || tlc_components_add(made, table, strlen(table), "fuzz", &error) != TLC_OK)
            abort();
    }
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    size_t piece = count ? data[0] + 1u : 1;
    struct tlc_tally *tally = tlc_tally_new(components(), count % 2);
    struct tlc_perf_script *script = tally ? tlc_perf_script_new(tlc_tally_take, tally) : NULL;
    if (!script)
        abort();
    for (size_t at = 1; at < count; at += piece)
        tlc_perf_script_feed(script, (const char *)data + at,
                             count - at < piece ? count - at : piece);
    struct tlc_perf_script_counts counts = tlc_perf_script_end(script);
    json_t *told = tlc_tally_json(tally);
    if (!told || (uint64_t)json_integer_value(json_object_get(told, "samples")) != counts.samples)
        abort();
    json_decref(told);
    tlc_perf_script_free(script);
    tlc_tally_free(tally);
    return 0;
}
