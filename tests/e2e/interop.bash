# What the interoperability tests share: where a peer comes from, how a server is started and ended,
# and how a client's connection is made. TLSCOST is the built program. A peer that this machine does
# not have is brought by its recipe; when that fails too, its tests are skipped with the reason,
# or fail when TLSCOST_PEERS is 'required'. INTEROP_LOG names a file to append every cell to.

# shellcheck shell=bash disable=SC2034,SC2015 # the tests use the variables; the last word is `false`

root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
lean_groups="X25519 P-256 P-384 X25519MLKEM768"
ciphers="TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256"
classic_keys="ecdsa-p256 ecdsa-p384 ed25519 rsa-2048 rsa-3072 rsa-4096"
all_keys="$classic_keys mldsa-44 mldsa-65 mldsa-87"

make_certificates() {
    export CERTS=$BATS_FILE_TMPDIR/certs
    "$TLSCOST" certs "$CERTS" >/dev/null
}

# --- peers ----------------------------------------------------------------------------------------

# Prints the prefix of a recipe, fetched when it is not in the cache. On failure the recipe's last
# words are kept for `absent`.
prefix_of() {
    "$root/scripts/recipe" get "$1" 2>"$BATS_FILE_TMPDIR/recipe.log"
}

absent() {
    local reason
    reason="$1: absent: $(tail -n 1 "$BATS_FILE_TMPDIR/recipe.log" 2>/dev/null)"
    [ "${TLSCOST_PEERS:-}" != required ] || { echo "$reason" >&2 && return 1; }
    skip "$reason"
}

# Sets OPENSSL35 to an openssl program of 3.5 or later: the system's, else that of the private root.
find_openssl35() {
    local prefix version
    version=$(openssl version 2>/dev/null | cut -d ' ' -f 2)
    if [ -n "$version" ] && printf '3.5\n%s\n' "$version" | sort -V -C; then
        export OPENSSL35=openssl
    elif prefix=$(prefix_of nginx-1.26); then
        export OPENSSL35=$BATS_FILE_TMPDIR/openssl-3.5
        printf '#!/bin/sh\nexec "%s" "%s" usr/bin/openssl "$@"\n' "$root/peers/root-run" "$prefix" >"$OPENSSL35"
        chmod +x "$OPENSSL35"
    fi
}

# Builds the Go peers with the Go on PATH when it is 1.27 or later, else with the recipe's; sets
# GO_PEERS to their folder.
find_go_peers() {
    local prefix go=go version
    version=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null || true)
    if [ -z "$version" ] || ! printf 'go1.27\n%s\n' "$version" | sort -V -C; then
        prefix=$(prefix_of go-1.27) || return 0
        go=$prefix/usr/lib/go-1.27/bin/go
    fi
    TLSCOST_GO=$go "$root/peers/go/build" "$BATS_FILE_TMPDIR/go" >"$BATS_FILE_TMPDIR/recipe.log" 2>&1 || return 0
    export GO_PEERS=$BATS_FILE_TMPDIR/go GO=$go
}

# --- servers --------------------------------------------------------------------------------------

# Starts a command whose output names its address by the first match of the sed pattern; sets
# `address` and `server`.
start_server() {
    local pattern=$1
    shift
    server_output=$BATS_TEST_TMPDIR/server.out server_errors=$BATS_TEST_TMPDIR/server.err
    rm -f "$server_output" "$server_errors" # a server before this one wrote its address there
    touch "$server_output" "$server_errors"
    "$@" >>"$server_output" 2>>"$server_errors" 3>&- &
    server=$!
    for _ in $(seq 200); do
        address=$(sed -n "s/$pattern/\1/p" "$server_output" "$server_errors" | head -n 1)
        [ -z "$address" ] || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    echo "$*: does not listen" && cat "$server_output" "$server_errors"
    return 1
}

start_serve() {
    start_server '^listening on \([^ ]*\) .*' "$TLSCOST" serve --listen 127.0.0.1:0 --json --certs "$CERTS" "$@"
}

# Port 0 where a server cannot choose for itself.
free_port() {
    perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport'
}

stop_server() {
    [ -n "${server:-}" ] || return 0
    kill -TERM "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
}

# Ends `serve` and compares its counts: handshakes, resumed, HelloRetryRequests; nothing may have
# failed.
stop_serve_with() {
    stop_server
    jq -e --argjson handshakes "$1" --argjson resumed "$2" --argjson retries "$3" '
        .totals.handshakes == $handshakes and .totals.resumed == $resumed and
        .totals.hello_retry_requests == $retries and .failed == {}' "$server_output" >/dev/null ||
        { jq -c '{totals, failed}' "$server_output" && false; }
}

# --- clients --------------------------------------------------------------------------------------

