# Calibration from end to end; what it finds on this machine is not tested, only what must be so.

setup() {
    plans="$BATS_TEST_DIRNAME/plans"
    export XDG_STATE_HOME="$BATS_TEST_TMPDIR/state"
}

servers() { # processes of this program that still run with the test's marker
    grep -lzxF "TLSCOST_TEST=$BATS_TEST_NAME" /proc/[0-9]*/environ 2>/dev/null | wc -l
}

@test "a calibration reads known costs, is kept, and is cited by the next run" {
    json="$BATS_TEST_TMPDIR/c.json"
    TLSCOST_TEST="$BATS_TEST_NAME" run "$TLSCOST" calibrate --quiet --plan "$plans/calibration.yaml" --json -o "$json"
    # A noisy machine may show too little; anything else is an error.
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || { echo "$output"; false; }
    jq -e '.command == "calibrate" and .schema != null and .environment.cpus > 0' "$json"
    jq -e '[.a_a, .position, .fair_client, .interference | has("estimate") and has("low") and has("high")] | all' "$json"
    jq -e '.known_cost | has("slope") and has("low") and has("high") and (.points | length) == 2' "$json"
    jq -e '[.verdict.parts[].name] == ["a_a", "known_cost", "position", "fair_client", "interference"]' "$json"
    # Three readings a block of what work costs in company, each more than nothing.
    jq -e '.company.n == 18 and .company.estimate > 0 and ([.known_cost.points[] | has("alone_us")] | all)' "$json"
    # Arms on the baseline's server: every handshake is accounted for on both sides, arm by arm.
    jq -e '[.arms[].samples[] | .handshakes == .stay.server_handshakes and .handshakes > 0] | all' "$json"
    jq -e '[.arms[].samples[].refused[] | select(. == "counts" or . == "negotiated" or . == "certificate")] == []' "$json"
    # The burn was switched with the arms: 2 and 20 ms by the server's own clock, nothing elsewhere.
    jq -e '[.arms[2].samples[].slices[] | .burnt_us / .handshakes >= 1990] | all' "$json"
    jq -e '[.arms[3].samples[].slices[] | .burnt_us / .handshakes >= 19900] | all' "$json"
    jq -e '[.arms[0, 1, 4].samples[].slices[] | has("burnt_us") | not] | all' "$json"
    # Ten times the burn is a higher cost, however noisy the machine.
    jq -e '.known_cost.points | .[1].estimate > .[0].estimate' "$json"
    # The control stands first and last in every round, in a duet with the baseline.
    jq -e '[.arms[] | select(.name == "control") | .samples[].slices[].position] | unique == [0, 4]' "$json"
    jq -e '[.arms[2:][].samples[].slices[].position] | unique == [1, 2, 3]' "$json"
    [ "$(servers)" -eq 0 ]

    kept=("$XDG_STATE_HOME"/tlscost/calibrations/*.json)
    [ "${#kept[@]}" -eq 1 ]
    run "$TLSCOST" run --quiet --blocks 1 "$plans/good.yaml" -o "$BATS_TEST_TMPDIR/r.json"
    jq -e --slurpfile c "$json" '.calibration.finished == $c[0].finished and .calibration.passed == $c[0].verdict.passed' "$BATS_TEST_TMPDIR/r.json"
    "$TLSCOST" report "$BATS_TEST_TMPDIR/r.json" | grep -E 'calibration +(NOT )?passed'
}

@test "a run without a calibration says so" {
    run "$TLSCOST" run --quiet --blocks 1 "$plans/good.yaml" -o "$BATS_TEST_TMPDIR/r.json"
    jq -e 'has("calibration") and .calibration == null' "$BATS_TEST_TMPDIR/r.json"
    "$TLSCOST" report "$BATS_TEST_TMPDIR/r.json" | grep -F 'calibration         none of this machine'
}

@test "a plan that cannot calibrate is refused before anything runs" {
    run "$TLSCOST" calibrate --plan "$plans/good.yaml"
    [ "$status" -eq 1 ]
    [[ "$output" == *"it lacks"* ]]
    run "$TLSCOST" calibrate --quick -o "$BATS_TEST_TMPDIR/no/such/folder.json"
    [ "$status" -ne 0 ] && [[ "$output" == *"--output"*"No such file"* ]]
    run "$TLSCOST" calibrate --plan no-such-plan
    [ "$status" -eq 1 ] || [ "$status" -eq 2 ]
}

@test "an interrupted calibration replaces nothing and leaves nothing running" {
    TLSCOST_TEST="$BATS_TEST_NAME" "$TLSCOST" calibrate --quiet >"$BATS_TEST_TMPDIR/out" 2>&1 &
    pid=$!
    sleep 2
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 130 ] || { cat "$BATS_TEST_TMPDIR/out"; false; }
    [ ! -e "$XDG_STATE_HOME/tlscost/calibrations" ] || [ -z "$(ls "$XDG_STATE_HOME/tlscost/calibrations")" ]
    [ "$(servers)" -eq 0 ]
}
