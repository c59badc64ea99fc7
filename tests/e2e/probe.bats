# The probe against servers that are not ours: what it tells must be what they do.

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem \
        -out cert.pem -days 2 -subj "/CN=probe test" \
        -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" 2>openssl.log
}

setup() {
    cd "$BATS_FILE_TMPDIR"
    server_pid=
}

teardown() {
    [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
}

# Starts openssl s_server on a free port and sets $address.
start_server() {
    local log="$BATS_TEST_TMPDIR/server.log"
    openssl s_server -www -accept 127.0.0.1:0 -cert cert.pem -key key.pem "$@" >"$log" 2>&1 </dev/null 3>&- &
    server_pid=$!
    for _ in $(seq 200); do
        address=$(sed -n 's/^ACCEPT //p' "$log")
        [ -z "$address" ] || return 0
        sleep 0.05
    done
    cat "$log"
    return 1
}

probe() {
    run --separate-stderr "$TLSCOST" probe --json --ca cert.pem "$@" "$address"
}

# Starts a server of one Python expression over the accepted socket `s`; sets $address.
start_python() {
    local log="$BATS_TEST_TMPDIR/server.log"
    python3 -u -c "
import socket, time
l = socket.create_server(('127.0.0.1', 0))
print('ACCEPT 127.0.0.1:%d' % l.getsockname()[1])
kept = []
while True:
    s, _ = l.accept()
    kept.append(s)
    $1" >"$log" 2>&1 3>&- &
    server_pid=$!
    for _ in $(seq 200); do
        address=$(sed -n 's/^ACCEPT //p' "$log")
        [ -z "$address" ] || return 0
        sleep 0.05
    done
    return 1
}

bats_require_minimum_version 1.5.0

@test "TLS 1.3: parameters, certificate, tickets and bytes" {
    start_server -alpn h2 -num_tickets 3
    probe --groups P-256 --alpn h2,http/1.1
    [ "$status" -eq 0 ] || { echo "$stderr"; false; }
    jq -e '.command == "probe" and .version == "TLSv1.3" and .group == "secp256r1" and .alpn == "h2"' <<<"$output"
    jq -e '.hello_retry_request == false and .resumed == false and .verified == true' <<<"$output"
    jq -e '.certificate | .subject == "probe test" and .key_type == "ecdsa-p256" and .key_bits == 256' <<<"$output"
    jq -e '.signature == "ecdsa_secp256r1_sha256" and .tickets == 3' <<<"$output"
    # ChangeCipherSpec (6) and Finished under SHA-384 (5 + 4 + 48 + 1 + 16) of the client.
    jq -e '.cipher == "TLS_AES_256_GCM_SHA384" and .bytes.client_flight == 80' <<<"$output"
    jq -e '.bytes | .client_hello > 200 and .server_flight > 500 and .tickets > 600 and .hello_retry_request == 0' <<<"$output"
    jq -e --argjson der "$(openssl x509 -in cert.pem -outform DER | wc -c)" '.chain == {depth: 1, bytes: $der}' <<<"$output"
    jq -e --arg sha "$(openssl x509 -in cert.pem -outform DER | sha256sum | cut -c1-64)" '.certificate.sha256 == $sha' <<<"$output"
    jq -e '.time_us | .connect <= .server_hello and .server_hello <= .finished and .finished <= .tickets' <<<"$output"
}

@test "TLS 1.2: the flights and the ticket of the older handshake" {
    start_server -tls1_2
    probe
    [ "$status" -eq 0 ] || { echo "$stderr"; false; }
    jq -e '.version == "TLSv1.2" and .tickets == 1 and .bytes.tickets > 0 and .bytes.server_finished > 0' <<<"$output"
}

@test "a HelloRetryRequest is seen and its bytes are counted apart" {
    start_server -groups P-256
    probe --groups X25519:P-256
    [ "$status" -eq 0 ] || { echo "$stderr"; false; }
    jq -e '.hello_retry_request and .group == "secp256r1" and .bytes.hello_retry_request > 0' <<<"$output"
}

@test "no tickets offered, none counted" {
    start_server -num_tickets 0
    probe
    [ "$status" -eq 0 ] || { echo "$stderr"; false; }
    jq -e '.tickets == 0 and .bytes.tickets == 0 and .time_us.tickets == null' <<<"$output"
}

@test "a name that is not in the certificate is reported and ends with 3" {
    start_server
    probe --sni other.example
    [ "$status" -eq 3 ]
    jq -e '.verified == false and (.verification | test("hostname mismatch")) and .certificate.subject == "probe test"' <<<"$output"
    run "$TLSCOST" probe --ca cert.pem --sni other.example "$address"
    [ "$status" -eq 3 ]
    [[ "$output" == *"NO: "*"hostname mismatch"* ]]
}

@test "an unknown CA is reported and ends with 3, unless not asked to verify" {
    start_server
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /dev/null \
        -out "$BATS_TEST_TMPDIR/other.pem" -days 2 -subj "/CN=other" 2>/dev/null
    run "$TLSCOST" probe --ca "$BATS_TEST_TMPDIR/other.pem" "$address"
    [ "$status" -eq 3 ]
    [[ "$output" == *"NO: "* ]]
    run "$TLSCOST" probe --no-verify "$address"
    [ "$status" -eq 0 ]
    [[ "$output" == *"not asked"* ]]
    [[ "$output" == *"ecdsa-p256"* ]]
}

@test "the server's alert is named" {
    start_server -groups P-384
    probe --groups X25519
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"$address: the server sent the alert handshake_failure"* ]]
}

