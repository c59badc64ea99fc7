# `tlscost load` against real servers: ours on the default stack, and the system's openssl s_server.
# TLSCOST is the built program.

setup() {
    certs="$BATS_FILE_TMPDIR/certs"
    servers=()
    if [ ! -d "$certs" ]; then
        mkdir -p "$BATS_FILE_TMPDIR"
        "$TLSCOST" certs "$certs"
    fi
}

teardown() {
    for server in "${servers[@]}"; do
        kill "$server" 2>/dev/null && wait "$server" || true
    done
}

serve() { # options of serve; sets address, server, counts
    counts="$BATS_TEST_TMPDIR/serve.$RANDOM.out"
    local listen=127.0.0.1:0
    [ "${1#@}" = "$1" ] || { listen="${1#@}"; shift; }
    : >"$counts.err" # there even before the server's shell has opened it
    "$TLSCOST" serve --listen "$listen" --certs "$certs" --workers 1 --json "$@" \
        >"$counts" 2>"$counts.err" 3>&- &
    server=$!
    servers+=("$server")
    for _ in $(seq 100); do
        address=$(sed -n 's/^listening on \([^ ]*\) .*/\1/p' "$counts.err")
        [ -n "$address" ] && return 0
        kill -0 "$server" || { cat "$counts.err"; return 1; }
        sleep 0.1
    done
    return 1
}

stop_server() { # ends the last server; its counts are then complete
    kill -TERM "$server"
    wait "$server" || true
}

