# The audit of running servers' resumption: it has to tell apart, without being told, what is set up
# well and what is not, with our own server and with nginx, Go and openssl s_server.

bats_require_minimum_version 1.5.0

load interop

setup_file() {
    local prefix
    make_certificates
    find_go_peers
    if prefix=$(prefix_of nginx-1.26); then export NGINX_126=$prefix; fi
}

setup() {
    servers=() addresses=()
    case $BATS_TEST_DESCRIPTION in
    *nginx*) nginx_root=${NGINX_126:-} && [ -n "$nginx_root" ] || absent nginx ;;
    *Go*) [ -n "${GO_PEERS:-}" ] || absent "Go 1.27" ;;
    *s_server*) command -v openssl >/dev/null || skip "openssl: not found (apt-get install openssl)" ;;
    esac
}

teardown() {
    for server in "${servers[@]}"; do
        stop_server
    done
}

# One more server; a test that fails to start it still ends it.
started() {
    servers+=("$server") addresses+=("$address")
}

serving() { # options of serve
    start_serve --workers 1 "$@" && started
}

# Its standard input must not end, where it would end with it.
s_server() { # options of s_server
    [ -p "$BATS_TEST_TMPDIR/input" ] || mkfifo "$BATS_TEST_TMPDIR/input"
    # shellcheck disable=SC2016 # the words are those of the inner shell
    start_server '^ACCEPT \(127.*\)' sh -c 'exec openssl s_server -accept 127.0.0.1:0 "$@" <>"$0"' \
        "$BATS_TEST_TMPDIR/input" -cert "$CERTS/ecdsa-p256.pem" -key "$CERTS/ecdsa-p256.key" "$@" && started
}

key_file() { # name
    head -c 80 /dev/urandom >"$BATS_TEST_TMPDIR/$1"
    chmod 600 "$BATS_TEST_TMPDIR/$1"
    echo "$BATS_TEST_TMPDIR/$1"
}

audit() { # options of tickets
    "$TLSCOST" tickets --json --pause 1ms --timeout 60s --sni localhost "$@" "${addresses[@]}" \
        >"$BATS_TEST_TMPDIR/audit.json" 2>"$BATS_TEST_TMPDIR/audit.err" ||
        { cat "$BATS_TEST_TMPDIR/audit.err" && false; }
}

told() { # jq condition
    jq -e "$1" "$BATS_TEST_TMPDIR/audit.json" >/dev/null ||
        { echo "not told: $1" && jq . "$BATS_TEST_TMPDIR/audit.json" && false; }
}

@test "two instances with shared keys accept each other's tickets" {
    local keys
    keys=$(key_file keys)
    serving --ticket-keys "$keys"
    serving --ticket-keys "$keys"
    audit
    told '[.servers[].verdict] == ["works", "works"] and all(.shared[]; .accepted) and (.shared | length) == 2'
    told '.servers[0].findings[0].text | contains("ticket keys are shared with")'
    told '.schema and .command == "tickets" and .environment'
}

@test "two instances without shared keys are told, in both directions, and a third that shares" {
    local keys
    keys=$(key_file keys)
    serving --ticket-keys "$keys"
    serving
    audit
    told '[.servers[].verdict] == ["not-shared", "not-shared"] and all(.shared[]; .accepted == false)'
    told '.servers[0].findings[0].remedy | keys == ["go", "haproxy", "nginx"]'
    serving --ticket-keys "$keys"
    audit
    told '[.shared[] | select(.accepted)] | length == 2'
    told '[.servers[].verdict] == ["not-shared", "not-shared", "not-shared"]'
}

@test "keys that only one of two instances has are told as one direction" {
    local old new
    old=$(key_file old) new=$(key_file new)
    cat "$new" "$old" >"$BATS_TEST_TMPDIR/both"
    serving --ticket-keys "$BATS_TEST_TMPDIR/both"
    serving --ticket-keys "$old"
    audit
    told '[.shared[].accepted] == [false, true]'
    told '.servers[0].findings[0].text | contains("one direction")'
}

