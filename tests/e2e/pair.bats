# Handshakes in memory: the command, the plan, what is refused. TLSCOST is the built program.
# Nothing here depends on how fast or how busy the machine is.

bats_require_minimum_version 1.5.0

setup() {
    result="$BATS_TEST_TMPDIR/r.json"
    pair=("$TLSCOST" pair --quiet --busy-machine --blocks 2 --iterations 2 --count 20 --warm-up 5ms --idle 0)
}

@test "both sides are told, with evidence of every arm" {
    run --separate-stderr "${pair[@]}" --groups X25519,X25519MLKEM768 --certs ecdsa-p256,mldsa-65 -o "$result"
    [ "$status" -eq 0 ] || { echo "$stderr"; false; }
    [[ "$output" == *"server"*"client"*"handshakes/s"* ]]
    [[ "$output" == *"forks x iterations"* ]]
    jq -e '[.arms[].accepted] == [true, true, true, true]' "$result"
    jq -e '[.arms[] | .server_us.estimate > 0 and .client_us.estimate > 0] | all' "$result"
    # The parts of each slice are the CPU time of the whole.
    jq -e '[.arms[].samples[].slices[] | ((.server_us + .client_us + .rest_us) / .total_us - 1) | fabs < 1e-6] | all' "$result"
    jq -e '[.arms[].samples[].evidence | .verified and .address == "memory"] | all' "$result"
    jq -e '[.arms[].samples[].evidence | .group + " " + .certificate.key_type] | unique == ["X25519 ecdsa-p256", "X25519 mldsa-65", "X25519MLKEM768 ecdsa-p256", "X25519MLKEM768 mldsa-65"]' "$result"
    jq -e '[.arms[].samples[] | .handshakes == 40 and .stay.server_handshakes == 40] | all' "$result"
    "$TLSCOST" report "$result" | grep -q 'both sides'
}

@test "the result is a run result of the published shape" {
    "${pair[@]}" --json >"$result"
    python3 "$BATS_TEST_DIRNAME/../tools/validate_result.py" "$BATS_TEST_DIRNAME/../../docs/result.schema.json" "$result"
}

@test "sessions are received and used, in both versions" {
    "${pair[@]}" --versions TLSv1.2,TLSv1.3 --groups P-256 --resumption psk_dhe_ke,psk_ke,ticket,session-id -o "$result"
    jq -e '.arms | length == 4' "$result"
    jq -e '[.arms[].samples[].slices[] | .resumed == .handshakes and .handshakes == 20] | all' "$result"
    jq -e '[.arms[].samples[].evidence.resumption.resumed] | all' "$result"
}

@test "the cost is of the side that was asked for" {
    for side in server client both; do
        "${pair[@]}" --side "$side" -o "$result" >"$BATS_TEST_TMPDIR/out"
        jq -e --arg side "$side" '[.arms[].samples[].slices[] |
            .cost_us / {server: .server_us, client: .client_us, both: (.server_us + .client_us)}[$side] - 1 | fabs < 1e-6] | all' "$result"
    done
}

@test "client certificates, chains and idle connections are told" {
    "${pair[@]}" --idle 50 --client-auth ed25519 --intermediates 2 -o "$result"
    jq -e '[.arms[].samples[].evidence | .client_certificate.key_type == "ed25519" and .chain.depth == 3] | all' "$result"
    jq -e '.arms[0].samples[0].stay.idle_connections | .connections == 50 and (.heap_bytes > 50000 or .rss_bytes > 0)' "$result"
}

@test "a recorded ClientHello drives the server to its flight" {
    "${pair[@]}" --versions TLSv1.2,TLSv1.3 --groups P-256 --resumption full,resumed --replay -o "$result"
    jq -e '[.arms[].name | select(endswith("flight"))] | length == 4' "$result"
    jq -e '[.arms[] | select(.name | endswith("flight")) | .client_us.estimate // 0] | add == 0' "$result"
    jq -e '[.arms[] | select(.name | endswith("flight")) | .samples[].evidence.recording.server_flight > 100] | all' "$result"
}

