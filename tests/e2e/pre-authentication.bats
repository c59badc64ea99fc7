# Handshakes that clients leave early: how the server answers them, that they are counted, what it
# holds for them. Structure only; nothing here looks at a time that is not a server's own time-out.

bats_require_minimum_version 1.5.0
load interop.bash

setup() {
    plans="$BATS_TEST_DIRNAME/plans"
    result="$BATS_TEST_TMPDIR/r.json"
    plan="$BATS_TEST_TMPDIR/plan.yaml"
}

# A plan of two arms, the second with these keys; nothing of it is run.
show() {
    cat >"$plan" <<YAML
name: plan
question: Is it refused?
include: [{name: other, $1}]
YAML
    run "$TLSCOST" plans show "$plan"
}

@test "every kind of unfinished handshake is answered as it should be, and counted" {
    run "$TLSCOST" run --quiet --blocks 2 -o "$result" "$plans/pre-authentication.yaml"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[].accepted] | all and length == 14' "$result"
    jq -e '[.arms[] | select(.unfinished) | {key: .name, value: (.unfinished.answers | keys)}] | from_entries == {
        hello: ["ServerHello"], flight: ["server-flight"], X25519: ["ServerHello"],
        unanswered: ["HelloRetryRequest"], answered: ["ServerHello"],
        "cookie unanswered": ["HelloRetryRequest-cookie"], "cookie answered": ["ServerHello"], split: ["ServerHello"],
        unreduced: ["alert-illegal_parameter"], "low-order": ["alert-illegal_parameter"]}' "$result"
    # Each answer is an accept of the server's, and nothing else connected to it.
    jq -e '[.arms[] | select(.unfinished).samples[] | .handshakes > 0 and
            .handshakes == .counters.stopped and .counters.handshakes == 0 and
            .stay.server_handshakes == .counters.started] | all' "$result"
    jq -e '[.arms[] | select(.name | IN("unanswered", "answered")).samples[].counters |
            .hello_retry_requests == .stopped] | all' "$result"
    jq -e '.arms[] | select(.name == "retried").samples[0].counters |
           .hello_retry_requests == .handshakes and .mismatches == 0' "$result"
    # A cookie came in each of these, and in none of the others, and went back in those that go on.
    jq -e '[.arms[] | (.name | startswith("cookie")) as $asked | .samples[].counters |
            .cookies == (if $asked then .started else 0 end) and .mismatches == 0] | all' "$result"
    [[ "$output" == *"before authentication"* ]]
    for format in markdown csv; do
        "$TLSCOST" report --format "$format" "$result" >"$BATS_TEST_TMPDIR/$format"
    done
    grep -q "before authentication" "$BATS_TEST_TMPDIR/markdown"
    # Derived against the same hello without ML-KEM only: none went with a cookie.
    sed -n '/^## the ML-KEM part/,/^## /p' "$BATS_TEST_TMPDIR/markdown" >"$BATS_TEST_TMPDIR/kem"
    grep -q "| hello " "$BATS_TEST_TMPDIR/kem"
    run ! grep "cookie" "$BATS_TEST_TMPDIR/kem"
    grep -q "overload" "$BATS_TEST_TMPDIR/markdown"
}

@test "what half-open handshakes hold is told, by the allocator and by the processes" {
    sed 's/^  - {name: hello, .*/  - {name: hello, stop: after-client-hello, hold: 20, hold_for: 20s, handshake_timeout: 200ms}/; /^  - {name: \(unans\|answ\|retr\|cookie\|split\|unred\|low\|offer\)/d' \
        "$plans/pre-authentication.yaml" >"$plan"
    run "$TLSCOST" run --quiet --blocks 2 -o "$result" "$plan"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[] | select(.unfinished).unfinished.half_open | .held == 20 and .hellos == 256 and
            .allocations.count > 1 and .allocations.bytes > 1000 and .heap_bytes > 1000] | all and length == 3' "$result"
    # The server's own time-out ends all of those that wait longer, and none of the others.
    jq -e '.arms[] | select(.name == "hello").unfinished.half_open | .closed == 20 and .first_us <= .last_us' "$result"
    jq -e '.arms[] | select(.name == "flight").unfinished.half_open | .closed == 0 and .bytes_out > .bytes_in' "$result"
    # A larger hello is more bytes and more work for the allocator: counts, which do not vary.
    jq -e '[.arms[] | select(.name | IN("hello", "X25519")) | .unfinished.half_open] | sort_by(.bytes_in) |
           .[1].bytes_in - .[0].bytes_in == 1184 and .[1].allocations.bytes > .[0].allocations.bytes' "$result"
}

