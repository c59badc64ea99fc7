// Which cases a plug-in is tested with, and the child processes that run them.
#include "stacks/self_test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message.h"
#include "base/names.h"
#include "stacks/loader.h"

#define CASE_TIMEOUT_MS 60000

static volatile sig_atomic_t interrupted;

void tlc_stack_self_test_interrupt(void)
{
    interrupted = 1;
}

struct cases {
    struct tlc_self_test_case *list;
    size_t count;
};

uint16_t tlc_self_test_signature(const char *key_type)
{
    static const struct {
        const char *prefix;
        uint16_t scheme;
    } table[] = {{"ecdsa-p256", 0x0403}, {"ecdsa-p384", 0x0503}, {"ed25519", 0x0807},
                 {"rsa-", 0x0804},       {"mldsa-44", 0x0904},   {"mldsa-65", 0x0905},
                 {"mldsa-87", 0x0906}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strncmp(key_type, table[i].prefix, strlen(table[i].prefix)))
            return table[i].scheme;
    return 0;
}

static bool possible(uint16_t version, uint16_t group, uint16_t signature)
{
    if (version == TLC_TLS13)
        return true;
    // ML-KEM groups (draft-ietf-tls-ecdhe-mlkem) and ML-DSA are defined for TLS 1.3 alone.
    return group < TLC_GROUP_MLKEM512 && (signature & 0xff00) != 0x0900;
}

static bool add_case(struct cases *cases, struct tlc_self_test_case one)
{
    if (cases->count % 32 == 0) {
        void *grown = realloc(cases->list, (cases->count + 32) * sizeof *cases->list);
        if (!grown)
            return false;
        cases->list = grown;
    }
    cases->list[cases->count++] = one;
    return true;
}

static bool supports(const struct tlc_stack *stack, enum tlc_stack_feature kind, uint16_t code)
{
    return stack->supports(kind, code, NULL);
}

// Every version with every group and key type.
static bool add_matrix(struct cases *cases, const struct tlc_stack *stack)
{
    const char *name;
    for (size_t v = 0; (name = tlc_name_at(TLC_NAME_VERSION, v)); v++) {
        uint16_t version = tlc_code(TLC_NAME_VERSION, name);
        for (size_t g = 0; (name = tlc_name_at(TLC_NAME_GROUP, g)); g++) {
            uint16_t group = tlc_code(TLC_NAME_GROUP, name);
            if (!supports(stack, TLC_FEATURE_VERSION, version) ||
                !supports(stack, TLC_FEATURE_GROUP, group))
                continue;
            for (size_t c = 0; c < TLC_SELF_KEY_TYPES && (name = tlc_certs_name_at(c)); c++) {
                uint16_t signature = tlc_self_test_signature(name);
                if (!supports(stack, TLC_FEATURE_SIGNATURE, signature) ||
                    !possible(version, group, signature))
                    continue;
                if (!add_case(cases, (struct tlc_self_test_case){TLC_SELF_HANDSHAKE, version, group,
                                                                 signature, c, NULL}))
                    return false;
            }
        }
    }
    return true;
}

static bool feature_offered(const struct tlc_stack *stack, enum tlc_self_test_feature feature,
                            uint16_t version)
{
    bool tls13 = version == TLC_TLS13;
    switch (feature) {
    case TLC_SELF_HANDSHAKE:
        return false; // the matrix has it
    case TLC_SELF_OPERATION:
        return false; // each has a case of its own
    case TLC_SELF_SOCKET:
        return true;
    case TLC_SELF_RETRY:
        return tls13 && supports(stack, TLC_FEATURE_GROUP, TLC_GROUP_SECP384R1);
    case TLC_SELF_STATELESS:
        return stack->session_export && supports(stack, TLC_FEATURE_TICKETS, TLC_TICKETS_STATELESS);
    case TLC_SELF_STATEFUL:
        return stack->session_export && supports(stack, TLC_FEATURE_TICKETS, TLC_TICKETS_STATEFUL);
    case TLC_SELF_PSK_KE:
        return tls13 && stack->session_export && supports(stack, TLC_FEATURE_PSK_MODE, 0);
    case TLC_SELF_TICKET_KEYS:
        return stack->session_export && stack->ticket_keys_replace &&
               supports(stack, TLC_FEATURE_TICKET_KEYS, 0);
    case TLC_SELF_CLIENT_AUTH:
        return supports(stack, TLC_FEATURE_CLIENT_AUTH, 0);
    case TLC_SELF_SNI:
        return supports(stack, TLC_FEATURE_SNI_TABLE, 0);
    case TLC_SELF_ALPN:
        return true;
    case TLC_SELF_COOKIE:
        return tls13 && supports(stack, TLC_FEATURE_COOKIE, 0);
    }
    return false;
}

