# The openssl program: s_client against `serve`, and both engines of `load` against s_server. The
# system's may be older than 3.5 and then has no post-quantum groups and keys.

load interop

all_groups="X25519MLKEM768 X25519 P-256 P-384 P-521 X448 SecP256r1MLKEM768 SecP384r1MLKEM1024 MLKEM512 MLKEM768 MLKEM1024"

setup_file() {
    make_certificates
    find_openssl35
}

setup() {
    command -v openssl >/dev/null || skip "openssl: not found (apt-get install openssl)"
}

teardown() {
    stop_server
}

need_openssl35() {
    [ -n "${OPENSSL35:-}" ] || absent "openssl 3.5"
}

# s_server of a program; it answers lines and sends tickets.
start_s_server() { # program, key type, groups
    start_server '^ACCEPT \(127.*\)' "$1" s_server -accept 127.0.0.1:0 -rev \
        -cert "$CERTS/$2.pem" -key "$CERTS/$2.key" -groups "${3// /:}"
}

# One engine of load against s_server.
every_cell_of_s_server() { # engine, program, key types, groups
    local key group cipher
    for key in $3; do
        start_s_server "$2" "$key" "$4"
        load_as_asked "$1" "${4%% *}" 0
        note "load $1" "$("$2" version | cut -d ' ' -f 1,2) s_server" "$key" "${4%% *}" "$(load_said)"
        stop_server
    done
    start_s_server "$2" ecdsa-p256 "$4"
    for group in $4; do
        load_as_asked "$1" "$group" 0
        note "load $1" "$("$2" version | cut -d ' ' -f 1,2) s_server" ecdsa-p256 "$group" "$(load_said)"
    done
    for cipher in $ciphers; do
        load_as_asked "$1" "${4%% *}" 0 --ciphers "$cipher"
        jq -e --arg cipher "$cipher" '.negotiated.cipher | keys == [$cipher]' "$client_output"
    done
}

# The words with which s_client tells the group: classic ones as a temporary key (3.0) or by name
# (3.2 and later).
says_group() {
    case $1 in
    X25519) echo '(Temp Key: X25519, 253 bits|Negotiated TLS1.3 group: X25519$)' ;;
    P-256) echo '(Temp Key: ECDH, (P-256|prime256v1), 256 bits|Negotiated TLS1.3 group: secp256r1$)' ;;
    P-384) echo '(Temp Key: ECDH, (P-384|secp384r1), 384 bits|Negotiated TLS1.3 group: secp384r1$)' ;;
    P-521) echo '(Temp Key: ECDH, (P-521|secp521r1), 521 bits|Negotiated TLS1.3 group: secp521r1$)' ;;
    X448) echo '(Temp Key: X448, 448 bits|Negotiated TLS1.3 group: x448$)' ;;
    *) echo "Negotiated TLS1.3 group: $1\$" ;;
    esac
}

meet_with_s_client() { # program, key type, group
    s_client "$1" -groups "$3"
    client_printed "$(says_group "$3")" 'New, TLSv1.3, Cipher is TLS_AES_256_GCM_SHA384' \
        'Verify return code: 0 \(ok\)' "subject=CN ?= ?tlscost $2"
    note "$("$1" version | cut -d ' ' -f 1,2) s_client" serve "$2" "$3" \
        "$(grep -oE 'New, TLSv1.3, Cipher is .*|.*Temp Key.*|Negotiated .*|Verify return.*' "$client_output" | sort -u | paste -s -d ';')"
}

# Every group with one key type, and every key type with one group: in TLS 1.3 they are chosen apart.
every_cell_of_s_client() { # program, key types, groups
    local key group
    for key in $2; do
        start_serve --cert "$key" --groups "${3// /:}"
        meet_with_s_client "$1" "$key" "${3%% *}"
        stop_serve_with 1 0 0
    done
    start_serve --cert ecdsa-p256 --groups "${3// /:}"
    for group in $3; do
        meet_with_s_client "$1" ecdsa-p256 "$group"
    done
    stop_serve_with "$(wc -w <<<"$3")" 0 0
}

resumed_by_s_client() {
    start_serve --cert ecdsa-p256 --groups X25519:P-256
    s_client "$1" -groups P-256 -sess_out "$BATS_TEST_TMPDIR/session"
    client_printed 'New, TLSv1.3'
    s_client "$1" -groups P-256 -sess_in "$BATS_TEST_TMPDIR/session"
    client_printed 'Reused, TLSv1.3' 'Verify return code: 0 \(ok\)'
    stop_serve_with 2 1 0
}

