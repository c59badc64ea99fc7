# The doctor on the machine that runs the tests, whatever that is.

@test "every finding is told, and --json tells the same" {
    run "$TLSCOST" doctor
    [ "$status" -eq 0 ]
    "$TLSCOST" doctor --json >"$BATS_TEST_TMPDIR/d.json"
    jq -e '.command == "doctor" and .environment != null and (.findings | length) >= 15' "$BATS_TEST_TMPDIR/d.json"
    jq -e '.spoils == ([.findings[] | select(.state == "spoils")] | length)' "$BATS_TEST_TMPDIR/d.json"
    for name in $(jq -r '.findings[].name' "$BATS_TEST_TMPDIR/d.json"); do
        [[ "$output" == *"$name"* ]] || { echo "$name is missing"; false; }
    done
}

@test "what the machine says itself is what is found" {
    "$TLSCOST" doctor --json >"$BATS_TEST_TMPDIR/d.json"
    finding() { jq -r --arg name "$1" '.findings[] | select(.name == $name) | .state + " " + .text' "$BATS_TEST_TMPDIR/d.json"; }
    [[ "$(finding somaxconn)" == *" $(cat /proc/sys/net/core/somaxconn)"* ]]
    [[ "$(finding fd-limit)" == *" $(ulimit -n) "* ]] || [ "$(ulimit -n)" = unlimited ]
    if grep -qw hypervisor /proc/cpuinfo; then
        [[ "$(finding hypervisor)" == "note virtual machine"* ]]
    fi
    if [ ! -e /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor ]; then
        [[ "$(finding governor)" == "note none"* ]]
    fi
    if [ -d /sys/bus/event_source/devices ] && ! ls /sys/bus/event_source/devices | grep -qE '^(cpu|armv|riscv)'; then
        [[ "$(finding hardware-counters)" == "note none"* ]]
    fi
}

@test "nothing is changed without --apply" {
    before=$(sysctl -n kernel.perf_event_paranoid net.core.somaxconn net.ipv4.ip_local_port_range 2>/dev/null || true)
    "$TLSCOST" doctor >/dev/null
    after=$(sysctl -n kernel.perf_event_paranoid net.core.somaxconn net.ipv4.ip_local_port_range 2>/dev/null || true)
    [ "$before" = "$after" ]
    run "$TLSCOST" doctor true
    [ "$status" -eq 1 ]
}

@test "--apply runs a command, gives its exit code, and puts everything back" {
    before=$(cat /proc/sys/kernel/perf_event_paranoid /proc/sys/net/core/somaxconn)
    run "$TLSCOST" doctor --apply -- sh -c 'exit 7'
    [ "$status" -eq 7 ]
    [ "$before" = "$(cat /proc/sys/kernel/perf_event_paranoid /proc/sys/net/core/somaxconn)" ]
    run "$TLSCOST" doctor --apply -- /no/such/command
    [ "$status" -eq 2 ]
    [ "$before" = "$(cat /proc/sys/kernel/perf_event_paranoid /proc/sys/net/core/somaxconn)" ]
}

@test "--apply holds until a signal, and puts everything back then" {
    before=$(cat /proc/sys/kernel/perf_event_paranoid)
    "$TLSCOST" doctor --apply >/dev/null 2>"$BATS_TEST_TMPDIR/err" &
    pid=$!
    for _ in $(seq 300); do
        grep -q 'the changes hold' "$BATS_TEST_TMPDIR/err" && break
        sleep 0.1
    done
    if [ "$before" -gt 1 ] && [ -w /proc/sys/kernel/perf_event_paranoid ]; then
        [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -eq 1 ]
    fi
    kill -TERM "$pid"
    wait "$pid"
    [ "$before" = "$(cat /proc/sys/kernel/perf_event_paranoid)" ]
}