// Every feature once for each version, with the first case of that version.
static bool add_features(struct cases *cases, const struct tlc_stack *stack)
{
    size_t matrix = cases->count;
    uint16_t version = 0;
    for (size_t i = 0; i < matrix; i++) {
        if (cases->list[i].version == version)
            continue;
        version = cases->list[i].version;
        for (int feature = 0; feature <= TLC_SELF_COOKIE; feature++) {
            struct tlc_self_test_case one = cases->list[i];
            one.feature = (enum tlc_self_test_feature)feature;
            if (feature_offered(stack, one.feature, version) && !add_case(cases, one))
                return false;
        }
    }
    return true;
}

// Every raw operation, where the plug-in has them.
static bool add_operations(struct cases *cases, const struct tlc_stack *stack)
{
    const char *name;
    if (!cases->count || !stack->operations)
        return true;
    for (size_t i = 0; (name = stack->operations->name_at(i)); i++)
        if (!add_case(cases, (struct tlc_self_test_case){.feature = TLC_SELF_OPERATION,
                                                         .certificate = cases->list[0].certificate,
                                                         .operation = name}))
            return false;
    return true;
}

static bool add_all(struct cases *cases, const struct tlc_stack *stack)
{
    return add_matrix(cases, stack) && add_features(cases, stack) && add_operations(cases, stack);
}

static void remove_folder(const char *folder, const char *const *files)
{
    char path[512];
    for (; *files; files++) {
        snprintf(path, sizeof path, "%s/%s", folder, *files);
        unlink(path);
    }
    rmdir(folder);
}

// A client certificate comes from a folder only.
static enum tlc_status make_client(struct tlc_certs_pair *client, struct tlc_error *error)
{
    static const char *const names[] = {"ecdsa-p256", NULL};
    static const char *const files[] = {"ca.pem",
                                        "ca.key",
                                        "ecdsa-p256.pem",
                                        "ecdsa-p256.key",
                                        "manifest.json",
                                        "client-ecdsa-p256.pem",
                                        "client-ecdsa-p256.key",
                                        ".lock",
                                        "lock",
                                        NULL};
    char folder[] = "/tmp/tlscost-self-test-XXXXXX";
    if (!mkdtemp(folder))
        return tlc_fail_errno(error, "self-test: %s", folder);
    const struct tlc_certs_options options = {
        .directory = folder, .names = names, .client = "ecdsa-p256"};
    enum tlc_status status = tlc_certs_make(&options, NULL, error);
    if (!status)
        status = tlc_certs_read(folder, "client-ecdsa-p256", client, error);
    remove_folder(folder, files);
    return status;
}

static enum tlc_status make_certificates(const struct cases *cases,
                                         struct tlc_self_test_certificates *certificates,
                                         struct tlc_error *error)
{
    enum tlc_status status = TLC_OK;
    for (size_t i = 0; !status && i < cases->count; i++) {
        size_t c = cases->list[i].certificate;
        if (!certificates->pairs[c].chain_pem)
            status = tlc_certs_in_memory(tlc_certs_name_at(c), &certificates->pairs[c], error);
    }
    return status ? status : make_client(&certificates->client, error);
}

static void free_certificates(struct tlc_self_test_certificates *certificates)
{
    for (size_t i = 0; i < TLC_SELF_KEY_TYPES; i++)
        tlc_certs_pair_free(&certificates->pairs[i]);
    tlc_certs_pair_free(&certificates->client);
}

static _Noreturn void run_child(const struct tlc_stack *stack, const struct cases *cases,
                                const struct tlc_self_test_certificates *certificates, size_t first,
                                int parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); // a terminal sends it to all: the parent ends this case
    for (size_t i = first; i < cases->count; i++) {
        struct tlc_reason reason = {""};
        bool good = tlc_self_test_run(stack, &cases->list[i], certificates, &reason);
        json_t *message = json_pack("{s:b, s:s}", "ok", good, "reason", reason.text);
        if (!message || tlc_message_send(parent, message, NULL))
            _exit(1);
        json_decref(message);
    }
    _exit(0);
}

static json_t *row_of(const struct tlc_self_test_case *one, bool ok, const char *reason)
{
    if (one->operation) // of no version, group and certificate
        return json_pack("{s:s, s:s, s:s, s:o, s:b, s:s}", "version", "-", "group", "-",
                         "certificate", "-", "feature",
                         json_sprintf("operation %s", one->operation), "ok", ok, "reason", reason);
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:s}", "version",
                     tlc_name(TLC_NAME_VERSION, one->version), "group",
                     tlc_name(TLC_NAME_GROUP, one->group), "certificate",
                     tlc_certs_name_at(one->certificate), "feature",
                     tlc_self_test_feature_name(one->feature), "ok", ok, "reason", reason);
}

static void describe_end(int state, char *text, size_t capacity)
{
    if (WIFSIGNALED(state))
        snprintf(text, capacity, "the library crashed: signal %d (%s)", WTERMSIG(state),
                 strsignal(WTERMSIG(state)));
    else
        snprintf(text, capacity, "the library ended the process with code %d", WEXITSTATUS(state));
}