@test "nginx, Go and openssl s_server answer, and hold memory" {
    prefix_of go-1.27 >/dev/null || absent "Go"
    prefix_of nginx-1.26 >/dev/null || absent "nginx"
    run "$TLSCOST" run --quiet --blocks 2 -o "$result" "$plans/pre-authentication-servers.yaml"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[] | select(.unfinished) | {key: .name, value: (.unfinished.answers | keys)}] | from_entries == {
        nginx: ["ServerHello"], "nginx unreduced": ["alert-illegal_parameter"], go: ["ServerHello"],
        s_server: ["ServerHello"], "s_server low-order": ["alert-illegal_parameter"], "s_server retry": ["HelloRetryRequest"]}' "$result"
    jq -e '[.arms[] | select(.name | IN("nginx", "go")).unfinished.half_open |
            .allocations.count > 1 and .heap_bytes > 1000] | all and length == 2' "$result"
    # Told a time-out, each ends what stays half-open, long before its own time-out would.
    jq -e '[.arms[] | select(.name | IN("nginx", "go")).unfinished.half_open.closed == 20] | all' "$result"
}

@test "haproxy ends half-open handshakes as it is told" {
    prefix_of haproxy-3.0 >/dev/null || absent "haproxy"
    sed 's/server: nginx/server: haproxy/; s/name: nginx/name: haproxy/; /server: \(go\|openssl\)/d' \
        "$plans/pre-authentication-servers.yaml" >"$plan"
    run "$TLSCOST" run --quiet --blocks 2 -o "$result" "$plan"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '.arms[] | select(.name == "haproxy").unfinished.half_open |
           .closed == 20 and .allocations.count > 1 and .heap_bytes > 1000' "$result"
    [[ "$output" == *"0.3 s"*"all after"* ]]
}

@test "a cookie is asked only of a library that has one" {
    show 'cookie: true, engine: full'
    [ "$status" -eq 1 ]
    [[ "$output" == *"engine: lean"* ]]
    run "$TLSCOST" serve --stack mbedtls-3.6 --cookie --listen 127.0.0.1:0
    [ "$status" -eq 2 ]
    [[ "$output" == *"mbedtls"* ]]
}

@test "unfinished handshakes that contradict themselves are refused by name" {
    show 'share: low-order, stop: after-client-hello, groups: P-256'
    [ "$status" -eq 1 ]
    [[ "$output" == *"arm 'other'"*"no such part"* ]]
    show 'share: unreduced'
    [ "$status" -eq 1 ]
    [[ "$output" == *"stop: after-client-hello"* ]]
    show 'stop: after-hello-retry'
    [ "$status" -eq 1 ]
    [[ "$output" == *"hello_retry: true"* ]]
    show 'stop: after-client-hello, engine: full'
    [ "$status" -eq 1 ]
    [[ "$output" == *"engine: lean"* ]]
    show 'hold: 10'
    [ "$status" -eq 1 ]
    [[ "$output" == *"stop: after-client-hello"* ]]
    show 'stop: after-client-hello, pace: 1000000'
    [ "$status" -eq 1 ]
    [[ "$output" == *"20000"* ]]
    show 'pace: 100, offered: 50%'
    [ "$status" -eq 1 ]
    [[ "$output" == *"one of them"* ]]
}

@test "neither early stops nor invalid shares go beyond private addresses" {
    for option in "--share unreduced" "--share low-order" "--stop after-hello-retry"; do
        # shellcheck disable=SC2086
        run "$TLSCOST" load --count 1 $option --groups X25519MLKEM768 --stop after-client-hello \
            --allow-public --rate 1 192.0.2.1:443
        [ "$status" -eq 1 ] || { echo "$option: $output"; false; }
        [[ "$output" == *"weapon"* ]]
    done
}
