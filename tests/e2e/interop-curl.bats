# curl against `serve`, which answers HTTP to it.

load interop

setup_file() {
    make_certificates
}

setup() {
    command -v curl >/dev/null || skip "curl: not found (apt-get install curl)"
    curl --version | grep -q 'OpenSSL/' || skip "curl: not built with OpenSSL, so it cannot choose groups"
}

teardown() {
    stop_server
}

# One request, verified; what curl told of the handshake is in `client_output`.
fetch() {
    client_output=$BATS_TEST_TMPDIR/curl.out
    curl -sSv --cacert "$CERTS/ca.pem" --tlsv1.3 --max-time 20 --resolve "localhost:${address##*:}:127.0.0.1" \
        "$@" >"$client_output" 2>&1 || { echo "curl $*: failed" && cat "$client_output" && false; }
}

meet_with_curl() { # key type, group
    fetch --curves "$2" "https://localhost:${address##*:}/"
    client_printed 'SSL connection using TLSv1.3 / TLS_' "subject: CN=tlscost $1" \
        'SSL certificate verify ok' '^tlscost$'
    note "$(curl --version | cut -d ' ' -f 1,2 | head -n 1)" serve "$1" "$2" \
        "$(grep -oE 'SSL connection using.*|SSL certificate verify.*|HTTP/1.1 200 OK' "$client_output" | paste -s -d ';')"
}

@test "curl meets serve with every classic group and key type" {
    local key group
    for key in $classic_keys; do
        start_serve --http --cert "$key" --groups X25519
        meet_with_curl "$key" X25519
        stop_serve_with 1 0 0
    done
    for group in X25519 P-256 P-384 P-521 X448; do
        start_serve --http --cert ecdsa-p256 --groups "$group"
        meet_with_curl ecdsa-p256 "$group"
        stop_serve_with 1 0 0
    done
}

@test "curl meets serve with every cipher suite" {
    start_serve --http --cert ecdsa-p256 --groups X25519
    for cipher in $ciphers; do
        fetch --tls13-ciphers "$cipher" "https://localhost:${address##*:}/"
        client_printed "SSL connection using TLSv1.3 / $cipher"
    done
    stop_serve_with 3 0 0
}

@test "curl resumes with serve" {
    start_serve --http --cert ecdsa-p256 --groups X25519
    fetch -H 'Connection: close' "https://localhost:${address##*:}/" "https://localhost:${address##*:}/"
    [ "$(grep -cx tlscost "$client_output")" -eq 2 ]
    stop_serve_with 2 1 0
}

@test "curl answers the HelloRetryRequest of serve" {
    start_serve --http --cert ecdsa-p256 --groups X25519
    fetch --curves P-256:X25519 "https://localhost:${address##*:}/"
    client_printed '^tlscost$'
    stop_serve_with 1 0 1
}

@test "curl agrees on http/1.1 by ALPN with serve" {
    start_serve --cert ecdsa-p256 --groups X25519 --alpn http/1.1
    fetch "https://localhost:${address##*:}/"
    client_printed 'ALPN.*(server accepted|server accepted to use) http/1.1' '^tlscost$'
}

@test "curl does not trust serve without its CA" {
    start_serve --http --cert ecdsa-p256
    run curl -sS --max-time 20 "https://localhost:${address##*:}/"
    [ "$status" -eq 60 ]
}
