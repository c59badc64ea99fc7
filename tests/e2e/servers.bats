# Servers that are not ours as arms: Go and nginx by their recipes, and descriptions that are wrong.

bats_require_minimum_version 1.5.0
load interop.bash

setup() {
    plans="$BATS_TEST_DIRNAME/plans"
    result="$BATS_TEST_TMPDIR/r.json"
    description="$BATS_TEST_TMPDIR/server.yaml"
    plan="$BATS_TEST_TMPDIR/plan.yaml"
}

# A plan whose one arm runs the description in $description with more of its keys.
write_plan() {
    cat >"$plan" <<YAML
name: plan
question: Does it run?
baseline: {groups: X25519, share: cheap, concurrency: 4}
control: false
include: [{name: other, server: "$description"${1:+, $1}}]
schedule: {blocks: 6, rounds: 1, slice: 20ms, warm_up: 0ms}
checks: {server_busy: 0%, generator_busy: 100%, headroom_gain: 0%, accounting: 1000%, steal: 100%}
YAML
}

@test "Go and nginx run as arms, with the probe's evidence and their version in the result" {
    prefix_of go-1.27 >/dev/null || absent "Go"
    prefix_of nginx-1.26 >/dev/null || absent "nginx"
    run "$TLSCOST" run --quiet --blocks 2 -o "$result" "$plans/external.yaml"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[] | .accepted] == [true, true, true]' "$result"
    jq -e '.arms[1].samples[0].stay.server.version | startswith("go version go1.")' "$result"
    jq -e '.arms[2].samples[0].stay.server | (.version | contains("nginx/1.")) and (.run.command | length) > 5' "$result"
    jq -e '[.arms[2].samples[].evidence.group] | unique == ["X25519MLKEM768"]' "$result"
    jq -e '[.arms[1:][].samples[] | .cost_us > 0 and .handshakes > 0] | all' "$result"
    # Nothing of theirs is left running.
    ! pgrep -f "$HOME/.cache/tlscost/peers/go/server" >/dev/null
}

@test "what a server lacks is refused by name before anything runs" {
    printf 'name: none\nabout: Nothing.\nstart: [/bin/false]\nlacks: [X25519, psk_ke]\n' >"$description"
    write_plan
    run "$TLSCOST" run --quiet -o "$result" "$plan"
    [ "$status" -eq 2 ]
    [[ "$output" == *"arm 'other': server none: has no X25519"* ]]
    [ ! -e "$result" ]
}

@test "a build that fails ends the run with its last words" {
    printf 'name: none\nabout: Nothing.\nbuild: [{run: [sh, -c, "echo no compiler here; exit 3"]}]\nstart: [/bin/false]\n' >"$description"
    write_plan
    run "$TLSCOST" run --quiet -o "$result" "$plan"
    [ "$status" -eq 2 ]
    [[ "$output" == *"server none: build"*"no compiler here"* ]]
}

@test "an optional server that cannot be built is left out with the reason, and the rest runs" {
    printf 'name: none\nabout: Nothing.\nbuild: [{run: [no-such-compiler, -v]}]\nstart: [/bin/false]\n' >"$description"
    write_plan "optional: true"
    sed -i "s|^include: .|&{name: runs, groups: P-256}, {name: same, server: \"$description\", groups: P-256, optional: true}, |" "$plan"
    run "$TLSCOST" run --quiet --blocks 2 -o "$result" "$plan"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[].name] == ["baseline", "runs"]' "$result"
    jq -e '[.plan.left_out[].arm] | sort == ["other", "same"]' "$result"
    run "$TLSCOST" report "$result"
    [[ "$output" == *"other"*"needs 'no-such-compiler', which is not on the PATH"* ]]
}

@test "an optional server that does not come up is left out too, and {prefix} needs a recipe" {
    cat >"$description" <<'YAML'
name: none
about: Nothing.
start: [sh, -c, 'printf "no licence \377"; exit 4']
YAML
    write_plan "optional: true"
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[].name] == ["baseline"]' "$result"
    jq -e '.plan.left_out[0].reason | contains("with exit code 4: no licence ?")' "$result"
    printf 'name: none\nabout: Nothing.\nstart: ["{prefix}/bin/server"]\n' >"$description"
    write_plan
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -ne 0 ]
    [[ "$output" == *"'{prefix}' stands for nothing"* ]]
}

