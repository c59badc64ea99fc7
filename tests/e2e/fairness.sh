#!/usr/bin/env bash
# Cheap key shares must cost the server what honest ones do: counts the server's user-space
# instructions with callgrind, for the same number of handshakes of each share, and demands that they
# agree within 0.5 %. One server serves all runs; callgrind writes what it counted since the last
# time, and begins anew, whenever the server reads its ticket keys, which SIGHUP makes it do. So
# neither start-up nor first-time work is counted. TLSCOST is the built program. Ends with 77
# where valgrind is missing.
set -euo pipefail
export LC_ALL=C

tlscost=${TLSCOST:-$(dirname "$0")/../../build/tlscost}
groups=(X25519 P-256 X25519MLKEM768)
each=20           # handshakes of a run; a share has two runs
limit_permille=5  # by which honest and cheap may differ
seconds=60        # until something that must happen has failed

command -v valgrind >/dev/null || {
    echo "valgrind: not installed; nothing was counted"
    exit 77
}

folder=$(mktemp -d)
server=
clean_up() {
    [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
    rm -rf "$folder"
}
trap clean_up EXIT

fail() {
    echo "fairness: $*" >&2
    tail -n 5 "$folder/server.err" >&2 || true
    exit 1
}

# Repeats a command until it succeeds.
await() {
    local what=$1 deadline=$((SECONDS + seconds))
    shift
    until "$@"; do
        kill -0 "$server" 2>/dev/null || fail "$what: the server has ended"
        [ "$SECONDS" -lt "$deadline" ] || fail "$what: not within $seconds s"
        sleep 0.05
    done
}

start_server() {
    "$tlscost" certs "$folder/certs" >/dev/null
    head -c 80 /dev/urandom >"$folder/keys"
    valgrind --tool=callgrind --callgrind-out-file="$folder/counts" --dump-before=tlc_ticket_keys_read \
        "$tlscost" serve --listen 127.0.0.1:0 --certs "$folder/certs" --cert ecdsa-p256 --workers 1 \
        --groups "$(IFS=: && echo "${groups[*]}")" --tickets off --ticket-keys "$folder/keys" \
        --handshake-timeout 60s --json >"$folder/server.json" 2>"$folder/server.err" &
    server=$!
    await "start" grep -q '^listening on ' "$folder/server.err"
    address=$(sed -n 's/^listening on \([^ ]*\) .*/\1/p' "$folder/server.err")
}

# One handshake after the other. The orderly end makes the client wait until the server is through
# with each, and sees to it that nothing of it is left for the next run.
handshakes() { # group, share, count
    "$tlscost" load --engine lean --groups "$1" --share "$2" --count "$3" --concurrency 1 --tickets 0 \
        --close fin --timeout 60s --json "$address" >"$folder/load.json" ||
        fail "$1, $2: load failed: $(cat "$folder/load.json")"
    total=$((total + $3))
}

cpu_ticks() { sed 's/.*) //' "/proc/$server/stat" | cut -d ' ' -f 12,13; }

is_quiet() {
    local before
    before=$(cpu_ticks)
    sleep 0.1
    [ "$before" = "$(cpu_ticks)" ]
}

# Whether the n-th file of callgrind is whole: its totals come last.
has_totals() { grep -q '^totals: ' "$folder/counts.$1" 2>/dev/null; }

# Sets `counted`: instructions since the last time.
count_instructions() {
    await "idle server" is_quiet
    kill -HUP "$server"
    dumps=$((dumps + 1))
    await "counts" has_totals "$dumps"
    counted=$(sed -n 's/^totals: //p' "$folder/counts.$dumps")
}

start_server
total=0
dumps=1 # start-up: the keys were read for the first time
await "start-up's counts" has_totals 1

# What a library does only once, in its first handshakes of a kind, is nobody's cost.
for group in "${groups[@]}"; do
    for share in honest cheap; do handshakes "$group" "$share" 3; done
done
count_instructions

declare -A sum
failed=0
for group in "${groups[@]}"; do
    for share in honest cheap cheap honest; do
        handshakes "$group" "$share" "$each"
        count_instructions
        sum[$group/$share]=$((${sum[$group/$share]:-0} + counted))
    done
    honest=${sum[$group/honest]} cheap=${sum[$group/cheap]}
    apart=$((honest > cheap ? honest - cheap : cheap - honest))
    printf '%-16s honest %d, cheap %d instructions a handshake; apart by %d.%03d %%\n' "$group" \
        $((honest / each / 2)) $((cheap / each / 2)) $((apart * 100 / honest)) $((apart * 100000 / honest % 1000))
    # Less than a signature and a key exchange can cost: then something else was counted.
    [ $((honest / each / 2)) -gt 100000 ] || fail "$group: too few instructions to be handshakes"
    [ $((apart * 1000)) -le $((honest * limit_permille)) ] || failed=1
done

# The instrument must see a difference where there is one.
[ "${sum[X25519MLKEM768/honest]}" -gt $((sum[X25519/honest] * (1000 + limit_permille) / 1000)) ] ||
    fail "X25519MLKEM768 and X25519 seem to cost the same: the counts are not those of handshakes"

kill -TERM "$server"
wait "$server" || fail "the server ended with $?"
server=
counted_there=$(sed -n '/"totals"/,/}/s/.*"handshakes": \([0-9]*\).*/\1/p' "$folder/server.json")
[ "$counted_there" = "$total" ] || fail "the server completed $counted_there handshakes of $total"
[ "$failed" -eq 0 ] || fail "honest and cheap shares differ by more than 0.$limit_permille %"