@test "combinations that cannot exist are left out, and all of them are an error" {
    run --separate-stderr "$TLSCOST" pair --busy-machine --blocks 1 --iterations 1 --count 5 --warm-up 1ms --idle 0 \
        --versions TLSv1.2,TLSv1.3 --groups P-256 --certs ecdsa-p256,mldsa-65 -o "$result"
    [ "$status" -eq 0 ] || { echo "$stderr"; false; }
    [[ "$stderr" == *"1 combinations cannot exist"* ]]
    jq -e '.arms | length == 3' "$result"
    run "${pair[@]}" --versions TLSv1.2 --certs mldsa-65
    [ "$status" -eq 1 ]
    [[ "$output" == *"none of the combinations can exist"* ]]
}

@test "what a process in memory cannot do is refused by name" {
    for setting in 'burn: 5us|burn: not supported' 'share: cheap|share: a library' 'close: fin|close: nothing is sent' \
        'workers: 2|workers: both sides' 'serve_options: --backlog 1|serve_options: there is no server'; do
        printf 'name: x\nquestion: q\nworkload: memory\nbaseline: {%s}\n' "${setting%%|*}" >"$BATS_TEST_TMPDIR/x.yaml"
        run "$TLSCOST" run --quiet "$BATS_TEST_TMPDIR/x.yaml" -o "$result"
        [ "$status" -eq 1 ] || { echo "$output"; false; }
        [[ "$output" == *"workload memory: ${setting##*|}"* ]] || { echo "$output"; false; }
    done
    run "${pair[@]}" --client-stack nonesuch
    [ "$status" -eq 2 ]
    [[ "$output" == *nonesuch* ]]
}

@test "a matrix tries every client against every server, and names what failed" {
    # A stack that fails every handshake, beside one that works.
    TLSCOST_STACKS="$TLSCOST_STACKS:$(dirname "$TLSCOST")/tests/broken"
    run --separate-stderr "$TLSCOST" pair --matrix --quiet --stack openssl,broken-crash --groups X25519 -o "$result"
    [ "$status" -eq 0 ] || { echo "$stderr"; false; }
    jq -e '.schema | endswith("/matrix/1")' "$result"
    jq -e '[.cells[] | .server + "/" + .client] == ["openssl/openssl", "openssl/broken-crash", "broken-crash/openssl", "broken-crash/broken-crash"]' "$result"
    jq -e '[.cells[].ok] == [true, false, false, false]' "$result"
    jq -e '[.cells[] | select(.ok == false) | .reason | length > 0] | all' "$result"
    jq -e '.cells[0].evidence | .group == "X25519" and .certificate.key_type == "ecdsa-p256"' "$result"
    [[ "$output" == *"what failed"*"server openssl, client broken-crash"* ]]
    run "$TLSCOST" pair --matrix --quiet --stack broken-crash
    [ "$status" -eq 3 ]
}

@test "a matrix with --time tells the cost of both sides" {
    run --separate-stderr "${pair[@]}" --blocks 6 --matrix --time --stack openssl -o "$result"
    [ "$status" -eq 0 ] || { echo "$stderr"; false; }
    jq -e '.cells[0] | .ok and .server_us.estimate > 0 and .client_us.low > 0' "$result"
    [[ "$output" == *"cost of a handshake"* ]]
}

@test "an option with a wrong value is named, not a line of a plan" {
    run "$TLSCOST" pair --groups X25518
    [ "$status" -eq 1 ]
    [[ "$output" == *"pair: --groups: "*"did you mean 'X25519'"* ]] && [[ "$output" != *"plan:"* ]]
    run "$TLSCOST" speed --stack ../evil x25519-keygen
    [[ "$output" != *"plan:"* ]]
    run "$TLSCOST" connect-time --certs rsa-2047
    [ "$status" -eq 1 ]
    [[ "$output" == *"connect-time: --certs: "*"rsa-2048"* ]]
    run "$TLSCOST" pair --matrix --groups X25519,P-256
    [ "$status" -eq 1 ]
    [[ "$output" == *"--groups"*"one value"* ]]
    run "$TLSCOST" pair --time
    [ "$status" -eq 1 ]
}

