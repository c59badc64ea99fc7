# The main job on real servers: sound arms pass, and each misbehaving peer is refused by the check
# that exists for it. TLSCOST is the built program.

bats_require_minimum_version 1.5.0

setup() {
    plans="$BATS_TEST_DIRNAME/plans"
    result="$BATS_TEST_TMPDIR/r.json"
}

children() { # processes of this program that still run with the test's marker
    grep -lzxF "TLSCOST_TEST=$BATS_TEST_NAME" /proc/[0-9]*/environ 2>/dev/null | wc -l
}

campaign() {
    TLSCOST_TEST="$BATS_TEST_NAME" "$TLSCOST" run --quiet --blocks 2 -o "$result" "$@"
}

# Runs a plan that must end with its arm refused by the named check and the baseline accepted.
refused_by() {
    run campaign "$plans/$1.yaml"
    [ "$status" -eq 3 ] || { echo "$output"; false; }
    jq -e --arg check "$2" '.arms[1].accepted == false and ([.arms[1].refused[].check] | index($check) != null)' "$result" ||
        { jq '.arms[1] | {accepted, refused, reasons: [.samples[].reasons]}' "$result"; false; }
    jq -e '.arms[0].accepted and .campaign.accepted == false' "$result"
    # Every output names the check.
    [[ "$output" == *"$2"* ]]
    "$TLSCOST" report "$result" --format markdown | grep -qF "$2"
    [ "$(children)" -eq 0 ]
}

@test "sound arms are accepted and every handshake is accounted for" {
    run campaign "$plans/good.yaml"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[] | .accepted] == [true, true]' "$result"
    jq -e '[.arms[].samples[] | .handshakes == .stay.server_handshakes and .handshakes > 0] | all' "$result"
    jq -e '.arms[1].ratio.estimate > 0 and .arms[0].ratio == null and .arms[0].verdict == "baseline"' "$result"
    jq -e '[.arms[0].samples[].evidence | .group == "X25519" and .certificate.key_type == "ecdsa-p256"] | all' "$result"
    [ ! -e "$result.journal" ]
    [ "$(children)" -eq 0 ]
}

@test "the report can be made again from the result alone" {
    campaign "$plans/good.yaml" | sed '/^Result: /d' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$BATS_TEST_TMPDIR/first"
    "$TLSCOST" report "$result" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$BATS_TEST_TMPDIR/second"
    diff "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/second"
}

@test "--json prints the result in place of the report" {
    run -0 --separate-stderr "$TLSCOST" run --quiet --json --blocks 1 "$plans/good.yaml" -o "$BATS_TEST_TMPDIR/r.json"
    seen='.schema, .finished, (.arms[] | .name, .accepted, [.samples[].handshakes])'
    diff <(jq -c "$seen" <<<"$output") <(jq -c "$seen" "$BATS_TEST_TMPDIR/r.json")
}

@test "a server with another certificate is refused by 'certificate'" {
    refused_by wrong-certificate certificate
}

@test "a server that picks another group is refused by 'negotiated'" {
    refused_by wrong-group negotiated
}

@test "a stack that fails its self-test is refused with the reason, before anything runs" {
    export XDG_STATE_HOME=$BATS_TEST_TMPDIR
    export TLSCOST_STACKS="$TLSCOST_STACKS:$(dirname "$TLSCOST")/tests/broken"
    for _ in first kept; do
        run -2 campaign "$plans/broken-stack.yaml"
        [[ $output == *"arm 'broken': self-test: broken-crash: handshake TLSv1.3 X25519 ecdsa-p256"*"signal 11"* ]]
        [[ $output == *"tlscost stacks verify broken-crash"* ]]
        [ ! -e "$result" ]
    done
}

@test "a server that resets connections is refused by 'errors'" {
    refused_by resets errors
}

@test "a server with a backlog of one is refused by 'listen-overflow'" {
    refused_by backlog listen-overflow
}

@test "a server that dies in a slice is refused by 'server-alive'" {
    refused_by dies server-alive
}

@test "a generator on the server's CPU is refused by 'generator-headroom'" {
    cpu=$(sed -nE 's/^Cpus_allowed_list:\s*([0-9]+).*/\1/p' /proc/self/status)
    run campaign "$plans/same-cpu.yaml" --server-cpus "$cpu" --generator-cpus "$cpu"
    [ "$status" -eq 3 ] || { echo "$output"; false; }
    [[ "$output" == *"warning: servers and generator share CPU $cpu:"* ]]
    jq -e '[.arms[].refused[].check] | index("generator-headroom") != null' "$result"
}

@test "a server without tickets is refused by 'resumption' where resumption was asked" {
    refused_by no-tickets resumption
}

