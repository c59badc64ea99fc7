# Every export format read back by its consumer: Python's csv, benchstat, a CommonMark parser, and JMH's
# JSON by the rules that its readers hold to. Network, memory and raw operations alike.

bats_require_minimum_version 1.5.0

setup_file() {
    export SPEED=$BATS_FILE_TMPDIR/speed.json
    "$TLSCOST" speed --quiet --samples 6 --operations 8 --stack tlscost -o "$SPEED" x25519-keygen x25519-derive \
        >"$BATS_FILE_TMPDIR/speed.log" 2>&1 || [ $? -eq 3 ]
}

setup() {
    results="$BATS_TEST_DIRNAME/../fixtures/results"
    sources=("$results/accepted.json" "$results/refused.json" "$results/few-blocks.json" "$SPEED")
}

@test "csv: every sample, by Python's csv" {
    for source in "${sources[@]}"; do
        "$TLSCOST" report --format csv "$source" >"$BATS_TEST_TMPDIR/out"
        python3 - "$BATS_TEST_TMPDIR/out" "$source" <<'PY'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
samples = [(a, s) for a in json.load(open(sys.argv[2]))["arms"] for s in a["samples"]]
assert len(rows) == len(samples) > 0
for row, (arm, sample) in zip(rows, samples):
    assert None not in row and row["arm"] == arm["name"]
    assert row["arm_accepted"] == str(arm["accepted"]).lower()
    assert row["arm_refused"].split(";") == [check["check"] for check in arm["refused"]] or not arm["refused"]
    assert int(row["handshakes"]) == sample["handshakes"]
    if sample["evidence"] and "operation" in sample["evidence"]:
        assert row["workload"] == "primitive" and row["operation"] == sample["evidence"]["operation"]
PY
    done
}

@test "json: the whole document again" {
    for source in "${sources[@]}"; do
        diff <(jq -S . "$source") <("$TLSCOST" report --format json "$source" | jq -S .)
    done
}

@test "benchstat: every accepted sample, by the grammar of Go's benchmark format" {
    for source in "${sources[@]}"; do
        "$TLSCOST" report --format benchstat "$source" >"$BATS_TEST_TMPDIR/out"
        python3 - "$BATS_TEST_TMPDIR/out" "$source" <<'PY'
import json, re, sys
document = json.load(open(sys.argv[2]))
# A baseline that runs one operation is called by it.
name_of = lambda at, arm: arm["name"] if at or document["plan"]["name"] != "speed" else "x25519-keygen"
want = [(name_of(at, a).replace(" ", "_"), s) for at, a in enumerate(document["arms"]) for s in a["samples"]
        if s["accepted"]]
got = []
for line in open(sys.argv[1], encoding="utf-8").read().splitlines():
    if re.fullmatch(r"[a-z][^\sA-Z:]*: .*", line) or re.fullmatch(r"Unit \S+( \S+=\S+)+", line):
        continue
    match = re.fullmatch(r"(Benchmark[A-Z]\S*)\s+([1-9]\d*)((?:\s+[-+.\de]+ \S+)+)", line)
    assert match, line
    fields = match[3].split()
    got.append((match[1].split("/arm=")[1], int(match[2]), dict(zip(fields[1::2], map(float, fields[::2])))))
assert len(got) == len(want) > 0
for (name, count, values), (arm, sample) in zip(got, want):
    assert name == arm and count == sample["handshakes"]
    assert abs(values["ns/op"] / 1000 - sample["cost_us"]) < 1e-4 * sample["cost_us"]
PY
    done
}

# golang.org/x/perf is in no Debian package: this runs where somebody has installed it.
@test "benchstat: read by benchstat itself" {
    command -v benchstat >/dev/null || skip "benchstat is not installed"
    "$TLSCOST" report --format benchstat "$SPEED" >"$BATS_TEST_TMPDIR/new"
    run -0 benchstat "$BATS_TEST_TMPDIR/new" "$BATS_TEST_TMPDIR/new"
    [[ "$output" == *"Operation/arm=x25519-keygen"* && "$output" == *"Operation/arm=x25519-derive"* ]]
    # Six samples against themselves: all read, and no difference.
    [[ "$output" == *"n=6"* && "$output" == *"p=1.000"* ]]
    "$TLSCOST" report --format benchstat "$results/accepted.json" >"$BATS_TEST_TMPDIR/new"
    run -0 benchstat "$BATS_TEST_TMPDIR/new"
    [[ "$output" == *"Handshake/arm=baseline"* && "$output" != *"missing"* ]]
}

@test "jmh-json: what JMH writes and its readers need" {
    for source in "${sources[@]}"; do
        "$TLSCOST" report --format jmh-json "$source" >"$BATS_TEST_TMPDIR/out"
        python3 - "$BATS_TEST_TMPDIR/out" "$source" <<'PY'
import json, math, statistics, sys
arms = [a for a in json.load(open(sys.argv[2]))["arms"] if a["accepted"]]
results = json.load(open(sys.argv[1]))
assert isinstance(results, list) and len(results) == len(arms)
names = set()
for result, arm in zip(results, arms):
    for key, kind in {"jmhVersion": str, "benchmark": str, "mode": str, "threads": int, "forks": int, "jvm": str,
                      "jvmArgs": list, "jdkVersion": str, "vmName": str, "vmVersion": str, "warmupIterations": int,
                      "warmupTime": str, "warmupBatchSize": int, "measurementIterations": int,
                      "measurementTime": str, "measurementBatchSize": int, "primaryMetric": dict,
                      "secondaryMetrics": dict}.items():
        assert isinstance(result[key], kind), key
    assert result["mode"] == "avgt" and len(result["benchmark"].split(".")) == 3
    names.add(result["benchmark"])
    metric = result["primaryMetric"]
    assert metric["scoreUnit"] == "us/op" and len(metric["rawData"]) == result["forks"]
    assert max(map(len, metric["rawData"])) == result["measurementIterations"]
    data = sorted(v for fork in metric["rawData"] for v in fork)
    close = lambda a, b: math.isclose(a, b, rel_tol=1e-6)
    assert close(metric["score"], statistics.fmean(data))
    assert close(metric["scorePercentiles"]["0.0"], data[0]) and close(metric["scorePercentiles"]["100.0"], data[-1])
    assert close(metric["scorePercentiles"]["50.0"], statistics.median(data))
    if len(data) > 1:
        low, high = metric["scoreConfidence"]
        assert low < metric["score"] < high and close(high - metric["score"], metric["scoreError"])
    assert len([s for s in arm["samples"] if s["accepted"]]) == result["forks"]
assert len(names) == len(results)
PY
    done
}

@test "markdown: tables by a parser of GitHub's" {
    command -v cmark-gfm >/dev/null || skip "cmark-gfm is not installed"
    for source in "${sources[@]}"; do
        "$TLSCOST" report --format markdown "$source" | cmark-gfm -e table >"$BATS_TEST_TMPDIR/out.html"
        [ "$(grep -c '^<table>' "$BATS_TEST_TMPDIR/out.html")" -ge 2 ]
        run -1 grep -E '^<p>\|' "$BATS_TEST_TMPDIR/out.html"
    done
}
