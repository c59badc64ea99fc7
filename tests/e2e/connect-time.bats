# Connect times over small round-trip times: structure, and what no machine's speed can change. A
# relay or netem is never early, and a busy machine only makes times longer.

bats_require_minimum_version 1.5.0

setup_file() {
    export LC_ALL=C.UTF-8 XDG_CACHE_HOME="$BATS_FILE_TMPDIR/cache" XDG_STATE_HOME="$BATS_FILE_TMPDIR/state"
    export RESULT="$BATS_FILE_TMPDIR/result.json"
    "$TLSCOST" connect-time -q --network relay --rtt 10ms,30ms --count 12 --resume --hello-retry \
        --upgrade --timeout 60s -o "$RESULT" >"$BATS_FILE_TMPDIR/text"
}

@test "every phase of every arm takes at least its round trips" {
    python3 - "$RESULT" <<'PY'
import json, sys
result = json.load(open(sys.argv[1]))
assert result["command"] == "connect-time" and result["accepted"] is True
assert result["network"]["kind"] == "relay" and "time" in result["figure"]
arms = {arm["name"]: arm for arm in result["arms"]}
trips = {}
for name, arm in arms.items():
    assert arm["accepted"] and [at["rtt_us"] for at in arm["at"]] == [10000, 30000], name
    for at in arm["at"]:
        assert at["connections"] == at["begun"] == 12 and at["failed"] == 0
        before = [0] * 12
        for phase in ("tcp", "server_hello", "finished", "first_byte"):
            figures, times = at["phases"][phase], at["times_us"][phase]
            assert figures["expected_us"] == figures["round_trips"] * at["rtt_us"]
            assert len(times) == 12
            # A tenth of a microsecond for rounding.
            assert min(times) >= figures["expected_us"] - 0.1, (name, phase, min(times))
            assert all(now >= earlier for now, earlier in zip(times, before))
            assert min(times) <= figures["p50"]["estimate"] <= figures["max"] == max(times)
            assert figures["p50"]["low"] <= figures["p50"]["estimate"] <= figures["p50"]["high"]
            assert figures["p999"]["high"] is None  # 12 connections cannot bound it
            before = times
        trips[name] = [at["phases"][p]["round_trips"] for p in ("server_hello", "finished", "first_byte")]
base = "ecdsa-p256, X25519:P-256"
assert trips == {
    f"1.3, {base}": [2, 2, 3], f"1.3, {base}, resumed": [2, 2, 3],
    f"1.3, {base}, HelloRetryRequest": [3, 3, 4], f"1.3, {base}, upgrade": [2, 2, 4],
    f"1.2, {base}": [2, 3, 4], f"1.2, {base}, resumed": [2, 2, 3], f"1.2, {base}, upgrade": [2, 3, 5]}, trips
seen = {name: arm["evidence"] for name, arm in arms.items()}
for name, evidence in seen.items():
    assert evidence["resumed"] == name.endswith("resumed"), name
    assert evidence["hello_retry_request"] == name.endswith("HelloRetryRequest"), name
    assert evidence["version"] == "TLSv" + name[:3], name
assert arms[f"1.3, {base}"]["at"][0]["difference_us"] is None
assert arms[f"1.2, {base}"]["at"][0]["difference_us"]["estimate"] is not None
PY
}

@test "the report says what the figures are, and is made again from the result" {
    text="$BATS_FILE_TMPDIR/text"
    grep -q 'no costs of a server' <(tr '\n' ' ' <"$text")
    grep -q 'delay relay' "$text"
    grep -q '4 RTT' "$text"
    "$TLSCOST" report "$RESULT" | cmp - "$text"
    "$TLSCOST" report "$RESULT" -f markdown | grep -q '^| 1.2, ecdsa-p256'
    run "$TLSCOST" report "$RESULT" -f csv
    [ "${lines[0]%$'\r'}" = "arm,rtt_us,tcp_us,server_hello_us,finished_us,first_byte_us" ]
    [ "${#lines[@]}" -eq $((1 + 7 * 2 * 12)) ]
}

@test "a chain beyond the initial window waits a round trip more, within a larger one not" {
    "$TLSCOST" connect-time -q --network relay --rtt 20ms --count 5 --versions 1.3 --certs mldsa-44 \
        --authority leaf --intermediates 1,2 --timeout 60s -o "$BATS_TEST_TMPDIR/ten.json" >/dev/null
    "$TLSCOST" connect-time -q --network relay --rtt 20ms --count 5 --versions 1.3 --certs mldsa-44 \
        --authority leaf --intermediates 2 --initial-window 11 --timeout 60s \
        -o "$BATS_TEST_TMPDIR/eleven.json" >/dev/null
    python3 - "$BATS_TEST_TMPDIR/ten.json" "$BATS_TEST_TMPDIR/eleven.json" <<'PY'
import json, sys
short, long = json.load(open(sys.argv[1]))["arms"]
wide, = json.load(open(sys.argv[2]))["arms"]
flight = lambda arm: arm["evidence"]["bytes"]["server_flight"]
trips = lambda arm: arm["at"][0]["phases"]["finished"]["round_trips"]
assert flight(short) < 14600 < flight(long) < 16060, (flight(short), flight(long))
assert (trips(short), trips(long), trips(wide)) == (2, 3, 2)
assert min(long["at"][0]["times_us"]["finished"]) >= 60000 - 0.1
# The ServerHello comes with the first window.
assert trips(long) - long["at"][0]["phases"]["server_hello"]["round_trips"] == 1
PY
}