@test "a server with tickets off" {
    serving --tickets off
    audit --after 100ms
    told '.servers[0] | .verdict == "off" and .tickets == 0 and .visits.offered == 0 and .visits.ratio == null'
    told '.servers[0] | .second_use == null and .tls12.kind == "none"'
}

@test "a server whose tickets live for one second" {
    serving --ticket-lifetime 1s
    audit --after 3s
    told '.servers[0] | .lifetime_s == 1 and .after[0].accepted == false'
    told '.servers[0] | .verdict == "short-lifetime" and ([.findings[].code] | contains(["several-keys"]) | not)'
}

@test "tickets are counted, and sessions that the server keeps are told from those in tickets" {
    serving --tickets 3
    audit --visits 3
    told '.servers[0] | .tickets == 3 and .session_in == "ticket" and .lifetime_s == 7200 and .second_use'
    told '.servers[0].tls12 == {"kind": "ticket", "lifetime_s": 7200, "accepted": true}'
    serving --tickets stateful
    addresses=("$address")
    audit --visits 3
    told '.servers[0] | .session_in == "server" and .tls12.kind == "session-id" and .tls12.accepted and .verdict == "works"'
}

@test "the PSK modes that a server accepts" {
    serving
    serving --psk-modes psk_dhe_ke:psk_ke
    audit
    told '[.servers[].psk_modes.psk_dhe_ke.accepted] == [true, true]'
    told '[.servers[].psk_modes.psk_ke.accepted] == [false, true]'
    told '[.servers[] | .findings | any(.code == "psk-ke")] == [false, true]'
}

@test "processes behind one address that share no keys" {
    start_serve --workers 4 --accept reuseport --mistake key-per-worker --version 1.3 && started
    audit --visits 60
    told '.servers[0] | .verdict == "several-keys" and .visits.resumed > 0 and .visits.resumed < 60 and .second_use == null'
}

@test "rotations: safe, and each way to lose the key that encrypted" {

    serving --keep 1 --ticket-keys "$(key_file keys)"
    # The file as an operator rotates it: the new key before the old one.
    printf '#!/bin/sh\ncat "$1" "$2" >"$2.next" && mv "$2.next" "$2"\n' >"$BATS_TEST_TMPDIR/rotate"
    chmod +x "$BATS_TEST_TMPDIR/rotate"
    audit --rotate-command "$BATS_TEST_TMPDIR/rotate $(key_file new) $BATS_TEST_TMPDIR/keys"
    told '.servers[0] | .verdict == "works" and .rotation == {"old_accepted": true, "fresh_accepted": true}'
    audit --rotate-command "cp $(key_file other) $BATS_TEST_TMPDIR/copy" --rotate-wait 0s
    told '.servers[0].rotation.old_accepted'
    audit --rotate-command "mv $(key_file other) $BATS_TEST_TMPDIR/keys"
    told '.servers[0] | .verdict == "rotation-loses" and .rotation == {"old_accepted": false, "fresh_accepted": true}'
    told '.servers[0].findings[0].remedy.go | contains("not another fresh one")'
}

@test "a watch sees when a scheduled rotation loses the key, and that a safe one does not" {
    serving --rotate 300ms --keep 60
    serving --rotate 300ms --mistake abrupt
    serving --rotate 300ms --mistake trap
    serving --rotate 300ms --keep 60 --mistake no-previous
    audit --visits 1 --watch 2s
    told '.servers[0].watch | .refused_at_s == null and .offers > 1'
    told '.servers[1:] | all(.watch.refused_at_s > 0)'
    told '[.servers[1:][].findings | any(.code == "lost-early")] | all'
}

