#!/usr/bin/env bash
# Gets the tools whose files Steelyard reads and writes into build/consumers, for the tests that run
# them: pyperf, pytest-benchmark, ReBench and asv (pip), benchstat (Go), tinybench (npm). Debian has the
# others (tools/test_tools.sh). Prints the names of those that cannot be had; their tests are skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
root=$PWD
consumers=$root/build/consumers
. tools/own_caches.sh
mkdir -p "$consumers"

python_tools=(pyperf==2.10.0 pytest-benchmark==5.3.1 rebench==1.4.0 asv==0.6.6)
# The second is the last that Debian 12's Go 1.19 builds.
benchstat=golang.org/x/perf/cmd/benchstat
benchstat_versions=(v0.0.0-20260908200009-22c9c6c9d4da v0.0.0-20230113213139-801c7ef9e5c5)
tinybench=tinybench@6.2.3

get_python_tools() { # in an environment of their own, since they bring another pytest
    [ "$(cat "$consumers/python.stamp" 2>/dev/null)" = "${python_tools[*]}" ] && return
    rm -rf "$consumers/python"
    .venv/bin/python -I -m venv "$consumers/python" &&
        "$consumers/python/bin/python" -I -m pip install --quiet --disable-pip-version-check \
            --no-cache-dir "${python_tools[@]}" &&
        echo "${python_tools[*]}" >"$consumers/python.stamp"
}

get_benchstat() {
    local version
    [ ! -x "$consumers/bin/benchstat" ] || return 0
    for version in "${benchstat_versions[@]}"; do
        GOBIN=$consumers/bin go install "$benchstat@$version" && return
    done
    return 1
}

get_tinybench() {
    [ -d "$consumers/node_modules/tinybench" ] ||
        npm install --silent --no-fund --no-audit --prefix "$consumers" "$tinybench"
}

get() { # COMMAND NAME...
    local command=$1
    shift
    "$command" </dev/null >"$consumers/$command.log" 2>&1 || printf '%s\n' "$@"
}

get get_python_tools pyperf pytest-benchmark rebench asv
get get_benchstat benchstat
get get_tinybench tinybench
drop_caches
