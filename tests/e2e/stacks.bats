#!/usr/bin/env bats
# tlscost stacks: list, show, verify, and what it says to wrong input.

setup() {
    bats_require_minimum_version 1.5.0
}

@test "stacks lists the default plug-in with the library's own version" {
    run -0 "$TLSCOST" stacks
    [[ $output =~ openssl\ +openssl\ [3-9]\.[0-9]+\.[0-9]+ ]]
    run -0 "$TLSCOST" stacks list
    [[ $output == *openssl* ]]
}

@test "stacks --json is one document with the file's hash" {
    run -0 --separate-stderr "$TLSCOST" stacks --json
    printf '%s' "$output" | python3 -c '
import hashlib, json, os, sys
document = json.load(sys.stdin)
assert document["schema"].endswith("/stacks/1"), document
row = [row for row in document["stacks"] if row["id"] == "openssl"][0]
path = os.path.join(os.environ["TLSCOST_STACKS"], "openssl.so")
assert row["sha256"] == hashlib.sha256(open(path, "rb").read()).hexdigest(), row'
}

@test "stacks show names what the library supports" {
    run -0 "$TLSCOST" stacks show openssl
    [[ $output == *X25519MLKEM768* && $output == *mldsa65* && $output == *TLSv1.3* ]]
    run -0 --separate-stderr "$TLSCOST" stacks show openssl --json
    printf '%s' "$output" | python3 -c '
import json, sys
supports = json.load(sys.stdin)["stack"]["supports"]
assert "X25519" in supports["groups"] and supports["memory_transport"] is True, supports'
}

@test "stacks verify runs every case" {
    run -0 "$TLSCOST" stacks verify openssl
    [[ $output =~ ([0-9]+)\ of\ ([0-9]+)\ cases\ good ]]
    [ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
    [ "${BASH_REMATCH[1]}" -gt 60 ]
}

@test "an interrupted verification tells what was verified, and ends with 130" {
    export XDG_STATE_HOME="$BATS_TEST_TMPDIR/state"
    # Thirty times the same: when the first is told, there is more to do.
    python3 - "$TLSCOST" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" <<'PY'
import signal, subprocess, sys
child = subprocess.Popen([sys.argv[1], "stacks", "verify"] + ["openssl"] * 30, stdout=subprocess.PIPE, text=True)
print(child.stdout.readline(), end="")
child.send_signal(signal.SIGINT)
print(child.stdout.read(), end="")
sys.exit(0 if child.wait() == 130 else 1)
PY
    grep -E '^openssl \(.*: [0-9]+ of [0-9]+ cases good' "$BATS_TEST_TMPDIR/out"
    grep -E 'interrupted; [0-9]+ of [0-9]+ cases ran' "$BATS_TEST_TMPDIR/err"
    # The last line is of the one that was broken off, and 30 are not reached.
    [ "$(wc -l <"$BATS_TEST_TMPDIR/out")" -lt 30 ]
}

@test "an unknown stack is refused with what there is" {
    run -2 "$TLSCOST" stacks show nonesuch
    [[ $output == *nonesuch*"no such plug-in"*openssl* ]]
    run -2 "$TLSCOST" stacks verify nonesuch
}

@test "wrong words end with a usage error" {
    run -1 "$TLSCOST" stacks frobnicate
    [[ $output == *"write list, show, verify, get, build or remove"* ]]
    run -1 "$TLSCOST" stacks show
    run -1 "$TLSCOST" stacks list more
    run -1 "$TLSCOST" stacks --nonesuch
}

@test "get passes on the recipe's refusal" {
    run -1 "$TLSCOST" stacks get nonesuch
    [[ $output == *"no such recipe; there are:"*openssl-3.5* ]]
}

@test "remove takes away what get made, and nothing else" {
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR
    mkdir -p "$XDG_CACHE_HOME/tlscost/stacks"
    cp "$TLSCOST_STACKS/openssl.so" "$XDG_CACHE_HOME/tlscost/stacks/mine-1.0.so"
    echo '{}' >"$XDG_CACHE_HOME/tlscost/stacks/mine-1.0.json"
    run -0 "$TLSCOST" stacks
    [[ $output == *mine-1.0* ]]
    run -0 "$TLSCOST" stacks remove mine-1.0
    [ -z "$(ls "$XDG_CACHE_HOME/tlscost/stacks")" ]
    run -1 "$TLSCOST" stacks remove mine-1.0
    [[ $output == *"not made by 'tlscost stacks get'"* ]]
    run -1 "$TLSCOST" stacks remove openssl
    run -1 "$TLSCOST" stacks remove ../stacks/openssl
    [ -f "$TLSCOST_STACKS/openssl.so" ]
}
