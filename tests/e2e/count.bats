# Counts by callgrind and by perf through the program; small ones, since they must only be right.

bats_require_minimum_version 1.5.0

setup() {
    export LC_ALL=C.UTF-8 XDG_CACHE_HOME="$BATS_FILE_TMPDIR/cache"
}

@test "without valgrind it says what to install" {
    run --separate-stderr env PATH=/nonexistent "$TLSCOST" count
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"apt-get install valgrind"* ]]
}

@test "what is wrong is named" {
    run --separate-stderr "$TLSCOST" count --fail-above 1%
    [ "$status" -eq 1 ] && [[ "$stderr" == *"--against"* ]]
    run --separate-stderr "$TLSCOST" count --against "$BATS_TEST_DIRNAME/../fixtures/results/accepted.json"
    [ "$status" -eq 1 ] && [[ "$stderr" == *"not a result of 'count'"* ]]
    run --separate-stderr "$TLSCOST" count --count 0
    [ "$status" -eq 1 ]
    run --separate-stderr "$TLSCOST" count --by guess
    [ "$status" -eq 1 ] && [[ "$stderr" == *"neither callgrind nor perf"* ]]
    run --separate-stderr "$TLSCOST" count --by perf --event luck
    [ "$status" -eq 1 ] && [[ "$stderr" == *"task-clock"* ]]
    run --separate-stderr "$TLSCOST" count --event cycles
    [ "$status" -eq 1 ] && [[ "$stderr" == *"--by perf"* ]]
    command -v valgrind >/dev/null || skip "valgrind is not installed"
    run --separate-stderr "$TLSCOST" count --groups nonsense
    [ "$status" -eq 1 ] && [[ "$stderr" == *"nonsense"* ]]
}

@test "both sides are counted, with their functions, and a gate holds" {
    command -v valgrind >/dev/null || skip "valgrind is not installed"
    options=(--groups X25519 --count 4 --repeats 1)
    "$TLSCOST" count "${options[@]}" -o "$BATS_TEST_TMPDIR/base.json" >"$BATS_TEST_TMPDIR/text"
    grep -q '^server: [0-9]* instructions' "$BATS_TEST_TMPDIR/text"
    grep -q '^client: ' "$BATS_TEST_TMPDIR/text"
    python3 - "$BATS_TEST_TMPDIR/base.json" "$BATS_TEST_TMPDIR/less.json" <<'PY'
import json, sys
count = json.load(open(sys.argv[1]))
assert count["command"] == "count" and count["valgrind"].startswith("valgrind-")
assert (count["method"], count["event"], count["space"]) == ("callgrind", "instructions", "user")
for name in ("server", "client"):
    side = count["sides"][name]
    each = side["instructions_per_handshake"]
    # A signature and a key exchange take more than this, and not a hundred times as much.
    assert 1e5 < each < 1e8, each
    assert side["per_handshake"] == each and side["user"] == each and side["kernel"] is None
    functions = side["functions"]
    assert functions and abs(functions[0]["instructions"] / each - functions[0]["share"]) < 1e-3
    assert sum(f["share"] for f in functions) <= 1
# The server's own library is where its work is done.
assert any(f["object"] == "openssl.so" for f in count["sides"]["server"]["functions"])
count["sides"]["server"]["instructions_per_handshake"] *= 0.9
json.dump(count, open(sys.argv[2], "w"))
PY
    run --separate-stderr "$TLSCOST" count "${options[@]}" --against "$BATS_TEST_TMPDIR/less.json" --fail-above 5%
    [ "$status" -eq 4 ]
    [[ "$stderr" == *"the server takes"*"more instructions"* ]]
    run --separate-stderr "$TLSCOST" count --groups X25519 --cert rsa-2048 --against "$BATS_TEST_TMPDIR/less.json"
    [ "$status" -eq 1 ] && [[ "$stderr" == *"another configuration"* ]]
}

@test "perf counts both sides as they run, and a count of another method or event is no base" {
    options=(--by perf --event task-clock --count 20 --repeats 1)
    run --separate-stderr "$TLSCOST" count "${options[@]}" -o "$BATS_TEST_TMPDIR/perf.json"
    # A container may forbid every event; then it must say so.
    [ "$status" -ne 2 ] || [[ "$stderr" == *"forbid"*"--by callgrind"* || "$stderr" == *"sysctl"* ]]
    [ "$status" -ne 2 ] || skip "this machine allows no perf events"
    [ "$status" -eq 0 ]
    [[ "$output" == *"server: "*" ns of CPU time a handshake"*"Functions are not told by perf"* ]]
    python3 - "$BATS_TEST_TMPDIR/perf.json" <<'PY'
import json, sys
count = json.load(open(sys.argv[1]))
assert (count["method"], count["event"], count["space"]) == ("perf", "task-clock", "undivided")
for name in ("server", "client"):
    side = count["sides"][name]
    assert side["per_handshake"] > 0 and side["functions"] == []
    assert side["user"] is None and side["kernel"] is None
    assert "instructions_per_handshake" not in side
# One whose cost is far above any other is a base that no gate is crossed against.
for name, by in (("more", 1e6), ("less", 1e-6)):
    changed = json.loads(json.dumps(count))
    for side in changed["sides"].values():
        side["per_handshake"] *= by
    json.dump(changed, open(f"{sys.argv[1]}.{name}", "w"))
PY
    "$TLSCOST" count "${options[@]}" --against "$BATS_TEST_TMPDIR/perf.json.more" --fail-above 1% >/dev/null
    run --separate-stderr "$TLSCOST" count "${options[@]}" --against "$BATS_TEST_TMPDIR/perf.json.less" --fail-above 1%
    [ "$status" -eq 4 ] && [[ "$stderr" == *"more ns of CPU time"* ]]
    run --separate-stderr "$TLSCOST" count --against "$BATS_TEST_TMPDIR/perf.json"
    [ "$status" -eq 1 ] && [[ "$stderr" == *"task-clock by perf"* ]]
    run --separate-stderr "$TLSCOST" count --by perf --against "$BATS_TEST_TMPDIR/perf.json"
    [ "$status" -eq 1 ] && [[ "$stderr" == *"same event and method"* ]]
}

@test "perf without a counter of instructions refuses, and says why and what would help" {
    run --separate-stderr "$TLSCOST" count --by perf --count 20 --repeats 1 --json
    [ "$status" -ne 0 ] || skip "this machine has hardware counters"
    # 3: it has them, but others use them as well.
    [ "$status" -ne 3 ] || skip "this machine's hardware counters are not free"
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"vPMU"* || "$stderr" == *"perf_event_paranoid"* || "$stderr" == *"CAP_PERFMON"* ]]
    [[ "$stderr" == *"task-clock"* ]]
    [ -z "$output" ]
}
