# A crypto provider of the user's choice in the server's library, and the evidence that it worked.
# TLSCOST is the built program, TLSCOST_STACKS its plug-ins; the modules lie beside them.

bats_require_minimum_version 1.5.0

setup() {
    result="$BATS_TEST_TMPDIR/r.json"
    idle="$(realpath "$TLSCOST_STACKS/../tests/providers/idle-provider.so")"
    counters="$BATS_TEST_TMPDIR/counters.json"
    server=
}

teardown() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
}

serve() { # sets `address`
    "$TLSCOST" serve --listen 127.0.0.1:0 --workers 1 --json "$@" >"$counters" 2>"$BATS_TEST_TMPDIR/log" 3>&- &
    server=$!
    for _ in $(seq 200); do
        address=$(sed -n 's/^listening on \([^ ]*\).*/\1/p' "$BATS_TEST_TMPDIR/log")
        [ -z "$address" ] || return 0
        sleep 0.05
    done
    cat "$BATS_TEST_TMPDIR/log"
    return 1
}

stop() {
    kill -INT "$server"
    wait "$server"
    server=
}

@test "a provider that serves nothing is refused by 'provider'" {
    sed "s|@IDLE@|$idle|" "$BATS_TEST_DIRNAME/plans/provider.yaml.in" >"$BATS_TEST_TMPDIR/plan.yaml"
    run "$TLSCOST" run --quiet --blocks 2 -o "$result" "$BATS_TEST_TMPDIR/plan.yaml"
    [ "$status" -eq 3 ] || { echo "$output"; false; }
    [[ "$output" == *"provider"* ]]
    jq -e '.arms[0].accepted and (.arms[1].accepted | not)' "$result"
    jq -e '.arms[1].refused | map(.check) == ["provider"]' "$result"
    jq -e '[.arms[1].samples[].reasons[] | test("worked in 0 of")] | length > 0 and all' "$result"
    jq -e '[.arms[0].samples[].stay | .provider_work == .server_handshakes
        and .server_counters.provider.name == "tlscost-x25519"] | all' "$result"
}

@test "X25519 and the hybrid are served by the provider, one key pair and one derivation each" {
    for variant in fixed-base variable-base; do
        serve --provider "tlscost-x25519?variant=$variant" --groups X25519:X25519MLKEM768
        "$TLSCOST" load --count 20 --groups X25519 --json "$address" | jq -e '.negotiated.group.X25519 == 20'
        "$TLSCOST" load --count 20 --groups X25519MLKEM768 --json "$address" |
            jq -e '.negotiated.group.X25519MLKEM768 == 20'
        stop
        jq -e '.totals.handshakes as $n | .provider.work == $n and .provider.operations ==
            {"x25519-keygen": $n, "x25519-derive": $n}' "$counters"
    done
}

@test "other clients agree with it on the keys" {
    serve --provider tlscost-x25519 --groups X25519:X25519MLKEM768 --http
    command -v curl && curl -sk "https://$address/"
    command -v openssl &&
        openssl s_client -connect "$address" -groups X25519 -tls1_3 </dev/null | grep -F "X25519"
    stop
    jq -e '.failed == {}' "$counters"
}

@test "the settings and the module of a provider are checked at the start" {
    run -2 "$TLSCOST" serve --listen 127.0.0.1:0 --provider 'tlscost-x25519?variant=none'
    [[ "$output" == *"does not start with the settings 'variant=none'"* ]]
    run -2 "$TLSCOST" serve --listen 127.0.0.1:0 --provider no-such-provider
    [[ "$output" == *"no-such-provider"* ]]
    run -2 "$TLSCOST" serve --listen 127.0.0.1:0 --provider 'a?b="c"'
    [[ "$output" == *"without quotes"* ]]
}

@test "an optional arm whose provider cannot be loaded is left out with the reason" {
    cat >"$BATS_TEST_TMPDIR/plan.yaml" <<'YAML'
name: plan
question: Which provider is there?
baseline: {groups: X25519, concurrency: 4}
control: false
include: [{name: other, provider: no-such-provider, optional: true}]
schedule: {blocks: 6, rounds: 1, slice: 20ms, warm_up: 0ms}
checks: {server_busy: 0%, generator_busy: 100%, headroom_gain: 0%, accounting: 1000%, steal: 100%}
YAML
    run "$TLSCOST" run --quiet --blocks 1 -o "$BATS_TEST_TMPDIR/r.json" "$BATS_TEST_TMPDIR/plan.yaml"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[].name] == ["baseline"]' "$BATS_TEST_TMPDIR/r.json"
    jq -e '.plan.left_out[0].reason | contains("no-such-provider")' "$BATS_TEST_TMPDIR/r.json"
}
