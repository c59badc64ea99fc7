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

@test "a peer is not built into a stack, and its further packages are plain names" {
    run -2 "$recipe" build nginx-1.26
    [[ $output == *"nginx is a peer, not a stack"* ]]
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
