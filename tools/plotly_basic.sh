#!/usr/bin/env bash
# Puts plotly's basic bundle, by its MIT licence, where pages take it from: the whole library is
# four times as large, and each page holds a copy. A newer one: change version and digest.
set -euo pipefail
cd "$(dirname "$0")/.."

version=2.35.3
digest=7a82316e6da7672955f037ba93e84d9a0174a1e38830c33d63624ffe03b0fcf4
target=src/steelyard/report/pages

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent "plotly.js-basic-dist-min@$version" && tar xzf ./*.tgz)
echo "$digest  $work/package/plotly-basic.min.js" | sha256sum --check --quiet
cp "$work/package/plotly-basic.min.js" "$target/plotly-basic.min.js"
cp "$work/package/LICENSE" "$target/plotly-basic.LICENSE"
