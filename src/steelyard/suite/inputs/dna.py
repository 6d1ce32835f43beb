"""Sequences that are related: a family that mutated from common ancestors, in FASTA."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value

_LINE = 60
_LETTERS = {"dna": "ACGT", "protein": "ACDEFGHIKLMNPQRSTVWY"}


def _mutated(stream: Stream, ancestor: str, letters: str, one_in: int) -> str:
    found: list[str] = []
    for letter in ancestor:
        kind = stream.below(one_in * 4)
        if kind == 0:
            continue
        found.append(stream.pick(letters) if kind < 4 else letter)
        if kind == 4:
            found.append(stream.pick(letters))
    return "".join(found)


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    stream = Stream(seed, "dna")
    letters = _LETTERS[str(parameters["kind"])]
    length, one_in = int(parameters["length"]), int(parameters["mutated_one_in"])
    families = ["".join(stream.pick(letters) for _ in range(length)) for _ in range(4)]
    for number in range(int(parameters["sequences"])):
        family = number % len(families)
        sequence = _mutated(stream, families[family], letters, one_in)
        lines = [sequence[at : at + _LINE] for at in range(0, len(sequence), _LINE)]
        yield f">s{number} family {family}\n{chr(10).join(lines)}\n".encode()


EXTENSION = Generator(
    name="dna",
    description="`sequences` of about `length` letters of `kind` dna or protein, of four families "
    "in which one letter in `mutated_one_in` was changed.",
    make=_make,
    parameters={"sequences": 100, "length": 1000, "kind": "dna", "mutated_one_in": 8},
)
