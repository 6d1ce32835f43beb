"""Writes the list of numbers and the count of rounds that mixed.scm works on.

Usage: python3 script_input.py OUTPUT SEED numbers=N rounds=N
"""

import sys

from steelyard.suite.generator import Stream


def main(output: str, seed: str, *words: str) -> None:
    """Write the definitions to `output`."""
    said = {name: int(value) for name, value in (word.split("=") for word in words)}
    stream = Stream(int(seed), "numbers")
    numbers = " ".join(str(stream.below(1000)) for _ in range(said["numbers"]))
    with open(output, "w", encoding="ascii") as file:
        file.write(f"(define rounds {said['rounds']})\n(define numbers '({numbers}))\n")


main(*sys.argv[1:])
