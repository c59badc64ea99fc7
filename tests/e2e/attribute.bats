# Where the time goes: a campaign with samples of the real perf, and what is said without it. Nothing
# here depends on how fast anything is.
bats_require_minimum_version 1.5.0

setup() {
    tlscost=${TLSCOST:?}
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache XDG_STATE_HOME=$BATS_TEST_TMPDIR/state
}

can_sample() {
    perf record --quiet --event cpu-clock --output "$BATS_TEST_TMPDIR/probe" -- true >/dev/null 2>&1
}

@test "a server's samples become components, a budget and folded stacks" {
    can_sample || skip "perf may not sample here"
    result=$BATS_TEST_TMPDIR/r.json
    run -0 "$tlscost" attribute --groups X25519,X25519MLKEM768 --time 30 --blocks 6 --busy-machine -q \
        --frequency 997 --burn 300us -o "$result" --folded "$BATS_TEST_TMPDIR/folded"
    [[ $output == *"where the server's CPU time goes"* ]]
    [[ $output == *"key schedule"* ]]
    [[ $output == *"which part the change moved: X25519MLKEM768 against X25519"* ]]
    [[ $output == *"parts beside the library's raw operations"* ]]
    [[ $output == *"parts beside the tracing provider's times"*"signature, X25519 timed"* ]]
    [[ $output == *"everything the CPUs did"* ]]
    # What was planned fits into the time: two slices of attributed arms, warm-ups, all else.
    run -0 jq -e '.plan as $p | [$p.arms[] | 1 + .attribute] | add as $slices |
        $p.schedule | .blocks * (($p.arms | length) * .warm_up_us + .rounds * $slices * .slice_us) <= 30e6' "$result"
    # Only the arm that burns has the burn, only the hybrid encapsulates.
    run -0 jq -r '[.arms[] | select(.samples[0].stay.attribution) | {key: .name, value: {
        burn: ([.samples[].stay.attribution.components.burn.samples] | add > 0),
        kem: ([.samples[].stay.attribution.components.encapsulate.samples] | add > 0)}}] | from_entries |
        "\(.X25519.burn) \(.burn.burn) \(.X25519.kem) \(.X25519MLKEM768.kem)"' "$result"
    [ "$output" = "false true false true" ]
    # The timed arm was not sampled, and has the operations' times.
    run -0 jq -e '[.arms[] | select(.name | endswith(" timed")) | .samples[].stay |
        (has("attribution") | not) and .trace.components.sign.trimmed_us > 0] | length == 12 and all' "$result"
    # Samples are whole: those of the components add up, and few are unknown.
    run -0 jq -e '[.arms[].samples[].stay.attribution | values |
        (.samples - ([.components[].samples] | add) | fabs) < 0.01 and .components.unknown.samples <= 0.2 * .samples] |
        length > 0 and all' "$result"
    # Every stack begins with its arm and its component.
    run -0 grep -cE '^X25519MLKEM768;encapsulate;.*;[^;]+ [0-9]+$' "$BATS_TEST_TMPDIR/folded"
    run -0 "$tlscost" report "$result" --format markdown
    [[ $output == *"| key agreement | D |"* ]]
}

@test "an interrupted campaign writes the folded stacks of what was finished" {
    can_sample || skip "perf may not sample here"
    result=$BATS_TEST_TMPDIR/r.json
    "$tlscost" attribute --groups X25519 --no-operations --no-times --time 600 --blocks 200 --busy-machine -q \
        -o "$result" --folded "$BATS_TEST_TMPDIR/folded" 3>&- >"$BATS_TEST_TMPDIR/out" 2>&1 &
    pid=$!
    # One line of the journal is its head, each further one a finished sample.
    until [ "$(wc -l 2>/dev/null <"$result.journal" || echo 0)" -ge 2 ] || ! kill -0 "$pid"; do
        sleep 0.1
    done
    kill -INT "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 130 ] || { cat "$BATS_TEST_TMPDIR/out"; false; }
    grep -qE '^X25519;.*;[^;]+ [0-9]+$' "$BATS_TEST_TMPDIR/folded"
    [ "$(jq '.setup.interrupted' "$result")" = true ]
}

@test "a time too short for two rounds is told" {
    can_sample || skip "perf may not sample here"
    run "$tlscost" attribute --groups X25519 --no-times --time 1 --blocks 6 --busy-machine -o "$BATS_TEST_TMPDIR/r.json"
    [[ $output == *"--time 1: so many arms and blocks need "*" s at least; --blocks"* ]]
}

@test "without perf the remedy is named before anything is measured" {
    mkdir "$BATS_TEST_TMPDIR/empty"
    PATH=$BATS_TEST_TMPDIR/empty run "$tlscost" attribute --time 1 -q -o "$BATS_TEST_TMPDIR/r.json"
    [ "$status" -eq 2 ]
    [[ $output == *"linux-perf"* || $output == *"perf_event_paranoid"* ]]
    [ ! -e "$BATS_TEST_TMPDIR/r.json" ]
}

@test "tables that are not there, or wrong, are named" {
    can_sample || skip "perf may not sample here"
    TLSCOST_COMPONENTS=/nonexistent run "$tlscost" attribute --time 1 -q -o "$BATS_TEST_TMPDIR/r.json"
    [ "$status" -eq 2 ]
    [[ $output == *"/nonexistent"*"TLSCOST_COMPONENTS"* ]]
    mkdir "$BATS_TEST_TMPDIR/tables"
    printf 'name: mine\ncomponents:\n  - part: magic\n' >"$BATS_TEST_TMPDIR/tables/mine.yaml"
    TLSCOST_COMPONENTS=$BATS_TEST_TMPDIR/tables run "$tlscost" attribute --time 1 -q -o "$BATS_TEST_TMPDIR/r.json"
    [ "$status" -eq 1 ]
    [[ $output == *"mine.yaml"*"'magic'"* ]]
}

@test "an arm that cannot be attributed is refused in its line" {
    printf 'name: a\nquestion: What?\nbaseline: {workload: memory, attribute: true}\n' >"$BATS_TEST_TMPDIR/a.yaml"
    run "$tlscost" plans show "$BATS_TEST_TMPDIR/a.yaml"
    [ "$status" -eq 1 ]
    [[ $output == *"a.yaml:3"*"attribute: false"* ]]
}