@test "a rotation command that fails, and a server that is not there" {
    serving
    run "$TLSCOST" tickets --rotate-command "false" "$address"
    [ "$status" -eq 2 ] && [[ "$output" == *"false: ended with 1"* ]]
    run "$TLSCOST" tickets --timeout 2s "127.0.0.1:$(free_port)"
    [ "$status" -eq 2 ] && [[ "$output" == *"connect"* ]]
    # The others are audited, wherever in the list the missing one stands.
    local gone
    gone="127.0.0.1:$(free_port)"
    run --separate-stderr "$TLSCOST" tickets --json --pause 1ms --timeout 20s "$gone" "$address"
    [ "$status" -eq 2 ]
    jq -e --arg gone "$gone" '(.servers | length) == 1 and .failed[0].address == $gone' <<<"$output"
    [[ "$stderr" == *"1 of 2 servers left out"*"$gone"* ]]
    run "$TLSCOST" tickets --pause 1ms --timeout 20s "$address" "$gone"
    [ "$status" -eq 2 ] && [[ "$output" == *"connections made"* && "$output" == *"$gone  not audited: "* ]]
    run "$TLSCOST" tickets
    [ "$status" -eq 1 ]
    run "$TLSCOST" tickets --after never "$address"
    [ "$status" -eq 1 ]
}

@test "the text names the verdict and the remedies" {
    serving --tickets off
    run "$TLSCOST" tickets "$address"
    [ "$status" -eq 0 ]
    [[ "$output" == *"! off: resumption is off"* && "$output" == *"nginx    ssl_session_tickets on"* ]]
}

@test "a server of TLS 1.2 only" {
    serving --version 1.2
    audit
    told '.servers[0] | .verdict == "works" and .versions == ["TLSv1.2"] and .tls12.kind == "ticket" and .psk_modes == null'
}

@test "nginx with a ticket key: instances share it, and it outlives a reload" {
    local key
    key=$(key_file key)
    start_nginx ecdsa-p256 X25519 --ticket-key "$key" && started
    start_nginx ecdsa-p256 X25519 --ticket-key "$key" && started
    audit --rotate-command "kill -HUP ${servers[0]}"
    told '[.servers[].verdict] == ["works", "works"] and all(.shared[]; .accepted)'
    told '.servers[0].rotation.old_accepted'
}

@test "nginx without a ticket key: instances differ, and a reload loses the tickets" {
    start_nginx ecdsa-p256 X25519 && started
    start_nginx ecdsa-p256 X25519 && started
    audit --rotate-command "kill -HUP ${servers[0]}" --rotate-wait 3s
    told '[.servers[].verdict] == ["not-shared", "not-shared"] and all(.shared[]; .accepted == false)'
    told '.servers[0].findings | any(.code == "rotation-loses")'
    told '.servers[1].findings | any(.code == "rotation-safe")'
}

@test "nginx with ssl_session_tickets off and no cache" {
    start_nginx ecdsa-p256 X25519 --session-tickets off && started
    audit
    told '.servers[0] | .session_in == "server" and .visits.resumed == 0 and .verdict == "never-accepted"'
}

@test "Go's server, with tickets and without" {
    start_server '^{"listening":"\([^"]*\)"}' "$GO_PEERS/server" -cert "$CERTS/ecdsa-p256.pem" -key "$CERTS/ecdsa-p256.key" && started
    start_server '^{"listening":"\([^"]*\)"}' "$GO_PEERS/server" -cert "$CERTS/ecdsa-p256.pem" -key "$CERTS/ecdsa-p256.key" -tickets=0 && started
    audit --after 1s
    told '.servers[0] | .verdict == "works" and .tickets == 1 and .after[0].accepted and .psk_modes.psk_ke.accepted != true'
    told '.servers[1].verdict == "off"'
}

@test "openssl s_server: tickets in the clear, in the cache, and taken once only" {
    s_server
    audit
    told '.servers[0] | .verdict == "works" and .session_in == "ticket" and .second_use'
    s_server -no_ticket
    addresses=("$address")
    audit
    told '.servers[0] | .session_in == "server" and .tls12.kind == "session-id" and .verdict == "works"'
    s_server -early_data
    addresses=("$address")
    audit
    told '.servers[0] | .second_use == false and (.findings | any(.code == "single-use"))'
}
