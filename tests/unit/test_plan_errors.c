// Each mistake a plan can hold is named with its line and a way out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

#define HEAD "name: x\nquestion: q\n" // lines 1 and 2

struct mistake {
    const char *text;
    int line;
    const char *want; // part of the error
};

static void check(const struct mistake *mistake)
{
    struct tlc_plan *plan;
    struct tlc_error error = {0};
    char start[64];
    enum tlc_status status =
        tlc_plan_parse(mistake->text, strlen(mistake->text), "mine.yaml", &plan, &error);
    snprintf(start, sizeof start, "plan: mine.yaml:%d: ", mistake->line);
    if (status != TLC_USAGE || plan || strncmp(error.text, start, strlen(start)) ||
        !strstr(error.text, mistake->want) || !strstr(error.text, "; "))
        fail_msg("%s\n-> status %d, %s\nwanted %s...%s", mistake->text, (int)status, error.text,
                 start, mistake->want);
}

#define CHECK_ALL(table)                                                                           \
    for (size_t i = 0; i < sizeof(table) / sizeof *(table); i++)                                   \
    check(&(table)[i])

static void not_yaml(void **state)
{
    (void)state;
    static const struct mistake table[] = {
        {"", 1, "no plan"},
        {"# nothing\n", 1, "no plan"},
        {"- a\n- b\n", 1, "no plan"},
        {HEAD "baseline:\n\tstack: openssl\n", 4, "not YAML"},
        {HEAD "baseline: {stack: openssl\n", 4, "not YAML"},
        {HEAD "levers: [[[[[[[[[[[[[[[[[[[[[[a]]]]]]]]]]]]]]]]]]]]]]\n", 3, "nested too deeply"},
        {HEAD "baseline: {stack: *other}\n", 3, "alias"},
        {HEAD "baseline: &all {stack: openssl}\nexclude: [*all]\n", 4, "alias"},
        {HEAD "---\nname: y\n", 3, "second document"},
        {"name: \"x\\0y\"\nquestion: q\n", 1, "zero character"},
        {"name: \"\xff\"\nquestion: q\n", 1, "not YAML"},
    };
    CHECK_ALL(table);
}

static void not_the_schema(void **state)
{
    (void)state;
    static const struct mistake table[] = {
        {"question: q\n", 1, "'name' is missing"},
        {"name: x\n", 1, "'question' is missing"},
        {HEAD "\nbaselin: {stack: openssl}\n", 4, "unknown key 'baselin', did you mean 'baseline'"},
        {"colour: red\n" HEAD, 1, "unknown key 'colour'; write one of name, question"},
        {HEAD "baseline:\n  stack: openssl\n  certificat: rsa-2048\n", 5, "mean 'certificate'"},
        {HEAD "baseline:\n  stack: openssl\nschedul: {blocks: 8}\n", 5, "mean 'schedule'"},
        {HEAD "schedule:\n  blocks: 8\n  round: 3\n", 5, "did you mean 'rounds'"},
        {HEAD "checks: {steal: 1%,\n  stael: 2%}\n", 4, "did you mean 'steal'"},
        {HEAD "matrix:\n  group: [X25519]\n", 4, "did you mean 'groups'"},
        {HEAD "levers:\n  - key: groups\n    values: [P-256]\n  - key: groups\n    valus: [a]\n", 7,
         "did you mean 'values'"},
        {HEAD "exclude:\n  - name: a\n", 4, "unknown key 'name'"},
        {HEAD "include:\n  - name: a\n  - version: TLSv1.3\n", 5, "'name' is missing"},
        {HEAD "levers:\n  - key: groups\n", 4, "'values' is missing"},
        {HEAD "levers:\n  - values: [P-256]\n", 4, "'key' is missing"},
        {HEAD "levers:\n  - {key: groups, values: []}\n", 4, "too few entries; write at least 1"},
        {HEAD "baseline: openssl\n", 3, "write a group of keys"},
        {HEAD "baseline:\n  stack: [openssl]\n", 4, "a list cannot stand here; write one value"},
        {HEAD "matrix:\n  groups: X25519\n", 4, "write a list"},
        {HEAD "levers:\n  key: groups\n  values: [P-256]\n", 4, "write a list"},
        {HEAD "levers:\n", 3, "one value cannot stand here; write a list"},
        {HEAD "matrix: {groups: []}\n", 3, "too few entries; write at least 1"},
        {HEAD "? [a]\n: b\n", 2, "this cannot stand here; write it as in docs/plan.md"},
        {HEAD "name: y\n", 3, "'name' is given twice"},
        {HEAD "baseline:\n  stack: a\n  tickets: 1\n  stack: b\n", 6, "'stack' is given twice"},
    };
    CHECK_ALL(table);
}

