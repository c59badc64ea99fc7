#!/usr/bin/env bash
# Checks that every #include "room/..." points to the room itself or to one declared below it
# (DEPENDS of tlc_room, followed transitively), that declared arrows point down, and that no room
# includes a private header of another (a room's public headers are those another room may name).
set -euo pipefail
root=${1:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$root/src"

# From the bottom up; an arrow may only point to an earlier name. Rooms in one line of the design
# (stats, measure, result; tls13, stacks, certs; ...) are ordered by who may use whom.
order=(base stats measure result certs tls13 stacks server generator primitives providers plan attribute
    evidence relay workload connect campaign report cli)
declare -A rank depends
for i in "${!order[@]}"; do rank[${order[$i]}]=$i; done

failures=0
complain() {
    echo "rooms: $*" >&2
    failures=$((failures + 1))
}

for room in */; do
    room=${room%/}
    [ -f "$room/CMakeLists.txt" ] || continue
    [ -n "${rank[$room]:-}" ] || complain "$room: not in the list of rooms"
    depends[$room]=$(tr '\n' ' ' <"$room/CMakeLists.txt" |
        sed -nE 's/.*DEPENDS ([a-z0-9 ]+).*/\1/p')
    for below in ${depends[$room]}; do
        [ "${rank[$below]:-99}" -lt "${rank[$room]:-0}" ] || complain "$room -> $below: the arrow points up"
    done
done
# The program links everything below it.
depends[cli]="campaign connect report"

closure() { # all rooms reachable from $1
    local seen=" $1 " todo=("$1")
    while [ ${#todo[@]} -gt 0 ]; do
        local next=()
        for room in "${todo[@]}"; do
            for below in ${depends[$room]:-}; do
                case "$seen" in *" $below "*) ;; *) seen+="$below "; next+=("$below") ;; esac
            done
        done
        todo=("${next[@]+"${next[@]}"}")
    done
    echo "$seen"
}

private=$(grep -lE 'private to the room' */*.h || true)
for room in "${!depends[@]}"; do
    allowed=$(closure "$room")
    while IFS=: read -r file header; do
        target=${header%%/*}
        case "$allowed" in *" $target "*) ;; *) complain "src/$file includes $header: $room does not declare $target" ;; esac
        if [ "$target" != "$room" ] && grep -qxF "$header" <<<"$private"; then
            complain "src/$file includes $header: private to $target"
        fi
        [ -f "$header" ] || complain "src/$file includes $header: no such header"
    done < <(grep -HoE '^#include "[a-z0-9]+/[^"]+"' "$room"/*.[ch] 2>/dev/null |
        sed -E 's/#include "([^"]+)"/\1/' | grep -v ':tlscost/')
done

if [ "$failures" -gt 0 ]; then
    echo "rooms: $failures arrows are wrong" >&2
    exit 1
fi
echo "rooms: every include points down"
