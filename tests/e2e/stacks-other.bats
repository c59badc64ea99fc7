#!/usr/bin/env bats
# Plug-ins of other libraries and versions: built by their recipes, tested by themselves, measured
# side by side. What cannot be fetched is skipped with the reason, or fails when TLSCOST_PEERS is
# 'required'.

setup_file() {
    export STACKS="$BATS_FILE_TMPDIR/stacks"
    mkdir -p "$STACKS"
    export TLSCOST_STACKS="$STACKS:$TLSCOST_STACKS"
    export XDG_STATE_HOME="$BATS_FILE_TMPDIR/state"
}

setup() {
    bats_require_minimum_version 1.5.0
    load interop
}

# Builds the recipe's plug-in once; sets plugin to its file and id to its name.
plugin_of() {
    local kept=$BATS_FILE_TMPDIR/built-$1
    [ -f "$kept" ] || "$root/scripts/recipe" build "$1" --into "$STACKS" \
        2>"$BATS_FILE_TMPDIR/recipe.log" >"$kept.part" || absent "$1"
    if [ -f "$kept.part" ]; then mv "$kept.part" "$kept"; fi
    plugin=$(tail -n 1 "$kept")
    id=$(basename "$plugin" .so)
}

# All cases of the self-test, and at least as many as the library is known to have.
passes() {
    plugin_of "$1"
    run -0 "$TLSCOST" stacks verify "$id"
    [[ $output =~ ([0-9]+)\ of\ ([0-9]+)\ cases\ good ]]
    [ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
    [ "${BASH_REMATCH[1]}" -ge "$2" ]
    "$BATS_TEST_DIRNAME/plugin_symbols.sh" "$STACKS"
    python3 - "${plugin%.so}.json" <<'PYTHON'
import json, re, sys
manifest = json.load(open(sys.argv[1]))
assert manifest["archives"] and all(re.fullmatch("[0-9a-f]{64}", digest)
                                    for digest in manifest["archives"].values()), manifest
PYTHON
}

# Serves with the stack and has other libraries' clients shake hands with it.
is_understood() {
    plugin_of "$1"
    make_certificates
    local port certificate
    for certificate in ecdsa-p256 rsa-2048; do
        "$TLSCOST" serve --http --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --cert "$certificate" \
            --workers 1 >"$BATS_TEST_TMPDIR/serve.log" 2>&1 &
        server=$!
        for _ in $(seq 200); do
            port=$(sed -n 's/^listening on 127.0.0.1:\([0-9]*\).*/\1/p' "$BATS_TEST_TMPDIR/serve.log")
            [ -z "$port" ] || break
            sleep 0.05
        done
        for version in 1.2 1.3; do
            curl -sS --tlsv$version --tls-max $version --cacert "$CERTS/ca.pem" "https://127.0.0.1:$port/" -o /dev/null
            openssl s_client -connect "127.0.0.1:$port" "-tls1_${version#1.}" -servername localhost \
                -CAfile "$CERTS/ca.pem" -verify_return_error </dev/null >"$BATS_TEST_TMPDIR/client.log" 2>&1
            grep -q "Verification: OK" "$BATS_TEST_TMPDIR/client.log"
        done
        "$TLSCOST" load --count 50 --groups X25519 --json "127.0.0.1:$port" |
            jq -e '.handshakes == 50 and (.errors | length) == 0 and .negotiated.group.X25519 == 50'
        "$TLSCOST" load --count 50 --groups X25519 --resume 1 --json "127.0.0.1:$port" | jq -e '.resumed == 50'
        "$TLSCOST" load --engine full --stack "$id" --ca "$CERTS/ca.pem" --count 20 --json "127.0.0.1:$port" |
            jq -e '.handshakes == 20 and .tickets == 20'
        kill "$server"
        wait "$server" || true
    done
}

teardown() { if [ -n "${server:-}" ]; then kill "$server" 2>/dev/null || true; fi; }

@test "wolfSSL passes its self-test" {
    passes wolfssl-5 100
    run -0 "$TLSCOST" stacks show "$id"
    [[ $output == *X25519MLKEM768* && $output == *mldsa65* && $output == *psk_ke* ]]
}

@test "wolfSSL's server is understood by other clients" { is_understood wolfssl-5; }

@test "Mbed TLS passes its self-test, and what it lacks is refused by name" {
    passes mbedtls-3.6 60
    make_certificates
    run -2 "$TLSCOST" serve --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --groups X25519MLKEM768
    [[ $output == *"this build of Mbed TLS 3."*"has no X25519MLKEM768"* ]]
    run -2 "$TLSCOST" serve --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --tickets stateful
    [[ $output == *"keeps no TLS 1.3 sessions in the server; OpenSSL and wolfSSL do"* ]]
}

@test "Mbed TLS's server is understood by other clients" { is_understood mbedtls-3.6; }

@test "GnuTLS passes its self-test, and what it lacks is refused by name" {
    passes gnutls-3.8 74
    make_certificates
    run -0 "$TLSCOST" stacks show "$id"
    [[ $output == *psk_ke* ]]
    run -2 "$TLSCOST" serve --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --groups X25519MLKEM768
    [[ $output == *"this build of GnuTLS 3."*"has no X25519MLKEM768; one with leancrypto has it"* ]]
    run -2 "$TLSCOST" serve --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --tickets stateful
    [[ $output == *"keeps no TLS 1.3 sessions in the server; OpenSSL and wolfSSL do"* ]]
}

@test "GnuTLS's server is understood by other clients" { is_understood gnutls-3.8; }

@test "AWS-LC passes its self-test, and what it lacks is refused by name" {
    passes awslc-5 127
    make_certificates
    run -0 "$TLSCOST" stacks show "$id"
    [[ $output == *X25519MLKEM768* && $output == *mldsa65* ]]
    run -2 "$TLSCOST" serve --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --tickets stateful
    [[ $output == *"keeps no TLS 1.3 sessions in the server; OpenSSL and wolfSSL do"* ]]
}

@test "AWS-LC's server is understood by other clients" { is_understood awslc-5; }

@test "GnuTLS and AWS-LC shake hands with OpenSSL in both directions" {
    local recipe
    for recipe in gnutls-3.8 awslc-5; do
        plugin_of "$recipe"
        "$TLSCOST" pair -q --busy-machine --stack "openssl,$id" --client-stack "openssl,$id" --versions 1.2,1.3 \
            --groups X25519 --blocks 1 --iterations 1 --count 5 --idle 0 --json >"$BATS_TEST_TMPDIR/pair.json"
        jq -e '.arms | length == 8 and all(.samples | length > 0)' "$BATS_TEST_TMPDIR/pair.json"
    done
}

@test "wolfSSL refuses what it cannot hold, with the reason" {
    plugin_of wolfssl-5
    make_certificates
    run -2 "$TLSCOST" serve --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --cert ecdsa-p256,rsa-2048
    [[ $output == *"wolfSSL keeps one for a name"* ]]
}

@test "a plan measures libraries side by side, with evidence" {
    plugin_of wolfssl-5
    sed -e "s/^name: .*/name: libraries/" -e "s/name: sound, certificate: ed25519/name: other, stack: $id/" \
        "$BATS_TEST_DIRNAME/plans/good.yaml" >"$BATS_TEST_TMPDIR/libraries.yaml"
    run -0 "$TLSCOST" run --quiet -o "$BATS_TEST_TMPDIR/r.json" "$BATS_TEST_TMPDIR/libraries.yaml"
    jq -e --arg id "$id" '[.arms[] | .accepted] == [true, true] and
        ([.arms[1].samples[].evidence | .group == "X25519" and .version == "TLSv1.3"] | all)' "$BATS_TEST_TMPDIR/r.json"
    # The verdict of the self-test is kept by then.
    [ -n "$(ls "$XDG_STATE_HOME/tlscost/self-tests")" ]
}

@test "two versions of OpenSSL in one process report and use their own library" {
    plugin_of openssl-3.0
    run -0 --separate-stderr "$TLSCOST" stacks --json
    jq -e --arg id "$id" '[.stacks[] | select(.id == $id or .id == "openssl") | .version] |
        length == 2 and (unique | length) == 2' <<<"$output"
    # One process loads both: the older one cannot do what the newer one does, before and after.
    run -0 "$TLSCOST" stacks verify openssl "$id"
    [ "$(grep -c 'cases good' <<<"$output")" -eq 2 ]
    [ "$(grep -o '[0-9]* of' <<<"$output" | sort -u | wc -l)" -eq 2 ]
}
