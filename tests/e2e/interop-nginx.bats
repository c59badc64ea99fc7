# Both engines of `load` against nginx: one on OpenSSL 3.5 with post-quantum groups and keys, one on
# OpenSSL 3.0 without them. nginx comes from private roots, so nothing is installed or started.

load interop

setup_file() {
    local prefix
    make_certificates
    if prefix=$(prefix_of nginx-1.26); then export NGINX_126=$prefix; fi
    if prefix=$(prefix_of nginx-1.22); then export NGINX_122=$prefix; fi
}

setup() {
    case $BATS_TEST_DESCRIPTION in
    *1.26*) nginx_root=${NGINX_126:-} ;;
    *) nginx_root=${NGINX_122:-} ;;
    esac
    [ -n "$nginx_root" ] || absent nginx
}

teardown() {
    stop_server
}

# nginx cannot choose a port itself, so a free one is tried, and another when somebody was faster.
start_nginx() { # key type, groups, more options of peers/nginx/serve
    local key=$1 groups=$2 folder=$BATS_TEST_TMPDIR/nginx
    shift 2
    mkdir -p "$folder"
    for _ in 1 2 3; do
        address=127.0.0.1:$(free_port)
        rm -f "$folder/nginx.pid"
        "$root/peers/nginx/serve" --root "$nginx_root" --listen "$address" --directory "$folder" \
            --cert "$CERTS/$key.pem" --key "$CERTS/$key.key" --groups "${groups// /:}" "$@" \
            >"$BATS_TEST_TMPDIR/nginx.err" 2>&1 3>&- &
        server=$!
        while kill -0 "$server" 2>/dev/null; do
            [ ! -s "$folder/nginx.pid" ] || return 0
            sleep 0.05
        done
    done
    echo "nginx does not listen" && cat "$BATS_TEST_TMPDIR/nginx.err"
    return 1
}

nginx_version() {
    sed -n 's/.*"version": "\(.*\)",/\1/p' "$nginx_root/manifest.json" | head -n 1
}

every_cell_of_nginx() { # engine, key types, groups
    local key group cipher peer
    peer="nginx $(nginx_version)"
    for key in $2; do
        start_nginx "$key" "$3"
        load_as_asked "$1" "${3%% *}" 0
        note "load $1" "$peer" "$key" "${3%% *}" "$(load_said)"
        stop_server
    done
    start_nginx ecdsa-p256 "$3"
    for group in $3; do
        load_as_asked "$1" "$group" 0
        note "load $1" "$peer" ecdsa-p256 "$group" "$(load_said)"
    done
    for cipher in $ciphers; do
        load_as_asked "$1" "${3%% *}" 0 --ciphers "$cipher"
        jq -e --arg cipher "$cipher" '.negotiated.cipher | keys == [$cipher]' "$client_output"
    done
}

retried_by_nginx() { # groups
    local group other
    for group in $1; do
        start_nginx ecdsa-p256 "$group"
        other=X25519 && [ "$group" != X25519 ] || other=P-256
        load_as_asked lean "$group" "$handshakes" --groups "$group:$other" --wrong-share-first
        note "load lean, HelloRetryRequest" "nginx $(nginx_version)" ecdsa-p256 "$group" "$(load_said)"
        load_as_asked full "$group" "$handshakes" --groups "$other:$group" --allow-hello-retry
        stop_server
    done
}

@test "the lean engine meets nginx 1.26 with each of its groups, key types and suites" {
    every_cell_of_nginx lean "$all_keys" "$lean_groups"
}

@test "the full engine meets nginx 1.26 with every group, key type and suite" {
    every_cell_of_nginx full "$all_keys" "$lean_groups P-521 X448 SecP256r1MLKEM768 SecP384r1MLKEM1024 MLKEM512 MLKEM768 MLKEM1024"
}

@test "both engines answer the HelloRetryRequest of nginx 1.26" {
    retried_by_nginx "$lean_groups"
}

split_for_nginx() { # groups
    local group
    for group in $1; do
        start_nginx ecdsa-p256 "$group"
        split_as_asked "$group" P-256
        note "load lean, ClientHello in pieces" "nginx $(nginx_version)" ecdsa-p256 "$group" "$(load_said)"
        stop_server
    done
}

@test "nginx 1.26 takes a ClientHello in pieces" {
    split_for_nginx "X25519 X25519MLKEM768"
}

@test "nginx 1.22 takes a ClientHello in pieces" {
    split_for_nginx X25519
}

@test "load counts the tickets of nginx 1.26" {
    local tickets
    for tickets in 0 1 3; do
        start_nginx ecdsa-p256 X25519 --tickets "$tickets"
        load_as_asked lean X25519 0
        jq -e --argjson tickets "$tickets" '.tickets == .handshakes * $tickets' "$client_output"
        stop_server
    done
}

@test "the lean engine meets nginx 1.22 with each classic group, key type and suite" {
    every_cell_of_nginx lean "$classic_keys" "X25519 P-256 P-384"
}

@test "the full engine meets nginx 1.22 with every classic group, key type and suite" {
    every_cell_of_nginx full "$classic_keys" "X25519 P-256 P-384 P-521 X448"
}

@test "both engines answer the HelloRetryRequest of nginx 1.22" {
    retried_by_nginx "X25519 P-256 P-384"
}

@test "a group that nginx 1.22 does not have is a named failure" {
    start_nginx ecdsa-p256 X25519
    run "$TLSCOST" load --groups X25519MLKEM768 --count 4 --concurrency 1 "$address"
    [ "$status" -ne 0 ] && [[ "$output" == *handshake_failure* ]] || { echo "$status $output" && false; }
}

@test "both engines resume with nginx 1.26" {
    start_nginx ecdsa-p256 X25519MLKEM768
    resumed_as_asked lean X25519MLKEM768
    note "load lean, resumed" "nginx $(nginx_version)" ecdsa-p256 X25519MLKEM768 "$(load_said)"
    resumed_as_asked full X25519MLKEM768
}

@test "both engines resume with nginx 1.22" {
    start_nginx ecdsa-p256 P-256
    resumed_as_asked lean P-256
    resumed_as_asked full P-256
}
