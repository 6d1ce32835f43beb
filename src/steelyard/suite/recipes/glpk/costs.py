"""Writes the data of transport.mod: costs between places, what each can supply and wants.

Usage: python3 costs.py OUTPUT SEED places=N
"""

import sys

from steelyard.suite.generator import Stream


def main(output: str, seed: str, places: str) -> None:
    """Write the data to `output`."""
    count, stream = int(places.removeprefix("places=")), Stream(int(seed), "costs")
    with open(output, "w", encoding="ascii") as file:
        file.write(f"data;\nparam places := {count};\n")
        for name in ("first", "second"):
            file.write(f"param {name} :\n{' '.join(map(str, range(1, count + 1)))} :=\n")
            for row in range(1, count + 1):
                costs = " ".join(str(10 + stream.below(990)) for _ in range(count))
                file.write(f"{row} {costs}\n")
            file.write(";\n")
        for name, low, span in (("supply", 120, 60), ("demand", 60, 50)):
            rows = "".join(f"{row} {low + stream.below(span)}\n" for row in range(1, count + 1))
            file.write(f"param {name} :=\n{rows};\n")
        file.write("end;\n")


main(*sys.argv[1:])
