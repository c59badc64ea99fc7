# Networks between server and generator that the program makes itself: namespaces joined by a veth
# pair. Skipped, with the reason, where the kernel does not let this user make namespaces.

bats_require_minimum_version 1.5.0

setup() {
    plan="$BATS_TEST_DIRNAME/plans/network.yaml"
    result="$BATS_TEST_TMPDIR/r.json"
    export TLSCOST_TEST="$BATS_TEST_NAME"
}

namespaces() { # those other than the test's own that this test's processes live in
    local own process environment
    own=$(readlink /proc/self/ns/net)
    for process in /proc/[0-9]*; do
        environment=$(tr '\0' '\n' <"$process/environ" 2>/dev/null) || continue
        grep -qxF "TLSCOST_TEST=$BATS_TEST_NAME" <<<"$environment" || continue
        readlink "$process/ns/net" 2>/dev/null || true
    done | grep -vxF "$own" | sort -u
}

may_make_them() {
    unshare --net true 2>/dev/null || unshare --user --map-current-user --net true 2>/dev/null ||
        skip "this user may not make network namespaces"
    [ "$(nproc)" -ge 2 ] || skip "one CPU"
}

campaign() {
    "$TLSCOST" run --quiet --blocks 2 -o "$result" "$plan" "$@"
}

@test "handshakes cross a veth pair, and steering moves the receive work to the server's CPUs" {
    may_make_them
    before=$(ip -o link 2>/dev/null | wc -l)
    run campaign
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[].accepted] | all and length == 3' "$result"
    jq -e '[.plan.arms[].network] == ["loopback", "veth-unsteered", "veth"]' "$result"
    # On loopback and without steering the sender's CPU works off the receiver's packets. Counts, not
    # times; other programs' packets are few beside those of hundreds of handshakes.
    jq -e '
        def each(side): ([.samples[].stay[side].net_rx] | add) / ([.samples[].handshakes] | add);
        (.arms[0] | each("server_cpu")) as $loopback | (.arms[2] | each("server_cpu")) as $veth |
        (.arms[1] | each("server_cpu")) as $unsteered |
        $veth > 1.2 * $loopback and $veth > 1.2 * $unsteered' "$result" ||
        { jq '[.arms[].samples[].stay | {server_cpu, generator_cpu}]' "$result"; false; }
    [[ "$output" == *"NET_RX"* && "$output" == *"veth-unsteered"* ]]
    [ "$(ip -o link 2>/dev/null | wc -l)" -eq "$before" ]
    [ -z "$(namespaces)" ]
}

@test "nothing is left of the namespaces when the program is killed" {
    may_make_them
    "$TLSCOST" run --quiet --blocks 200 -o "$result" "$plan" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
    program=$!
    for _ in $(seq 300); do
        [ "$(namespaces | wc -l)" -ge 2 ] && break
        sleep 0.1
    done
    [ "$(namespaces | wc -l)" -ge 2 ]
    kill -KILL "$program"
    wait "$program" || true
    for _ in $(seq 100); do
        [ -z "$(namespaces)" ] && break
        sleep 0.1
    done
    [ -z "$(namespaces)" ]
}

@test "an ordinary user gets them from a user namespace" {
    [ "$(id -u)" -eq 0 ] || skip "only root can become another user here"
    may_make_them
    own=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    "${own[@]}" unshare --user --map-current-user --net true 2>/dev/null ||
        skip "ordinary users may not make user namespaces here"
    "${own[@]}" test -x "$TLSCOST" || skip "the program lies where an ordinary user cannot reach it"
    [ -w /proc/sys/net/core/rps_default_mask ] || skip "the kernel has no rps_default_mask (Linux 6.3)"
    home="$BATS_TEST_TMPDIR/home"
    mkdir -m 0777 "$home"
    chmod 0755 "$BATS_TEST_TMPDIR" "$BATS_RUN_TMPDIR" 2>/dev/null || true
    "${own[@]}" test -w "$home" || skip "the test's folder lies where an ordinary user cannot reach it"
    run env HOME="$home" XDG_CACHE_HOME="$home/cache" TMPDIR="$home" "${own[@]}" \
        "$TLSCOST" run --quiet --blocks 2 -o "$home/r.json" "$plan"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[].accepted] | all' "$home/r.json"
}

@test "where namespaces are not permitted it says what is needed and ends with 2" {
    unshare --user --map-root-user true 2>/dev/null || skip "no user namespace to forbid them in"
    run --separate-stderr unshare --user --map-root-user bash -c '
        echo 0 >/proc/sys/user/max_user_namespaces || exit 77
        exec setpriv --bounding-set=-all --inh-caps=-all "$@"' - \
        "$TLSCOST" run --quiet --blocks 2 -o "$result" "$plan"
    [ "$status" -ne 77 ] || skip "user namespaces cannot be forbidden here"
    [ "$status" -eq 2 ] || { echo "$output" "$stderr"; false; }
    [[ "$stderr" == *"network veth: "*"run as root"* ]]
}

@test "a server's network cannot differ on one server process" {
    sed 's/values: .*/values: [veth], }/; s/^levers:/include:/; s/  - {key.*/  - {name: x, network: veth, instance: baseline}/' "$plan" >"$BATS_TEST_TMPDIR/one.yaml"
    run --separate-stderr "$TLSCOST" run --quiet "$BATS_TEST_TMPDIR/one.yaml" -o "$result"
    [ "$status" -eq 1 ]
    [[ "$stderr" == *"network"* ]]
}
