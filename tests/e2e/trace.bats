# The tracing provider: in tlscost's own server, in one that is not ours, and what refuses it.
# TLSCOST is the built program; the module lies beside its plug-ins.

bats_require_minimum_version 1.5.0
load interop.bash

setup() {
    result="$BATS_TEST_TMPDIR/r.json"
    plan="$BATS_TEST_TMPDIR/plan.yaml"
    counters="$BATS_TEST_TMPDIR/counters.json"
    module="$(realpath "$TLSCOST_STACKS/../providers/tlscost-trace.so")"
    server=
}

teardown() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
}

traced() { # serves with --trace-file and makes 20 handshakes; the counters are in $counters
    local group=$1
    shift
    "$TLSCOST" serve --listen 127.0.0.1:0 --workers 1 --json --groups "$group" --trace-file "$BATS_TEST_TMPDIR/trace" \
        "$@" >"$counters" 2>"$BATS_TEST_TMPDIR/log" 3>&- &
    server=$!
    for _ in $(seq 600); do
        address=$(sed -n 's/^listening on \([^ ]*\).*/\1/p' "$BATS_TEST_TMPDIR/log")
        [ -z "$address" ] || break
        sleep 0.1
    done
    [ -n "$address" ] || { cat "$BATS_TEST_TMPDIR/log"; return 1; }
    "$TLSCOST" load --count 20 --groups "$group" --json "$address" | jq -e '.handshakes == 20'
    kill -INT "$server"
    wait "$server"
    server=
}

# The shape of an operation: "component algorithm" and, nested, the same, with the calls of a handshake.
shape='def thousandths: . * 1000 | round / 1000;
       def shape: map(select(.calls > 0) | {key: "\(.component) \(.algorithm)",
                  value: {calls: (.calls | thousandths), nested: (.nested | shape)}}) | from_entries;'

@test "a handshake with X25519 makes one key pair, one agreement and one signature" {
    traced X25519 --trace timed
    jq -e "$shape"' .trace.operations | shape | .["key_generation X25519"].calls == 1
        and .["key_agreement X25519"].calls == 1 and .["sign ECDSA"].calls == 1
        and .["import_key X25519"].calls == 1 and (keys | map(select(startswith("encapsulate"))) == [])' "$counters"
    jq -e '.trace.done | .sign == 1 and .key_generation == 1 and .key_agreement == 1 and .kdf > 5' "$counters"
    jq -e '[.trace.operations[] | .own_us <= .us and .us > 0] | all' "$counters"
}

@test "a hybrid's parts are nested in it, once each" {
    traced X25519MLKEM768 --trace timed
    jq -e "$shape"' .trace.operations | shape | .["encapsulate X25519MLKEM768"] | .calls == 1
        and .nested["encapsulate ML-KEM-768"].calls == 1 and .nested["key_generation X25519"].calls == 1
        and .nested["key_agreement X25519"].calls == 1' "$counters"
}

@test "tags count and take no time" {
    traced X25519 --trace tag
    jq -e '.trace | .done.sign == 1 and .done.key_agreement == 1 and .operations == [] and .components == {}' "$counters"
    jq -e '.provider.name == "tlscost-trace" and .provider.operations.sign >= 20' "$counters"
}

@test "every component has a frame whose symbol stays" {
    symbols=$(nm "$module")
    for component in key_generation key_agreement encapsulate decapsulate import_key sign verify kdf cipher digest mac random; do
        grep -q " tlc_tag_$component\$" <<<"$symbols"
    done
    readelf -S "$module" | grep -F .eh_frame
    ! ldd "$module" | grep -F libcrypto
}

@test "a burn is in the component that was asked, and in no other" {
    for place in signature:sign key-generation:key_generation; do
        traced X25519 --trace timed --burn-us 200 --burn-in "${place%:*}"
        # No clock is asked where it went: only that there is at least what was burnt.
        jq -e --arg in "${place#*:}" '.totals.burnt_ns == 0 and .trace.burns == {($in): 1}
            and .trace.components[$in].own_us >= 190' "$counters"
    done
}

