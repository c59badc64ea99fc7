# The server on OpenSSL against clients that are not ours: curl and openssl s_client.
# TLSCOST is the built program.

setup() {
    export XDG_CACHE_HOME="$BATS_FILE_TMPDIR/cache"
    out="$BATS_TEST_TMPDIR/out" err="$BATS_TEST_TMPDIR/err"
    server=
}

teardown() {
    [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
}

# Starts the server with these options and waits until it listens; sets `server` and `address`.
serve() {
    : >"$out" 2>"$err"
    "$TLSCOST" serve --listen 127.0.0.1:0 --workers 2 "$@" >"$out" 2>"$err" 3>&- &
    server=$!
    until grep -q '^listening on ' "$out"; do
        kill -0 "$server" || { cat "$err"; false; }
        sleep 0.02
    done
    address=$(sed -nE 's/^listening on (\S+) .*/\1/p' "$out")
}

# Ends the server as a user does and leaves its counters in $json; it must end without an error.
stop_server() {
    kill -INT "$server"
    local code=0
    wait "$server" || code=$?
    server=
    json=$(sed 1d "$out")
    [ "$code" -eq 0 ] || { cat "$out" "$err"; false; }
    [ "$(jq '.totals.accepted - .totals.closed' <<<"$json")" -eq 0 ]
}

totals() { # jq condition over the totals
    jq -e "$1" <<<"$json" || { echo "$json"; false; }
}

# s_client against the server; it ends once the line it sent came back, or the handshake failed.
client() {
    local to="$1" said="$BATS_TEST_TMPDIR/said" ended="$BATS_TEST_TMPDIR/ended"
    shift
    rm -f "$ended"
    : >"$said"
    {
        echo ping
        until [ -e "$ended" ] || grep -q '^ping' "$said"; do sleep 0.02; done
    } | {
        openssl s_client -connect "$to" "$@" >"$said" 2>&1 || true
        touch "$ended"
    }
    cat "$said"
}

until_note() { # waits for a line on the server's standard error
    until grep -qF "$1" "$err"; do
        kill -0 "$server"
        sleep 0.02
    done
}

@test "curl gets an answer, by ALPN and by --http" {
    serve --alpn h2,http/1.1
    [ "$(curl -sk --http1.1 "https://$address/")" = tlscost ]
    curl -sk --http1.1 "https://$address/[1-5]" -o /dev/null
    stop_server
    totals '.totals.handshakes == 2 and .totals.failed == 0 and .totals.bytes_written > 0'
    serve --http
    [ "$(curl -sk --no-alpn --http1.1 "https://$address/")" = tlscost ]
    [ "$(curl -sk -o /dev/null -w '%{http_code}' -d body "https://$address/")" = 405 ]
    stop_server
    totals '.totals.handshakes == 2'
}

@test "the certificates it makes verify against their CA" {
    serve --http
    run curl -s --cacert "$XDG_CACHE_HOME/tlscost/serve/ca.pem" "https://localhost:${address##*:}/"
    [ "$status" -eq 0 ]
    [ "$output" = tlscost ]
    [ "$(stat -c %a "$XDG_CACHE_HOME/tlscost/serve/ecdsa-p256.key")" = 600 ]
    stop_server
}

@test "s_client negotiates the groups asked for, and bytes come back" {
    serve --groups X25519:P-256 --version 1.3
    run client "$address" -groups X25519
    [[ "$output" == *"Server Temp Key: X25519"* ]]
    [[ "$output" == *$'\nping'* ]]
    run client "$address" -groups P-256
    [[ "$output" == *"P-256"* || "$output" == *"prime256v1"* ]]
    run client "$address" -groups X448
    [[ "$output" == *"handshake failure"* ]]
    run client "$address" -tls1_2
    [[ "$output" == *"protocol version"* ]]
    # A first share for a group the server does not have (RFC 8446, 4.1.4).
    run client "$address" -groups X448:X25519
    [[ "$output" == *"Server Temp Key: X25519"* ]]
    stop_server
    totals '.totals | .handshakes == 3 and .failed == 2 and .hello_retry_requests == 1 and .bytes_read == 15 and .bytes_written == 15'
    totals '.failed | keys | all(length > 0)'
    totals '[.workers[].accepted] | add == 5'
}

@test "TLS 1.2, ciphers and protocols are served as asked" {
    serve --min-version 1.2 --ciphers TLS_CHACHA20_POLY1305_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256 --alpn h2
    run client "$address" -tls1_2 -alpn h2
    [[ "$output" == *"Cipher is ECDHE-ECDSA-AES128-GCM-SHA256"* ]]
    [[ "$output" == *"ALPN protocol: h2"* ]]
    run client "$address" -tls1_3
    [[ "$output" == *"Cipher is TLS_CHACHA20_POLY1305_SHA256"* ]]
    stop_server
    totals '.totals.handshakes == 2'
}

@test "certificates answer to their server names" {
    serve --cert ecdsa-p256 --sni rsa-2048=rsa.test,ed25519=ed.test
    run client "$address" -servername rsa.test
    [[ "$output" == *"subject=CN = tlscost rsa-2048"* ]]
    run client "$address" -servername ed.test
    [[ "$output" == *"subject=CN = tlscost ed25519"* ]]
    run client "$address" -servername other.test
    [[ "$output" == *"subject=CN = tlscost ecdsa-p256"* ]]
    stop_server
    totals '.totals.handshakes == 3 and .totals.failed == 0'
}

@test "sessions are resumed with tickets and with the cache, and not when off" {
    for tickets in 2 stateful off; do
        serve --tickets "$tickets" --version 1.3
        rm -f "$BATS_TEST_TMPDIR/session"
        client "$address" -sess_out "$BATS_TEST_TMPDIR/session" >/dev/null || true
        if [ "$tickets" = off ]; then
            [ ! -s "$BATS_TEST_TMPDIR/session" ]
        else
            run client "$address" -sess_in "$BATS_TEST_TMPDIR/session"
            [[ "$output" == *"Reused, TLSv1.3"* ]]
        fi
        stop_server
        if [ "$tickets" = off ]; then
            totals '.totals.resumed == 0 and .totals.handshakes == 1'
        else
            totals '.totals.resumed == 1 and .totals.handshakes == 2'
        fi
    done
}

@test "SIGHUP takes new ticket keys; old tickets work while their key is in the file" {
    keys="$BATS_TEST_TMPDIR/keys" session="$BATS_TEST_TMPDIR/session"
    head -c 80 /dev/urandom >"$BATS_TEST_TMPDIR/one"
    head -c 80 /dev/urandom >"$BATS_TEST_TMPDIR/two"
    cp "$BATS_TEST_TMPDIR/one" "$keys"
    serve --version 1.3 --ticket-keys "$keys"
    client "$address" -sess_out "$session" >/dev/null
    cp "$BATS_TEST_TMPDIR/two" "$keys"
    kill -HUP "$server"
    until_note "1 ticket keys from"
    run client "$address" -sess_in "$session"
    [[ "$output" == *"New, TLSv1.3"* ]]
    cat "$BATS_TEST_TMPDIR/two" "$BATS_TEST_TMPDIR/one" >"$keys"
    kill -HUP "$server"
    until_note "2 ticket keys from"
    run client "$address" -sess_in "$session"
    [[ "$output" == *"Reused, TLSv1.3"* ]]
    echo broken >"$keys"
    kill -HUP "$server"
    until_note "not 160 hexadecimal digits; the ticket keys stay as they were"
    stop_server
    totals '.totals.handshakes == 3 and .totals.resumed == 1'
}

@test "a client certificate is required when asked for" {
    serve --client-auth require --version 1.2 --cert ecdsa-p256
    run client "$address"
    [[ "$output" == *"alert"* ]]
    stop_server
    totals '.totals.handshakes == 0 and .totals.failed == 1'
}

@test "IPv6 and unix sockets are served" {
    serve --listen '[::1]:0'
    [[ "$address" == "[::1]:"* ]]
    run client "$address"
    [[ "$output" == *$'\nping'* ]]
    stop_server
    serve --listen "unix:$BATS_TEST_TMPDIR/socket" --http
    [ "$(stat -c %a "$BATS_TEST_TMPDIR/socket")" = 600 ]
    [ "$(curl -sk --unix-socket "$BATS_TEST_TMPDIR/socket" https://localhost/)" = tlscost ]
    kill -KILL "$server"
    wait "$server" || true
    # A stale socket of a killed server is replaced; one in use is not.
    serve --listen "unix:$BATS_TEST_TMPDIR/socket" --http
    run "$TLSCOST" serve --listen "unix:$BATS_TEST_TMPDIR/socket"
    [ "$status" -eq 2 ]
    [[ "$output" == *"another server has it"* ]]
    stop_server
    [ ! -e "$BATS_TEST_TMPDIR/socket" ]
}

@test "only loopback is bound unless another address is written, and then it says so" {
    serve
    [[ "$address" == "127.0.0.1:"* ]]
    [ ! -s "$err" ]
    stop_server
    serve --listen 0.0.0.0:0
    grep -qF 'can be reached from other machines' "$err"
    stop_server
    run "$TLSCOST" serve --listen example.test:4433
    [ "$status" -eq 1 ]
    [[ "$output" == *"not a numeric address"* ]]
}

@test "what cannot work is refused with a remedy" {
    serve
    run "$TLSCOST" serve --listen "$address"
    [ "$status" -eq 2 ]
    [[ "$output" == *"$address: Address already in use; choose another port"* ]]
    stop_server
    run "$TLSCOST" serve --stack no-such-stack
    [ "$status" -ne 0 ]
    [[ "$output" == *"no-such-stack"* ]]
    mkdir -p "$BATS_TEST_TMPDIR/empty"
    run "$TLSCOST" serve --certs "$BATS_TEST_TMPDIR/empty" --cert rsa-2048
    [ "$status" -ne 0 ]
    [[ "$output" == *"rsa-2048"*"tlscost certs"* ]]
    run "$TLSCOST" serve --cert no-such-type
    [ "$status" -ne 0 ]
    [[ "$output" == *"no-such-type"* ]]
    local bad
    for bad in "--groups moon" "--workers 0" "--accept maybe" "--tickets many" "--version 1.1" \
        "--psk-modes none" "--client-auth no" "--sni rsa-2048" "--fault dance" "--backlog 0" \
        "--handshake-timeout never" "--burn-us -1" "extra"; do
        # shellcheck disable=SC2086
        run "$TLSCOST" serve --listen 127.0.0.1:0 $bad
        [ "$status" -eq 1 ] || { echo "$bad: $status $output"; false; }
        [ -n "$output" ]
    done
    run "$TLSCOST" serve --control 3<&-
    [ "$status" -eq 2 ]
    [[ "$output" == *"control"* ]]
}

@test "what no client can shake hands with is refused at the start" {
    for options in "--version TLSv1.2 --cert mldsa-65" "--version TLSv1.2 --groups X25519MLKEM768" \
        "--version TLSv1.2 --ciphers TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 --groups P-256"; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr timeout 20 "$TLSCOST" serve --listen 127.0.0.1:0 $options
        [ "$status" -eq 1 ] || { echo "$options: $status $stderr"; false; }
        [[ "$stderr" == *"no client can shake hands"* ]]
    done
}

@test "scanners, garbage, slow and half-open clients at once do no harm" {
    serve --workers 3 --accept reuseport --http
    local port=${address##*:} i
    for i in 1 2 3 4 5 6 7 8; do
        (
            set +e
            trap '' PIPE
            exec 4<>"/dev/tcp/127.0.0.1/$port"
            exec 4>&-                                        # a port scan
            exec 4<>"/dev/tcp/127.0.0.1/$port" 5<>"/dev/tcp/127.0.0.1/$port"
            exec 6<>"/dev/tcp/127.0.0.1/$port" 7<>"/dev/tcp/127.0.0.1/$port" # 7 stays silent
            head -c 3000 /dev/urandom >&4                    # garbage
            printf '\26\3\1\2\0\1\0\1\374\3\3' >&5           # half a ClientHello
            printf 'GET / HTTP/1.1\r\n\r\n' >&6             # not TLS
            curl -sk "https://$address/" >/dev/null
            until [ -e "$BATS_TEST_TMPDIR/enough" ]; do sleep 0.02; done
        ) 3>&- 2>/dev/null &
    done
    for i in $(seq 20); do
        [ "$(curl -sk "https://$address/")" = tlscost ]
    done
    touch "$BATS_TEST_TMPDIR/enough"
    wait $(jobs -p | grep -vx "$server")
    [ "$(curl -sk "https://$address/")" = tlscost ]
    stop_server
    totals '.totals.handshakes == 29 and .totals.failed == 40'
    totals '.failed["http request"] == 8'
    totals '[.failed[]] | add == 40'
}

@test "more clients than descriptors wait for their turn" {
    serve --http --workers 1
    prlimit --nofile=40:40 --pid "$server"
    local port=${address##*:} i
    (
        for i in $(seq 60); do exec {fd}<>"/dev/tcp/127.0.0.1/$port"; done
        until [ -e "$BATS_TEST_TMPDIR/enough" ]; do sleep 0.1; done
    ) 3>&- &
    until [ "$(find "/proc/$server/fd" -mindepth 1 | wc -l)" -ge 40 ]; do sleep 0.02; done
    curl -sk "https://$address/" -o "$BATS_TEST_TMPDIR/answer" 3>&- &
    touch "$BATS_TEST_TMPDIR/enough"
    wait $(jobs -p | grep -vx "$server")
    [ "$(cat "$BATS_TEST_TMPDIR/answer")" = tlscost ]
    stop_server
    totals '.totals.accepted == 61 and .totals.handshakes == 1 and .totals.failed == 60'
}

@test "faults are shown on demand" {
    serve --http --fault reset-1-in=2
    [ "$(curl -sk "https://$address/")" = tlscost ]
    run curl -sk "https://$address/"
    [ "$status" -ne 0 ]
    stop_server
    totals '.totals.handshakes == 1 and .failed["reset on purpose"] == 1'
    serve --http --fault die-after=2
    [ "$(curl -sk "https://$address/")" = tlscost ]
    run curl -sk "https://$address/"
    [ "$status" -ne 0 ]
    local code=0
    wait "$server" || code=$?
    server=
    [ "$code" -eq 137 ]
}

@test "with --json standard output is the counters alone" {
    "$TLSCOST" serve --listen 127.0.0.1:0 --json >"$out" 2>"$err" 3>&- &
    server=$!
    until grep -q '^listening on ' "$err"; do
        kill -0 "$server"
        sleep 0.02
    done
    kill -TERM "$server"
    wait "$server"
    server=
    jq -e '.schema and .command == "serve" and .stack.version and (.workers | length) >= 1 and .failed == {}' "$out"
}
