#!/usr/bin/env bash
# Resolves what pyproject.toml asks for into requirements/*.lock: versions and hashes, and no
# addresses, so that every machine fetches them from the index that it is configured for.
# What is locked already stays as it is; `tools/lock.sh --upgrade` takes the newest.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v uv >/dev/null || {
    echo "lock: uv is needed to resolve versions; install it with: pip install uv" >&2
    exit 4
}

resolve() {
    uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-emit-index-url --no-emit-find-links --no-annotate \
        --custom-compile-command "make lock" "$@"
}

resolve pyproject.toml --all-extras --output-file requirements/runtime.lock "${@}"
resolve --group wheel --constraint requirements/runtime.lock \
    --output-file requirements/wheel.lock "${@}"
resolve pyproject.toml --all-extras --group dev --constraint requirements/wheel.lock --constraint requirements/runtime.lock \
    --output-file requirements/dev.lock "${@}"
