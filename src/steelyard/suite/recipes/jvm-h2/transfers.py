"""Transfers between the accounts of a bank: source, target and amount, one a line."""

from __future__ import annotations

import sys

from steelyard.suite.generator import Stream

_ACCOUNTS = 500
_AMOUNT_LIMIT = 400


def main(output: str, seed: str, count: str) -> None:
    """Write `count`, such as ``count=500``, transfers; low accounts give more often."""
    stream = Stream(int(seed), "transfers")
    with open(output, "w", encoding="ascii") as file:
        for _ in range(int(count.removeprefix("count="))):
            source = stream.below(1 + stream.below(_ACCOUNTS))
            file.write(f"{source},{stream.below(_ACCOUNTS)},{1 + stream.below(_AMOUNT_LIMIT)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