// Runs cases from `first` on in one child; a crash or a hang fails the case it came in. Returns the
// index of the next case to run.
static size_t run_some(const struct tlc_stack *stack, const struct cases *cases,
                       const struct tlc_self_test_certificates *certificates, size_t first,
                       json_t *rows)
{
    int ends[2];
    char reason[320] = "";
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return cases->count;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        run_child(stack, cases, certificates, first, ends[1]);
    }
    close(ends[1]);
    size_t at = first;
    json_t *message = NULL;
    struct tlc_error error;
    while (child > 0 && at < cases->count && !interrupted &&
           !tlc_message_receive(ends[0], CASE_TIMEOUT_MS, &message, &error)) {
        json_array_append_new(rows, row_of(&cases->list[at++],
                                           json_is_true(json_object_get(message, "ok")),
                                           json_string_value(json_object_get(message, "reason"))));
        json_decref(message);
    }
    close(ends[0]);
    int state = 0;
    if (child > 0) {
        if (at < cases->count && waitpid(child, &state, WNOHANG) == 0) {
            // Give a crashing child its moment, then end one that hangs.
            usleep(100000);
            if (waitpid(child, &state, WNOHANG) == 0)
                snprintf(reason, sizeof reason, "no end after %d s", CASE_TIMEOUT_MS / 1000);
        }
        kill(child, SIGKILL);
        while (waitpid(child, &state, 0) < 0 && errno == EINTR)
            ;
    }
    if (at < cases->count && !interrupted) {
        if (!reason[0])
            describe_end(state, reason, sizeof reason);
        json_array_append_new(rows, row_of(&cases->list[at++], false, reason));
    }
    return at;
}

// A library that crashes when it is asked what it supports must not take the program with it: a
// child asks first.
static enum tlc_status ask_in_child(const struct tlc_stack_plugin *plugin, struct tlc_error *error)
{
    char reason[160];
    int state = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return tlc_fail_errno(error, "self-test: %s: fork", plugin->id);
    if (child == 0) {
        struct cases cases = {NULL, 0};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(CASE_TIMEOUT_MS / 1000);
        _exit(add_all(&cases, plugin->stack) ? 0 : 1);
    }
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return TLC_OK;
    describe_end(state, reason, sizeof reason);
    return tlc_fail(error, TLC_ENVIRONMENT, "self-test: %s: asked what it supports: %s", plugin->id,
                    reason);
}

static enum tlc_status first_failure(const char *id, const json_t *rows, struct tlc_error *error)
{
    size_t index;
    json_t *row;
    json_array_foreach(rows, index, row)
    {
        if (json_is_true(json_object_get(row, "ok")))
            continue;
        return tlc_fail(error, TLC_ENVIRONMENT, "self-test: %s: %s %s %s %s: %s", id,
                        json_string_value(json_object_get(row, "feature")),
                        json_string_value(json_object_get(row, "version")),
                        json_string_value(json_object_get(row, "group")),
                        json_string_value(json_object_get(row, "certificate")),
                        json_string_value(json_object_get(row, "reason")));
    }
    return TLC_OK;
}

enum tlc_status tlc_stack_self_test(const struct tlc_stack_plugin *plugin, json_t **rows,
                                    struct tlc_error *error)
{
    struct cases cases = {NULL, 0};
    struct tlc_self_test_certificates *certificates = calloc(1, sizeof *certificates);
    json_t *all = json_array();
    enum tlc_status status = ask_in_child(plugin, error);
    if (status)
        goto out;
    if (!certificates || !all || !add_all(&cases, plugin->stack))
        status = tlc_fail(error, TLC_ENVIRONMENT, "self-test: %s: out of memory", plugin->id);
    else if (!cases.count)
        status = tlc_fail(error, TLC_ENVIRONMENT,
                          "self-test: %s: the library supports no version, group and key type",
                          plugin->id);
    else
        status = make_certificates(&cases, certificates, error);
    for (size_t next = 0; !status && !interrupted && next < cases.count;)
        next = run_some(plugin->stack, &cases, certificates, next, all);
    if (!status && interrupted)
        status =
            tlc_fail(error, TLC_INTERRUPTED, "self-test: %s: interrupted; %zu of %zu cases ran",
                     plugin->id, json_array_size(all), cases.count);
    if (!status && json_array_size(all) != cases.count)
        status = tlc_fail(error, TLC_ENVIRONMENT, "self-test: %s: %zu of %zu cases ran", plugin->id,
                          json_array_size(all), cases.count);
    if (!status)
        status = first_failure(plugin->id, all, error);
out:
    if (rows)
        *rows = json_incref(all);
    json_decref(all);
    if (certificates)
        free_certificates(certificates);
    free(certificates);
    free(cases.list);
    return status;
}
