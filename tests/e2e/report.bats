# Reports of stored results through the program.

bats_require_minimum_version 1.5.0

setup() {
    results="$BATS_TEST_DIRNAME/../fixtures/results"
    export LC_ALL=C.UTF-8
}

@test "a result is told on standard output, in a file and from standard input" {
    "$TLSCOST" report "$results/accepted.json" >"$BATS_TEST_TMPDIR/one"
    "$TLSCOST" report - <"$results/accepted.json" >"$BATS_TEST_TMPDIR/two"
    "$TLSCOST" report "$results/accepted.json" -o "$BATS_TEST_TMPDIR/three"
    cmp "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/two"
    cmp "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/three"
    grep -q "costs 2.7 times as much" "$BATS_TEST_TMPDIR/one"
}

@test "published ratios are found without being told where, and can be replaced" {
    run "$TLSCOST" report "$results/accepted.json"
    [[ "$output" == *"5.18 [1]"* ]]
    TLSCOST_REFERENCES="$BATS_TEST_TMPDIR" run "$TLSCOST" report "$results/accepted.json"
    [ "$status" -eq 0 ]
    [[ "$output" != *"5.18 [1]"* && "$output" != *"published"* ]]
}

@test "CSV holds every sample, refused ones too" {
    "$TLSCOST" report --format csv "$results/refused.json" >"$BATS_TEST_TMPDIR/samples.csv"
    python3 - "$BATS_TEST_TMPDIR/samples.csv" "$results/refused.json" <<'PY'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
samples = [(a["name"], s) for a in json.load(open(sys.argv[2]))["arms"] for s in a["samples"]]
assert len(rows) == len(samples) == 48, len(rows)
for row, (name, sample) in zip(rows, samples):
    assert row["arm"] == name and int(row["block"]) == sample["block"]
    assert (row["accepted"] == "true") == sample["accepted"]
    assert row["refused"] == ";".join(sample["refused"])
    assert abs(float(row["cost_us"]) - sample["cost_us"]) < 1e-6 * sample["cost_us"]
PY
}

@test "colour on a terminal only, and not with NO_COLOR" {
    run "$TLSCOST" report "$results/refused.json"
    [[ "$output" != *$'\x1b'* ]]
    TERM=xterm run script -qec "$TLSCOST report $results/refused.json" /dev/null
    [[ "$output" == *$'\x1b[1;31mREFUSED'* ]]
    TERM=xterm NO_COLOR=1 run script -qec "$TLSCOST report $results/refused.json" /dev/null
    [[ "$output" == *"REFUSED"* && "$output" != *$'\x1b'* ]]
    TERM=dumb run script -qec "$TLSCOST report $results/refused.json" /dev/null
    [[ "$output" != *$'\x1b'* ]]
}

@test "the report fits the terminal and its character set" {
    script -qec "stty cols 60; LC_ALL=C $TLSCOST report $results/accepted.json" /dev/null |
        tr -d '\r' | sed 's/\x1b\[[0-9;]*m//g' >"$BATS_TEST_TMPDIR/narrow"
    grep -q '###' "$BATS_TEST_TMPDIR/narrow"
    run -1 env LC_ALL=C grep '[^[:print:]]' "$BATS_TEST_TMPDIR/narrow"
    run -1 grep -E '^.{61,}$' <(grep -E '# [0-9.]+ us$|^[A-Za-z]' "$BATS_TEST_TMPDIR/narrow")
    run "$TLSCOST" report "$results/accepted.json"
    [[ "$output" == *"█"* && "$output" == *"µs"* ]]
}

@test "what is wrong is named and ends with the right code" {
    run --separate-stderr "$TLSCOST" report
    [ "$status" -eq 1 ] && [[ "$stderr" == *"no result"* ]]
    run --separate-stderr "$TLSCOST" report "$BATS_TEST_TMPDIR/none.json"
    [ "$status" -eq 2 ] && [[ "$stderr" == *"none.json: No such file or directory; name a file"* ]]
    [ "$(grep -o none.json <<<"$stderr" | wc -l)" -eq 1 ]
    echo '{' >"$BATS_TEST_TMPDIR/bad.json"
    run --separate-stderr "$TLSCOST" report "$BATS_TEST_TMPDIR/bad.json"
    [ "$status" -eq 1 ] && [[ "$stderr" == *"bad.json:2: not JSON"* ]]
    run --separate-stderr "$TLSCOST" report --format pdf "$results/accepted.json"
    [ "$status" -eq 1 ] && [[ "$stderr" == *"known are terminal, markdown, csv"* ]]
    run --separate-stderr "$TLSCOST" report "$results/accepted.json" -o /nonexistent/x
    [ "$status" -eq 2 ] && [[ "$stderr" == *"/nonexistent/x: No such file"* ]]
    run "$TLSCOST" report --help
    [ "$status" -eq 0 ] && [[ "$output" == *"Examples:"* ]]
}
