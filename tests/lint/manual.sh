#!/usr/bin/env bash
# Compares the manual page with the program, both ways: the table of commands, the options of each
# command with their arguments and defaults, environment variables and exit codes. Checks the page
# with mandoc or groff where there is one, and that no --help breaks a line of its examples.
set -euo pipefail
export LC_ALL=C.UTF-8
unset ARGP_HELP_FMT
root=${1:?manual: usage: manual.sh ROOT PROGRAM}
program=${2:?manual: usage: manual.sh ROOT PROGRAM}
page=$root/docs/tlscost.1
failures=0

complain() {
    echo "manual: $*" >&2
    failures=$((failures + 1))
}

# compare WHAT PROGRAM-LIST PAGE-LIST: sorted lists, one entry a line.
compare() {
    local what=$1 program_list=$2 page_list=$3 entry
    [ -n "$program_list" ] || complain "$what: the program tells none; the comparison is broken"
    while IFS= read -r entry; do
        [ -z "$entry" ] || complain "$what: '$entry' is in the program but not in docs/tlscost.1"
    done < <(comm -23 <(printf '%s\n' "$program_list") <(printf '%s\n' "$page_list"))
    while IFS= read -r entry; do
        [ -z "$entry" ] || complain "$what: '$entry' is in docs/tlscost.1 but not in the program"
    done < <(comm -13 <(printf '%s\n' "$program_list") <(printf '%s\n' "$page_list"))
}

# The lines of a section (.Sh NAME), or of a command within COMMANDS (.Ss NAME).
section() { sed -n "/^\.Sh $1\$/,/^\.Sh /p" "$page"; }
command_section() { section COMMANDS | sed -n "/^\.Ss $1\$/,/^\.S[hs] /p"; }

# "-o --output=FILE", one option a line, sorted; the same form from the page and from argp's help.
options_of_page() {
    sed -nE 's/^\.It Fl (.*)$/\1/p' | sed -E 's/^([^- ]) , Fl /-\1 /; s/(^| )-([a-z])/\1--\2/g
        s/^--([a-z]) /-\1 /; s/ Ns = Ns Ar /=/' | sort
}
options_of_help() {
    sed -nE 's/^ {2}(-([^ -]),|   ) (--[^ ]+).*$/-\2 \3/p' | sed -E 's/^- //' |
        grep -vE -- '--(help|usage)$' | sort || true
}

# "--option 32": the defaults that are numbers, from entries that may be broken over lines.
defaults_in() { # PATTERN-OF-AN-ENTRY'S-FIRST-LINE
    awk -v first="$1" '
        function tell() {
            if (match(text, /default( is|:)? [0-9][A-Za-z0-9.:]*/)) {
                value = substr(text, RSTART, RLENGTH)
                sub(/^default( is|:)? /, "", value)
                sub(/[.:]$/, "", value)
                print name, value
            }
        }
        $0 ~ first {
            tell()
            name = text = ""
            if (match($0, /-?-[a-z][a-z0-9-]+/)) name = substr($0, RSTART, RLENGTH)
            sub(/^--?/, "--", name)
        }
        { gsub(/^ +/, ""); text = text " " $0 }
        END { tell() }' | sort
}

check_help() { # COMMAND HELP
    local wide broken
    wide=$(grep -E '^.{80,}$' <<<"$2" || true)
    [ -z "$wide" ] || complain "$1 --help: wider than 79 columns: $wide"
    broken=$(sed -n '/^Examples:$/,/^$/p' <<<"$2" | sed '1d;/^$/d' | grep -v '^  ' || true)
    [ -z "$broken" ] || complain "$1 --help: an example was broken at: $broken"
    grep -q '^Examples:$' <<<"$2" || complain "$1 --help: no examples"
}

commands=$("$program" --help | sed -n '/^Commands:$/,/^$/p' | sed -nE 's/^  ([a-z0-9-]+) .*/\1/p')
compare commands "$(sort <<<"$commands")" "$(section COMMANDS | sed -n 's/^\.Ss //p' | sort)"
check_help tlscost "$("$program" --help)"

for command in $commands; do
    help=$("$program" "$command" --help)
    check_help "$command" "$help"
    compare "options of $command" "$(options_of_help <<<"$help")" \
        "$(command_section "$command" | options_of_page)"
    told=$(defaults_in '^  (-[^ ],|   ) --' <<<"$help")
    written=$(command_section "$command" | defaults_in '^[.]It Fl ')
    [ -z "$told$written" ] || compare "defaults of $command" "$told" "$written"
done

variables=$(grep -rhoE '(getenv|is_set)\([^;]*;' "$root"/src --include='*.c' |
    grep -oE '"[A-Z_]+"' | tr -d '"' | sort -u)
compare 'environment variables' "$variables" \
    "$(section ENVIRONMENT | sed -n 's/^\.It Ev //p' | sort)"

codes=$(sed -nE '/^enum tlc_status/,/^}/s/^ *TLC_[A-Z]+ = ([0-9]+),?.*/\1/p' \
    "$root/src/base/error.h" | sort)
compare 'exit codes' "$codes" "$(section 'EXIT STATUS' | sed -n 's/^\.It //p' | sort)"

# What the tools say of the page itself.
if command -v mandoc >/dev/null; then
    said=$(mandoc -T lint -W warning "$page" 2>&1) || true
elif command -v groff >/dev/null; then
    said=$(groff -mdoc -ww -Tutf8 -z "$page" 2>&1) || true
else
    said=
    echo "manual: neither mandoc nor groff is here; the page's own form was not checked"
fi
[ -z "$said" ] || complain "docs/tlscost.1: $said"

if [ "$failures" -gt 0 ]; then
    echo "manual: $failures differences" >&2
    exit 1
fi
echo "manual: the page and the program agree"