@test "losses are seeded and come late" {
    "$TLSCOST" connect-time -q --network relay --rtt 1ms --count 60 --loss 5% --versions 1.3 \
        --timeout 60s -o "$BATS_TEST_TMPDIR/loss.json" >/dev/null
    python3 - "$BATS_TEST_TMPDIR/loss.json" <<'PY'
import json, sys
at = json.load(open(sys.argv[1]))["arms"][0]["at"][0]
assert at["phases"]["first_byte"]["expected_us"] is None
# Of some 8 segments each connection: about a third have a time-out, of at least 200 ms.
late = sum(time >= 201000 for time in at["times_us"]["first_byte"])
assert 5 <= late <= 60, late
PY
}

@test "an arm that is not as asked is refused by name" {
    cat >"$BATS_TEST_TMPDIR/plan.yaml" <<'YAML'
name: no-tickets
question: Does a server without tickets resume?
workload: connect
control: false
baseline: {engine: full, rtt: 1ms}
include:
  - {name: resumed, resumption: psk_dhe_ke, resume_ratio: 100%, serve_options: --tickets off}
schedule: {connections: 5}
YAML
    run --separate-stderr "$TLSCOST" run "$BATS_TEST_TMPDIR/plan.yaml" -q -o "$BATS_TEST_TMPDIR/r.json"
    [ "$status" -eq 3 ] && [[ "$stderr" == *"arm 'resumed'"*"no session to resume"* ]]
    sed -i 's/--tickets off/--fault stall-1-in=3/; s/resumption: psk_dhe_ke, resume_ratio: 100%, //; s/rtt: 1ms/rtt: 1ms, timeout: 2s/' \
        "$BATS_TEST_TMPDIR/plan.yaml"
    run --separate-stderr "$TLSCOST" run "$BATS_TEST_TMPDIR/plan.yaml" -q -o "$BATS_TEST_TMPDIR/r.json"
    [ "$status" -eq 3 ] && [[ "$output" == *"REFUSED: 'resumed'"* ]] && [[ "$output" == *"failed: timeout"* ]]
}

@test "netem is used where the kernel has it, and holds the relay to its figures" {
    run --separate-stderr "$TLSCOST" connect-time -q --network netem --rtt 40ms --count 20 \
        -o "$BATS_TEST_TMPDIR/netem.json"
    if [ "$status" -eq 2 ]; then
        [[ "$stderr" == *"netem: "*"use --network relay"* ]]
        "$TLSCOST" connect-time -q --rtt 1ms --count 2 --json >"$BATS_TEST_TMPDIR/auto.json"
        python3 -c 'import json, sys; n = json.load(open(sys.argv[1]))["network"]; assert n["kind"] == "relay" and n["why"], n' \
            "$BATS_TEST_TMPDIR/auto.json"
        skip "$stderr"
    fi
    [ "$status" -eq 0 ]
    "$TLSCOST" connect-time -q --network relay --rtt 40ms --count 20 -o "$BATS_TEST_TMPDIR/relay.json" >/dev/null
    python3 - "$BATS_TEST_TMPDIR/netem.json" "$BATS_TEST_TMPDIR/relay.json" <<'PY'
import json, sys
netem, relay = (json.load(open(path)) for path in sys.argv[1:])
assert netem["network"]["kind"] == "netem"
for left, right in zip(netem["arms"], relay["arms"]):
    for phase in ("tcp", "server_hello", "finished", "first_byte"):
        # The least of 20: what the path alone takes, but for a little computing.
        times = [arm["at"][0]["times_us"][phase] for arm in (left, right)]
        assert abs(min(times[0]) / min(times[1]) - 1) < 0.1, (left["name"], phase, times)
PY
}

@test "what is wrong is named" {
    run --separate-stderr "$TLSCOST" connect-time --rtt soon
    [ "$status" -eq 1 ] && [[ "$stderr" == *"rtt 'soon'"* ]]
    run --separate-stderr "$TLSCOST" connect-time --rtt '1ms}'
    [ "$status" -eq 1 ] && [[ "$stderr" == *"--rtt"*"not a value"* ]]
    run --separate-stderr "$TLSCOST" connect-time --versions 1.2 --groups X25519MLKEM768
    [ "$status" -eq 1 ] && [[ "$stderr" == *"nothing is left to measure"* ]]
    run --separate-stderr "$TLSCOST" connect-time groups
    [ "$status" -eq 1 ] && [[ "$stderr" == *"its workload is network"* ]]
    run --separate-stderr "$TLSCOST" connect-time connect-time --rtt 1ms
    [ "$status" -eq 1 ] && [[ "$stderr" == *"a plan says itself"* ]]
    run --separate-stderr "$TLSCOST" run connect-time --blocks 7 -o "$BATS_TEST_TMPDIR/r.json"
    [ "$status" -eq 1 ] && [[ "$stderr" == *"neither blocks nor CPUs"* ]]
    printf 'name: x\nquestion: q\nbaseline: {rtt: 1ms}\n' >"$BATS_TEST_TMPDIR/x.yaml"
    run --separate-stderr "$TLSCOST" run "$BATS_TEST_TMPDIR/x.yaml" -o "$BATS_TEST_TMPDIR/r.json"
    [ "$status" -eq 1 ] && [[ "$stderr" == *"x.yaml:3: "*"only the workload connect has this"* ]]
}