openssl_server() { # options of openssl s_server; sets address and server
    local port
    for _ in 1 2 3 4 5; do
        port=$((20000 + RANDOM % 10000))
        openssl s_server -accept "127.0.0.1:$port" -cert "$certs/ecdsa-p256.pem" \
            -key "$certs/ecdsa-p256.key" -quiet "$@" >/dev/null 2>&1 3>&- &
        server=$!
        for _ in $(seq 50); do
            if (exec 9<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
                servers+=("$server")
                address="127.0.0.1:$port"
                return 0
            fi
            kill -0 "$server" 2>/dev/null || break
            sleep 0.1
        done
    done
    return 1
}

load() { # options of load; its JSON is in $json, its exit code in $code
    json="$BATS_TEST_TMPDIR/load.json"
    code=0
    "$TLSCOST" load --json "$@" >"$json" 2>"$json.err" || code=$?
}

holds() { # a jq condition on the last document
    jq -e "$1" "$json" >/dev/null || { echo "not so: $1"; jq . "$json"; cat "$json.err"; return 1; }
}

@test "every handshake is counted as the server counts it, on each loop" {
    for loop in epoll auto; do
        serve
        load --loop "$loop" --count 300 --concurrency 16 --tickets 2 "$address"
        [ "$code" -eq 0 ] || { cat "$json.err"; false; }
        stop_server
        holds '.handshakes == 300 and .attempts == 300 and .errors == {} and .mismatches == 0'
        jq -e '.totals.handshakes == 300 and .totals.failed == 0' "$counts"
        holds '.negotiated.version == {"TLSv1.3": 300} and .negotiated.group == {"X25519": 300}'
        holds '.negotiated.hello_retry_request == 0 and .resumed == 0 and .tickets == 600'
        holds '.latency_us | .p50 > 0 and .p50 <= .p90 and .p90 <= .p99 and .p99 <= .max'
        holds '.latency_connect_us.max <= .latency_us.max'
        holds '.cpu_us_per_handshake | .total > 0 and ((.user + .system - .total) | fabs) < 0.01'
        holds '.rate > 0 and .command == "load" and .environment.kernel != null'
    done
}

@test "groups and cipher suites are negotiated as asked" {
    serve
    for group in X25519 secp256r1 secp384r1 X25519MLKEM768; do
        load --groups "$group" --count 20 --concurrency 4 --verify-every 1 "$address"
        [ "$code" -eq 0 ] || { cat "$json.err"; false; }
        holds ".negotiated.group == {\"$group\": 20} and .signatures_verified == 20"
    done
    for cipher in TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256; do
        load --ciphers "$cipher" --count 20 --concurrency 4 "$address"
        [ "$code" -eq 0 ]
        holds ".negotiated.cipher == {\"$cipher\": 20}"
    done
}

@test "key shares honest, reused and cheap complete handshakes" {
    serve
    for share in honest reused cheap; do
        load --share "$share" --count 50 --concurrency 8 "$address"
        [ "$code" -eq 0 ] || { cat "$json.err"; false; }
        holds ".handshakes == 50 and .target.share == \"$share\""
    done
}

@test "engine full verifies the chain and speaks TLS 1.2" {
    serve --min-version 1.2
    load --engine full --stack openssl --ca "$certs/ca.pem" --sni localhost --count 30 \
        --concurrency 4 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.handshakes == 30 and .signatures_verified == 30 and .target.stack == "openssl"'
    load --engine full --version 1.2 --count 30 --concurrency 4 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.negotiated.version == {"TLSv1.2": 30}'
}

@test "a chain of another CA fails in engine full" {
    "$TLSCOST" certs "$BATS_TEST_TMPDIR/other" >/dev/null
    serve
    load --engine full --ca "$BATS_TEST_TMPDIR/other/ca.pem" --sni localhost --tickets 0 --count 5 \
        --concurrency 1 "$address"
    [ "$code" -eq 3 ]
    holds '.handshakes == 0 and ([.errors[]] | add) == 5 and (.errors | keys[0] | test("certificate"))'
}

@test "another certificate than the expected one is an error" {
    serve
    hash=$(openssl x509 -in "$certs/ecdsa-p256.pem" -outform DER | sha256sum | cut -d' ' -f1)
    load --cert-sha256 "$hash" --count 10 --concurrency 2 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    load --cert-sha256 "${hash//[0-9a-f]/0}" --tickets 0 --count 10 --concurrency 2 "$address"
    [ "$code" -eq 3 ]
    holds '.handshakes == 0 and .errors.certificate == 10'
    # The handshake that counts tickets comes to the same end.
    run "$TLSCOST" load --cert-sha256 "${hash//[0-9a-f]/0}" --count 10 "$address"
    [ "$status" -eq 3 ] && [[ "$output" == *": certificate"*"hint:"*"--cert-sha256"* ]] || { echo "$output"; false; }
}

@test "a refused client certificate, and one that is missing, are named" {
    "$TLSCOST" certs "$BATS_TEST_TMPDIR/other" >/dev/null
    other="--client-cert $BATS_TEST_TMPDIR/other/ecdsa-p256.pem --client-key $BATS_TEST_TMPDIR/other/ecdsa-p256.key"
    serve --client-auth require --min-version 1.2
    for words in "" "--engine full" "--engine full $other" "--engine full --version 1.2 $other"; do
        # shellcheck disable=SC2086 # words on purpose
        run "$TLSCOST" load --count 3 --concurrency 1 $words "$address"
        echo "$words: $status: $output"
        [ "$status" -eq 3 ] && [[ "$output" == *alert*"hint: the server "*"client certificate"* ]]
    done
}

@test "an answer that is not TLS, and a path that is no socket, are named" {
    port=$((20000 + RANDOM % 10000))
    perl -MIO::Socket::INET -e 'my $l = IO::Socket::INET->new(Listen => 9, ReuseAddr => 1, LocalAddr => $ARGV[0])
        or die; print "listening\n"; STDOUT->flush; while (my $c = $l->accept) { print $c "SSH-2.0-nothing\r\n"; push @open, $c }' \
        "127.0.0.1:$port" >"$BATS_TEST_TMPDIR/ssh" 3>&- &
    servers+=("$!")
    until grep -q listening "$BATS_TEST_TMPDIR/ssh"; do kill -0 "${servers[0]}"; done
    for words in "" "--engine full" "--tickets 0"; do
        # shellcheck disable=SC2086 # words on purpose
        run "$TLSCOST" load --count 3 --concurrency 1 $words "127.0.0.1:$port"
        echo "$words: $status: $output"
        [ "$status" -eq 3 ] && [[ "$output" == *"does not speak TLS"* ]]
    done
    run "$TLSCOST" load --count 1 "unix:$BATS_TEST_TMPDIR/ssh"
    [ "$status" -eq 1 ] && [[ "$output" == *"not a socket"* ]]
    run "$TLSCOST" load --count 1 "unix:$BATS_TEST_TMPDIR/none"
    [ "$status" -eq 2 ] && [[ "$output" == *"no server listens at this path"* ]]
}

@test "a HelloRetryRequest is a mismatch unless it was asked for" {
    serve --groups secp256r1
    load --groups X25519:secp256r1 --count 10 --concurrency 2 "$address"
    [ "$code" -eq 3 ]
    holds '.handshakes == 10 and .mismatches == 10 and .errors["mismatch-hello-retry-request"] == 10'
    holds '.negotiated.hello_retry_request == 10 and .as_asked == false'
    load --groups X25519:secp256r1 --allow-hello-retry --count 10 --concurrency 2 "$address"
    [ "$code" -eq 0 ]
    stop_server
    serve --groups X25519
    load --groups X25519:secp256r1 --wrong-share-first --count 10 --concurrency 2 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.negotiated == (.negotiated + {hello_retry_request: 10, group: {X25519: 10}})'
    stop_server
    serve --groups secp256r1:X25519
    load --groups X25519:secp256r1 --wrong-share-first --count 10 --concurrency 2 "$address"
    [ "$code" -eq 3 ]
    holds '.negotiated.hello_retry_request == 0 and (.difference | test("took the second group"))'
}

@test "a refused offer is hinted at, with the groups of the offer" {
    serve --groups P-384
    for words in "" "--tickets 0" "--engine full"; do
        # shellcheck disable=SC2086 # words on purpose
        run "$TLSCOST" load --groups X25519:P-256 --count 3 $words "$address"
        [ "$status" -ne 0 ]
        [[ "$output" == *"hint:"*"groups X25519:"*"--groups"* ]] || { echo "$output"; false; }
    done
}

@test "ALPN and the server name reach the server" {
    serve --alpn h2,http/1.1
    load --alpn http/1.1 --sni localhost --count 10 --concurrency 2 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.negotiated.alpn == {"http/1.1": 10}'
    stop_server
    serve
    load --alpn h2 --count 10 --concurrency 2 "$address"
    [ "$code" -eq 3 ]
    holds '.errors["mismatch-alpn"] == 10'
}

@test "all ways to end a connection complete the handshake on both sides" {
    for how in reset fin close-notify; do
        serve
        load --close "$how" --tickets 2 --count 100 --concurrency 8 "$address"
        [ "$code" -eq 0 ] || { cat "$json.err"; false; }
        stop_server
        holds '.handshakes == 100'
        jq -e '.totals.handshakes == 100 and .totals.failed == 0' "$counts"
    done
}

@test "tickets are counted before the load, and missing ones are errors" {
    serve --tickets 1
    load --count 10 --concurrency 2 "$address"
    [ "$code" -eq 0 ]
    holds '.target.tickets_expected == 1 and .tickets == 10'
    load --tickets 2 --timeout 300ms --count 3 --concurrency 3 "$address"
    [ "$code" -eq 3 ]
    holds '.handshakes == 0 and .errors.timeout == 3'
    stop_server
    serve --tickets off
    load --count 10 --concurrency 2 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.target.tickets_expected == 0 and .tickets == 0'
}

@test "resumption happens in the share asked for, as the server counts it" {
    for ratio in 0.8 1; do
        serve
        load --resume "$ratio" --count 500 --concurrency 10 "$address"
        [ "$code" -eq 0 ] || { cat "$json.err"; false; }
        stop_server
        holds ".resumed >= $ratio * 500 - 1 and .resumed == .offered and .handshakes == 500"
        holds '.negotiated.psk_mode.psk_dhe_ke == .resumed and .negotiated.group.X25519 == 500'
        # Before the load: one handshake counts tickets, one is resumed to count them, ten gather them.
        jq -e '.totals.resumed > 0 and .totals.handshakes == 512' "$counts"
        [ "$(jq .totals.resumed "$counts")" -ge "$(jq .resumed "$json")" ]
    done
}

# A client that took its session with the server's Finished would have none to offer.
@test "tickets are waited for: they come after Finished, in reads of their own" {
    openssl_server -num_tickets 1
    for engine in lean full; do
        for loop in epoll auto; do
            load --engine "$engine" --loop "$loop" --resume 1 --count 30 --concurrency 1 "$address"
            [ "$code" -eq 0 ] || { cat "$json.err"; false; }
            holds '.resumed == 30 and .offered == 30 and .tickets == 30'
        done
    done
}

@test "a server that takes each ticket once is resumed with in every handshake" {
    # With early data allowed, OpenSSL guards against replay: a ticket is good for one connection.
    openssl_server -early_data -num_tickets 2
    session="$BATS_TEST_TMPDIR/session"
    for words in "-sess_out $session" "-sess_in $session" "-sess_in $session"; do
        # shellcheck disable=SC2086 # two words on purpose
        { echo hello; sleep 1; } | openssl s_client -connect "$address" $words >"$BATS_TEST_TMPDIR/client" 2>&1
        grep -oE '^(New|Reused), TLSv1.3' "$BATS_TEST_TMPDIR/client" | head -n 1
    done | tee "$BATS_TEST_TMPDIR/words"
    [ "$(paste -s -d ' ' "$BATS_TEST_TMPDIR/words")" = "New, TLSv1.3 Reused, TLSv1.3 New, TLSv1.3" ]
    load --resume 1 --count 30 --concurrency 1 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.resumed == 30 and .offered == 30 and .handshakes == 30'
}

@test "a ticket is not offered once its lifetime is over" {
    "$TLSCOST" serve --help | grep -q -- --ticket-lifetime || skip "serve has no --ticket-lifetime"
    serve --ticket-lifetime 1s
    # Begun 2.5 s after one another, all but the first find only tickets that are too old.
    load --resume 1 --rate 0.4 --count 3 --concurrency 1 "$address"
    [ "$code" -eq 3 ]
    holds '.handshakes == 3 and .offered <= 1 and .resumed <= .offered and .errors == {}'
    load --resume 1 --count 50 --concurrency 1 "$address"
    holds '.handshakes == 50 and .resumed > 0 and .resumed <= .offered'
    stop_server
    [ "$(jq .totals.resumed "$counts")" -ge "$(jq .resumed "$json")" ]
}

@test "sessions of TLS 1.2 are resumed again and again" {
    serve --min-version 1.2
    load --engine full --version 1.2 --resume 1 --count 100 --concurrency 5 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.resumed == 100 and .handshakes == 100'
    stop_server
    openssl_server -tls1_2
    load --engine full --version 1.2 --resume 0.9 --count 100 --concurrency 1 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.resumed == 90 and .handshakes == 100'
}

@test "psk_ke resumes without a key exchange" {
    serve --psk-modes psk_dhe_ke:psk_ke
    load --resume 1 --psk-modes psk_ke --count 50 --concurrency 5 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.resumed == 50 and .negotiated.psk_mode == {psk_ke: 50} and .negotiated.group == {none: 50}'
}

@test "engine full resumes TLS 1.3 and TLS 1.2" {
    serve --min-version 1.2
    for version in 1.3 1.2; do
        load --engine full --version "$version" --resume 0.5 --count 100 --concurrency 5 "$address"
        [ "$code" -eq 0 ] || { cat "$json.err"; false; }
        holds '.resumed == 50 and .handshakes == 100'
    done
}

@test "a server without tickets, and one that forgets them, is reported and not counted as resumed" {
    serve --tickets off
    load --resume 0.5 --count 50 --concurrency 5 "$address"
    [ "$code" -eq 3 ]
    holds '.resumed == 0 and .offered == 0 and (.difference | test("too few tickets"))'
    stop_server
    head -c 80 /dev/urandom >"$BATS_TEST_TMPDIR/keys"
    serve --ticket-keys "$BATS_TEST_TMPDIR/keys"
    "$TLSCOST" load --json --resume 1 --rate 50 --count 100 --concurrency 20 "$address" \
        >"$BATS_TEST_TMPDIR/load.json" 2>"$BATS_TEST_TMPDIR/load.json.err" 3>&- &
    loader=$!
    # New ticket keys while the load runs: tickets of the old ones are refused.
    while kill -0 "$loader" 2>/dev/null; do
        head -c 80 /dev/urandom >"$BATS_TEST_TMPDIR/keys.new"
        mv "$BATS_TEST_TMPDIR/keys.new" "$BATS_TEST_TMPDIR/keys"
        kill -HUP "$server"
        sleep 0.2
    done
    code=0
    wait "$loader" || code=$?
    json="$BATS_TEST_TMPDIR/load.json"
    [ "$code" -eq 3 ]
    holds '.resumed < .offered and .handshakes == 100 and .errors == {}'
    holds '.difference | test("offered a ticket, the server resumed")'
}

@test "data is echoed and compared" {
    serve
    load --echo 5000 --count 20 --concurrency 4 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    stop_server
    jq -e '.totals.bytes_written >= 100000' "$counts"
}

@test "a server that resets one in ten is reported, with the rest" {
    serve --fault reset-1-in=10
    load --tickets 2 --count 200 --concurrency 4 "$address"
    [ "$code" -eq 3 ]
    holds '.handshakes == 180 and ([.errors | to_entries[] | select(.key | startswith("reset")) | .value] | add) == 20'
}

@test "a server that dies under load ends the run with errors, not with a hang" {
    for loop in epoll auto; do
        serve
        "$TLSCOST" load --json --loop "$loop" --duration 1s --concurrency 16 --tickets 2 "$address" \
            >"$BATS_TEST_TMPDIR/load.json" 2>"$BATS_TEST_TMPDIR/load.json.err" 3>&- &
        loader=$!
        port=$(printf ':%04X 01' "${address##*:}")
        until grep -q "$port" /proc/net/tcp; do kill -0 "$loader"; done
        kill -KILL "$server"
        code=0
        wait "$loader" || code=$?
        [ "$code" -eq 3 ]
        json="$BATS_TEST_TMPDIR/load.json"
        holds '.errors["connect-refused"] > 0 and .attempts == .handshakes + ([.errors[]] | add)'
    done
}

@test "stop points, split and padded ClientHellos" {
    serve
    for where in after-client-hello after-server-flight; do
        load --stop "$where" --count 20 --concurrency 4 "$address"
        [ "$code" -eq 0 ] || { cat "$json.err"; false; }
        holds '.handshakes == 0 and .stopped == 20 and .errors == {}'
    done
    for how in "--split 1" "--split at:5" "--split at:100" "--padding 700"; do
        # shellcheck disable=SC2086 # two words on purpose
        load $how --count 5 --concurrency 2 "$address"
        [ "$code" -eq 0 ] || { cat "$json.err"; false; }
        holds '.handshakes == 5'
    done
}

@test "IPv6 and Unix sockets" {
    serve "@[::1]:0"
    load --count 20 --concurrency 4 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.handshakes == 20'
    stop_server
    serve "@unix:$BATS_TEST_TMPDIR/socket"
    load --count 20 --concurrency 4 "unix:$BATS_TEST_TMPDIR/socket"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.handshakes == 20'
}

@test "several threads divide the work" {
    serve
    load --threads 3 --count 100 --concurrency 10 --tickets 2 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    stop_server
    holds '.handshakes == 100 and .target.threads == 3'
    jq -e '.totals.handshakes == 100' "$counts"
}

@test "an open loop starts at its rate" {
    serve
    load --rate 200 --count 60 --concurrency 60 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    # The last of 60 starts is due 295 ms after the first, whatever the machine's speed.
    holds '.handshakes == 60 and .span_s >= 0.295 and .asked_rate == 200'
}

@test "a ramp starts what it should, and a latency probe runs beside the load" {
    serve
    load --rate 0..100 --duration 1s --concurrency 60 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    # 50 are due; a machine too busy to start some in time says so.
    holds '(.handshakes + .missed) >= 50 and (.handshakes + .missed) <= 51'
    load --probe-rate 20 --duration 500ms --concurrency 4 "$address"
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.latency_probe | .handshakes + .missed == 10 and .errors == {} and .latency_connect_us.max > 0'
    run "$TLSCOST" load --probe-rate 20 --count 5 "$address"
    [ "$status" -eq 1 ]
}

@test "the TCP floor has the byte counts asked for" {
    "$TLSCOST" load --serve-floor 127.0.0.1:0 && false # a port must be named
    port=$((20000 + RANDOM % 10000))
    "$TLSCOST" load --serve-floor "127.0.0.1:$port" >"$BATS_TEST_TMPDIR/floor" 3>&- &
    servers+=("$!")
    until grep -q listening "$BATS_TEST_TMPDIR/floor"; do kill -0 "${servers[0]}"; done
    for loop in epoll auto; do
        load --engine tcp --loop "$loop" --bytes 300:2000:80:500 --count 200 "127.0.0.1:$port"
        [ "$code" -eq 0 ] || { cat "$json.err"; false; }
        holds '.handshakes == 200 and .bytes_sent == 200 * 380 and .bytes_received == 200 * 2500'
        holds '.negotiated.version == {none: 200} and .errors == {}'
    done
    run "$TLSCOST" load --engine tcp --bytes 5:1:1 "127.0.0.1:$port"
    [ "$status" -eq 1 ]
}

@test "openssl s_server (X25519, P-256), with tickets read and not" {
    openssl_server -naccept 1000
    for group in X25519 P-256; do
        load --groups "$group" --count 10 --concurrency 1 "$address"
        [ "$code" -eq 0 ] || { cat "$json.err"; false; }
        holds '.handshakes == 10 and .tickets == 20'
    done
}

@test "people get a table, the exit code says whether all was as asked" {
    serve
    run "$TLSCOST" load --count 20 --concurrency 4 "$address"
    [ "$status" -eq 0 ]
    [[ "$output" == *"20 handshakes"* && "$output" == *"p99.9"* && "$output" == *"errors: none"* ]]
}

@test "an interrupt prints what was finished and ends with 130" {
    serve
    "$TLSCOST" load --json --duration 1h --concurrency 4 --tickets 2 "$address" \
        >"$BATS_TEST_TMPDIR/out" 3>&- &
    loader=$!
    # Under way once the kernel shows an established connection (01) with the server's port.
    port=$(printf ':%04X 01' "${address##*:}")
    until grep -q "$port" /proc/net/tcp; do kill -0 "$loader"; done
    kill -INT "$loader"
    code=0
    wait "$loader" || code=$?
    [ "$code" -eq 130 ]
    json="$BATS_TEST_TMPDIR/out"
    jq -e '.handshakes > 0 and .errors == {} and .attempts == .handshakes' "$json"
}

# Two servers that take the connection and say nothing would each cost the time-out of an hour.
@test "an interrupt ends the handshake that counts tickets, on each loop" {
    serve --fault stall-1-in=1
    for loop in epoll auto; do
        "$TLSCOST" load --loop "$loop" --timeout 1h "$address" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
        loader=$!
        port=$(printf ':%04X 01' "${address##*:}")
        until grep -q "$port" /proc/net/tcp; do kill -0 "$loader"; done
        kill -INT "$loader"
        code=0
        wait "$loader" || code=$?
        [ "$code" -eq 130 ] || { cat "$BATS_TEST_TMPDIR/out"; false; }
    done
}

@test "more connections than open files, divided among io_uring loops" {
    serve
    load --loop io_uring --count 1 --concurrency 1 "$address"
    [ "$code" -eq 0 ] || skip "the kernel gives no io_uring"
    code=0
    json="$BATS_TEST_TMPDIR/load.json"
    (
        ulimit -n 300
        exec "$TLSCOST" load --json --loop io_uring --threads 4 --concurrency 800 --count 1600 "$address"
    ) >"$json" 2>"$json.err" || code=$?
    [ "$code" -eq 0 ] || { cat "$json.err"; false; }
    holds '.handshakes == 1600 and .errors == {}'
}

@test "nobody there, wrong usage and refused targets" {
    run "$TLSCOST" load --count 1 127.0.0.1:1
    [ "$status" -eq 2 ]
    [[ "$output" == *"127.0.0.1:1"*"connect-refused"* ]]
    load --count 5 --tickets 0 127.0.0.1:1
    [ "$code" -eq 3 ]
    holds '.errors == {"connect-refused": 5} and .latency_us.p50 == null and .cpu_us_per_handshake == null'
    for words in "" "127.0.0.1" "--groups nope 127.0.0.1:1" "--share half 127.0.0.1:1" \
        "--duration -1 127.0.0.1:1" "--concurrency 0 127.0.0.1:1" "--version 1.2 127.0.0.1:1" \
        "--ca /nonexistent 127.0.0.1:1" "127.0.0.1:1 127.0.0.1:2" "192.0.2.1:443" "--resume 1 --tickets 0 127.0.0.1:1" \
        "--allow-public 192.0.2.1:443" "--allow-public --rate 1 --share cheap 192.0.2.1:443" \
        "--allow-public --rate 1 --stop after-client-hello 192.0.2.1:443"; do
        # shellcheck disable=SC2086 # words on purpose
        run "$TLSCOST" load --count 1 $words
        echo "$words: $status: $output"
        [ "$status" -eq 1 ] || [[ "$words" == *nonexistent* && "$status" -ne 0 ]]
        [ -n "$output" ]
    done
}
