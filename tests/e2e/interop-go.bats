# Go's crypto/tls: the Go client against `serve`, and both engines of `load` against the Go server.

load interop

go_groups="X25519MLKEM768 X25519 P-256 P-384 P-521 SecP256r1MLKEM768 SecP384r1MLKEM1024 MLKEM1024"

setup_file() {
    make_certificates
    find_go_peers
}

setup() {
    [ -n "${GO_PEERS:-}" ] || absent "Go 1.27"
}

teardown() {
    stop_server
}

# The Go client, which verifies the chain and echoes 32 bytes on each connection.
go_client() {
    client_output=$BATS_TEST_TMPDIR/client.out
    "$GO_PEERS/client" -connect "$address" -ca "$CERTS/ca.pem" "$@" >"$client_output" 2>&1 ||
        { echo "client $*" && cat "$client_output" && false; }
}

client_saw() { # key type, group, whether there was a HelloRetryRequest
    jq -e --arg key "$1" --arg group "$(registered "$2")" --argjson retry "$3" '
        .connections | length > 0 and all(.version == "TLSv1.3" and .group == $group and
            .hello_retry_request == $retry and .subject == "tlscost \($key)" and
            .key_type == $key and .chain == 1 and .echoed == 32)' "$client_output" >/dev/null ||
        { cat "$client_output" && false; }
    note "Go client" serve "$1" "$2" "$(jq -c '.connections[0] | del(.subject)' "$client_output")"
}

start_go_server() { # key type, groups, more options
    local key=$1 groups=$2
    shift 2
    start_server '^{"listening":"\([^"]*\)"}' "$GO_PEERS/server" -cert "$CERTS/$key.pem" \
        -key "$CERTS/$key.key" -groups "${groups// /:}" "$@"
}

# `load` is told of Go's one ticket, or it would make a handshake of its own to count them.
# Ends the Go server and compares its counts with what the clients made.
stop_go_server_with() { # handshakes, HelloRetryRequests
    stop_server
    jq -s -e --argjson handshakes "$1" --argjson retries "$2" '
        .[1] | .handshakes == $handshakes and .hello_retry_requests == $retries and .failed == {}' \
        "$server_output" >/dev/null || { cat "$server_output" "$server_errors" && false; }
}

every_cell_of_go_server() { # engine, groups
    local key group cipher
    for key in $all_keys; do
        start_go_server "$key" "$2"
        load_as_asked "$1" "${2%% *}" 0 --tickets 1
        note "load $1" "Go server" "$key" "${2%% *}" "$(load_said)"
        stop_go_server_with "$handshakes" 0
    done
    start_go_server ecdsa-p256 "$2"
    for group in $2; do
        load_as_asked "$1" "$group" 0 --tickets 1
        note "load $1" "Go server" ecdsa-p256 "$group" "$(load_said)"
    done
    for cipher in $ciphers; do
        load_as_asked "$1" "${2%% *}" 0 --ciphers "$cipher" --tickets 1
        jq -e --arg cipher "$cipher" '.negotiated.cipher | keys == [$cipher]' "$client_output"
    done
    stop_go_server_with $((handshakes * ($(wc -w <<<"$2 $ciphers")))) 0
}

# Without vet, which would first look through all of Go's own library.
@test "the Go peers are formatted and tested" {
    cd "$root/peers/go"
    export GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=0
    [ -z "$("$(dirname "$("$GO" env GOROOT)/bin/go")/gofmt" -l .)" ]
    "$GO" test -vet=off ./...
}

@test "the Go client meets serve with every group and key type" {
    local key group
    for key in $all_keys; do
        start_serve --cert "$key" --groups "${go_groups// /:}"
        go_client -groups X25519MLKEM768
        client_saw "$key" X25519MLKEM768 false
        stop_serve_with 1 0 0
    done
    start_serve --cert ecdsa-p256 --groups "${go_groups// /:}"
    for group in $go_groups; do
        go_client -groups "$group"
        client_saw ecdsa-p256 "$group" false
    done
    stop_serve_with "$(wc -w <<<"$go_groups")" 0 0
}

