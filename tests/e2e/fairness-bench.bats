# bench/generator itself: the document it prints, and that peers are held to what the server counted.
# BENCH is build/bench/generator, TLSCOST the built program.

bench() {
    "$BENCH" --tlscost "$TLSCOST" --quick --rounds 1 --groups X25519 --no-peers "$@"
}

@test "the document has a ratio for each share, the floor, and how busy both CPUs were" {
    bench --json >"$BATS_TEST_TMPDIR/bench.json"
    jq -e '
        ([.ratios[] | select(.peer == "tlscost full" and .group == "X25519") | .share] | sort) ==
            ["cheap", "honest", "reused"] and
        all(.ratios[]; .estimate > 0 and .low == null and .high == null) and
        (.floor | length) == 1 and .floor[0].group == "X25519" and .floor[0].estimate > 0 and
        .server_busy > 0 and .server_busy <= 1 and .generator_busy > 0 and .generator_busy <= 1 and
        all(.clients[]; .handshakes > 0 and .resumed == 0 and .hello_retry_requests == 0) and
        .skipped == []' "$BATS_TEST_TMPDIR/bench.json"
}

@test "a peer that claims handshakes which the server did not count is left out" {
    printf '#!/bin/sh\necho "Requests/sec: 1000000"\n' >"$BATS_TEST_TMPDIR/boaster"
    chmod +x "$BATS_TEST_TMPDIR/boaster"
    bench --json --peer "wrk=$BATS_TEST_TMPDIR/boaster" >"$BATS_TEST_TMPDIR/bench.json"
    jq -e '
        [.skipped[] | [.peer, .group]] == [["wrk", "X25519"]] and
        (.skipped[0].reason | contains("completed no handshake")) and
        all(.ratios[]; .peer != "wrk")' "$BATS_TEST_TMPDIR/bench.json"
}

@test "wrong options are named" {
    run bench --peer nonsense=/bin/true
    [ "$status" -eq 1 ]
    [[ "$output" == *"--peer: 'nonsense': unknown; there are openssl, "* ]]
    run bench --peer wrk=/does/not/exist
    [ "$status" -eq 2 ]
    [[ "$output" == *"/does/not/exist: No such file"* ]]
    run "$BENCH" --groups X25519:nonsense
    [ "$status" -eq 1 ]
    [[ "$output" == *"'nonsense': unknown group"* ]]
}
