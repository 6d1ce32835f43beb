#!/usr/bin/env bash
# Everything that can be said about the sources without running them. Runs all checks and
# names those that failed, instead of stopping at the first.
#
# `tools/check.sh --files C++` and `--files shell` list what those checks read, and check nothing.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
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

c_sources() { git ls-files -z -- '*.c' '*.cc' '*.cpp' '*.h' '*.hpp'; }
shell_sources() { git ls-files -z -- '*.sh' .ci/run; }
# The targets of fuzzing are compiled by tools/fuzz_native.sh, with another compiler.
native_units() { git ls-files -z -- 'native/*.cpp' 'native/*.cc' ':!native/fuzz'; }

c_format() { c_sources | xargs -0 -r clang-format --dry-run -Werror; }
shell_lint() { shell_sources | xargs -0 -r shellcheck --external-sources --severity warning; }

types() { # and that no file was left out
    local told
    told=$(basedpyright --stats) || { printf '%s\n' "$told"; return 1; }
    local read tracked
    read=$(sed -n 's/^Total files checked: //p' <<<"$told")
    tracked=$(git ls-files -- '*.py' | wc -l)
    [ "$read" -ge "$tracked" ] || {
        echo "basedpyright read $read files of $tracked; see [tool.basedpyright] in pyproject.toml"
        return 1
    }
}

without_what_is_not_built() { # the agent for Java wants the headers of a JDK
    if grep -q native/jvm/ build/tidy/compile_commands.json; then cat; else grep -zv '^native/jvm/'; fi
}

native_tidy() { # needs to know how each file is compiled
    cmake -S native -B build/tidy -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >/dev/null
    python tools/lint_once.py build/tidy/compile_commands.json
    # clang-tidy comes by pip without a C++ library; it takes the one of the compiler in use.
    native_units | without_what_is_not_built | xargs -0 -r -n 1 -P "$(nproc)" clang-tidy --quiet -p build/tidy
}

if [ "${1:-}" = --files ]; then
    case "${2:-}" in
        C++) c_sources ;;
        shell) shell_sources ;;
        *) echo "check: --files takes C++ or shell, not '${2:-}'" >&2; exit 2 ;;
    esac | tr '\0' '\n'
    exit
fi

check "format" ruff format --check .
check "lint" ruff check .
check "types" types
check "layers" lint-imports --no-cache
check "C++ format" c_format
check "C++ lint" native_tidy
check "shell" shell_lint
check "docs" python tools/check_docs.py
check "schemas" python tools/check_schemas.py

if [ ${#failed[@]} -gt 0 ]; then
    echo "check: failed: ${failed[*]}"
    exit 1
fi
echo "check: all good"