@test "the Go client with Go's own groups agrees on X25519MLKEM768 with serve" {
    start_serve --cert ecdsa-p256
    go_client
    client_saw ecdsa-p256 X25519MLKEM768 false
    stop_serve_with 1 0 0
}

@test "the Go client resumes with serve" {
    start_serve --cert ecdsa-p256 --groups X25519
    go_client -count 3 -resume
    jq -e '[.connections[].resumed] == [false, true, true]' "$client_output"
    stop_serve_with 3 2 0
}

@test "the Go client does not resume with serve --tickets off" {
    start_serve --cert ecdsa-p256 --groups X25519 --tickets off
    go_client -count 3 -resume
    jq -e '[.connections[].resumed] == [false, false, false]' "$client_output"
    stop_serve_with 3 0 0
}

@test "the Go client answers the HelloRetryRequest of serve" {
    start_serve --cert ecdsa-p256 --groups P-384
    go_client
    client_saw ecdsa-p256 P-384 true
    stop_serve_with 1 0 1
}

@test "the Go client refuses serve under another name than the certificate's" {
    start_serve --cert ecdsa-p256
    run "$GO_PEERS/client" -connect "$address" -ca "$CERTS/ca.pem" -name elsewhere.test
    [ "$status" -eq 1 ] && [[ "$output" == *elsewhere.test* ]]
}

@test "the lean engine meets the Go server with each of its groups, key types and suites" {
    every_cell_of_go_server lean "$lean_groups"
}

@test "the full engine meets the Go server with every group, key type and suite" {
    every_cell_of_go_server full "$go_groups"
}

@test "the lean engine answers the HelloRetryRequest of the Go server for each of its groups" {
    for group in $lean_groups; do
        start_go_server ecdsa-p256 "$group"
        other=X25519 && [ "$group" != X25519 ] || other=P-256
        load_as_asked lean "$group" "$handshakes" --groups "$group:$other" --wrong-share-first --tickets 1
        note "load lean, HelloRetryRequest" "Go server" ecdsa-p256 "$group" "$(load_said)"
        stop_go_server_with "$handshakes" "$handshakes"
    done
}

@test "the Go server takes a ClientHello in pieces" {
    for group in X25519 X25519MLKEM768; do
        start_go_server ecdsa-p256 "$group"
        split_as_asked "$group" P-256 --tickets 1
        note "load lean, ClientHello in pieces" "Go server" ecdsa-p256 "$group" "$(load_said)"
        stop_go_server_with $((6 * handshakes)) $((3 * handshakes))
    done
}

@test "the full engine answers the HelloRetryRequest of the Go server" {
    start_go_server ecdsa-p256 P-384
    load_as_asked full P-384 "$handshakes" --groups X25519:P-384 --allow-hello-retry --tickets 1
    stop_go_server_with "$handshakes" "$handshakes"
}

@test "load counts the tickets of the Go server" {
    start_go_server ecdsa-p256 X25519 -tickets=1
    load_as_asked lean X25519 0
    jq -e '.tickets == .handshakes' "$client_output"
    stop_server
    start_go_server ecdsa-p256 X25519 -tickets=0
    load_as_asked lean X25519 0
    jq -e '.tickets == 0' "$client_output"
}

@test "both engines resume with the Go server" {
    start_go_server ecdsa-p256 X25519MLKEM768
    resumed_as_asked lean X25519MLKEM768
    note "load lean, resumed" "Go server" ecdsa-p256 X25519MLKEM768 "$(load_said)"
    resumed_as_asked full X25519MLKEM768
    stop_server
    jq -s -e --argjson least $((2 * handshakes)) '.[1] | .resumed >= $least and .failed == {}' "$server_output"
}
