#!/usr/bin/env bats
# Servers that take a while to be had, as arms: tested where their recipe's prefix is kept, and fetched and
# built for it when TLSCOST_PEERS is 'all'; continuous integration has no time for them.

# shellcheck disable=SC2154,SC2015 # interop.bash sets root; the last word is `false`
bats_require_minimum_version 1.5.0
load interop.bash

setup_file() {
    make_certificates
}

teardown() {
    stop_server
}

setup() {
    result="$BATS_TEST_TMPDIR/r.json"
    plan="$BATS_TEST_TMPDIR/plan.yaml"
}

# Skips a server whose runtime is not here yet.
is_here() {
    compgen -G "${XDG_CACHE_HOME:-$HOME/.cache}/tlscost/current/$1-*" >/dev/null || [ "${TLSCOST_PEERS:-}" = all ] ||
        skip "$1 is not here (scripts/recipe get $1)"
}

# Runs arms of a server, a line each: group, key type, more keys. All must be accepted, and the probe must
# have seen what was asked.
runs_as_asked() { # server
    local group key more
    cat >"$plan" <<YAML
name: more
question: Does it run?
baseline: {groups: X25519, concurrency: 4, tickets: 1, engine: full, share: honest, warm_up: 1us}
control: false
schedule: {blocks: 6, rounds: 1, slice: 20ms, warm_up: 0ms}
checks: {server_busy: 0%, generator_busy: 100%, headroom_gain: 0%, accounting: 1000%, steal: 100%}
include:
YAML
    while read -r group key more; do
        echo "  - {name: '$group $key${more:+ $more}', server: $1, groups: $group, certificate: $key${more:+, $more}}" >>"$plan"
    done
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '.arms[1:] | length > 0 and all(.accepted and (.samples | length > 0))' "$result"
    jq -e '.arms[1:] | all(. as $arm | .samples[].evidence |
        .group == ($arm.name | split(" ")[0]) and .certificate.key_type == ($arm.name | split(" ")[1]))' "$result"
}

# Starts a server by its script, kept on loopback as `run` keeps it; sets `address` and `server`.
serves() { # recipe, script, more options
    local port folder=$BATS_TEST_TMPDIR/work script=$2
    port=$(free_port)
    address=127.0.0.1:$port
    mkdir -p "$folder"
    LD_PRELOAD="$(dirname "$TLSCOST")/preload/tlscost-loopback.so" "$root/peers/$script/serve" \
        --root "$(prefix_of "$1")" --port "$port" --directory "$folder" --cert "$CERTS/ecdsa-p256.pem" \
        --key "$CERTS/ecdsa-p256.key" "${@:3}" 3>&- &
    server=$!
    for _ in $(seq 400); do
        ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || return 0
        kill -0 "$server"
        sleep 0.05
    done
    return 1
}

refused() { # server, what it lacks, keys of an arm
    cat >"$plan" <<YAML
name: more
question: Is it refused?
baseline: {groups: X25519}
control: false
include: [{name: other, server: $1, $3}]
YAML
    run "$TLSCOST" run --quiet --blocks 1 -o "$result" "$plan"
    [ "$status" -eq 2 ] && [[ "$(tr -s ' \n' ' ' <<<"$output")" == *"server $1: has no $2; leave the arm out"* ]] ||
        { echo "$status $output"; false; }
}

@test "Botan runs with each of its groups and key types, and resumes" {
    is_here botan-3
    runs_as_asked botan <<'ARMS'
X25519 ecdsa-p256
X25519 ecdsa-p384
X25519 rsa-2048
secp256r1 ecdsa-p256
secp384r1 ecdsa-p256
secp521r1 ecdsa-p256
X448 ecdsa-p256
X25519MLKEM768 ecdsa-p256
SecP256r1MLKEM768 ecdsa-p256
SecP384r1MLKEM1024 ecdsa-p256
MLKEM512 ecdsa-p256
MLKEM768 ecdsa-p256
MLKEM1024 ecdsa-p256
X25519 ecdsa-p256 tickets: 3
ARMS
    jq -e '.arms[1].samples[0].stay.server.version | startswith("Botan 3.")' "$result"
    serves botan-3 botan --groups x25519 --tickets 1
    resumed_as_asked lean X25519
    resumed_as_asked full X25519
    refused botan ed25519 "certificate: ed25519"
    refused botan mldsa-65 "certificate: mldsa-65"
    refused botan "second worker" "workers: 2"
}

@test "NSS runs with each of its groups and key types, and resumes" {
    is_here nss-3
    runs_as_asked nss <<'ARMS'
X25519 ecdsa-p256
X25519 ecdsa-p384
X25519 rsa-2048
X25519 mldsa-65 tickets: 0
secp256r1 ecdsa-p256
secp384r1 ecdsa-p256
secp521r1 ecdsa-p256
X25519MLKEM768 ecdsa-p256
SecP256r1MLKEM768 ecdsa-p256
SecP384r1MLKEM1024 ecdsa-p256
X25519 ecdsa-p256 tickets: 0
ARMS
    jq -e '.arms[1].samples[0].stay.server.version | startswith("NSS 3.")' "$result"
    serves nss-3 nss --groups x25519
    resumed_as_asked lean X25519
    resumed_as_asked full X25519
    refused nss ed25519 "certificate: ed25519"
    refused nss MLKEM768 "groups: MLKEM768"
}

@test "rustls runs with each of its groups and key types, and resumes" {
    is_here rustls-0.23
    runs_as_asked rustls <<'ARMS'
X25519 ecdsa-p256
X25519 ecdsa-p384
X25519 ed25519
X25519 rsa-2048
X25519 mldsa-44
X25519 mldsa-65
X25519 mldsa-87
secp256r1 ecdsa-p256
secp384r1 ecdsa-p256
X25519MLKEM768 ecdsa-p256
SecP256r1MLKEM768 ecdsa-p256
MLKEM768 ecdsa-p256
MLKEM1024 ecdsa-p256
X25519 ecdsa-p256 tickets: 0
X25519 ecdsa-p256 tickets: 2
X25519 ecdsa-p256 alpn: h2
X25519 ecdsa-p256 workers: 2
ARMS
    jq -e '.arms[1].samples[0].stay.server.version | startswith("rustls 0.23.")' "$result"
    refused rustls SecP384r1MLKEM1024 "groups: SecP384r1MLKEM1024"
}

@test "the server over rustls counts what it did" {
    is_here rustls-0.23
    local program="${XDG_CACHE_HOME:-$HOME/.cache}/tlscost/peers/rustls/server"
    [ -x "$program" ] || skip "it is not built yet"
    start_server '^{"listening":"\([^"]*\)"}' "$program" --cert "$CERTS/ecdsa-p256.pem" --key "$CERTS/ecdsa-p256.key" \
        --groups X25519MLKEM768:secp384r1
    load_as_asked lean X25519MLKEM768 0 --tickets 2
    load_as_asked lean P-384 "$handshakes" --groups P-384:X25519 --wrong-share-first --tickets 2
    resumed_as_asked lean X25519MLKEM768
    run "$TLSCOST" load --groups X25519 --count 1 --concurrency 1 "$address"
    [ "$status" -ne 0 ]
    stop_server
    jq -s -e --argjson n "$handshakes" '.[1] | .handshakes >= 3 * $n and .hello_retry_requests == $n and
        .resumed >= $n and (.groups | keys) == ["X25519MLKEM768", "secp384r1"] and .groups.secp384r1 == $n and
        (.failed | length) == 1' "$server_output" || { cat "$server_output" "$server_errors" && false; }
}