static void wrong_values(void **state)
{
    (void)state;
    static const struct mistake table[] = {
        {"name: My plan\nquestion: q\n", 1, "cannot name a plan"},
        {"name: x\nquestion: ''\n", 2, "one question"},
        {HEAD "workload: netwrk\n", 3, "did you mean 'network'"},
        {HEAD "include:\n  - name: a\n    against: b\n", 5, "no arm is called so"},
        {HEAD "include:\n  - {name: a, against: b}\n  - {name: b, against: a}\n", 4,
         "lead back to it"},
        {HEAD "include:\n  - name: a\n    against: workers=2\n", 5, "differs in that key alone"},
        {HEAD "include:\n  - name: a\n    workload: primitive\n", 4, "runs one operation"},
        {HEAD "include:\n  - name: a\n    operation: x25519-keygen\n", 5,
         "only workload primitive"},
        {HEAD "include:\n  - name: a\n    client_auth: rsa-2048\n", 5, "no client certificate"},
        {HEAD "include:\n  - name: a\n    workload: primitive\n    operation: x25519-keygen\n"
              "    client_auth: rsa-2048\n",
         7, "network and memory"},
        {HEAD "include:\n  - name: a\n    engine: full\n    client_auth: rsa-2048\n"
              "    server: nginx\n",
         6, "own server is told"},
        {HEAD "include:\n  - name: a\n    engine: full\n    version: TLSv1.2\n"
              "    groups: X25519:P-256\n    client_auth: mldsa-44\n",
         8, "another key type"},
        {HEAD "include:\n  - name: a\n    engine: full\n    names: 2\n", 6, "lean engine chooses"},
        {HEAD "include:\n  - name: a\n    allocations: true\n    names: 2\n", 6, "uncounted"},
        {HEAD "include:\n  - name: a\n    server: nginx\n    names: 2\n", 6, "numbered"},
        {HEAD "include:\n  - name: a\n    resumption: psk_ke\n    resume_ratio: 50%\n"
              "    names: 2\n",
         7, "belongs to one name"},
        {HEAD "include:\n  - name: a\n    visits: zipf\n", 5, "choose among names"},
        {HEAD "include:\n  - name: a\n    names: 20001\n", 5, "20000"},
        {HEAD "include:\n  - name: a\n    cpu_mask: no-aes\n", 5, "no value of OPENSSL_ia32cap"},
        {HEAD "baseline: {equal: true}\n", 3, "divided by nothing"},
        {HEAD "control: maybe\n", 3, "write true or false"},
        {HEAD "baseline: {stack: ../evil}\n", 3, "is no name"},
        {HEAD "baseline:\n  certificate: rsa-2047\n", 4, "did you mean 'rsa-2048'"},
        {HEAD "baseline: {groups: X25518}\n", 3, "did you mean 'X25519'"},
        {HEAD "baseline: {groups: 'X25519:'}\n", 3, "group '' is unknown"},
        {HEAD "baseline: {groups: 'P-256:secp256r1'}\n", 3, "listed twice"},
        {HEAD "baseline: {version: SSLv3}\n", 3, "version 'SSLv3' is unknown"},
        {HEAD "baseline: {cipher: TLS_AES_128_GCM_SHA257}\n", 3, "mean 'TLS_AES_128_GCM_SHA256'"},
        {HEAD "baseline: {resumption: psk}\n", 3, "write one of none, psk_dhe_ke"},
        {HEAD "baseline: {resume_ratio: 0.5}\n", 3, "not a percentage"},
        {HEAD "baseline: {resume_ratio: 101%}\n", 3, "0% to 100%"},
        {HEAD "baseline: {resume_ratio: nan%}\n", 3, "not a percentage"},
        {HEAD "baseline: {tickets: -1}\n", 3, "0 to 16, or default"},
        {HEAD "baseline: {tickets: off}\n", 3, "0 to 16, or default"},
        {HEAD "baseline: {workers: 0}\n", 3, "1 to 256"},
        {HEAD "baseline: {workers: 2.5}\n", 3, "1 to 256"},
        {HEAD "baseline: {workers: 99999999999999999999}\n", 3, "1 to 256"},
        {HEAD "baseline: {accept: none}\n", 3, "shared, reuseport"},
        {HEAD "baseline: {engine: ful}\n", 3, "did you mean 'full'"},
        {HEAD "baseline: {share: honst}\n", 3, "did you mean 'honest'"},
        {HEAD "baseline: {close: rst}\n", 3, "reset, fin, close-notify"},
        {HEAD "baseline: {alpn: 'h2,http/1.1'}\n", 3, "no protocol name"},
        {HEAD "baseline: {intermediates: 7}\n", 3, "0 to 6"},
        {HEAD "baseline: {burn: 10}\n", 3, "not a time"},
        {HEAD "baseline: {burn: 2s}\n", 3, "from 0us to 1s"},
        {HEAD "baseline: {rtt: 1ms}\n", 3, "only the workload connect has this"},
        {HEAD "workload: connect\nbaseline: {engine: full}\n", 4, "needs a path"},
        {HEAD "workload: connect\nbaseline: {rtt: 1ms}\n", 4, "write engine: full"},
        {HEAD "workload: connect\nbaseline: {engine: full, rtt: '1ms:1ms'}\n", 4, "no list"},
        {HEAD "workload: connect\nbaseline: {engine: full, rtt: 11s}\n", 4, "no list"},
        {HEAD "workload: connect\nbaseline: {engine: full, rtt: 1ms, rate: 9}\n", 4, "10mbit"},
        {HEAD "workload: connect\nbaseline: {engine: full, rtt: 1ms, loss: 51%}\n", 4, "0% to 50%"},
        {HEAD "workload: connect\nbaseline: {engine: full, rtt: 1ms, alpn: h2, upgrade: yes}\n", 4,
         "ALPN chooses"},
        {HEAD
         "workload: connect\nbaseline: {engine: full, rtt: 1ms, version: '1.2', groups: P-256, "
         "hello_retry: yes}\n",
         4, "HelloRetryRequest exists in TLS 1.3 only"},
        {HEAD "baseline: {cookie: true, engine: full}\n", 3, "engine: lean"},
        {HEAD "baseline: {cookie: true, server: go}\n", 3, "leave server out"},
        {HEAD "baseline: {cookie: true, resumption: psk_dhe_ke, resume_ratio: 50%}\n", 3,
         "cookie: false"},
        {HEAD "baseline: {handshake_timeout: 1s, workload: memory}\n", 3, "workload: network"},
        {HEAD "baseline: {handshake_timeout: 10us}\n", 3, "whole milliseconds"},
        {HEAD "baseline: {handshake_timeout: 500us}\n", 3, "whole milliseconds"},
        {HEAD "baseline: {handshake_timeout: 2s, workload: memory}\n", 3, "handshake_timeout"},
        {HEAD "baseline: {authority: root}\n", 3, "rsa-2048, leaf"},
        {HEAD "baseline: {concurrency: 0}\n", 3, "1 to 10000"},
        {HEAD "schedule: {blocks: 5}\n", 3, "6 to 200"},
        {HEAD "schedule: {rounds: 0}\n", 3, "1 to 10000"},
        {HEAD "schedule:\n  slice: 100\n", 4, "slice '100' is not a time from 1ms to 60s"},
        {HEAD "schedule: {slice: 1us}\n", 3, "from 1ms to 60s"},
        {HEAD "schedule: {settle: 1h}\n", 3, "not a time"},
        {HEAD "schedule: {bookends: maybe}\n", 3, "write true or false"},
        {HEAD "baseline: {instance: shared}\n", 3, "own, baseline"},
        {HEAD "baseline: {instance: baseline}\n", 3, "write instance: own"},
        {HEAD "include:\n  - {name: a, certificate: ed25519, instance: baseline}\n", 4,
         "another certificate"},
        {HEAD "include:\n  - {name: a, workers: 2, instance: baseline}\n", 4, "another workers"},
        {HEAD "include:\n  - {name: a, groups: P-256, instance: baseline}\n", 4, "another groups"},
        {HEAD "checks: {steal: 5}\n", 3, "not a percentage"},
        {HEAD "checks: {errors: 1%}\n", 3, "whole number"},
        {HEAD "checks: {margin: -1%}\n", 3, "not a percentage"},
    };
    CHECK_ALL(table);
}

