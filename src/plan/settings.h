// The settings a plan may spell: of an arm, of the schedule, of the checks. One table entry each
// says how its text is read, its range and its default. Private to the room.
#ifndef TLC_PLAN_SETTINGS_H
#define TLC_PLAN_SETTINGS_H

#include "plan/plan.h"

// Lists of (identifier, name in YAML): the schema's fields and the tables are made from them.
#define TLC_ARM_KEYS(X)                                                                            \
    X(STACK, "stack")                                                                              \
    X(CERTIFICATE, "certificate")                                                                  \
    X(GROUPS, "groups")                                                                            \
    X(VERSION, "version")                                                                          \
    X(CIPHER, "cipher")                                                                            \
    X(RESUMPTION, "resumption")                                                                    \
    X(RESUME_RATIO, "resume_ratio")                                                                \
    X(TICKETS, "tickets")                                                                          \
    X(WORKERS, "workers")                                                                          \
    X(ACCEPT, "accept")                                                                            \
    X(ENGINE, "engine")                                                                            \
    X(SHARE, "share")                                                                              \
    X(CLOSE, "close")                                                                              \
    X(ALPN, "alpn")                                                                                \
    X(INTERMEDIATES, "intermediates")                                                              \
    X(BURN, "burn")                                                                                \
    X(CONCURRENCY, "concurrency")                                                                  \
    X(TIMEOUT, "timeout")                                                                          \
    X(INSTANCE, "instance")                                                                        \
    X(SERVE_OPTIONS, "serve_options")                                                              \
    X(WORKLOAD, "workload")                                                                        \
    X(PROVIDER, "provider")                                                                        \
    X(CLIENT_STACK, "client_stack")                                                                \
    X(CLIENT_AUTH, "client_auth")                                                                  \
    X(SIDE, "side")                                                                                \
    X(OPERATION, "operation")                                                                      \
    X(AGAINST, "against")                                                                          \
    X(NETWORK, "network")                                                                          \
    X(SERVER, "server")                                                                            \
    X(OWN_WARM_UP, "warm_up")                                                                      \
    X(AUTHORITY, "authority")                                                                      \
    X(RTT, "rtt")                                                                                  \
    X(JITTER, "jitter")                                                                            \
    X(LOSS, "loss")                                                                                \
    X(RATE, "rate")                                                                                \
    X(INITIAL_WINDOW, "initial_window")                                                            \
    X(HELLO_RETRY, "hello_retry")                                                                  \
    X(UPGRADE, "upgrade")                                                                          \
    X(EVENT, "event")                                                                              \
    X(VISITORS, "visitors")                                                                        \
    X(ECHO, "echo")                                                                                \
    X(ALLOCATIONS, "allocations")                                                                  \
    X(OPTIONAL, "optional")                                                                        \
    X(NAMES, "names")                                                                              \
    X(VISITS, "visits")                                                                            \
    X(STOP, "stop")                                                                                \
    X(SPLIT, "split")                                                                              \
    X(PADDING, "padding")                                                                          \
    X(HOLD, "hold")                                                                                \
    X(HOLD_FOR, "hold_for")                                                                        \
    X(OWN_PACE, "pace")                                                                            \
    X(OFFERED, "offered")                                                                          \
    X(CPU_MASK, "cpu_mask")                                                                        \
    X(EQUAL, "equal")                                                                              \
    X(ATTRIBUTE, "attribute")                                                                      \
    X(TRACE, "trace")                                                                              \
    X(BURN_IN, "burn_in")                                                                          \
    X(COOKIE, "cookie")                                                                            \
    X(HANDSHAKE_TIMEOUT, "handshake_timeout")
#define TLC_SCHEDULE_KEYS(X)                                                                       \
    X(BLOCKS, "blocks")                                                                            \
    X(ROUNDS, "rounds")                                                                            \
    X(SLICE, "slice")                                                                              \
    X(COUNT, "count")                                                                              \
    X(WARM_UP, "warm_up")                                                                          \
    X(SETTLE, "settle")                                                                            \
    X(BOOKENDS, "bookends")                                                                        \
    X(DUET, "duet")                                                                                \
    X(UNTIL, "until")                                                                              \
    X(AT_MOST, "at_most")                                                                          \
    X(CONNECTIONS, "connections")                                                                  \
    X(PACE, "pace")                                                                                \
    X(SAMPLING, "sampling")
