#!/usr/bin/env bash
# Runs every probe once in virtual and once, with small numbers, in real time, and looks at what came out.
#
# In virtual time everything must hold: exit 0. In real time a busy machine may make claims inconclusive (0, or 4
# with --strict); a broken claim (1), a wrong call (2) and what could not run (3) end the script with that code.
#
#   scripts/ci-smoke.sh [PROGRAM]     the program to try; target/release/loopprobe by default
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-${CARGO_TARGET_DIR:-target}/release/loopprobe}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

whole_json() {
    if command -v python3 >/dev/null; then
        python3 -m json.tool "$1" >/dev/null
    else
        echo "no python3: the JSON of $1 is not looked at"
    fi
}

echo "all --virtual"
"$program" all --virtual --quiet -o "$work/virtual.json"
whole_json "$work/virtual.json"

echo "all --quick"
code=0
"$program" all --quick --quiet -o "$work/real.json" || code=$?
whole_json "$work/real.json"
case $code in
    0 | 4) ;;
    1)
        # A second time, in full, so that the log names the claim: what is broken twice is broken.
        "$program" all --quick
        ;;
    *) exit "$code" ;;
esac
