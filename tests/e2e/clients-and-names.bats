# Client certificates and many server names in campaigns.

bats_require_minimum_version 1.5.0

setup() {
    [ "$(nproc)" -ge 2 ] || skip "one CPU"
    result="$BATS_TEST_TMPDIR/r.json"
}

campaign() {
    run "$TLSCOST" run --quiet --blocks 2 -o "$result" "$BATS_TEST_DIRNAME/plans/$1.yaml"
}

@test "a server that demands client certificates counts one in every handshake" {
    campaign client-auth
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    jq -e '[.arms[].accepted] | all and length == 3' "$result"
    jq -e '[.arms[0].samples[].stay.client_certificates] | all(. == 0)' "$result"
    jq -e '[.arms[1:][].samples[] | .handshakes > 0 and .stay.client_certificates == .handshakes] |
        all and length == 4' "$result"
    # The client's flight grows by its certificate and signature.
    jq -e '[.arms[] | .samples[0] | .counters.bytes_sent / .handshakes] |
        .[0] + 500 < .[1] and .[1] + 3000 < .[2]' "$result"
    [[ "$output" == *"bytes and memory"* ]]
    run grep -c "PRIVATE KEY" "$result"
    [ "$output" = 0 ]
}

@test "each of 100 names must show its own certificate" {
    campaign names
    [ "$status" -eq 3 ]
    jq -e '[.arms[:3][].accepted] | all' "$result"
    jq -e '.arms[1].samples[0].evidence |
        .server_name == "n00099.tlscost.test" and .verified and
        .certificate.subject == "tlscost ecdsa-p256 n00099"' "$result"
    [[ "$output" == *"bytes a name"* ]]
    # A server that lacks half of them is refused by the probe, and by the generator's own errors.
    jq -e '.arms[3] | .accepted | not' "$result"
    jq -e '.arms[3].samples[0] |
        (.refused | index("certificate")) and .counters.errors.certificate > 0' "$result"
}
