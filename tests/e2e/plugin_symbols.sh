#!/bin/sh
# Every plug-in of the folder $1 defines exactly one dynamic symbol, tlc_stack: a second one could
# be bound across two versions of a library in one process.
set -eu
checked=0
for plugin in "$1"/*.so; do
    [ -f "$plugin" ] || continue
    symbols=$(nm -D --defined-only "$plugin" | awk '{ print $NF }')
    if [ "$symbols" != tlc_stack ]; then
        echo "$plugin: visible symbols: $symbols" >&2
        exit 1
    fi
    checked=$((checked + 1))
done
if [ "$checked" -eq 0 ]; then
    echo "$1: no plug-ins" >&2
    exit 1
fi
echo "$checked plug-ins: one visible symbol each"
