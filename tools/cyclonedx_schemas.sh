#!/usr/bin/env bash
# Fetch the official schemas of CycloneDX 1.6 into tests/data/cyclonedx, of the version named here.
set -euo pipefail
cd "$(dirname "$0")/.."
version=11.12.0
digest=0e807521a921a5c3cb8ce1153f8a61d29eedfe76a46aac2796b7c6b573391a54
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
.venv/bin/python -m pip download -q --no-deps --only-binary :all: -d "$work" "cyclonedx-python-lib==$version"
wheel=$(echo "$work"/*.whl)
echo "$digest  $wheel" | sha256sum --check --quiet
unzip -q -o -j "$wheel" 'cyclonedx/schema/_res/*.schema.json' '*/licenses/LICENSE' -d "$work/schemas"
for name in bom-1.6 jsf-0.82 spdx; do
    cp "$work/schemas/$name.SNAPSHOT.schema.json" "tests/data/cyclonedx/$name.schema.json"
done
cp "$work/schemas/LICENSE" tests/data/cyclonedx/LICENSE.txt