static void wrong_arms(void **state)
{
    (void)state;
    static const struct mistake table[] = {
        {HEAD "levers:\n  - key: certificte\n    values: [a]\n", 4, "did you mean 'certificate'"},
        {HEAD "levers:\n  - key: groups\n    values: [P-256,\n      X25518]\n", 6, "'X25519'"},
        {HEAD "levers:\n  - {key: groups, values: [P-256, X25519MLKEM768]}\n", 4, "baseline's own"},
        {HEAD "levers:\n  - key: groups\n    values:\n      - P-256\n      - secp256r1\n", 7,
         "is the arm 'P-256' again"},
        {HEAD "levers:\n  - {key: groups, values: [P-256]}\n  - {key: groups, values: [P-384]}\n",
         5, "two levers are named 'groups'"},
        {HEAD "matrix:\n  groups: [P-256, P-257]\n", 4, "did you mean 'P-256'"},
        {HEAD "include:\n  - name: control\n", 4, "another arm has this name"},
        {HEAD "include:\n  - {name: a}\n  - {name: b}\n  - name: a\n", 6, "another arm has"},
        {HEAD "include:\n  - name: a/b\n", 4, "cannot name an arm"},
        {HEAD "include:\n  - name: ''\n", 4, "cannot name an arm"},
        {HEAD "include:\n  - {name: a, certificate: b}\n", 4, "certificate 'b' is unknown"},
        {HEAD "matrix: {groups: [P-256]}\nexclude:\n  - {groups: P-384}\n", 5, "no arm of the"},
        {HEAD "matrix: {groups: [P-256]}\nexclude:\n  - {}\n", 5, "every arm"},
        {HEAD "matrix: {groups: [P-256]}\nexclude:\n  - {groups: x}\n", 5, "group 'x'"},
    };
    CHECK_ALL(table);
}

