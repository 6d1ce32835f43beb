#!/usr/bin/env bash
# Fuzz every reader in Python with coverage feedback: SECONDS for each, one after the other.
#
#     tools/fuzz.sh [SECONDS [READER...]]
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
# Not among what developing takes: only fuzzing needs it.
"$python" -c 'import atheris' 2>/dev/null ||
    "$python" -m pip install -q --no-deps --require-hashes -r requirements/fuzz.txt
seconds=${1:-60}
[ $# -gt 0 ] && shift
readers=("$@")
[ ${#readers[@]} -gt 0 ] || mapfile -t readers < <("$python" -W ignore -m tests.fuzz --list)
mkdir -p build/fuzz
failed=()
for reader in "${readers[@]}"; do
    log=build/fuzz/$reader.log
    if "$python" -W ignore -m tests.fuzz "$reader" --seconds "$seconds" >"$log" 2>&1; then
        units=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        echo "fuzz: $reader: ${units:-0} inputs, nothing found"
    else
        tail -n 25 "$log"
        echo "fuzz: $reader: FAILED, see $log and the input beside it"
        failed+=("$reader")
    fi
done
[ ${#failed[@]} -eq 0 ]
