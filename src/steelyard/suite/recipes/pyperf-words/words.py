"""Counts, sorts and indexes the words of a text, under pyperf.

    words.py INPUT VALUES

Standard output has the digest of the result alone.
"""

from __future__ import annotations

import hashlib
import re
import sys

from pyperf_program import benchmarked  # pyright: ignore[reportMissingImports]


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


def main(path: str, values: str, *options: str) -> None:
    """Run as pyperf's main process or, where it gives `options`, as its worker."""
    with open(path, encoding="ascii", errors="replace") as file:
        text = file.read()
    found = benchmarked("words", lambda: index(text), (__file__, path), values, options)
    if found is not None:
        print("pyperf-words", hashlib.sha256(found.encode()).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])
