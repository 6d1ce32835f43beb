"""A table of numbers: `rows` lines of `columns`, uniform or bell-shaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value

_FULL = 2.0**32


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    stream = Stream(seed, "numbers")
    columns, low, high = int(parameters["columns"]), parameters["low"], parameters["high"]
    separator, whole = str(parameters["separator"]), bool(parameters["whole"])
    # The sum of four uniform numbers is close to normal, and exact on every machine.
    summands = 4 if parameters["bell"] else 1
    span = float(high) - float(low)
    for _ in range(int(parameters["rows"])):
        drawn = stream.numbers(columns * summands)
        values = [
            float(low) + span * (sum(drawn[at : at + summands]) / summands / _FULL)
            for at in range(0, len(drawn), summands)
        ]
        texts = [str(int(value // 1)) if whole else f"{value:.9g}" for value in values]
        yield (separator.join(texts) + "\n").encode()


EXTENSION = Generator(
    name="numbers",
    description="`rows` lines of `columns` numbers from `low` to `high`, `separator` between; "
    "`bell`-shaped, or `whole`, where asked for.",
    make=_make,
    parameters={
        "rows": 10_000,
        "columns": 4,
        "low": 0.0,
        "high": 1.0,
        "separator": " ",
        "bell": False,
        "whole": False,
    },
)