@test "traces, burns and allocations by component of a plan's arms, ours and nginx's" {
    prefix_of nginx-1.26 >/dev/null || absent "nginx"
    cat >"$plan" <<YAML
name: traced
question: Which part works?
control: false
baseline: {groups: X25519, concurrency: 4, trace: timed, allocations: true}
include:
  - {name: burnt, burn: 200us, burn_in: key-generation, instance: baseline, allocations: false}
  - {name: nginx, server: nginx, trace: tag, allocations: false, groups: X25519MLKEM768}
schedule: {blocks: 6, rounds: 1, count: 20, warm_up: 1ms}
checks: {generator_busy: 100%, server_busy: 0%, steal: 100%, accounting: 100000%, headroom_gain: 0%, refused_samples: 0%}
YAML
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[].samples[].stay.trace.done.sign] == [1, 1, 1]' "$result"
    jq -e '[.arms[].samples[].stay.trace.burns] == [{}, {key_generation: 1}, {}]' "$result"
    jq -e '[.arms[].samples[].slices[] | (.burnt_us // 0) / 20 | round] | .[0] == 0 and .[1] >= 190 and .[2] == 0' "$result"
    jq -e '.arms[2].samples[0].stay.trace.done | .encapsulate == 2 and .key_generation == 1' "$result"
    jq -e '.arms[0].samples[0].stay.allocations.server | .count as $all | .components
        | .rest.count > 0 and .sign.count > 0 and .kdf.count > 0 and ([.[].count] | add - $all | fabs < 0.01)' "$result"
    [[ "$output" == *"traced operations"* && "$output" == *"allocations by component"* ]]
}

@test "handshakes that clients leave early are traced, wherever they stop" {
    cat >"$plan" <<YAML
name: early
question: What does the server do for whom?
control: false
baseline: {groups: X25519MLKEM768, concurrency: 4, trace: tag, stop: after-client-hello}
include:
  - {name: retry, hello_retry: true, stop: after-hello-retry, instance: baseline}
  - {name: cookie, cookie: true, stop: after-hello-retry}
  - {name: unreduced, share: unreduced, instance: baseline}
  - {name: low-order, groups: X25519, share: low-order}
schedule: {blocks: 6, rounds: 1, count: 20, warm_up: 1ms}
checks: {generator_busy: 100%, server_busy: 0%, steal: 100%, accounting: 100000%, headroom_gain: 0%, refused_samples: 0%}
YAML
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[].samples[].stay.trace | .handshakes == 20] | all and length == 5' "$result"
    # Nothing is signed but for those who are answered, and no key is made for the others.
    jq -e '[.arms[].samples[].stay.trace.done | [.sign // 0, .encapsulate // 0]] ==
           [[1, 2], [0, 0], [0, 0], [0, 0], [0, 0]]' "$result"
    jq -e '[.arms[1, 2].samples[].stay.trace.done | .digest >= 1 and .kdf == null] | all' "$result"
    jq -e '[.arms[3, 4].samples[].stay.trace.done | .import_key >= 1 and .sign == null] | all' "$result"
}

@test "a server without the provider is refused by 'trace'" {
    mkdir -p "$BATS_TEST_TMPDIR/deaf"
    cat >"$BATS_TEST_TMPDIR/deaf/server.yaml" <<YAML
name: deaf
about: "tlscost serve, which reads no configuration"
start: [env, -u, OPENSSL_CONF, "$TLSCOST", serve, --listen, "{address}", --workers, "1", --groups, "{groups}", --tickets, "{tickets}"]
environment:
  - {name: OPENSSL_CONF, value: "{openssl_conf}"}
YAML
    cat >"$plan" <<YAML
name: refused
question: Is a trace that is not there refused?
control: false
baseline: {groups: X25519, concurrency: 4, server: "$BATS_TEST_TMPDIR/deaf/server.yaml", trace: tag}
include: [{name: untraced, trace: none}]
schedule: {blocks: 6, rounds: 1, count: 20, warm_up: 1ms}
checks: {generator_busy: 100%, server_busy: 0%, steal: 100%, accounting: 100000%, headroom_gain: 0%, refused_samples: 0%}
YAML
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -eq 3 ] || { echo "$output"; false; }
    # It has another certificate as well, which is not what is asked here.
    jq -e '.arms | map([.refused[].check] | index("trace") != null) == [true, false]' "$result"
}

@test "what cannot be traced is refused before anything runs" {
    run -2 "$TLSCOST" serve --listen 127.0.0.1:0 --trace tag --stack no-such-stack
    run -1 "$TLSCOST" serve --trace none
    [[ "$output" == *"tag or timed"* ]]
    run -1 "$TLSCOST" serve --trace tag --provider tlscost-x25519
    run -2 "$TLSCOST" serve --listen 127.0.0.1:0 --provider 'tlscost-trace?mode=none'
    printf 'name: a\nquestion: b?\nbaseline: {burn: 5us, burn_in: signature}\n' >"$plan"
    run -1 "$TLSCOST" run "$plan"
    [[ "$output" == *"write trace: tag or timed"* ]]
    printf 'name: a\nquestion: b?\nbaseline: {server: go, trace: tag}\n' >"$plan"
    run -2 "$TLSCOST" run "$plan"
    [[ "$output" == *"has no trace"* ]]
}
