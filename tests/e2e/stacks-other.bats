#!/usr/bin/env bats
# Plug-ins of other libraries and versions: built by their recipes, tested by themselves, measured
# side by side. What cannot be fetched is skipped with the reason, or fails when TLSCOST_PEERS is
# 'required'.

# shellcheck disable=SC2154 # stacks.bash sets id and plugin
bats_require_minimum_version 1.5.0
load stacks

@test "wolfSSL passes its self-test" {
    passes wolfssl-5 173 # 70 of them raw operations
    run -0 "$TLSCOST" stacks show "$id"
    [[ $output == *X25519MLKEM768* && $output == *mldsa65* && $output == *psk_ke* ]]
}

@test "wolfSSL's server is understood by other clients" { is_understood wolfssl-5; }

@test "Mbed TLS passes its self-test, and what it lacks is refused by name" {
    passes mbedtls-3.6 101 # 38 of them raw operations
    make_certificates
    run -2 "$TLSCOST" serve --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --groups X25519MLKEM768
    [[ $output == *"this build of Mbed TLS 3."*"has no X25519MLKEM768"* ]]
    run -2 "$TLSCOST" serve --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --tickets stateful
    [[ $output == *"keeps no TLS 1.3 sessions in the server; OpenSSL and wolfSSL do"* ]]
}

@test "Mbed TLS's server is understood by other clients" { is_understood mbedtls-3.6; }

@test "wolfSSL refuses what it cannot hold, with the reason" {
    plugin_of wolfssl-5
    make_certificates
    run -2 "$TLSCOST" serve --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --cert ecdsa-p256,rsa-2048
    [[ $output == *"wolfSSL keeps one for a name"* ]]
}

@test "wolfSSL runs every raw operation of OpenSSL's list with right results" {
    plugin_of wolfssl-5
    runs_operations 70 mldsa-65-sign
    refuses_the_rest
    [ -z "$(comm -23 "$BATS_TEST_TMPDIR/all" "$BATS_TEST_TMPDIR/own")" ]
}

@test "Mbed TLS runs its raw operations with right results, and refuses what it lacks with the reason" {
    plugin_of mbedtls-3.6
    runs_operations 38 chain-verify-2
    refuses_the_rest
    run -2 "$TLSCOST" speed --stack "$id" mldsa-65-sign
    [[ $output == *"Mbed TLS has no ML-DSA; OpenSSL 3.5, wolfSSL and AWS-LC have"* ]]
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
