#!/usr/bin/env bash
# Builds the native parts: tools/native.sh BUILD_FOLDER INSTALL_FOLDER
# With BUILD_TESTING=OFF their tests are not compiled: a quarter of all files.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake -S native -B "$1" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$(realpath -m "$2")" \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DBUILD_TESTING="${BUILD_TESTING:-ON}"
# Without a number make starts all compilers at once, whatever the machine has of memory.
cmake --build "$1" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
cmake --install "$1"