#define TLC_LIMIT_KEYS(X)                                                                          \
    X(GENERATOR_BUSY, "generator_busy")                                                            \
    X(SERVER_BUSY, "server_busy")                                                                  \
    X(STEAL, "steal")                                                                              \
    X(ACCOUNTING, "accounting")                                                                    \
    X(CONTROL_DRIFT, "control_drift")                                                              \
    X(HEADROOM_GAIN, "headroom_gain")                                                              \
    X(REFUSED_SAMPLES, "refused_samples")                                                          \
    X(ERRORS, "errors")                                                                            \
    X(MARGIN, "margin")                                                                            \
    X(SETTLING, "settling")

#define TLC_ENUMERATE(id, name) TLC_KEY_##id,
enum tlc_arm_key { TLC_ARM_KEYS(TLC_ENUMERATE) TLC_ARM_KEY_COUNT };
enum tlc_schedule_key { TLC_SCHEDULE_KEYS(TLC_ENUMERATE) TLC_SCHEDULE_KEY_COUNT };
enum tlc_limit_key { TLC_LIMIT_KEYS(TLC_ENUMERATE) TLC_LIMIT_KEY_COUNT };
#undef TLC_ENUMERATE

struct tlc_setting;
// Reads `text` into the member of `base`; false with `why` ("what is wrong; what to write
// instead").
typedef bool tlc_setting_reader(const struct tlc_setting *setting, const char *text, void *base,
                                char *why, size_t bytes);

enum tlc_member { // the C type of the member
    TLC_MEMBER_TEXT,
    TLC_MEMBER_DOUBLE,
    TLC_MEMBER_UNSIGNED,
    TLC_MEMBER_INT,
    TLC_MEMBER_UINT64
};

enum tlc_unit {
    TLC_UNIT_NONE,
    TLC_UNIT_SHARE,
    TLC_UNIT_MICROSECONDS,
    TLC_UNIT_SWITCH,
    TLC_UNIT_RATE
};

struct tlc_setting {
    const char *name;   // in YAML
    const char *member; // in JSON, as in the struct
    size_t offset;
    enum tlc_member type;
    enum tlc_unit unit;
    tlc_setting_reader *read;
    const char *fallback;     // text of the default; NULL: not set
    double low, high;         // range of numbers
    const char *const *words; // choices of a word, NULL-terminated
    const char *unset;        // how a plan spells text that is not set; NULL: it always is
};

extern const struct tlc_setting tlc_arm_settings[TLC_ARM_KEY_COUNT];
extern const struct tlc_setting tlc_schedule_settings[TLC_SCHEDULE_KEY_COUNT];
extern const struct tlc_setting tlc_limit_settings[TLC_LIMIT_KEY_COUNT];

#define TLC_WHY_BYTES 512

// Sets every member to its default. The base must be zeroed.
bool tlc_settings_default(const struct tlc_setting *settings, size_t count, void *base);
// The member's value as a plan spells it.
void tlc_setting_format(const struct tlc_setting *setting, const void *base, char *text,
                        size_t bytes);
// The setting of a name; NULL when there is none.
const struct tlc_setting *tlc_setting_named(const struct tlc_setting *settings, size_t count,
                                            const char *name);
json_t *tlc_settings_to_json(const struct tlc_setting *settings, size_t count, const void *base);
// Members of `json` into `base`; one that is missing, as in a result of an earlier version, gets
// its default. False with `why`.
bool tlc_settings_from_json(const struct tlc_setting *settings, size_t count, const json_t *json,
                            void *base, char *why, size_t bytes);
void tlc_settings_free(const struct tlc_setting *settings, size_t count, void *base);
bool tlc_settings_copy(const struct tlc_setting *settings, size_t count, const void *from,
                       void *into);

void tlc_format_time(uint64_t us, char *text, size_t bytes); // "80ms"

// Readers (values.c).
tlc_setting_reader tlc_read_word, tlc_read_identifier, tlc_read_certificate, tlc_read_groups,
    tlc_read_version, tlc_read_cipher, tlc_read_alpn, tlc_read_share, tlc_read_count,
    tlc_read_tickets, tlc_read_time, tlc_read_options, tlc_read_switch, tlc_read_visible,
    tlc_read_other_stack, tlc_read_client_certificate, tlc_read_times, tlc_read_rate,
    tlc_read_cpu_mask;

// The word nearest to `word` by edit distance, NULL when none is near; for "did you mean".
const char *tlc_nearest(const char *word, const char *const *words, size_t count);
// ", did you mean 'x'" in `text`, or nothing.
const char *tlc_did_you_mean(const char *word, const char *const *words, size_t count, char *text,
                             size_t bytes);

#endif
