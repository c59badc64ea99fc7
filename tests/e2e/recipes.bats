#!/usr/bin/env bats
# scripts/recipe: what needs no network, and what it says without one.

setup() {
    bats_require_minimum_version 1.5.0
    root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    recipe=$root/scripts/recipe
    default=$root/recipes/openssl-3.5.recipe
}

# The default prefix, when the build took it from the cache.
cached_prefix() {
    prefix=$(sed -n 's/^TLC_OPENSSL_PREFIX:PATH=//p' "$(dirname "$TLSCOST")/CMakeCache.txt")
    if [ -z "$prefix" ] || [ ! -f "$prefix/manifest.json" ]; then
        skip "the build uses the system's OpenSSL"
    fi
}

@test "list names every recipe" {
    run -0 "$recipe" list
    for file in "$root"/recipes/*.recipe; do
        [[ $output == *"$(basename "$file" .recipe)"* ]]
    done
}

@test "every recipe file has the name it is called by" {
    for file in "$root"/recipes/*.recipe; do
        grep -qx "name: $(basename "$file" .recipe)" "$file"
    done
}

@test "wrong usage and unknown names are refused" {
    run -1 "$recipe"
    run -1 "$recipe" get
    run -1 "$recipe" frobnicate
    run -1 "$recipe" get openssl-3.5 --refres
    [[ $output == *"'--refres': not an option"* ]]
    run -1 "$recipe" build openssl-3.5 --into
    run -1 "$recipe" get nonesuch
    [[ $output == *"no such recipe; there are:"* ]]
}

@test "a recipe with a wrong field is refused by the field's name" {
    bad=$BATS_TEST_TMPDIR/bad.recipe
    sed 's/^route:.*/route: ftp/' "$default" >"$bad"
    run -2 "$recipe" get "$bad"
    [[ $output == *"route: ftp"* ]]
    # Words of a recipe end up in file names and in the private apt configuration.
    sed 's/^suite:.*/suite: trixie"; evil/' "$default" >"$bad"
    run -2 "$recipe" get "$bad"
    [[ $output == *"suite: missing or not a plain word"* ]]
    sed '/^package:/d' "$default" >"$bad"
    run -2 "$recipe" get "$bad"
    [[ $output == *"package: missing"* ]]
    sed 's/^needs:.*/needs: no-such-package-anywhere/' "$default" >"$bad"
    XDG_CACHE_HOME=$BATS_TEST_TMPDIR run -2 "$recipe" get "$bad"
    [[ $output == *"apt-get install no-such-package-anywhere"* ]]
}

@test "a line of a recipe that is no key of one is refused" {
    bad=$BATS_TEST_TMPDIR/bad.recipe
    local -A says=(['cflag: -O1']="unknown key 'cflag'" ['name: again']='name: stands twice'
        ['no key at all']="not a line of the form 'key: value'" [$'needs: x\r']='carriage return')
    for line in "${!says[@]}"; do
        { cat "$default" && printf '%s\n' "$line"; } >"$bad"
        run -1 "$recipe" get "$bad"
        [[ $output == *"${says[$line]}"* ]] || { echo "$line: $output" && false; }
    done
    printf 'name: x\nfrom: x\n' >"$BATS_TEST_TMPDIR/x.recipe"
    run -1 "$recipe" get "$BATS_TEST_TMPDIR/x.recipe"
    [[ $output == *"from: x: is this recipe itself"* ]]
    run -1 "$recipe" get ''
    [[ $output == *"a recipe's name is needed"* ]]
}

@test "a recipe from another one says what differs, and nothing of it is left open" {
    printf 'name: x\nfrom: openssl-3.5-source\nvariant: x\nneeds: + no-such-package-anywhere\n' >"$BATS_TEST_TMPDIR/x.recipe"
    XDG_CACHE_HOME=$BATS_TEST_TMPDIR run -2 "$recipe" get "$BATS_TEST_TMPDIR/x.recipe"
    [[ $output == *"apt-get install"*"no-such-package-anywhere"* ]]
    printf 'name: x\nfrom: nonesuch\nvariant: x\n' >"$BATS_TEST_TMPDIR/x.recipe"
    run -2 "$recipe" get "$BATS_TEST_TMPDIR/x.recipe"
    [[ $output == *"from: nonesuch: no such recipe"* ]]
    printf 'name: x\nfrom: openssl-3.5-o2\n' >"$BATS_TEST_TMPDIR/x.recipe"
    run -2 "$recipe" get "$BATS_TEST_TMPDIR/x.recipe"
    [[ $output == *"itself from another recipe"* ]]
    printf 'name: x\nfrom: openssl-3.5-source\ncompiler: cc; evil\n' >"$BATS_TEST_TMPDIR/x.recipe"
    run -2 "$recipe" get "$BATS_TEST_TMPDIR/x.recipe"
    [[ $output == *"compiler: not a plain word"* ]]
}