@test "wrong options end with 1" {
    for option in '--side neither' '--groups X25519;ls' '--certs dsa-1024' '--count 0' '--duration 1us' '--iterations 0'; do
        # shellcheck disable=SC2086 # an option and its value
        run "$TLSCOST" pair $option
        [ "$status" -eq 1 ] || { echo "$option: $status $output"; false; }
    done
    run "$TLSCOST" pair here
    [ "$status" -eq 1 ]
}

@test "a process that is killed refuses its arm" {
    "${pair[@]}" --count 100000 -o "$result" >"$BATS_TEST_TMPDIR/out" 2>&1 &
    parent=$!
    for _ in $(seq 300); do
        # Not a child that only looks at a library: that ends by itself.
        worker=$(pgrep -P "$parent" -f -- "pair --control" || true)
        [ -n "$worker" ] && break
        sleep 0.05
    done
    [ -n "$worker" ]
    sleep 1
    kill -KILL $worker
    kill -INT "$parent"
    wait "$parent" && code=0 || code=$?
    [ "$code" -ne 0 ]
}

@test "the published matrix has 26 rows, each divided within its profile" {
    "$TLSCOST" plans show jdk-sslhandshake >"$BATS_TEST_TMPDIR/out"
    [ "$(grep -cE '^(baseline|X25519|secp|SecP|TLS 1\.2)' "$BATS_TEST_TMPDIR/out")" -eq 26 ]
    sed 's/^schedule:.*/schedule: {blocks: 6, rounds: 1, count: 2, warm_up: 1ms}/; s/^checks:.*/checks: {server_busy: 0%, accounting: 100000%, steal: 100%, control_drift: 100000%, margin: 100%, generator_busy: 100%}/' \
        "$TLSCOST_PLANS/jdk-sslhandshake.yaml" >"$BATS_TEST_TMPDIR/jdk.yaml"
    run --separate-stderr "$TLSCOST" run --quiet --blocks 1 "$BATS_TEST_TMPDIR/jdk.yaml" -o "$result"
    [ "$status" -eq 0 ] || { echo "$stderr"; false; }
    jq -e '[.arms[] | select(.role != "control" and .accepted and .samples[0].evidence.verified)] | length == 26' "$result"
    jq -e '[.arms[] | select(.name | test("ML-DSA.*full")) | .against // "baseline" | sub(" ECDSA full$"; "")] ==
        ["baseline", "secp256r1", "secp384r1", "X25519MLKEM768", "SecP256r1MLKEM768", "SecP384r1MLKEM1024"]' "$result"
    jq -e '[.arms[] | select(.name | test("resumed")) | .samples[].slices[] | .resumed == .handshakes] | all' "$result"
    # Published gains of both machines stand beside ours.
    "$TLSCOST" report "$result" --format markdown >"$BATS_TEST_TMPDIR/md"
    grep -qF -- '+25.2 % on Linux AArch64, +53.8 % on Linux x64' "$BATS_TEST_TMPDIR/md"
    grep -qF -- '+45.9 % on Linux x64' "$BATS_TEST_TMPDIR/md"
}

@test "an arm in memory may be optional, or equal to another" {
    cat >"$BATS_TEST_TMPDIR/x.yaml" <<'YAML'
name: x
question: q
workload: memory
baseline: {side: both}
include:
  - {name: other, stack: openssl, certificate: rsa-2048, optional: true}
  - {name: same, stack: openssl, certificate: rsa-2048, against: other, equal: true}
schedule: {rounds: 1, count: 5, warm_up: 1ms}
YAML
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$BATS_TEST_TMPDIR/x.yaml"
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ] # a busy machine's figures are refused
    jq -e '[.arms[] | select(.name == "other" or .name == "same") | .samples[].handshakes] == [5, 5]' "$result"
}