# Starts a run and interrupts it once the file is there; sets `status`.
interrupts_at() { # file
    "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan" >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
    local run=$!
    until [ -e "$1" ]; do
        if ! kill -0 "$run"; then cat "$BATS_TEST_TMPDIR/said" && return 1; fi
        sleep 0.02
    done
    kill -INT "$run"
    wait "$run" && status=0 || status=$?
}

@test "an interruption ends a run that builds a server, or waits for one to listen" {
    local mark=$BATS_TEST_TMPDIR/begun
    printf 'name: none\nabout: Nothing.\nbuild: [{run: [sh, -c, "touch %s; exec sleep 3210"]}]\nstart: [/bin/false]\n' "$mark" >"$description"
    write_plan
    interrupts_at "$mark"
    [ "$status" -eq 130 ] || { cat "$BATS_TEST_TMPDIR/said"; false; }
    rm -f "$mark" "$result.journal"
    printf 'name: none\nabout: Nothing.\nstart: [sh, -c, "touch %s; exec sleep 3210"]\n' "$mark" >"$description"
    interrupts_at "$mark"
    [ "$status" -eq 130 ] || { cat "$BATS_TEST_TMPDIR/said"; false; }
    ! pgrep -f "sleep 3210"
}

@test "a server runs in the directory of its description and is ended by its signal" {
    local here=$BATS_TEST_TMPDIR
    cat >"$description" <<YAML
name: here
about: openssl s_server in a directory, which notes its end.
directory: "{folder}"
stop: SIGINT
start: [bash, -c, "trap 'touch ended; kill \$!; exit' INT; openssl s_server -quiet -accept {address} -cert {certificate} -key {key} -groups {groups} -tls1_3 & wait"]
YAML
    write_plan "certificate: ecdsa-p256"
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ -e "$here/ended" ]
}

@test "what a server starts in a session of its own ends with it" {
    printf 'name: none\nabout: Nothing.\nstart: [sh, -c, "setsid sleep 4321 & echo gone; exit 1"]\n' >"$description"
    write_plan
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -eq 2 ]
    ! pgrep -f "sleep 4321"
}

@test "a description that is not there, or wrong, is a usage error" {
    write_plan
    run "$TLSCOST" run --quiet -o "$result" "$plan"
    [ "$status" -ne 0 ]
    [[ "$output" == *"server.yaml"* ]]
    printf 'name: none\nabout: Nothing.\nstart: ["{nonsense}"]\n' >"$description"
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -ne 0 ]
    [[ "$output" == *"'{nonsense}' stands for nothing"* ]]
}

@test "a server that ends before it listens is told with its last words" {
    printf 'name: none\nabout: Nothing.\nstart: [sh, -c, "echo cannot listen today; exit 1"]\n' >"$description"
    write_plan
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -ne 0 ]
    [[ "$(tr -s ' \n' ' ' <<<"$output")" == *"ended before it listened, with exit code 1: cannot listen today"* ]]
}

@test "a server on all addresses is refused, and kept on loopback where its description says so" {
    cat >"$description" <<'YAML'
name: wide
about: openssl s_server on all addresses.
start: [openssl, s_server, -quiet, -accept, "{port}", -cert, "{certificate}", -key, "{key}", -groups, "{groups}", -tls1_3]
YAML
    write_plan "certificate: ecdsa-p256"
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -eq 2 ]
    [[ "$(tr -s ' \n' ' ' <<<"$output")" == *"server wide: listens on an address that other machines reach"*"'listens: everywhere'"* ]]
    echo "listens: everywhere" >>"$description"
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '.arms[1].samples[0].stay.server.run.environment | any(startswith("LD_PRELOAD=") and endswith("tlscost-loopback.so"))' "$result"
}
