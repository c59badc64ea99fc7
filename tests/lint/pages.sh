#!/usr/bin/env bash
# Checks the pages against each other and the checks' remedies against the program: README.md names
# every page of docs/, relative links lead to files, docs/checks.md has each check's remedy.
set -euo pipefail
export LC_ALL=C.UTF-8
root=${1:?pages: usage: pages.sh ROOT}
cd "$root"
failures=0

complain() {
    echo "pages: $*" >&2
    failures=$((failures + 1))
}

for page in docs/*; do
    grep -qF "$page" README.md || complain "README.md: does not name $page"
done

links=0
for page in README.md docs/*.md; do
    while IFS= read -r link; do
        links=$((links + 1))
        [ -e "$(dirname "$page")/$link" ] || complain "$page: link to $link: no such file"
    done < <(grep -oE '\]\([^)#]+' "$page" | sed 's/^](//' | grep -vE '^[a-z]+:' || true)
done
[ "$links" -gt 0 ] || complain "no links found; the search is broken"

# In the source a string may go on in the next line: "..." "...".
# shellcheck disable=SC2016 # the backquotes are Markdown's
remedies=$(tr '\n' ' ' <src/evidence/checks.c | sed -E 's/" +"//g' |
    grep -oE '\[TLC_CHECK_[A-Z_]+\] = *\{ *"[^"]+", *"[^"]+"' | sed -E 's/^[^"]*"([^"]+)", *"([^"]+)"/| `\1` | \2 |/')
[ -n "$remedies" ] || complain "no remedies found in src/evidence/checks.c; the search is broken"
while IFS= read -r row; do
    grep -qxF "$row" docs/checks.md || complain "docs/checks.md: lacks the line: $row"
done <<<"$remedies"

if [ "$failures" -gt 0 ]; then
    echo "pages: $failures mistakes" >&2
    exit 1
fi
echo "pages: $links links, $(wc -l <<<"$remedies") remedies agree"
