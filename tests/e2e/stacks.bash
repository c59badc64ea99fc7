# Shared by the tests of plug-ins that recipes make.
# shellcheck shell=bash disable=SC2154 # bats sets its variables and output

setup_file() {
    export STACKS="$BATS_FILE_TMPDIR/stacks"
    mkdir -p "$STACKS"
    export TLSCOST_STACKS="$STACKS:$TLSCOST_STACKS"
    export XDG_STATE_HOME="$BATS_FILE_TMPDIR/state"
}

setup() {
    bats_require_minimum_version 1.5.0
    load interop
}

# Builds the recipe's plug-in once; sets plugin to its file and id to its name.
plugin_of() {
    local kept=$BATS_FILE_TMPDIR/built-$1
    [ -f "$kept" ] || "$root/scripts/recipe" build "$1" --into "$STACKS" \
        2>"$BATS_FILE_TMPDIR/recipe.log" >"$kept.part" || absent "$1"
    if [ -f "$kept.part" ]; then mv "$kept.part" "$kept"; fi
    plugin=$(tail -n 1 "$kept")
    id=$(basename "$plugin" .so)
}

# Two raw operations of the plug-in beside OpenSSL's (the second is $2), then each that it has once, at least $1 of them: the
# worker refuses a wrong result. Other checks may refuse so few samples.
runs_operations() {
    local result=$BATS_TEST_TMPDIR/speed.json
    "$TLSCOST" speed -q --samples 2 --operations 8 --stack "openssl,$id" -o "$result" x25519-derive "$2" \
        >"$BATS_TEST_TMPDIR/report" || [ $? -eq 3 ]
    jq -e '.checks[] | select(.name == "operation") | .applied > 0 and .failed == 0' "$result"
    jq -e '[.arms[].samples[] | select(.evidence.stack != "openssl")] | length > 0 and
        all(.handshakes == 8 and .evidence.provider == "")' "$result"
    mapfile -t operations < <("$TLSCOST" speed --list --stack "$id" | sed -n 's/^  //p')
    [ "${#operations[@]}" -ge "$1" ]
    "$TLSCOST" speed -q --samples 1 --operations 1 --stack "$id" -o "$result" "${operations[@]}" \
        >"$BATS_TEST_TMPDIR/report" || [ $? -eq 3 ]
    jq -e --argjson least "$1" '.checks[] | select(.name == "operation") | .applied >= $least and .failed == 0' "$result"
}

# What OpenSSL's plug-in has and this one has not is refused with a reason that names who has it; the rest of OpenSSL's list
# is there, and nothing else.
refuses_the_rest() {
    local one
    "$TLSCOST" speed --list --stack openssl | sed -n 's/^  //p' | sort >"$BATS_TEST_TMPDIR/all"
    "$TLSCOST" speed --list --stack "$id" | sed -n 's/^  //p' | sort >"$BATS_TEST_TMPDIR/own"
    [ -z "$(comm -13 "$BATS_TEST_TMPDIR/all" "$BATS_TEST_TMPDIR/own")" ]
    while read -r one; do
        run -2 "$TLSCOST" speed --stack "$id" "$one"
        [[ $output == *"has no operation '$one'"*"; OpenSSL"*" ha"* ]] || { echo "$output" && return 1; }
    done < <(comm -23 "$BATS_TEST_TMPDIR/all" "$BATS_TEST_TMPDIR/own")
    run -2 "$TLSCOST" speed --stack "$id" x25519-map
    [[ $output == *"has none that is called so; OpenSSL and tlscost list theirs"* ]]
    run -2 "$TLSCOST" speed --stack "$id" --provider legacy x25519-derive
    [[ $output == *"has none; OpenSSL has"* ]]
}

# All cases of the self-test, and at least as many as the library is known to have.
passes() {
    plugin_of "$1"
    run -0 "$TLSCOST" stacks verify "$id"
    [[ $output =~ ([0-9]+)\ of\ ([0-9]+)\ cases\ good ]]
    [ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
    [ "${BASH_REMATCH[1]}" -ge "$2" ]
    "$BATS_TEST_DIRNAME/plugin_symbols.sh" "$STACKS"
    python3 - "${plugin%.so}.json" <<'PYTHON'
import json, re, sys
manifest = json.load(open(sys.argv[1]))
assert manifest["archives"] and all(re.fullmatch("[0-9a-f]{64}", digest)
                                    for digest in manifest["archives"].values()), manifest
PYTHON
}

# Serves with the stack and has other libraries' clients shake hands with it.
is_understood() {
    plugin_of "$1"
    make_certificates
    local port certificate
    for certificate in ecdsa-p256 rsa-2048; do
        "$TLSCOST" serve --http --stack "$id" --listen 127.0.0.1:0 --certs "$CERTS" --cert "$certificate" \
            --workers 1 >"$BATS_TEST_TMPDIR/serve.log" 2>&1 &
        server=$!
        for _ in $(seq 200); do
            port=$(sed -n 's/^listening on 127.0.0.1:\([0-9]*\).*/\1/p' "$BATS_TEST_TMPDIR/serve.log")
            [ -z "$port" ] || break
            sleep 0.05
        done
        for version in 1.2 1.3; do
            curl -sS --tlsv$version --tls-max $version --cacert "$CERTS/ca.pem" "https://127.0.0.1:$port/" -o /dev/null
            openssl s_client -connect "127.0.0.1:$port" "-tls1_${version#1.}" -servername localhost \
                -CAfile "$CERTS/ca.pem" -verify_return_error </dev/null >"$BATS_TEST_TMPDIR/client.log" 2>&1
            grep -q "Verification: OK" "$BATS_TEST_TMPDIR/client.log"
        done
        "$TLSCOST" load --count 50 --groups X25519 --json "127.0.0.1:$port" |
            jq -e '.handshakes == 50 and (.errors | length) == 0 and .negotiated.group.X25519 == 50'
        "$TLSCOST" load --count 50 --groups X25519 --resume 1 --json "127.0.0.1:$port" | jq -e '.resumed == 50'
        "$TLSCOST" load --engine full --stack "$id" --ca "$CERTS/ca.pem" --count 20 --json "127.0.0.1:$port" |
            jq -e '.handshakes == 20 and (.tickets == 20 or .tickets == 40)' # the library's own number
        kill "$server"
        wait "$server" || true
    done
}

teardown() { if [ -n "${server:-}" ]; then kill "$server" 2>/dev/null || true; fi; }
