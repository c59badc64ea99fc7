# Memory allocations of both sides of a handshake. TLSCOST is the built program.

bats_require_minimum_version 1.5.0

setup() {
    preload="$(dirname "$TLSCOST")/preload/tlscost-allocations.so"
    [ -e "$preload" ] || skip "not in this build (a sanitizer has an allocator of its own)"
    counters="$BATS_TEST_TMPDIR/counters.json"
    server=
}

teardown() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
}

serve() { # sets `address`
    "$TLSCOST" serve --listen 127.0.0.1:0 --workers 1 --json "$@" >"$counters" 2>"$BATS_TEST_TMPDIR/log" 3>&- &
    server=$!
    for _ in $(seq 400); do
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

load() {
    "$TLSCOST" load --engine full --count 50 --concurrency 1 --json "$@" "$address"
}

@test "the client's allocations are the same in every run, and whole numbers" {
    serve
    first=$(load --count-allocations | jq -e -c .allocations.client)
    second=$(load --count-allocations | jq -e -c .allocations.client)
    stop
    [ "$first" = "$second" ]
    jq -e -n --argjson a "$first" '$a.count > 100 and $a.count == ($a.count | floor) and $a.bytes > 10000'
}

@test "a server counts its workers, and nothing unless asked" {
    serve --count-allocations
    load >/dev/null
    stop
    jq -e '.allocations | .count > 0 and .bytes > .count and .frees <= .count' "$counters"
    serve
    load | jq -e 'has("allocations") | not'
    stop
    jq -e 'has("allocations") | not' "$counters"
}

@test "any other process is counted through a file" {
    counts="$BATS_TEST_TMPDIR/counts"
    LD_PRELOAD="$preload" TLSCOST_ALLOCATIONS="$counts" serve
    load --server-allocations "$counts" | jq -e '.allocations | .client == null and .server.count > 100'
    stop
    [ "$(stat -c %a "$counts")" = 600 ]
}

@test "what is no file of counts is refused" {
    serve
    run -2 "$TLSCOST" load --count 1 --server-allocations "$BATS_TEST_FILENAME" "$address"
    [[ "$output" == *"LD_PRELOAD"* ]]
    run -2 "$TLSCOST" load --count 1 --server-allocations "$BATS_TEST_TMPDIR/none" "$address"
    stop
}

@test "an arm's allocations are in its result and its report, and an echo's latency" {
    cat >"$BATS_TEST_TMPDIR/plan.yaml" <<'YAML'
name: counted
question: How often is memory asked for?
control: false
baseline: {groups: X25519, engine: full, echo: 32, concurrency: 1, allocations: true}
include:
  - {name: hybrid, groups: X25519MLKEM768}
  - {name: not-counted, allocations: false, echo: 0}
schedule: {blocks: 6, rounds: 1, slice: 40ms, warm_up: 10ms}
checks: {generator_busy: 100%, server_busy: 0%, steal: 100%, accounting: 100000%, headroom_gain: 0%,
         refused_samples: 0%}
YAML
    result="$BATS_TEST_TMPDIR/r.json"
    run "$TLSCOST" run --quiet --blocks 2 -o "$result" "$BATS_TEST_TMPDIR/plan.yaml"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[] | .samples[0].stay.allocations.server.count] | .[0] > 100 and .[1] > .[0] and .[2] == null' "$result"
    jq -e '[.arms[] | .samples[0].stay.allocations.client.count] | .[0] > 100 and .[1] > .[0]' "$result"
    jq -e '[.arms[] | .samples[0].counters.latency_us.echoed.p50] | .[0] > 0 and .[2] == null' "$result"
    # Not counted in the processes that were measured.
    jq -e '[.arms[].samples[].stay.server_counters | has("allocations") | not] | all' "$result"
    [[ "$output" == *"allocations"* && "$output" == *"echoed ms"* && "$output" == *"negotiated"* ]]
}