retried_by_s_client() {
    start_serve --cert ecdsa-p256 --groups X25519
    s_client "$1" -groups P-256:X25519 -msg
    client_printed "$(says_group X25519)"
    [ "$(grep -c '>>> TLS 1.3, Handshake .*ClientHello' "$client_output")" -eq 2 ]
    stop_serve_with 1 0 1
}

@test "the system's s_client meets serve with every classic group and key type" {
    every_cell_of_s_client openssl "$classic_keys" "X25519 P-256 P-384 P-521 X448"
}

@test "the system's s_client resumes with serve" {
    resumed_by_s_client openssl
}

@test "the system's s_client answers the HelloRetryRequest of serve" {
    retried_by_s_client openssl
}

@test "s_client of 3.5 meets serve with every group and key type" {
    need_openssl35
    every_cell_of_s_client "$OPENSSL35" "$all_keys" "$all_groups"
}

@test "s_client of 3.5 meets serve with every cipher suite" {
    need_openssl35
    start_serve --cert ecdsa-p256 --groups X25519MLKEM768
    for cipher in $ciphers; do
        s_client "$OPENSSL35" -ciphersuites "$cipher"
        client_printed "New, TLSv1.3, Cipher is $cipher"
    done
    stop_serve_with 3 0 0
}

@test "s_client of 3.5 resumes with serve" {
    need_openssl35
    resumed_by_s_client "$OPENSSL35"
}

@test "s_client of 3.5 answers the HelloRetryRequest of serve" {
    need_openssl35
    retried_by_s_client "$OPENSSL35"
}

@test "the lean engine meets s_server of the system with every classic group, key type and suite" {
    every_cell_of_s_server lean openssl "$classic_keys" "X25519 P-256 P-384"
}

@test "the full engine meets s_server of the system with every classic group, key type and suite" {
    every_cell_of_s_server full openssl "$classic_keys" "X25519 P-256 P-384 P-521 X448"
}

@test "the lean engine meets s_server of 3.5 with each of its groups, key types and suites" {
    need_openssl35
    every_cell_of_s_server lean "$OPENSSL35" "$all_keys" "$lean_groups"
}

@test "the full engine meets s_server of 3.5 with every group, key type and suite" {
    need_openssl35
    every_cell_of_s_server full "$OPENSSL35" "$all_keys" "$all_groups"
}

@test "the lean engine answers the HelloRetryRequest of s_server for each of its groups" {
    need_openssl35
    for group in $lean_groups; do
        start_s_server "$OPENSSL35" ecdsa-p256 "$group"
        other=X25519 && [ "$group" != X25519 ] || other=P-256
        load_as_asked lean "$group" "$handshakes" --groups "$group:$other" --wrong-share-first
        note "load lean, HelloRetryRequest" "$("$OPENSSL35" version | cut -d ' ' -f 1,2) s_server" ecdsa-p256 "$group" "$(load_said)"
        stop_server
    done
}

@test "s_server takes a ClientHello in pieces" {
    need_openssl35
    for group in X25519 X25519MLKEM768; do
        start_s_server "$OPENSSL35" ecdsa-p256 "$group"
        split_as_asked "$group" P-256
        note "load lean, ClientHello in pieces" "$("$OPENSSL35" version | cut -d ' ' -f 1,2) s_server" ecdsa-p256 "$group" "$(load_said)"
        stop_server
    done
}

@test "the full engine answers the HelloRetryRequest of s_server, where it may be" {
    start_s_server openssl ecdsa-p256 P-384
    load_as_asked full P-384 "$handshakes" --groups X25519:P-384 --allow-hello-retry
    note "load full, HelloRetryRequest" "$(openssl version | cut -d ' ' -f 1,2) s_server" ecdsa-p256 P-384 "$(load_said)"
    run "$TLSCOST" load --json --engine full --groups X25519:P-384 --count 4 --concurrency 1 "$address"
    [ "$status" -eq 3 ] && [[ "$output" == *mismatch-hello-retry* ]] || { echo "$status $output" && false; }
}

@test "both engines resume with s_server" {
    start_s_server openssl ecdsa-p256 P-256
    resumed_as_asked lean P-256
    resumed_as_asked full P-256
}

@test "both engines resume with s_server of 3.5" {
    need_openssl35
    start_s_server "$OPENSSL35" ecdsa-p256 X25519MLKEM768
    resumed_as_asked lean X25519MLKEM768
    note "load lean, resumed" "$("$OPENSSL35" version | cut -d ' ' -f 1,2) s_server" ecdsa-p256 X25519MLKEM768 "$(load_said)"
    resumed_as_asked full X25519MLKEM768
}
