#include "cli/pair_plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/names.h"
#include "cli/common.h"

// The lists, in the order in which an arm's name tells their values.
enum axis {
    STACK,
    CLIENT_STACK,
    VERSION,
    GROUP,
    CERTIFICATE,
    CLIENT_AUTH,
    INTERMEDIATES,
    RESUMPTION,
    AXES
};

struct axes {
    char **values[AXES];
    size_t count[AXES];
};

struct builder {
    const struct tlc_pair_options *options;
    struct axes axes;
    FILE *yaml;
    char names[128][101]; // of the arms, in order
    size_t arms;
    unsigned left_out;
};

// ---- lists

// Of the words of --resumption two are ours alone.
static enum tlc_status check_word(enum axis axis, const char *option, const char *word,
                                  struct tlc_error *error)
{
    static const char *const keys[AXES] = {[STACK] = "stack",
                                           [CLIENT_STACK] = "client_stack",
                                           [VERSION] = "version",
                                           [GROUP] = "groups",
                                           [CERTIFICATE] = "certificate",
                                           [CLIENT_AUTH] = "client_auth",
                                           [RESUMPTION] = "resumption",
                                           [INTERMEDIATES] = "intermediates"};
    char name[64];
    snprintf(name, sizeof name, "pair: %s", option);
    bool ours = axis == RESUMPTION && (!strcmp(word, "full") || !strcmp(word, "resumed"));
    bool path = (axis == STACK || axis == CLIENT_STACK) && strchr(word, '/');
    return ours || path ? TLC_OK : tlc_plan_check_value(keys[axis], word, name, error);
}

static enum tlc_status read_axis(struct axes *axes, enum axis axis, const char *option,
                                 const char *list, struct tlc_error *error)
{
    axes->values[axis] = tlc_words(list);
    for (char **word = axes->values[axis]; word && *word; word++) {
        for (const char *at = *word; *at; at++)
            if (!isalnum((unsigned char)*at) && !strchr("._-:/", *at))
                return tlc_fail(error, TLC_USAGE, "pair: %s: '%.64s': write names parted by commas",
                                option, *word);
        if (check_word(axis, option, *word, error) != TLC_OK)
            return error->status;
        axes->count[axis]++;
    }
    return axes->count[axis] ? TLC_OK
                             : tlc_fail(error, TLC_USAGE, "pair: %s: no names in it", option);
}

static enum tlc_status read_axes(const struct tlc_pair_options *options, struct axes *axes,
                                 struct tlc_error *error)
{
    const struct {
        enum axis axis;
        const char *option, *list;
    } all[] = {{STACK, "--stack", options->stacks},
               {CLIENT_STACK, "--client-stack", options->client_stacks},
               {VERSION, "--versions", options->versions},
               {GROUP, "--groups", options->groups},
               {CERTIFICATE, "--certs", options->certificates},
               {CLIENT_AUTH, "--client-auth", options->client_auth},
               {INTERMEDIATES, "--intermediates", options->intermediates},
               {RESUMPTION, "--resumption", options->resumption}};
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; status == TLC_OK && i < AXES; i++)
        status = read_axis(axes, all[i].axis, all[i].option, all[i].list, error);
    return status;
}

static void free_axes(struct axes *axes)
{
    for (size_t i = 0; i < AXES; i++)
        tlc_words_free(axes->values[i]);
}

// ---- one combination

static bool is_tls12(const char *version)
{
    return tlc_code(TLC_NAME_VERSION, version) == TLC_TLS12;
}

// "resumed" stands for the version's usual way.
static const char *resumption_of(const char *word, bool tls12)
{
    if (!strcmp(word, "full"))
        return "none";
    return strcmp(word, "resumed") ? word : tls12 ? "ticket" : "psk_dhe_ke";
}

const char *tlc_pair_resumption(const char *word, const char *version)
{
    return resumption_of(word, is_tls12(version));
}

static bool can_exist(const char *const *value)
{
    bool tls12 = is_tls12(value[VERSION]);
    const char *resumption = resumption_of(value[RESUMPTION], tls12);
    bool of_12 = !strcmp(resumption, "ticket") || !strcmp(resumption, "session-id");
    if (!tls12)
        return !of_12;
    return !strcasestr(value[GROUP], "mlkem") && strncmp(value[CERTIFICATE], "mldsa", 5) != 0 &&
           strncmp(resumption, "psk_", 4) != 0;
}

