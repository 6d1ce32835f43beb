#!/usr/bin/env bash
# Fetches what opens exported profiles, for the tests of that, into build/viewers: pprof (by Go),
# speedscope (by npm), inferno (by Cargo). The Firefox Profiler comes by no package: where
# STEELYARD_FIREFOX_PROFILER names a clone of github.com/firefox-devtools/profiler, its loader is
# bundled too. What cannot be had is named, and its tests are skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
root=$PWD
viewers=$root/build/viewers
. tools/own_caches.sh
mkdir -p "$viewers"
missing=()

have() { command -v "$1" >/dev/null; }

if [ ! -x "$viewers/bin/pprof" ]; then
    have go && GOBIN=$viewers/bin go install github.com/google/pprof@v0.0.0-20261016150608-1facf8f91b50 ||
        missing+=("pprof (apt-get install golang)")
fi
if [ ! -d "$viewers/node_modules/speedscope" ]; then
    have npm && npm install --silent --no-fund --no-audit --prefix "$viewers" \
        speedscope@1.25.0 jsdom@24.1.3 || missing+=("speedscope (apt-get install npm)")
fi
if [ ! -x "$viewers/bin/inferno-flamegraph" ]; then
    have cargo && cargo install --quiet --locked --root "$viewers" --no-default-features \
        --features cli inferno || missing+=("inferno (apt-get install cargo)")
fi

bundle_firefox() { # its loader alone; what opens containers of its own format is left out
    local clone=$STEELYARD_FIREFOX_PROFILER
    npm install --silent --no-fund --no-audit --prefix "$viewers" esbuild @streamparser/json long \
        common-tags memoize-immutable mixedtuplemap namedtuplemap protobufjs devtools-reps || return 1
    echo 'module.exports = {};' >"$viewers/nothing.js"
    echo "export { unserializeProfileOfArbitraryFormat } from '$clone/src/profile-logic/process-profile';" \
        >"$viewers/firefox-entry.ts"
    NODE_PATH=$viewers/node_modules "$viewers/node_modules/.bin/esbuild" "$viewers/firefox-entry.ts" \
        --bundle --platform=node --format=cjs --outfile="$viewers/firefox.cjs" --log-level=error \
        --alias:firefox-profiler="$clone/src" --alias:json-slabs="$viewers/nothing.js"
}

if [ ! -e "$viewers/firefox.cjs" ]; then
    [ -n "${STEELYARD_FIREFOX_PROFILER:-}" ] && bundle_firefox ||
        missing+=("the Firefox Profiler (STEELYARD_FIREFOX_PROFILER=CLONE make profile-viewers)")
fi
for each in "${missing[@]}"; do
    echo "profile-viewers: without $each"
done
drop_caches