# One connection of `PROGRAM s_client`, verified, over which a line is echoed; what it printed is in
# `client_output`. The connection stays open until the echo is there, so tickets were read too.
s_client() {
    local program=$1 client hold status=0
    shift
    client_output=$BATS_TEST_TMPDIR/client.out
    rm -f "$BATS_TEST_TMPDIR/client.in" && mkfifo "$BATS_TEST_TMPDIR/client.in"
    "$program" s_client -connect "$address" -CAfile "$CERTS/ca.pem" -servername localhost \
        -verify_hostname localhost -verify_return_error "$@" \
        <"$BATS_TEST_TMPDIR/client.in" >"$client_output" 2>&1 3>&- &
    client=$!
    exec {hold}>"$BATS_TEST_TMPDIR/client.in"
    echo "from the client" >&"$hold"
    for _ in $(seq 200); do
        grep -qxF "from the client" "$client_output" && break
        kill -0 "$client" 2>/dev/null || break
        sleep 0.05
    done
    exec {hold}>&-
    wait "$client" || status=$?
    grep -qxF "from the client" "$client_output" && [ "$status" -eq 0 ] ||
        { echo "s_client $*: ended with $status" && cat "$client_output" && false; }
}

# What `load` calls a group: the registry's name.
registered() {
    case $1 in P-*) echo "secp${1#P-}r1" ;; *) echo "$1" ;; esac
}

handshakes=4 # of one `load_as_asked`

# Handshakes of one engine that must all show the group and nothing else than what was asked. The
# server's signature is verified in each: by the lean engine itself, by the full one with the chain.
load_as_asked() { # engine, group, HelloRetryRequests, more options of load (also other --groups)
    local engine=$1 group=$2 retries=$3
    shift 3
    case $engine in
    lean) set -- --verify-every 1 "$@" ;;
    full) set -- --ca "$CERTS/ca.pem" --sni localhost "$@" ;;
    esac
    client_output=$BATS_TEST_TMPDIR/load.json
    "$TLSCOST" load --json --engine "$engine" --groups "$group" --count "$handshakes" --concurrency 2 \
        --timeout 60s "$@" "$address" >"$client_output" 2>"$BATS_TEST_TMPDIR/load.err" &&
        jq -e --arg group "$(registered "$group")" --argjson n "$handshakes" --argjson retries "$retries" '
            .as_asked and .handshakes == $n and .signatures_verified == $n and .errors == {} and
            .negotiated.version == {"TLSv1.3": $n} and .negotiated.group == {($group): $n} and
            .negotiated.hello_retry_request == $retries' "$client_output" >/dev/null ||
        { echo "load $engine $group $*" && cat "$BATS_TEST_TMPDIR/load.err" "$client_output" && false; }
}

# The same with a ticket of the handshake before in each: all must be resumed, with a key exchange.
resumed_as_asked() { # engine, group
    client_output=$BATS_TEST_TMPDIR/load.json
    "$TLSCOST" load --json --engine "$1" --groups "$2" --resume 1 --count "$handshakes" --concurrency 1 \
        --timeout 60s "$address" >"$client_output" 2>"$BATS_TEST_TMPDIR/load.err" &&
        jq -e --arg group "$(registered "$2")" --argjson n "$handshakes" '
            .as_asked and .handshakes == $n and .offered == $n and .resumed == $n and .errors == {} and
            .negotiated.psk_mode == {psk_dhe_ke: $n} and .negotiated.group == {($group): $n}' "$client_output" >/dev/null ||
        { echo "load $1 --resume 1" && cat "$BATS_TEST_TMPDIR/load.err" "$client_output" && false; }
}

# The same with a ClientHello that reaches the server in pieces: cut within the record's header, within
# the message, and byte by byte, that of a HelloRetryRequest to come as well.
split_as_asked() { # group, another one, more options of load
    local group=$1 other=$2 how
    shift 2
    for how in at:3 at:120 1; do
        load_as_asked lean "$group" 0 --split "$how" "$@"
        load_as_asked lean "$group" "$handshakes" --groups "$group:$other" --wrong-share-first --split "$how" "$@"
    done
}

# What `load` printed, for the log.
load_said() {
    jq -c '[.handshakes, .negotiated.version, .negotiated.cipher, .negotiated.group,
        {hello_retry_request: .negotiated.hello_retry_request, signatures_verified, tickets}]' "$client_output"
}

# Fails, with all that the client printed, unless each pattern is a line of it.
client_printed() {
    local pattern
    for pattern; do
        grep -qE -- "$pattern" "$client_output" ||
            { echo "the client did not print: $pattern" && cat "$client_output" && return 1; }
    done
}

note() { # peer, direction, key type, group, what was printed
    [ -z "${INTEROP_LOG:-}" ] || (IFS=$'\t' && printf '%s\n' "$*") >>"$INTEROP_LOG"
}
