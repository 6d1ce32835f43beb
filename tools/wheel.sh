#!/usr/bin/env bash
# Builds dist/steelyard-*.whl with the locked hatchling, without fetching anything.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf build/wheel-native-install dist/*.whl
.venv/bin/hatchling build --target wheel
wheel=$(echo dist/*.whl)
.venv/bin/python - "$wheel" <<'PYTHON'
import sys
import zipfile

names = zipfile.ZipFile(sys.argv[1]).namelist()
if "steelyard/_native/steelyard-launcher" not in names:
    sys.exit(f"wheel: {sys.argv[1]} lacks the launcher.")
print(f"wheel: {sys.argv[1]}: {len(names)} files, the launcher among them")
PYTHON
