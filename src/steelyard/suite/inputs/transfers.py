"""Transfers between the accounts of a bank: source, target and amount, one a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value

_AMOUNT_LIMIT = 400


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    stream = Stream(seed, "transfers")
    accounts = int(parameters["accounts"])
    for _ in range(int(parameters["count"])):
        source = stream.below(1 + stream.below(accounts))
        yield b"%d,%d,%d\n" % (source, stream.below(accounts), 1 + stream.below(_AMOUNT_LIMIT))


EXTENSION = Generator(
    name="transfers",
    description="`count` transfers between `accounts` of a bank, as source,target,amount; low "
    "accounts give more often.",
    make=_make,
    parameters={"count": 1000, "accounts": 500},
)