@test "equal flags are equal recipes but for their names" {
    diff <(grep -v '^#\|^name\|^variant' "$root/recipes/openssl-3.5-o2.recipe") \
        <(grep -v '^#\|^name\|^variant' "$root/recipes/openssl-3.5-o2-again.recipe")
}

@test "an installation has every file that plug-ins are made of" {
    local library installed one
    cmake --install "$(dirname "$TLSCOST")" --prefix "$BATS_TEST_TMPDIR/installed" >"$BATS_TEST_TMPDIR/install.log"
    installed=$(dirname "$(find "$BATS_TEST_TMPDIR/installed" -name plugin.map)")/../..
    eval "$(sed -n '/^plugin_sources()/,/^}/p' "$recipe")"
    for library in openssl wolfssl mbedtls gnutls awslc; do
        mapfile -t sources < <(plugin_sources)
        [ "${#sources[@]}" -gt 5 ]
        for one in "${sources[@]}"; do [ -f "$installed/${one#"$root"/}" ] || { echo "$library: $one" && false; }; done
    done
}

@test "a peer is not built into a stack, and its further packages are plain names" {
    run -1 "$recipe" build nginx-1.26
    [[ $output == *"nginx is a peer, not a stack"*"scripts/recipe get nginx-1.26"* ]]
    sed 's/^with:.*/with: libc6 $(true)/' "$root/recipes/nginx-1.26.recipe" >"$BATS_TEST_TMPDIR/bad.recipe"
    run -2 "$recipe" get "$BATS_TEST_TMPDIR/bad.recipe"
    [[ $output == *"with: not a list of package names"* ]]
}

@test "without network and cache the error says what to install" {
    if apt-config dump 2>/dev/null | grep -qi '^acquire::http.*proxy'; then
        skip "apt has a proxy of its own"
    fi
    sed '/^needs:/d' "$default" >"$BATS_TEST_TMPDIR/default.recipe"
    # A proxy that is not there stands for a network that is not there.
    http_proxy=http://127.0.0.1:1 https_proxy=http://127.0.0.1:1 \
        XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache run -2 "$recipe" get "$BATS_TEST_TMPDIR/default.recipe"
    [[ $output == *"install OpenSSL 3.5 or later with its development files"* ]]
    # Nothing half-made stays behind.
    run -0 find "$BATS_TEST_TMPDIR/cache/tlscost" -name 'work.*' -o -name manifest.json
    [ -z "$output" ]
}

# Commands of the package mirror and of building that stand in for the real ones: a source of one file, and
# a build of package 'slow' that waits until a line comes through the pipe 'go'.
make_stand_ins() {
    fake=$BATS_TEST_TMPDIR/fake
    mkdir -p "$fake/source-1.0"
    mkfifo "$fake/go"
    echo made >"$fake/source-1.0/file"
    tar -czf "$fake/source.tar.gz" -C "$fake" source-1.0
    cat >"$fake/apt-get" <<'SH'
#!/bin/sh
for package; do :; done
case $* in *" source "*) cp "$FAKE/source.tar.gz" "${package%=*}_1.0.orig.tar.gz" && echo "$package" >>"$FAKE/fetched" ;; esac
SH
    cat >"$fake/apt-cache" <<'SH'
#!/bin/sh
case $2 in missing) exit 100 ;; esac
printf 'Package: %s\nVersion: 1.0-1\nChecksums-Sha256:\n %s 1 %s_1.0.orig.tar.gz\nEnd: \n' "$2" \
    "$(sha256sum "$FAKE/source.tar.gz" | cut -d ' ' -f 1)" "$2"
SH
    cat >"$fake/cmake" <<'SH'
