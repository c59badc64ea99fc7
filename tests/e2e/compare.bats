# Comparisons and histories of stored results through the program.

bats_require_minimum_version 1.5.0

setup() {
    results="$BATS_TEST_DIRNAME/../fixtures/results"
    export LC_ALL=C.UTF-8
    # The same campaign with one arm's cost times a factor, another kernel and another build.
    cat >"$BATS_TEST_TMPDIR/change.py" <<'PY'
import json, sys
source, target, arm, factor, started = sys.argv[1:]
result = json.load(open(source))
result["started"] = started
for a in result["arms"]:
    if a["name"] == arm:
        for key in ("estimate", "low", "high"):
            a["cost_us"][key] *= float(factor)
        for sample in a["samples"]:
            for piece in sample["slices"]:
                piece["cost_us"] *= float(factor)
if factor != "1":
    result["environment"]["kernel"] = "Linux 9.9"
    result["stacks"][0]["version"] = "OpenSSL 9.9"
json.dump(result, open(target, "w"))
PY
}

change() { python3 "$BATS_TEST_TMPDIR/change.py" "$@"; }

@test "the same campaign twice differs nowhere" {
    run "$TLSCOST" compare "$results/accepted.json" "$results/accepted.json" --fail-above 0%
    [ "$status" -eq 0 ]
    [[ "$output" == *"Relative to 'control'"* ]]
    [[ "$output" == *"The two ran the same plan."* ]]
    [[ "$output" == *"the same in both"* ]]
    [[ "$output" != *"costs"*" more"* || "$output" == *"no arm is shown"* ]]
}

@test "a rise is claimed, what differs is named, and the gate fails with 4" {
    change "$results/accepted.json" "$BATS_TEST_TMPDIR/new.json" ed25519 1.2 2026-12-01T00:00:00Z
    run --separate-stderr "$TLSCOST" compare "$results/accepted.json" "$BATS_TEST_TMPDIR/new.json" --fail-above 3%
    [ "$status" -eq 4 ]
    [[ "$stderr" == *"ed25519"*"3 %"* ]]
    [[ "$output" == *"costs 20 % more"* ]]
    [[ "$output" == *"kernel"*"Linux 9.9"* ]]
    [[ "$output" == *"stack openssl version"*"OpenSSL 9.9"* ]]
    run "$TLSCOST" compare "$results/accepted.json" "$BATS_TEST_TMPDIR/new.json" --fail-above 30%
    [ "$status" -eq 0 ]
    "$TLSCOST" compare "$results/accepted.json" "$BATS_TEST_TMPDIR/new.json" --json >"$BATS_TEST_TMPDIR/c.json"
    python3 - "$BATS_TEST_TMPDIR/c.json" <<'PY'
import json, sys
c = json.load(open(sys.argv[1]))
assert c["command"] == "compare" and c["schema"] and c["environment"]
assert c["normalisation"] == {"kind": "relative", "reference": "control"}
arm = next(a for a in c["arms"] if a["name"] == "ed25519")
assert abs(arm["ratio"]["estimate"] - 1.2) < 1e-3, arm
assert arm["ratio"]["low"] > 1.1 and arm["verdict"] == "slower"
assert arm["holm_p"] >= arm["p"]
assert {d["what"] for d in c["environment_differences"]} == {"kernel", "stack openssl version"}
PY
}

@test "arms of one campaign are paired, however they are named" {
    run "$TLSCOST" compare "$results/accepted.json" --arms baseline rsa-2048
    [ "$status" -eq 0 ]
    [[ "$output" == *"Paired"* && "$output" == *"costs 2.7 times as much"* ]]
    one="$output"
    run "$TLSCOST" compare --arms baseline rsa-2048 "$results/accepted.json"
    [ "$output" = "$one" ]
    run "$TLSCOST" compare --arms baseline,rsa-2048 "$results/accepted.json"
    [ "$output" = "$one" ]
    run "$TLSCOST" compare "$results/accepted.json" --arms baseline rsa-2048 --fail-above 3% --format markdown
    [ "$status" -eq 4 ]
    [[ "$output" == *"| arm |"* ]]
}

@test "too few blocks are said, and support no claim" {
    run "$TLSCOST" compare "$results/few-blocks.json" "$results/few-blocks.json" --fail-above 0%
    [ "$status" -eq 0 ]
    [[ "$output" == *"run with more blocks"* ]]
}

@test "a history marks where the level changed" {
    mkdir "$BATS_TEST_TMPDIR/past"
    for i in 1 2 3 4 5 6; do
        change "$results/accepted.json" "$BATS_TEST_TMPDIR/past/a$i.json" ed25519 1 "2026-01-0${i}T00:00:00Z"
        change "$results/accepted.json" "$BATS_TEST_TMPDIR/past/b$i.json" ed25519 1.1 "2026-02-0${i}T00:00:00Z"
    done
    echo '{' >"$BATS_TEST_TMPDIR/past/torn.json"
    run --separate-stderr "$TLSCOST" history "$BATS_TEST_TMPDIR/past"
    [ "$status" -eq 0 ]
    [[ "$output" == *"12 results"* && "$output" == *"1 of 7 arms changed."* ]]
    [[ "$output" == *"with b1.json of 2026-02-01"*"times 1.10"* ]]
    [[ "$output" == *"Linux 9.9"* ]]
    [[ "$stderr" == *"left out"*"torn.json"* ]]
    "$TLSCOST" history "$BATS_TEST_TMPDIR/past" --json 2>/dev/null >"$BATS_TEST_TMPDIR/h.json"
    python3 - "$BATS_TEST_TMPDIR/h.json" <<'PY'
import json, sys
h = json.load(open(sys.argv[1]))
for arm in h["arms"]:
    assert len(arm["points"]) == 12
    assert len(arm["changes"]) == (arm["name"] == "ed25519"), arm["name"]
PY
}

@test "what is wrong is named and ends with the right code" {
    run --separate-stderr "$TLSCOST" compare "$results/accepted.json"
    [ "$status" -eq 1 ] && [[ "$stderr" == *"two results"* ]]
    run --separate-stderr "$TLSCOST" compare "$results/accepted.json" --arms baseline
    [ "$status" -eq 1 ] && [[ "$stderr" == *"two names"* ]]
    run --separate-stderr "$TLSCOST" compare "$results/accepted.json" --arms baseline nobody
    [ "$status" -eq 1 ] && [[ "$stderr" == *"no arm 'nobody'"* ]]
    run --separate-stderr "$TLSCOST" compare "$results/accepted.json" "$results/accepted.json" --relative-to nobody
    [ "$status" -eq 1 ] && [[ "$stderr" == *"nobody"* ]]
    run --separate-stderr "$TLSCOST" compare "$results/accepted.json" none.json
    [ "$status" -eq 2 ] && [[ "$stderr" == *"none.json"* ]]
    run --separate-stderr "$TLSCOST" compare "$results/accepted.json" "$results/accepted.json" --fail-above much
    [ "$status" -eq 1 ] && [[ "$stderr" == *"3%"* ]]
    run --separate-stderr "$TLSCOST" history "$BATS_TEST_TMPDIR"
    [ "$status" -eq 1 ] && [[ "$stderr" == *"no result"* ]]
    run --separate-stderr "$TLSCOST" history /nonexistent
    [ "$status" -eq 2 ] && [[ "$stderr" == *"/nonexistent"* ]]
    for command in compare history; do
        run "$TLSCOST" $command --help
        [ "$status" -eq 0 ] && [[ "$output" == *"Examples:"* ]]
    done
}
