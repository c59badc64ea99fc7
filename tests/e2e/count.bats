# Counts under callgrind through the program; small ones, since they must only be right.

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
for name in ("server", "client"):
    side = count["sides"][name]
    each = side["instructions_per_handshake"]
    # A signature and a key exchange take more than this, and not a hundred times as much.
    assert 1e5 < each < 1e8, each
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
