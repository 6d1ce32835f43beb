"""Writes aligned proteins that descend from one another: mutations without insertions, in FASTA.

Usage: python3 aligned.py OUTPUT SEED sequences=N length=N
"""

import sys

from steelyard.suite.generator import Stream

_LETTERS = "ACDEFGHIKLMNPQRSTVWY"


def main(output: str, seed: str, *words: str) -> None:
    """Write the sequences to `output`."""
    said = {name: int(value) for name, value in (word.split("=") for word in words)}
    stream = Stream(int(seed), "aligned")
    found = ["".join(stream.pick(_LETTERS) for _ in range(said["length"]))]
    while len(found) < said["sequences"]:
        ancestor = stream.pick(found)
        found.append("".join(x if stream.below(12) else stream.pick(_LETTERS) for x in ancestor))
    with open(output, "w", encoding="ascii") as file:
        file.writelines(f">s{number}\n{sequence}\n" for number, sequence in enumerate(found))


main(*sys.argv[1:])
