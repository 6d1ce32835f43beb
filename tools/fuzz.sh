#!/usr/bin/env bash
# Fuzz every reader in Python with coverage feedback: SECONDS for each, one after the other.
#
#     tools/fuzz.sh [SECONDS [READER...]]
#     INPUTS=300000 tools/fuzz.sh               # that many inputs for each, however long they take
#     INPUTS=300000 tools/fuzz.sh 180 journal   # or as many as three minutes take
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
# Not among what developing takes: only fuzzing needs it.
"$python" -c 'import atheris' 2>/dev/null ||
    "$python" -m pip install -q --no-deps --require-hashes -r requirements/fuzz.txt
limit=()
[ -z "${INPUTS:-}" ] || limit=(--inputs "$INPUTS")
[ -z "${1:-}" ] || limit+=(--seconds "$1")
[ $# -gt 0 ] && shift
readers=("$@")
[ ${#readers[@]} -gt 0 ] || mapfile -t readers < <("$python" -W ignore -m tests.fuzz --list)
mkdir -p build/fuzz
failed=()
total=0
for reader in "${readers[@]}"; do
    log=build/fuzz/$reader.log
    if "$python" -W ignore -m tests.fuzz "$reader" "${limit[@]}" >"$log" 2>&1; then
        units=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        total=$((total + ${units:-0}))
        echo "fuzz: $reader: ${units:-0} inputs, nothing found"
    else
        tail -n 25 "$log"
        echo "fuzz: $reader: FAILED, see $log and the input beside it"
        failed+=("$reader")
    fi
done
echo "fuzz: $total inputs, ${#failed[@]} of ${#readers[@]} readers failed"
[ ${#failed[@]} -eq 0 ]
