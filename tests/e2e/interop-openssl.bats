# The openssl program: s_client against `serve`, and both engines of `load` against s_server. The
# system's may be older than 3.5 and then has no post-quantum groups and keys.

load interop

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

# s_client PROGRAM against serve, with every one of the groups and key types.
every_cell_of_s_client() {
    local program=$1 keys=$2 groups=$3 key group count
    for key in $keys; do
        start_serve --cert "$key" --groups "${groups// /:}"
        count=0
        for group in $groups; do
            s_client "$program" -groups "$group"
            client_printed "$(says_group "$group")" 'New, TLSv1.3, Cipher is TLS_AES_256_GCM_SHA384' \
                'Verify return code: 0 \(ok\)' "subject=CN ?= ?tlscost $key"
            note "$(basename "$program") s_client" "to serve" "$key" "$group" \
                "$(grep -oE 'New, TLSv1.3, Cipher is .*|.*Temp Key.*|Negotiated .*|Verify return.*' "$client_output" | sort -u | paste -s -d '|')"
            count=$((count + 1))
        done
        stop_serve_with "$count" 0 0
    done
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
    every_cell_of_s_client "$OPENSSL35" "$all_keys" \
        "X25519 P-256 P-384 P-521 X448 X25519MLKEM768 SecP256r1MLKEM768 SecP384r1MLKEM1024 MLKEM512 MLKEM768 MLKEM1024"
}

@test "s_client of 3.5 meets serve with every cipher suite" {
    need_openssl35
    start_serve --cert ecdsa-p256 --groups X25519MLKEM768
    for cipher in TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256; do
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