@test "a server that leaves clients waiting is refused by 'server-saturated' and 'generator-limited'" {
    run campaign "$plans/stalls.yaml"
    [ "$status" -eq 3 ] || { echo "$output"; false; }
    jq -e '[.arms[1].refused[].check] | contains(["server-saturated", "generator-limited"])' "$result"
}

@test "other work on the server's CPU is refused by 'accounting'" {
    cpu=$(taskset -cp $$ | sed -E 's/.*[:,-] ?([0-9]+)$/\1/')
    taskset -c "$cpu" sh -c 'while :; do :; done' &
    burner=$!
    run campaign "$plans/crowded.yaml" --server-cpus "$cpu"
    kill "$burner"
    [ "$status" -eq 3 ] || { echo "$output"; false; }
    jq -e '[.arms[].refused[].check] | index("accounting") != null' "$result"
}

@test "a server that others visit is refused by 'counts'" {
    port=$((20000 + RANDOM % 10000))
    sed "s/PORT/$port/" "$plans/visited.yaml" >"$BATS_TEST_TMPDIR/visited.yaml"
    while :; do "$TLSCOST" load --count 50 --concurrency 4 --tickets 2 "127.0.0.1:$port" >/dev/null 2>&1 || sleep 0.01; done &
    visitor=$!
    run campaign "$BATS_TEST_TMPDIR/visited.yaml"
    kill "$visitor"
    [ "$status" -eq 3 ] || { echo "$output"; false; }
    jq -e '[.arms[1].refused[].check] | index("counts") != null' "$result"
}

@test "an arm that the stack cannot serve is refused by name before anything runs" {
    sed 's/certificate: ed25519/stack: no-such-stack/' "$plans/good.yaml" >"$BATS_TEST_TMPDIR/none.yaml"
    run campaign "$BATS_TEST_TMPDIR/none.yaml"
    [ "$status" -eq 2 ] || [ "$status" -eq 1 ]
    [[ "$output" == *"no-such-stack"* ]]
    [ ! -e "$result" ] && [ ! -e "$result.journal" ]
}

@test "resumed arms resume as often as asked, in every mode" {
    run campaign "$plans/resumption.yaml"
    [ "$status" -eq 0 ] || { echo "$output"; jq '.arms[] | {name, refused, r: .samples[0].reasons}' "$result"; false; }
    share() { jq -r --arg arm "$1" '[.arms[] | select(.name == $arm) | .samples[].counters] | (map(.resumed) | add) / (map(.handshakes) | add)' "$result"; }
    [ "$(share baseline)" = 0 ]
    [ "$(share psk_dhe_ke)" = 1 ]
    [ "$(share psk_ke)" = 1 ]
    [ "$(share ticket)" = 1 ]
    [ "$(share session-id)" = 1 ]
    jq -e -n --argjson half "$(share half)" '$half > 0.3 and $half < 0.7'
    jq -e '[.arms[] | select(.name == "psk_ke") | .samples[].counters.negotiated.psk_mode | keys] | flatten | unique == ["psk_ke"]' "$result"
}

@test "after SIGKILL no child is left and --continue keeps every finished sample" {
    TLSCOST_TEST="$BATS_TEST_NAME" "$TLSCOST" run --quiet -o "$result" "$plans/long.yaml" >"$BATS_TEST_TMPDIR/out" 2>&1 &
    orchestrator=$!
    # Two whole blocks of two arms each, and the header.
    for _ in $(seq 600); do
        [ -e "$result.journal" ] && [ "$(wc -l <"$result.journal")" -ge 5 ] && break
        sleep 0.1
    done
    kill -KILL "$orchestrator"
    wait "$orchestrator" 2>/dev/null || true
    for _ in $(seq 100); do [ "$(children)" -eq 0 ] && break; sleep 0.1; done
    [ "$(children)" -eq 0 ]
    [ ! -e "$result" ]
    kept=$(($(wc -l <"$result.journal") - 1))
    [ "$kept" -ge 4 ]
    head -n 5 "$result.journal" | tail -n 4 | jq -S '{arm, block, handshakes, cost_us: (.cost_us * 1000 | round)}' >"$BATS_TEST_TMPDIR/before"
    run env TLSCOST_TEST="$BATS_TEST_NAME" "$TLSCOST" run --quiet --continue "$result"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -S '.arms[].samples[] | select(.block < 2) | {arm, block, handshakes, cost_us: (.cost_us * 1000 | round)}' "$result" |
        jq -s -S 'sort_by(.block, .arm)' >"$BATS_TEST_TMPDIR/after"
    jq -s -S 'sort_by(.block, .arm)' "$BATS_TEST_TMPDIR/before" | diff - "$BATS_TEST_TMPDIR/after"
    jq -e '[.arms[].samples | length] == [8, 8]' "$result"
    [ ! -e "$result.journal" ]
}

