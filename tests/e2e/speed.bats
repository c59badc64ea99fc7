# Raw operations: `tlscost speed`, plans of the primitive workload, and arms that cannot run.

bats_require_minimum_version 1.5.0

setup() {
    plans="$BATS_TEST_DIRNAME/plans"
    result="$BATS_TEST_TMPDIR/r.json"
}

speed() { "$TLSCOST" speed --quiet -o "$result" "$@"; }

@test "operations are listed, asked from the library" {
    run -0 "$TLSCOST" speed --list
    [[ "$output" == "openssl "* && "$output" == *"mlkem-768-round-trip"* && "$output" == *"rsa-4096-sign"* ]]
    run -0 "$TLSCOST" speed --list --stack tlscost
    [[ "$output" == *"x25519-keygen-variable"* && "$output" != *"rsa"* ]]
}

@test "the round trips of study R: each process does what was asked, and the report says so" {
    speed --samples 6 --operations 30 ecdh-p256-round-trip mlkem-768-round-trip >"$BATS_TEST_TMPDIR/report" || [ $? -eq 3 ]
    jq -e '[.arms[].samples[] | .handshakes == 30 and .stay.server_handshakes == 30 and (.slices | length) == 1] | all' "$result"
    jq -e '.arms | length == 3 and all(.samples | length == 6)' "$result"
    jq -e '[.arms[2].samples[].evidence | .operation == "mlkem-768-round-trip" and .provider == "default"] | all' "$result"
    python3 "$BATS_TEST_DIRNAME/../tools/validate_result.py" "$BATS_TEST_DIRNAME/../../docs/result.schema.json" "$result"
    jq -e '.arms[2].variation | .median_us > 0 and .relative_deviation >= 0 and (.exceeds | type) == "boolean"' "$result"
    # Checks of handshakes are not applied to operations, and another stands in their place.
    jq -e '[.checks[] | select(.name == "negotiated" or .name == "certificate" or .name == "resumption") | .applied == 0] | all' "$result"
    jq -e '.checks[] | select(.name == "operation") | .applied == 18 and .failed == 0' "$result"
    grep -q "per operation" "$BATS_TEST_TMPDIR/report"
    run -1 grep -q "handshake" <(grep -v 'https' "$BATS_TEST_TMPDIR/report" | sed '/^environment/,$d;/^published/,/^checks/d')
}

@test "several libraries: each operation is divided by the first library's" {
    speed --samples 2 --operations 8 --stack openssl,tlscost x25519-keygen x25519-derive >/dev/null || [ $? -eq 3 ]
    jq -e '[.arms[] | .name] == ["baseline", "control", "x25519-keygen tlscost", "x25519-derive openssl", "x25519-derive tlscost"]' "$result"
    jq -e '.arms[4].against == "x25519-derive openssl"' "$result"
    jq -e '[.stacks[].id] == ["openssl", "tlscost"]' "$result"
    jq -e '.arms[2].samples[0].evidence.provider | length > 0' "$result"
}

@test "JSON on standard output is the result" {
    speed --samples 1 --operations 4 --json transcript-sha256 >"$BATS_TEST_TMPDIR/out" || [ $? -eq 3 ]
    jq -e '.command == "run" and .plan.name == "speed" and .arms[0].samples[0].handshakes == 4' "$BATS_TEST_TMPDIR/out"
}

@test "what does not exist is refused by name before anything runs" {
    run -1 speed x25519-keygen x25519-teleport
    [[ "$output" == *"no operation 'x25519-teleport'"*"--list"* ]]
    run -2 speed --provider no-such-provider x25519-keygen
    [[ "$output" == *"arm 'baseline': provider:"* ]]
    run -2 speed --stack no-such-stack x25519-keygen
    run -1 speed --operations 0
}

@test "an optional arm that cannot run is left out with its reason, and those divided by it" {
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plans/optional.yaml"
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ]
    jq -e '[.arms[].name] == ["baseline", "there"]' "$result"
    jq -e '[.plan.left_out[].arm] == ["not there", "divided by it"]' "$result"
    [[ "$output" == *"left out"*"no such back end"* ]]
    "$TLSCOST" report "$result" --format markdown | grep -q "left out"
    sed 's/, optional: true//' "$plans/optional.yaml" >"$BATS_TEST_TMPDIR/strict.yaml"
    run -2 "$TLSCOST" run --quiet --blocks 1 -o "$result" "$BATS_TEST_TMPDIR/strict.yaml"
    [[ "$output" == *"arm 'not there'"*"no such back end"* ]]
}

@test "a worker that ends in the middle is refused by 'server-alive'" {
    "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plans/killed-worker.yaml" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    campaign=$!
    worker=
    for _ in $(seq 200); do
        worker=$(pgrep -P "$campaign" -f 'speed --control.*ed25519-sign') && break
        sleep 0.05
    done
    [ -n "$worker" ]
    sleep 0.3
    kill -KILL "$worker"
    code=0
    wait "$campaign" || code=$?
    [ "$code" -eq 3 ] || { cat "$BATS_TEST_TMPDIR/out" && false; }
    jq -e '.arms[1] | .accepted == false and ([.refused[].check] | index("server-alive") != null and index("operation") != null)' "$result"
}

@test "the ready plans say what they measure" {
    run -0 "$TLSCOST" plans show x25519-keygen
    run -0 "$TLSCOST" plans show go-vs-dotnet
}