// TLS 1.2 serves an ECDSA certificate only to clients that offer its curve (RFC 8422, 5.1.1), which
// then stands behind the group asked for.
static const char *curve_to_add(const char *const *value)
{
    const char *curve = !strcmp(value[CERTIFICATE], "ecdsa-p256")   ? "secp256r1"
                        : !strcmp(value[CERTIFICATE], "ecdsa-p384") ? "secp384r1"
                                                                    : NULL;
    uint16_t groups[16], code = curve ? tlc_code(TLC_NAME_GROUP, curve) : 0;
    size_t count = 0;
    struct tlc_error ignored;
    if (!curve || !is_tls12(value[VERSION]) ||
        tlc_codes_parse(TLC_NAME_GROUP, value[GROUP], groups, 16, &count, &ignored) != TLC_OK)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (groups[i] == code)
            return NULL;
    return curve;
}

// A value that goes without saying.
static bool is_usual(enum axis axis, const char *value)
{
    static const char *const usual[AXES] = {
        [STACK] = "openssl",        [CLIENT_STACK] = "same",      [VERSION] = "TLSv1.3",
        [GROUP] = "X25519MLKEM768", [CERTIFICATE] = "ecdsa-p256", [CLIENT_AUTH] = "none",
        [INTERMEDIATES] = "0",      [RESUMPTION] = "full"};
    return !strcmp(value, usual[axis]);
}

// What is not usual or differs between the arms; group and resumption when that is nothing.
static void name_arm(const struct builder *builder, const char *const *value, bool flight,
                     char *name, size_t capacity)
{
    static const char *const before[AXES] = {[CLIENT_STACK] = "client ",
                                             [CLIENT_AUTH] = "client-auth ",
                                             [INTERMEDIATES] = "intermediates "};
    size_t used = 0;
    *name = '\0';
    for (size_t axis = 0; axis < AXES && used < capacity; axis++) {
        if (builder->axes.count[axis] < 2 && is_usual((enum axis)axis, value[axis]))
            continue;
        // A path to a plug-in is not part of a name, its last part is.
        const char *slash = strrchr(value[axis], '/');
        used += (size_t)snprintf(name + used, capacity - used, "%s%s%s", used ? " " : "",
                                 before[axis] ? before[axis] : "", slash ? slash + 1 : value[axis]);
    }
    if (!used)
        used = (size_t)snprintf(name, capacity, "%s %s", value[GROUP], value[RESUMPTION]);
    if (flight && used < capacity)
        snprintf(name + used, capacity - used, " flight");
}

static void write_arm(struct builder *builder, const char *const *value, bool flight)
{
    const struct tlc_pair_options *options = builder->options;
    const char *resumption = resumption_of(value[RESUMPTION], is_tls12(value[VERSION]));
    const char *curve = curve_to_add(value);
    char *name = builder->names[builder->arms];
    name_arm(builder, value, flight, name, sizeof builder->names[0]);
    if (builder->arms++)
        fprintf(builder->yaml, "  - {name: \"%s\", ", name);
    else
        fprintf(builder->yaml, "baseline: {");
    fprintf(builder->yaml,
            "stack: \"%s\", client_stack: \"%s\", version: \"%s\", groups: \"%s%s%s\", "
            "certificate: \"%s\", client_auth: \"%s\", intermediates: \"%s\", resumption: \"%s\", "
            "resume_ratio: %s, side: \"%s\", provider: \"%s\"}\n",
            value[STACK], value[CLIENT_STACK], value[VERSION], value[GROUP], curve ? ":" : "",
            curve ? curve : "", value[CERTIFICATE], value[CLIENT_AUTH], value[INTERMEDIATES],
            resumption, strcmp(resumption, "none") ? "100%" : "0%",
            flight ? "flight" : options->side, options->provider ? options->provider : "none");
    if (builder->arms == 1)
        fprintf(builder->yaml, "include:\n");
}

