#!/usr/bin/env bash
# Weighs real compressors on real text and makes a report, all inside demo-output/.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/system_packages.sh
out=demo-output
corpus=$out/corpus.txt
steelyard=.venv/bin/steelyard

command -v xz >/dev/null || { can_install && install_packages xz-utils; } || true
programs=('gzip -6' 'gzip -1')
! command -v xz >/dev/null || programs+=('xz -0')

rm -rf "$out"
mkdir -p "$out"
export XDG_STATE_HOME=$PWD/$out/state
.venv/bin/python examples/compressors/make_corpus.py "$corpus"
echo "Which compressor is fastest, on $(stat -c %s "$corpus") bytes of Python's own source text?"
arguments=()
for program in "${programs[@]}"; do
    size=$($program -c "$corpus" | wc -c)
    printf '  %-8s leaves %s bytes\n' "$program" "$size"
    arguments+=(--name "$program" "$program -c $corpus")
done
echo

"$steelyard" compare --wait --store "$out/store.sqlite" --precision 2% --min-runs 20 --budget "${DEMO_BUDGET:-40s}" \
    --json "$out/answer.json" "${arguments[@]}"
"$steelyard" report latest --store "$out/store.sqlite" -o "$out/report.html"
echo
echo "The report is $PWD/$out/report.html; open it in a browser. It needs no network."
