"""Counts, sorts and indexes the words of a text, under pyperf.

    words.py INPUT VALUES

A value is an iteration of Steelyard's. pyperf's report goes to standard error, its JSON to the file
that Steelyard names. Standard output has the digest of the result alone.
STEELYARD_ITERATION_COUNT goes before VALUES.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys

import pyperf  # pyright: ignore[reportMissingImports]


def index(text: str) -> str:
    """The words by how often they come, and by their beginnings."""
    counts: dict[str, int] = {}
    for match in re.finditer(r"[a-z]+", text.lower()):
        word = match.group()
        counts[word] = counts.get(word, 0) + 1
    beginnings: dict[str, list[str]] = {}
    for word in sorted(counts, key=lambda word: (-counts[word], word)):
        for length in range(1, min(len(word), 4)):
            beginnings.setdefault(word[:length], []).append(word)
    return " ".join(f"{key}={len(words)}{words[0]}" for key, words in sorted(beginnings.items()))


def checked(text: str, expected: str) -> None:
    """One iteration; what it finds has to be what was found before."""
    if index(text) != expected:
        raise ValueError("an iteration differs from the first one")


def main(path: str, values: str, *options: str) -> None:
    """Run as pyperf's main process or, where it gives `options`, as its worker."""
    with open(path, encoding="ascii", errors="replace") as file:
        text = file.read()
    expected = index(text)
    values = os.environ.get("STEELYARD_ITERATION_COUNT") or values
    runner = pyperf.Runner(program_args=(__file__, path, values))
    output = os.environ.get("STEELYARD_ITERATIONS")
    # One process, since Steelyard repeats that itself; the worker finds pyperf as this one does.
    own = ["--processes=1", f"--values={values}", "--warmups=1", "--loops=1"]
    own += ["--inherit-environ=PYTHONPATH", *([f"--output={output}"] if output else [])]
    runner.parse_args(list(options) or own)
    with contextlib.redirect_stdout(sys.stderr):
        runner.bench_func("words", checked, text, expected)
    if not options:
        print("pyperf-words", hashlib.sha256(expected.encode()).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])