static void contradictions(void **state)
{
    (void)state;
    static const struct mistake table[] = {
        {HEAD "baseline: {engine: full, version: TLSv1.2,\n  groups: X25519}\n", 4,
         "clients that offer its curve"},
        {HEAD "baseline:\n  groups: X25519\n  version: TLSv1.2\n", 5, "lean speaks TLS 1.3 only"},
        {HEAD "levers:\n  - key: version\n    values: [TLSv1.2]\n", 5,
         "arm 'TLSv1.2': engine lean"},
        {HEAD "baseline: {engine: full,\n  version: TLSv1.2}\n", 3, "ML-KEM groups exist"},
        {HEAD "baseline:\n  engine: full\n  version: TLSv1.2\n  groups: X25519\n"
              "  certificate: mldsa-44\n",
         7, "ML-DSA certificates exist"},
        {HEAD "levers:\n  - key: groups\n    values: [P-256, X448]\n", 5, "engine lean knows"},
        {HEAD "baseline: {engine: full,\n  share: cheap}\n", 4, "always makes honest"},
        {HEAD "baseline: {engine: full, version: TLSv1.2, groups: X25519, resume_ratio: 100%,\n"
              "  resumption: psk_ke}\n",
         4, "psk modes exist in TLS 1.3 only"},
        {HEAD "baseline: {resume_ratio: 100%,\n  resumption: ticket}\n", 4, "are TLS 1.2's"},
        {HEAD "include:\n  - {name: a, resumption: psk_dhe_ke}\n", 4, "resume_ratio of 0%"},
        {HEAD "include:\n  - {name: a, resume_ratio: 50%}\n", 4, "ratio without resumption"},
        {HEAD "baseline: {resumption: psk_dhe_ke, resume_ratio: 50%,\n  tickets: 0}\n", 4,
         "resumption needs tickets"},
        {HEAD "baseline:\n  cipher: ECDHE-ECDSA-AES128-GCM-SHA256\n", 4, "another TLS version"},
        {HEAD "baseline:\n  engine: full\n  version: TLSv1.2\n  groups: X25519\n"
              "  cipher: TLS_AES_128_GCM_SHA256\n",
         7, "another TLS version"},
        {HEAD "baseline:\n  engine: full\n  version: TLSv1.2\n  groups: X25519\n"
              "  cipher: ECDHE-RSA-AES128-GCM-SHA256\n",
         7, "does not fit the certificate"},
        {HEAD "baseline: {event: rotate}\nschedule: {slice: 1s}\n", 3, "events are about tickets"},
        {HEAD "baseline: {resumption: psk_dhe_ke, resume_ratio: 100%, event: rotate}\n", 3,
         "too short a slice"},
        {HEAD "baseline: {event: explode}\n", 3, "none, watch, rotate"},
        {HEAD "baseline: {visitors: 5}\n", 3, "resume; write engine: lean"},
        {HEAD "baseline: {resumption: psk_ke, resume_ratio: 1%, visitors: 5, tickets: 2}\n", 3,
         "keeps one ticket"},
        {HEAD "baseline: {concurrency: 2}\nlevers:\n  - {key: workers, values: [2, 4]}\n", 5,
         "arm 'workers=4': fewer connections than workers"},
    };
    CHECK_ALL(table);
}

