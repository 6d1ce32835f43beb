#!/usr/bin/env bash
# Makes this checkout ready: system packages, .venv from the lock files, the native parts, and
# .venv/bin/steelyard. `--wheel` adds what building the wheel takes, `--dev` what the tests and
# checks need. Runs again in no time when
# nothing changed, takes up where it was interrupted, and needs no network after the first time.
# Puts nothing outside the checkout but the system packages that it names.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
. tools/system_packages.sh

venv=$root/.venv
stamps=$venv/stamps
. tools/test_tools.sh
unset PYTHONHOME PYTHONPATH
# These would lead pip's installation somewhere else than into .venv; all other settings hold.
unset PIP_USER PIP_TARGET PIP_PREFIX PIP_ROOT PIP_REQUIRE_VIRTUALENV

say() { echo "setup: $*"; }

good_python() { # at least 3.11, and able to make a virtual environment with pip in it
    [ -x "$(command -v "$1")" ] && "$1" -I -c '
import sys, ensurepip, venv
sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    local candidate
    for candidate in ${STEELYARD_PYTHON:-/usr/bin/python3 python3 python3.13 python3.12 python3.11}; do
        if good_python "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

ensure_system() {
    local missing=()
    command -v g++ >/dev/null || missing+=(g++)
    command -v cmake >/dev/null || missing+=(cmake)
    command -v make >/dev/null || missing+=(make)
    # Debian's own Python starts fastest; another one will do where nothing can be installed.
    if ! good_python "${STEELYARD_PYTHON:-/usr/bin/python3}"; then
        if can_install || ! find_python >/dev/null; then
            missing+=(python3 python3-venv)
        fi
    fi
    [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
    find_python >/dev/null || {
        echo "setup: python3 3.11 or newer with venv is needed, and none was found." \
            "Name one by STEELYARD_PYTHON=/path/to/python3." >&2
        exit 4
    }
}

# What programs that move are built with, and what their tests build besides: sanitizers, OpenMP.
ensure_layout() {
    local missing=() llvm=/usr/lib/llvm-19
    [ -x $llvm/bin/clang ] || missing+=(clang-19)
    [ -x $llvm/bin/ld.lld ] || missing+=(lld-19)
    compgen -G "$llvm/lib/clang/19/lib/linux/libclang_rt.ubsan*" >/dev/null ||
        missing+=(libclang-rt-19-dev)
    [ -e $llvm/lib/libomp.so ] || missing+=(libomp-19-dev)
    [ ${#missing[@]} -eq 0 ] && return
    (install_packages "${missing[@]}") ||
        say "without ${missing[*]} tests of moving programs are skipped"
}

stamped() { [ "$(cat "$stamps/$1" 2>/dev/null)" = "$2" ]; }
stamp() { mkdir -p "$stamps" && echo "$2" >"$stamps/$1"; }

ensure_venv() { # made anew where it was moved, half made, or its Python is gone
    if stamped venv "$root" && [ ! -e "$venv/incomplete" ] && "$venv/bin/python" -I -c '' 2>/dev/null
    then
        return
    fi
    ensure_system
    local python
    python=$(find_python)
    say "making .venv with $python ($("$python" -I -c 'import platform; print(platform.python_version())'))"
    rm -rf "$venv"
    "$python" -I -m venv "$venv"
    # Not used, and a .pth file of its would be read at every start.
    pip uninstall --quiet --yes setuptools
    stamp venv "$root"
}

pip() {
    mkdir -p build/tmp build/pip-cache
    TMPDIR=$root/build/tmp PIP_CACHE_DIR=${PIP_CACHE_DIR:-$root/build/pip-cache} \
        PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 "$venv/bin/python" -I -m pip "$@"
}

ensure_locked() { # $1 is the name of the lock file
    local lock=requirements/$1.lock digest
    digest=$(sha256sum <"$lock")
    stamped "$1" "$digest" && return
    say "installing what $lock names"
    touch "$venv/incomplete"
    local status=0
    pip install --quiet --require-hashes --only-binary :all: --no-deps --requirement "$lock" ||
        status=$?
    rm -f "$venv/incomplete" # pip ended by itself, so it left whole packages
    if [ $status -ne 0 ]; then
        echo "setup: pip could not install what $lock names; see above." >&2
        exit 1
    fi
    rm -rf build/tmp/pip-* build/pip-cache
    stamp "$1" "$digest"
}

ensure_native() { # $1 is ON with the tests of the native parts, else OFF
    local digest
    digest=$(find native -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
    digest+=$(compgen -G '/usr/lib/jvm/*/include/jvmti.h' || true) # a part of its own with a JDK
    stamped native "$digest tests" && return
    if [ "$1" = ON ]; then
        digest+=" tests"
    elif stamped native "$digest"; then
        return
    fi
    ensure_system
    say "building the native parts"
    mkdir -p build
    if ! BUILD_TESTING=$1 tools/native.sh build/native src/steelyard/_native >build/native.log 2>&1; then
        cat build/native.log >&2
        echo "setup: the native parts do not build; see above (build/native.log)." >&2
        exit 1
    fi
    stamp native "$digest"
}

ensure_command() {
    local digest
    digest="$root $(sha256sum <tools/setup.sh)"
    stamped command "$digest" && return
    # A path file, not an import hook: hooks cost time at every start.
    echo "$root/src" >"$("$venv/bin/python" -I -c 'import site; print(site.getsitepackages()[0])')/steelyard.pth"
    local start="#!$venv/bin/python -I"
    if [ ${#start} -gt 120 ] || [[ $venv == *[[:space:]]* ]]; then # the kernel would cut it
        start=$(printf '#!/bin/sh\n'"'''"'exec'"'"' "%s" -I "$0" "$@"\n'"'"" '''" "$venv/bin/python")
    fi
    printf '%s\nimport sys\n\nfrom steelyard.cli.start import main\n\nsys.exit(main())\n' \
        "$start" >"$venv/bin/steelyard"
    chmod +x "$venv/bin/steelyard"
    "$venv/bin/python" -I -m compileall -q src
    stamp command "$digest"
}

testing=ON
# One set-up at a time in one checkout.
mkdir -p build
exec 9>build/setup.lock
flock 9
ensure_venv
if [ "${1:-}" = --dev ]; then
    ensure_layout
    ensure_locked dev
    # dev holds all of the others.
    for name in runtime wheel; do stamp $name "$(sha256sum <requirements/$name.lock)"; done
    ensure_test_tools # before the native parts: the agent for Java takes a JDK
else
    testing=OFF
    ensure_locked runtime
    [ "${1:-}" != --wheel ] || ensure_locked wheel
fi
ensure_native $testing
ensure_command
