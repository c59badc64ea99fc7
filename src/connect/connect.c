#include "connect/connect.h"

#include "connect/figures.h"
#include "connect/open_loop.h"
#include "measure/machine.h"
#include "result/result.h"

static enum tlc_status measure(struct tlc_connect *connect, json_t *result, struct tlc_error *error)
{
    enum tlc_status status = tlc_open_loop_run(connect, error);
    if (connect->relay)
        tlc_relay_stop(connect->relay);
    json_object_set_new(result, "finished", tlc_result_now());
    bool refused = tlc_connect_figures(connect, result);
    if (status == TLC_OK && refused)
        status = tlc_fail(error, TLC_REFUSED,
                          "connect: arms were refused: connections failed, or were not what the "
                          "plan asks for; their errors tell how");
    return status;
}

enum tlc_status tlc_connect_run(const struct tlc_connect_options *options, json_t **result,
                                struct tlc_error *error)
{
    struct tlc_connect *connect;
    *result = NULL;
    enum tlc_status status = tlc_connect_open(options, &connect, error);
    if (status != TLC_OK)
        return status;
    *result = tlc_result_new("connect-time", tlc_machine_describe());
    json_object_set_new(*result, "plan", tlc_plan_to_json(options->plan));
    status = measure(connect, *result, error);
    tlc_connect_close(connect);
    return status;
}
