#!/bin/sh
# Runs the program as it is, or the changed one while the keys of its call paths are recorded.
set -e
here=$(dirname "$0")
case $1 in
    plain) exec "$here/calculator" ;;
    keys)
        profile=$(mktemp)
        trap 'rm -f "$profile"' EXIT
        steelyard profile record --paths "$here/changed.paths" -o "$profile" -- "$here/changed"
        ;;
    *) echo "run.sh: plain or keys, not '$1'" >&2; exit 2 ;;
esac
