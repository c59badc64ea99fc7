// The options of `serve` on the tracing provider (docs/trace.md).
#include <stdio.h>
#include <string.h>

#include "cli/serve.h"

enum tlc_status tlc_serve_trace_mode(const char *text, struct tlc_serve_trace *trace,
                                     struct tlc_error *error)
{
    if (strcmp(text, "tag") != 0 && strcmp(text, "timed") != 0)
        return tlc_fail(error, TLC_USAGE, "--trace: '%s': unknown; write tag or timed", text);
    trace->mode = text;
    return TLC_OK;
}

enum tlc_status tlc_serve_burn_in(const char *text, struct tlc_serve_trace *trace,
                                  struct tlc_error *error)
{
    trace->burn_in = !strcmp(text, "signature") ? tlc_component_name(TLC_COMPONENT_SIGN)
                     : !strcmp(text, "key-generation")
                         ? tlc_component_name(TLC_COMPONENT_KEY_GENERATION)
                         : NULL;
    if (!trace->burn_in && strcmp(text, "state-machine") != 0)
        return tlc_fail(error, TLC_USAGE,
                        "--burn-in: '%s': unknown; write state-machine, signature or "
                        "key-generation",
                        text);
    return TLC_OK;
}

static enum tlc_status open_page(struct tlc_serve_trace *trace, struct tlc_error *error)
{
    enum tlc_status status = tlc_trace_open(trace->file, &trace->opened, error);
    if (status == TLC_OK)
        tlc_trace_mark(trace->opened);
    return status;
}

enum tlc_status tlc_serve_trace(struct tlc_serve_trace *trace, struct tlc_server_options *server,
                                struct tlc_error *error)
{
    const char *mode = trace->mode ? trace->mode : trace->burn_in ? "tag" : NULL;
    if (!mode && trace->file)
        return tlc_fail(error, TLC_USAGE, "--trace-file: nothing is traced; write --trace timed");
    if (!mode)
        return TLC_OK;
    if (server->stack.provider)
        return tlc_fail(error, TLC_USAGE, "--trace: --provider: only one of them can be loaded");
    int length = snprintf(trace->provider, sizeof trace->provider, "tlscost-trace?mode=%s", mode);
    if (trace->file)
        length += snprintf(trace->provider + length, sizeof trace->provider - (size_t)length,
                           ";file=%.512s", trace->file);
    if (trace->burn_in)
        snprintf(trace->provider + length, sizeof trace->provider - (size_t)length,
                 ";burn=%s;burn_us=%u", trace->burn_in, server->burn_us);
    if (trace->burn_in)
        server->burn_us = 0;
    server->stack.provider = trace->provider;
    return trace->file ? open_page(trace, error) : TLC_OK;
}

void tlc_serve_trace_end(struct tlc_serve_trace *trace, json_t *counters)
{
    struct tlc_trace_sums *sums = trace->opened && counters ? tlc_trace_sums_new() : NULL;
    const json_t *totals = json_object_get(counters, "totals");
    if (sums) {
        tlc_trace_sums_add(sums, trace->opened);
        json_t *figures = tlc_trace_sums_json(
            sums, (uint64_t)json_integer_value(json_object_get(totals, "handshakes")));
        if (figures)
            json_object_set_new(counters, "trace", figures);
        tlc_trace_sums_free(sums);
    }
    tlc_trace_close(trace->opened);
    trace->opened = NULL;
}