#!/bin/sh
case $1 in
-S) if [ -e ../broken_1.0.orig.tar.gz ]; then echo "no such compiler" && exit 1; fi
    for word; do case $word in -DCMAKE_INSTALL_PREFIX=*) echo "${word#*=}" >to ;; esac; done ;;
--build) if [ -e ../slow_1.0.orig.tar.gz ]; then touch "$FAKE/building" && read -r line <"$FAKE/go"; fi ;;
--install) mkdir -p "$(cat to)/include/openssl" && touch "$(cat to)/include/openssl/base.h" ;;
esac
SH
    chmod +x "$fake"/{apt-get,apt-cache,cmake}
    export FAKE=$fake PATH=$fake:$PATH XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
    local one
    for one in slow quick other broken missing; do
        printf 'name: %s\nlibrary: awslc\nroute: source\nsuite: sid\npackage: %s\nfiles: tarball\n' $one $one >"$fake/$one.recipe"
    done
}

@test "while one recipe is built others are made, and whoever wants the same one waits and makes it once" {
    make_stand_ins
    run "$recipe" get "$fake/quick.recipe"
    if [[ $output == *"in /etc/apt"* || $output == *keyring* || $output == *"dpkg-query: not found"* ]]; then
        skip "not a Debian system"
    fi
    echo "$output"
    [ "$status" -eq 0 ]
    "$recipe" get "$fake/slow.recipe" 3>&- >"$fake/first" 2>"$fake/first.log" &
    first=$!
    until [ -e "$fake/building" ]; do
        if ! kill -0 "$first"; then cat "$fake/first.log" && false; fi
        sleep 0.05
    done
    "$recipe" get "$fake/slow.recipe" 3>&- >"$fake/second" 2>"$fake/second.log" &
    second=$!
    run -0 timeout 300 "$recipe" get "$fake/other.recipe"
    run -0 kill -0 "$first" "$second"
    exec 7<>"$fake/go"
    echo go >&7
    wait "$first"
    wait "$second"
    exec 7>&-
    diff "$fake/first" "$fake/second"
    [ -f "$(cat "$fake/second")/manifest.json" ]
    [ "$(grep -c slow "$fake/fetched")" -eq 1 ]
}

@test "what a recipe began and could not end leaves no folder behind, and is told" {
    make_stand_ins
    run "$recipe" build "$fake/broken.recipe"
    if [[ $output == *"in /etc/apt"* || $output == *keyring* || $output == *"dpkg-query: not found"* ]]; then
        skip "not a Debian system"
    fi
    [ "$status" -eq 2 ]
    [[ $output == *"no such compiler"*"broken: the build failed"* ]]
    run -2 "$recipe" build "$fake/missing.recipe"
    [[ $output == *"missing: missing: not in sid"* ]]
    run -0 find "$XDG_CACHE_HOME/tlscost" -maxdepth 1 -name 'work.*'
    [ -z "$output" ]
}

@test "the cached prefix holds what its manifest says" {
    cached_prefix
    python3 - "$prefix" <<'PYTHON'
import glob, hashlib, json, re, sys
prefix = sys.argv[1]
manifest = json.load(open(prefix + "/manifest.json"))
assert re.fullmatch("[0-9a-f]{64}", manifest["sha256"]), manifest
assert manifest["origin"]["suite"] and manifest["flags"] and manifest["compiler"], manifest
assert manifest["seconds"]["clean"] > manifest["seconds"]["cached"] > 0, manifest
for name in "libcrypto", "libssl":
    (archive,) = glob.glob(f"{prefix}/**/{name}.a", recursive=True)
    digest = hashlib.sha256(open(archive, "rb").read()).hexdigest()
    assert digest == manifest[name + "_sha256"], archive
PYTHON
}

@test "a plug-in built from the cached prefix has one symbol and passes its self-test" {
    cached_prefix
    grep -q "/openssl-3.5-" <<<"$prefix" || skip "the build uses another prefix"
    cache=$(dirname "$(dirname "$(dirname "$prefix")")")
    XDG_CACHE_HOME=$cache run -0 --separate-stderr "$recipe" build "$default" --into "$BATS_TEST_TMPDIR"
    plugin=$output
    [ -f "$plugin" ] && [ -f "${plugin%.so}.json" ]
    "$BATS_TEST_DIRNAME/plugin_symbols.sh" "$BATS_TEST_TMPDIR"
    run -0 "$TLSCOST" stacks verify "$plugin"
}
