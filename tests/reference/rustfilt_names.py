"""Writes rust_names.tsv: mangled names of Rust, and what rustfilt 0.2.2 makes of them.

    cargo install rustfilt --version 0.2.2
    python tests/reference/rustfilt_names.py PROGRAM... >> tests/reference/rust_names.tsv

The programs were one of 40 lines with generics, closures, constants and traits as objects, compiled
with both manglings of rustc 1.95, and rustc's own library (librustc_driver), of which names were
drawn at random.
"""

from __future__ import annotations

import random
import subprocess
import sys

COUNT = 400


def main() -> None:
    symbols: set[str] = set()
    for program in sys.argv[1:]:
        for table in ([], ["-D"]):
            command = ["nm", *table, "--defined-only", program]
            told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
            symbols |= {line.split()[-1] for line in told.splitlines()}
    mangled = sorted(name for name in symbols if name.startswith(("_R", "_ZN")) and len(name) < 400)
    drawn = sorted(random.Random(1).sample(mangled, COUNT))
    asked = "\n".join(drawn) + "\n"
    command = ["rustfilt"]
    told = subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout
    for name, plain in zip(drawn, told.splitlines(), strict=True):
        if plain != name:  # else it is one of C++
            print(f"{name}\t{plain}")


if __name__ == "__main__":
    main()