@test "a server that requires a client certificate is named as refusing" {
    local log="$BATS_TEST_TMPDIR/serve.log"
    XDG_CACHE_HOME="$BATS_FILE_TMPDIR/cache" "$TLSCOST" serve --listen 127.0.0.1:0 --workers 1 \
        --client-auth require --json >/dev/null 2>"$log" 3>&- &
    server_pid=$!
    address=
    for _ in $(seq 200); do
        address=$(sed -n 's/^listening on \([^ ]*\) .*/\1/p' "$log")
        [ -z "$address" ] || break
        sleep 0.05
    done
    run --separate-stderr "$TLSCOST" probe --no-verify "$address"
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"$address: the server ended the connection"*"the alert certificate_required"* ]] || { echo "$stderr"; false; }
}

@test "a server that speaks no TLS is shown" {
    start_python "s.sendall(b'220 mail ready\r\n\x1b[2J')"
    probe
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"the server answers '220 mail ready"*"not TLS"* ]]
    [[ "$stderr" != *$'\x1b'* ]]
}

@test "a silent server is given up in time" {
    start_python "pass"
    probe --timeout 200ms
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"no answer within 200 ms"* ]]
}

@test "a server that hangs up is named" {
    start_python "s.recv(65536); s.close()"
    probe
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"the server closed the connection in the handshake"* ]]
}

@test "a record that claims too much is refused" {
    start_python "s.sendall(b'\x16\x03\x03\xff\xff')"
    probe
    [ "$status" -eq 3 ]
    [[ "$stderr" == *"not TLS"* ]]
}

@test "wrong options are named and end with 1" {
    address=127.0.0.1:1
    for bad in "--groups moon" "--version 1.1" "--ciphers RC4" "--timeout soon" "--no-verify"; do
        probe $bad
        [ "$status" -eq 1 ] || { echo "$bad: $status $stderr"; false; }
        [ -n "$stderr" ] && [ -z "$output" ]
    done
    address=localhost
    probe
    [ "$status" -eq 1 ]
    [[ "$stderr" == *"localhost: not an address; write HOST:PORT"* ]]
    run "$TLSCOST" probe
    [ "$status" -eq 1 ]
    run "$TLSCOST" probe --help
    [ "$status" -eq 0 ]
    [[ "$output" == *"Examples:"* ]]
}

@test "nothing listens" {
    start_server
    kill "$server_pid"
    wait "$server_pid" || true
    probe
    [ "$status" -eq 2 ]
    [[ "$stderr" == *"$address: connect: Connection refused"* ]]
}
