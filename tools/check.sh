#!/usr/bin/env bash
# Everything that can be said about the sources without running them. Runs all checks and
# names those that failed, instead of stopping at the first.
set -uo pipefail
cd "$(dirname "$0")/.."
export PATH=$PWD/.venv/bin:$PATH
failed=()

check() { # NAME COMMAND...
    local name=$1 output status=0
    shift
    output=$("$@" 2>&1 </dev/null) || status=$?
    if [ $status -eq 0 ]; then
        echo "check: $name: ok"
    else
        printf '%s\n' "$output"
        echo "check: $name: FAILED ($*)"
        failed+=("$name")
    fi
}

native_sources() { git ls-files -z -- 'native/*.cpp' 'native/*.hpp' 'native/*.h' 'native/*.cc'; }
# The targets of fuzzing are compiled by tools/fuzz_native.sh, with another compiler.
native_units() { git ls-files -z -- 'native/*.cpp' 'native/*.cc' ':!native/fuzz'; }

native_format() { native_sources | xargs -0 -r clang-format --dry-run -Werror; }

without_what_is_not_built() { # the agent for Java wants the headers of a JDK
    if grep -q native/jvm/ build/tidy/compile_commands.json; then cat; else grep -zv '^native/jvm/'; fi
}

native_tidy() { # needs to know how each file is compiled
    cmake -S native -B build/tidy -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
    # clang-tidy comes by pip without a C++ library; it takes the one of the compiler in use.
    native_units | without_what_is_not_built | xargs -0 -r -n 1 -P "$(nproc)" clang-tidy --quiet -p build/tidy
}

check "format" ruff format --check .
check "lint" ruff check .
check "types" basedpyright
check "layers" lint-imports --no-cache
check "C++ format" native_format
check "C++ lint" native_tidy
check "shell" bash -n tools/*.sh .ci/run
check "docs" python tools/check_docs.py
check "schemas" python tools/check_schemas.py

if [ ${#failed[@]} -gt 0 ]; then
    echo "check: failed: ${failed[*]}"
    exit 1
fi
echo "check: all good"
