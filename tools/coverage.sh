#!/usr/bin/env bash
# Runs the tests (or those given: tools/coverage.sh tests/unit/design) and tells how much of the
# package they run, in processes that they start too. Fails below the least that is wanted.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export TMPDIR=$root/build/tmp COVERAGE_FILE=$root/build/coverage/data
rm -rf build/coverage
mkdir -p build/tmp build/coverage
status=0
[ $# -gt 0 ] || set -- -n "${TEST_JOBS:-2}" --ignore=tests/slow
.venv/bin/python -m coverage run -m pytest --basetemp=build/tmp/coverage "$@" || status=$?
.venv/bin/python -m coverage combine --quiet
.venv/bin/python -m coverage json --quiet -o build/coverage/coverage.json
.venv/bin/python tools/coverage_totals.py build/coverage/coverage.json || status=1
exit $status
