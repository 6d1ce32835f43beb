"""Writes the text and the number of rounds that mixed.js works on, as a script of its own.

Usage: python3 script_input.py OUTPUT SEED bytes=N rounds=N
"""

import json
import sys

from steelyard.suite.inputs.text import EXTENSION as PROSE


def main(output: str, seed: str, *words: str) -> None:
    """Write the script to `output`."""
    said = dict(word.split("=", 1) for word in words)
    parameters = {**PROSE.parameters, "bytes": int(said["bytes"])}
    text = b"".join(PROSE.make(int(seed), parameters)).decode()
    with open(output, "w", encoding="utf-8") as file:
        file.write(f"var rounds = {int(said['rounds'])};\nvar text = {json.dumps(text)};\n")


main(*sys.argv[1:])
