#!/usr/bin/env bash
# Runs the tests (or those given: tools/coverage.sh tests/unit/design) and tells how much of the
# package they run, in processes that they start too. Fails below the least that is wanted, and
# where a test fails or is skipped without need. Ends with pytest's closing line.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export TMPDIR=$root/build/tmp COVERAGE_FILE=$root/build/coverage/data
rm -rf build/coverage
mkdir -p build/tmp build/coverage
status=0
[ $# -gt 0 ] || set -- -n "${TEST_JOBS:-2}" --dist worksteal --ignore=tests/slow \
    -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true
STEELYARD_NEEDLESS_SKIPS=refused .venv/bin/python -m coverage run --source="$root/src/steelyard" \
    -m pytest --basetemp=build/tmp/coverage "$@" | tee build/coverage/tests.log || status=$?
# What was killed while it wrote has no whole file; combining names it and goes on.
.venv/bin/python -m coverage combine --quiet
.venv/bin/python -m coverage json --quiet -o build/coverage/coverage.json
.venv/bin/python tools/coverage_totals.py build/coverage/coverage.json || status=1
tail -n 1 build/coverage/tests.log
exit $status