@test "SIGINT gives a report of what was finished and exit code 130" {
    TLSCOST_TEST="$BATS_TEST_NAME" "$TLSCOST" run --quiet -o "$result" "$plans/long.yaml" >"$BATS_TEST_TMPDIR/out" 2>&1 &
    orchestrator=$!
    for _ in $(seq 600); do
        [ -e "$result.journal" ] && [ "$(wc -l <"$result.journal")" -ge 5 ] && break
        sleep 0.1
    done
    kill -INT "$orchestrator"
    code=0
    wait "$orchestrator" || code=$?
    [ "$code" -eq 130 ]
    jq -e '.setup.interrupted and (.arms[0].samples | length) >= 2' "$result"
    grep -q -- "^To go on: tlscost run --continue $result" "$BATS_TEST_TMPDIR/out"
    [ -e "$result.journal" ]
    [ "$(children)" -eq 0 ]
}

@test "a plan error names file and line" {
    printf 'name: x\nquestion: y\nbaseline: {groups: moon}\n' >"$BATS_TEST_TMPDIR/bad.yaml"
    run campaign "$BATS_TEST_TMPDIR/bad.yaml"
    [ "$status" -eq 1 ]
    [[ "$output" == *"bad.yaml:3"* ]]
}

@test "SIGINT before a block ends says how to go on" {
    TLSCOST_TEST="$BATS_TEST_NAME" "$TLSCOST" run --quiet -o "$result" "$plans/long.yaml" >"$BATS_TEST_TMPDIR/out" 2>&1 &
    orchestrator=$!
    for _ in $(seq 600); do
        [ -e "$result.journal" ] && break
        sleep 0.1
    done
    kill -INT "$orchestrator"
    code=0
    wait "$orchestrator" || code=$?
    [ "$code" -eq 130 ] || { cat "$BATS_TEST_TMPDIR/out"; false; }
    grep -q -- "^To go on: tlscost run --continue $result" "$BATS_TEST_TMPDIR/out"
}

@test "--continue of a finished campaign points to its report" {
    echo '{}' >"$result"
    run -1 "$TLSCOST" run --continue "$result"
    [[ "$output" == *"its campaign is finished"*"tlscost report $result"* ]]
    run -1 "$TLSCOST" run --continue "$BATS_TEST_TMPDIR/none.json"
    [[ "$output" == *"neither it nor its journal"* ]]
}

@test "CPUs that cannot be used are refused before anything starts" {
    for option in --server-cpus --generator-cpus; do
        run -2 campaign "$option" 1023 "$plans/good.yaml"
        [[ "$output" == *"$option: '1023'"*"it may use "[0-9]* ]]
    done
    [ ! -e "$result.journal" ]
}

@test "a closed pipe takes nothing from the result" {
    campaign "$plans/good.yaml" 2>"$BATS_TEST_TMPDIR/err" | true
    [ "${PIPESTATUS[0]}" -eq 0 ] || { cat "$BATS_TEST_TMPDIR/err"; false; }
    grep -qF "the result is in $result" "$BATS_TEST_TMPDIR/err"
    "$TLSCOST" report "$result"
}

@test "documents of plans and certs name their schema" {
    "$TLSCOST" plans --json | jq -e '.schema | test("/plans/1$")'
    "$TLSCOST" plans show --json levers | jq -e '.schema | test("/plans/1$")'
    "$TLSCOST" certs --json --names ecdsa-p256 "$BATS_TEST_TMPDIR/certs" | jq -e '.schema | test("/certs/1$")'
}

@test "--until takes a share, and 0% ends a plan's own after its blocks" {
    run "$TLSCOST" run --until 150% levers
    [ "$status" -eq 1 ]
    [[ "$output" == *"--until: '150%': not a share from 0%"* ]]
    cat >"$BATS_TEST_TMPDIR/until.yaml" <<'YAML'
name: until
question: When does it end?
baseline: {groups: X25519, share: cheap, concurrency: 4}
control: true
schedule: {blocks: 6, rounds: 1, slice: 20ms, warm_up: 0ms, until: 0.01%}
checks: {server_busy: 0%, generator_busy: 100%, headroom_gain: 0%, accounting: 1000%, steal: 100%}
YAML
    run "$TLSCOST" run --quiet --until 0% "$BATS_TEST_TMPDIR/until.yaml" -o "$BATS_TEST_TMPDIR/r.json"
    jq -e '[.arms[].samples | length] == [6, 6]' "$BATS_TEST_TMPDIR/r.json"
    jq -e '[.arms[].stopped] | unique == ["blocks"]' "$BATS_TEST_TMPDIR/r.json"
}
