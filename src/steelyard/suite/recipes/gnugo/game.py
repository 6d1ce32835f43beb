"""Writes a game of Go for GNU Go to go on with: stones on the board, then moves to find.

Usage: python3 game.py OUTPUT SEED stones=N moves=N

Points are at least three apart, so that every stone can be set and has room to be fought for.
"""

import sys

from steelyard.suite.generator import Stream

COLUMNS = "ABCDEFGHJKLMNOPQRST"  # Go has no column I.


def main(output: str, seed: str, stones: str, moves: str) -> None:
    """Write the commands, in the Go Text Protocol, to `output`."""
    stone_count, move_count = (int(word.partition("=")[2]) for word in (stones, moves))
    spaced = [f"{column}{row}" for column in COLUMNS[::3] for row in range(1, 20, 3)]
    chosen = Stream(int(seed), "stones").shuffled(spaced)[:stone_count]
    colours = ("black", "white")
    with open(output, "w", encoding="ascii") as file:
        file.write("boardsize 19\n")
        for place, point in enumerate(chosen):
            file.write(f"play {colours[place % 2]} {point}\n")
        for place in range(move_count):
            file.write(f"genmove {colours[(stone_count + place) % 2]}\n")
        file.write("showboard\nquit\n")


main(*sys.argv[1:])