static enum tlc_status add_combination(struct builder *builder, size_t index,
                                       struct tlc_error *error)
{
    const char *value[AXES];
    for (size_t axis = AXES; axis-- > 0;) {
        value[axis] = builder->axes.values[axis][index % builder->axes.count[axis]];
        index /= builder->axes.count[axis];
    }
    if (!can_exist(value)) {
        builder->left_out++;
        return TLC_OK;
    }
    for (int flight = 0; flight <= (builder->options->replay ? 1 : 0); flight++) {
        if (builder->arms == sizeof builder->names / sizeof *builder->names)
            return tlc_fail(error, TLC_USAGE, "pair: more than %zu arms; write shorter lists",
                            builder->arms);
        write_arm(builder, value, flight);
    }
    return TLC_OK;
}

// ---- the plan

static enum tlc_status write_arms(struct builder *builder, struct tlc_error *error)
{
    size_t product = 1;
    enum tlc_status status = TLC_OK;
    for (size_t axis = 0; axis < AXES; axis++)
        if (product <= 4096)
            product *= builder->axes.count[axis];
    if (product > 4096)
        return tlc_fail(error, TLC_USAGE, "pair: more than 4096 combinations; write shorter lists");
    for (size_t i = 0; status == TLC_OK && i < product; i++)
        status = add_combination(builder, i, error);
    if (status == TLC_OK && !builder->arms)
        return tlc_fail(error, TLC_USAGE,
                        "pair: none of the combinations can exist: ML-KEM, ML-DSA and psk modes "
                        "are TLS 1.3's, ticket and session-id TLS 1.2's; write other lists");
    return status;
}

static enum tlc_status write_yaml(struct builder *builder, char **text, size_t *size,
                                  struct tlc_error *error)
{
    const struct tlc_pair_options *options = builder->options;
    builder->yaml = open_memstream(text, size);
    if (!builder->yaml)
        return tlc_fail_errno(error, "pair");
    fprintf(builder->yaml,
            "name: pair\nquestion: What does a handshake in memory cost each side?\n"
            "workload: memory\ncontrol: false\n"
            "schedule: {blocks: 6, rounds: %" PRIu64 ", slice: %" PRIu64 "us, count: %" PRIu64
            ", warm_up: %" PRIu64 "us}\nchecks: {server_busy: 0%%%s}\n",
            options->iterations, options->slice_us, options->count, options->warm_up_us,
            options->busy_machine ? ", accounting: 10000%, steal: 100%" : "");
    enum tlc_status status = write_arms(builder, error);
    // The list of further arms may be empty.
    if (status == TLC_OK && builder->arms == 1)
        fprintf(builder->yaml, "  []\n");
    if (fclose(builder->yaml) && status == TLC_OK)
        status = tlc_fail_errno(error, "pair");
    return status;
}

static enum tlc_status name_baseline(struct tlc_plan *plan, const char *name,
                                     struct tlc_error *error)
{
    char *copy = strdup(name);
    if (!copy)
        return tlc_fail(error, TLC_ENVIRONMENT, "pair: out of memory");
    free(plan->arms[0].name);
    plan->arms[0].name = copy;
    return TLC_OK;
}

enum tlc_status tlc_pair_plan(const struct tlc_pair_options *options, struct tlc_plan **plan,
                              unsigned *left_out, struct tlc_error *error)
{
    struct builder *builder = calloc(1, sizeof *builder);
    char *text = NULL;
    size_t size = 0;
    *plan = NULL;
    if (!builder)
        return tlc_fail(error, TLC_ENVIRONMENT, "pair: out of memory");
    builder->options = options;
    enum tlc_status status = read_axes(options, &builder->axes, error);
    if (status == TLC_OK)
        status = write_yaml(builder, &text, &size, error);
    if (status == TLC_OK)
        status = tlc_plan_parse(text, size, "pair", plan, error);
    if (status == TLC_OK)
        status = name_baseline(*plan, builder->names[0], error);
    if (status == TLC_OK)
        (*plan)->schedule.blocks = (unsigned)options->blocks;
    *left_out = builder->left_out;
    if (status != TLC_OK) {
        tlc_plan_free(*plan);
        *plan = NULL;
    }
    free_axes(&builder->axes);
    free(builder);
    free(text);
    return status;
}
