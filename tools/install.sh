#!/usr/bin/env bash
# Installs the wheel of dist/ into a virtual environment of its own below a prefix, with the
# command, its completions and its manual pages beside it; `--remove PREFIX` takes all of that away.
set -euo pipefail
cd "$(dirname "$0")/.."

remove=
[ "${1:-}" != --remove ] || { remove=yes; shift; }
prefix=${1:?install: name a prefix, such as ~/.local}
[ "${prefix#/}" != "$prefix" ] || prefix=$PWD/$prefix
home=$prefix/lib/steelyard

# All that is put outside of $home, one path a line.
owned=$home/installed

take_away() {
    [ -e "$home" ] || return 0
    [ -e "$owned" ] || { # made by somebody else, or cut off before its first file
        echo "install: $home is not what this made; remove it by hand." >&2
        exit 2
    }
    local path
    while IFS= read -r path; do rm -f "$prefix/$path"; done <"$owned"
    rm -rf "$home"
}

if [ -n "$remove" ]; then
    [ -e "$home" ] || { echo "install: nothing is installed below $prefix."; exit 0; }
    take_away
    echo "install: removed what was below $prefix"
    exit 0
fi

wheel=$(echo dist/steelyard-*.whl)
[ -f "$wheel" ] || { echo "install: there is no wheel in dist/: make wheel" >&2; exit 2; }
mkdir -p "$prefix/lib" || {
    echo "install: $prefix cannot be written. make install PREFIX=~/.local installs for you alone." >&2
    exit 2
}
take_away
python=$(.venv/bin/python -I -c 'import sys; print(sys._base_executable)')
mkdir -p "$home"
touch "$owned"
"$python" -I -m venv "$home/venv"
PIP_DISABLE_PIP_VERSION_CHECK=1 "$home/venv/bin/python" -I -m pip install --quiet --no-deps \
    --require-hashes --only-binary :all: --requirement requirements/runtime.lock
PIP_DISABLE_PIP_VERSION_CHECK=1 "$home/venv/bin/python" -I -m pip install --quiet --no-deps "$wheel"

put() { # a path below the prefix; its text comes from standard input
    mkdir -p "$(dirname "$prefix/$1")"
    echo "$1" >>"$owned"
    cat >"$prefix/$1"
}
mkdir -p "$prefix/bin"
echo bin/steelyard >>"$owned"
ln -sfn "$home/venv/bin/steelyard" "$prefix/bin/steelyard"
completion() { _STEELYARD_COMPLETE="$1_source" "$prefix/bin/steelyard"; }
completion bash | put share/bash-completion/completions/steelyard
completion zsh | put share/zsh/site-functions/_steelyard
completion fish | put share/fish/vendor_completions.d/steelyard.fish
"$home/venv/bin/python" -I tools/manual_pages.py build/man
for page in build/man/*.1; do put "share/man/man1/${page##*/}" <"$page"; done
echo "install: $prefix/bin/steelyard, $("$prefix/bin/steelyard" --version)"
case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "install: $prefix/bin is not in PATH; add it to use the command by its name" ;;
esac