// The neighbours of each contradiction that are fine.
static void allowed_combinations(void **state)
{
    (void)state;
    static const char *const table[] = {
        HEAD "baseline: {engine: full, version: TLSv1.2, groups: 'X25519:P-256'}\n",
        HEAD "baseline: {engine: full, version: TLSv1.2, groups: X25519, certificate: ed25519, "
             "cipher: ECDHE-ECDSA-AES128-GCM-SHA256}\n",
        HEAD "baseline: {engine: full, version: TLSv1.2, groups: X25519, certificate: rsa-2048, "
             "cipher: ECDHE-RSA-AES128-GCM-SHA256, resumption: session-id, resume_ratio: 100%, "
             "tickets: 0}\n",
        HEAD "baseline: {resumption: psk_ke, resume_ratio: 0.1%, tickets: default}\n",
        HEAD "baseline: {groups: MLKEM768, engine: full}\n",
        HEAD "baseline: {workers: 4, concurrency: 2}\nchecks: {server_busy: 0%}\n",
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct tlc_plan *plan;
        struct tlc_error error = {0};
        if (tlc_plan_parse(table[i], strlen(table[i]), "mine.yaml", &plan, &error) != TLC_OK)
            fail_msg("%s\n-> %s", table[i], error.text);
        tlc_plan_free(plan);
    }
}

// A list of `count` whole numbers from `first` behind `head`.
static char *with_numbers(const char *head, unsigned first, unsigned count)
{
    size_t bytes = strlen(head) + count * 8u + 8;
    char *text = malloc(bytes);
    size_t used = (size_t)snprintf(text, bytes, "%s[", head);
    for (unsigned i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%u,", first + i);
    snprintf(text + used, bytes - used, "]\n");
    return text;
}

static void too_large(void **state)
{
    (void)state;
    char *text = with_numbers(HEAD "matrix:\n  concurrency: ", 20, 200);
    check(&(struct mistake){text, 4, "more than 128 arms"});
    free(text);
    text = with_numbers(HEAD "matrix:\n  tickets: [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]\n"
                             "  intermediates: [0,1]\n  concurrency: ",
                        20, 200);
    check(&(struct mistake){text, 4, "more than 4096 combinations"});
    free(text);
    text = with_numbers(HEAD "matrix:\n  concurrency: ", 20, 300);
    check(&(struct mistake){text, 4, "too many entries; write at most 256"});
    free(text);
    struct tlc_plan *plan;
    struct tlc_error error = {0};
    size_t bytes = (1 << 20) + 1;
    text = malloc(bytes);
    memset(text, '#', bytes);
    assert_int_equal(tlc_plan_parse(text, bytes, "mine.yaml", &plan, &error), TLC_USAGE);
    assert_non_null(strstr(error.text, "larger than 1 MiB"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_yaml),       cmocka_unit_test(not_the_schema),
        cmocka_unit_test(wrong_values),   cmocka_unit_test(wrong_arms),
        cmocka_unit_test(contradictions), cmocka_unit_test(allowed_combinations),
        cmocka_unit_test(too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
