#!/usr/bin/env bash
# Builds the native parts so that they count what of them runs, runs the tests that stand beside
# them and the integration tests of what they do, and prints the lines and branches of each part.
# Tests that are given run in place of those: tools/coverage_native.sh tests/integration/test_trial.py
# What runs inside of programs that move is left out: it takes nothing of a compiler's own.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
. tools/system_packages.sh
llvm=/usr/lib/llvm-19/bin
[ -x $llvm/llvm-cov ] || install_packages llvm-19
work=build/coverage-native
made=$work/made
mkdir -p "$work" build/tmp
rm -rf "$work/counts"
# Counters that are a file's from the beginning count what ends by _exit(2) or a signal, too.
cmake -S native -B "$made" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=$llvm/clang++ \
    -DCMAKE_CXX_FLAGS="-O1 -fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation" \
    >"$work/cmake.log"
cmake --build "$made" --parallel "${TEST_JOBS:-2}" >"$work/build.log" 2>&1 ||
    { tail -n 30 "$work/build.log"; exit 1; }

# The package finds its native parts beside itself, so a copy of it gets these.
rm -rf "$work/src"
cp -r src "$work/src"
own=$work/src/steelyard/_native
objects=()
for program in steelyard-{launcher,sampler,event-recorder,symbolizer,delayer,bodies,relink,as} libsteelyard-jvm.so; do
    found=$(find "$made" -type f \( -name "$program" -o -path "*/bin/${program#steelyard-}" \))
    [ -n "$found" ] || continue # no JDK, or another processor
    place=$own/$program
    case $program in
        steelyard-relink) place=$own/layout/$program ;;
        steelyard-as) place=$own/layout/bin/as ;;
    esac
    cp "$found" "$place"
    objects+=(-object "$found")
done

status=0
export LLVM_PROFILE_FILE=$root/$work/counts/%c%p-%m.profraw
for program in "$made"/*/*-tests; do
    "$program" >"$work/$(basename "$program").log" ||
        { echo "coverage: $program failed; see $work/$(basename "$program").log"; status=1; }
    objects+=(-object "$program")
done
[ $# -gt 0 ] || set -- tests/integration/test_launcher_{records,conditions,faults}.py \
    tests/integration/test_trial.py tests/integration/test_profile{,_run_time_code,_lifetimes,_faults,_java}.py \
    tests/integration/test_{java_agent,profile_check,experiment_events,predict_commits_code,layout_audit}.py \
    tests/unit/profile/symbols
PYTHONPATH=$root/$work/src TMPDIR=$root/build/tmp .venv/bin/python -m pytest -q \
    --basetemp=build/tmp/coverage-native -n "${TEST_JOBS:-2}" "$@" || status=1
find "$work/counts" -name '*.profraw' -size +0 >"$work/counts.txt"
$llvm/llvm-profdata merge -sparse --failure-mode=all -f "$work/counts.txt" -o "$work/all.profdata"
$llvm/llvm-cov export "${objects[@]:1}" -instr-profile="$work/all.profdata" -summary-only \
    -ignore-filename-regex='/tests/|/testing/|/layout/runtime/|/fuzz/|^/usr/' >"$work/coverage.json"
.venv/bin/python tools/coverage_native_totals.py "$work/coverage.json"
exit $status
