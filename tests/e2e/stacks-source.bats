#!/usr/bin/env bats
# Plug-ins of libraries that take minutes to build from source: tested where a prefix is kept, and
# built for it when TLSCOST_SOURCE_STACKS is 'required'; continuous integration has no time for them.

# shellcheck disable=SC2154 # stacks.bash sets id and plugin
bats_require_minimum_version 1.5.0
load stacks

# Skips a recipe whose library is not here yet.
is_here() {
    compgen -G "${XDG_CACHE_HOME:-$HOME/.cache}/tlscost/current/$1-*" >/dev/null || [ "${TLSCOST_SOURCE_STACKS:-}" = required ] ||
        skip "$1 is not built here (tlscost stacks get $1)"
}

@test "GnuTLS passes its self-test, and what it lacks is refused by name" {
    is_here gnutls-3.8
    passes gnutls-3.8 114 # 40 of them raw operations
    make_certificates
    run -0 "$TLSCOST" stacks show "$id"
    [[ $output == *psk_ke* ]]
    run -2 "$TLSCOST" serve --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --groups X25519MLKEM768
    [[ $output == *"this build of GnuTLS 3."*"has no X25519MLKEM768; one with leancrypto has it"* ]]
    run -2 "$TLSCOST" serve --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --tickets stateful
    [[ $output == *"keeps no TLS 1.3 sessions in the server; OpenSSL and wolfSSL do"* ]]
}

@test "GnuTLS's server is understood by other clients" {
    is_here gnutls-3.8
    is_understood gnutls-3.8
}

@test "GnuTLS runs its raw operations with right results, and refuses what it lacks with the reason" {
    is_here gnutls-3.8
    plugin_of gnutls-3.8
    runs_operations 40 chain-verify-2
    refuses_the_rest
    run -2 "$TLSCOST" speed --stack "$id" mldsa-65-sign
    [[ $output == *"GnuTLS was built without ML-DSA, which needs leancrypto; OpenSSL 3.5, wolfSSL and AWS-LC have it"* ]]
    run -2 "$TLSCOST" speed --stack "$id" mlkem-768-parse
    [[ $output == *"GnuTLS has no public function for ML-KEM"* ]]
}

@test "AWS-LC passes its self-test, and what it lacks is refused by name" {
    is_here awslc-5
    passes awslc-5 197 # 70 of them raw operations
    make_certificates
    run -0 "$TLSCOST" stacks show "$id"
    [[ $output == *X25519MLKEM768* && $output == *mldsa65* ]]
    run -2 "$TLSCOST" serve --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --tickets stateful
    [[ $output == *"keeps no TLS 1.3 sessions in the server; OpenSSL and wolfSSL do"* ]]
}

@test "AWS-LC's server is understood by other clients" {
    is_here awslc-5
    is_understood awslc-5
}

@test "AWS-LC runs OpenSSL's raw operations with right results, the hybrids' too" {
    is_here awslc-5
    plugin_of awslc-5
    run -0 "$TLSCOST" speed --list --stack "$id"
    [[ $output == *x25519-keygen* && $output == *mldsa-87-verify* && $output == *secp384r1mlkem1024-decapsulate* ]]
    runs_operations 70 x25519mlkem768-accept
    run -2 "$TLSCOST" speed --stack "$id" --provider legacy x25519-keygen
    [[ $output == *"AWS-LC has none; OpenSSL has"* ]]
}

@test "GnuTLS and AWS-LC shake hands with OpenSSL in both directions" {
    local recipe
    for recipe in gnutls-3.8 awslc-5; do
        is_here "$recipe"
        plugin_of "$recipe"
        "$TLSCOST" pair -q --busy-machine --stack "openssl,$id" --client-stack "openssl,$id" --versions 1.2,1.3 \
            --groups X25519 --blocks 1 --iterations 1 --count 5 --idle 0 --json >"$BATS_TEST_TMPDIR/pair.json"
        jq -e '.arms | length == 8 and all(.samples | length > 0)' "$BATS_TEST_TMPDIR/pair.json"
    done
}
