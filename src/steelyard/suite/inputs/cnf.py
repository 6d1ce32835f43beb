"""A random formula in conjunctive normal form, in DIMACS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value


def _clause(stream: Stream, variables: int, width: int) -> list[int]:
    chosen: list[int] = []
    while len(chosen) < width:
        variable = 1 + stream.below(variables)
        if variable not in chosen:
            chosen.append(variable)
    return [variable if stream.below(2) else -variable for variable in chosen]


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    stream = Stream(seed, "cnf")
    variables, clauses = int(parameters["variables"]), int(parameters["clauses"])
    planted = [stream.below(2) == 1 for _ in range(variables)] if parameters["satisfiable"] else []
    yield f"p cnf {variables} {clauses}\n".encode()
    written = 0
    while written < clauses:
        clause = _clause(stream, variables, int(parameters["width"]))
        if planted and not any(planted[abs(literal) - 1] == (literal > 0) for literal in clause):
            continue
        written += 1
        yield (" ".join(map(str, clause)) + " 0\n").encode()


EXTENSION = Generator(
    name="cnf",
    description="`clauses` of `width` literals over `variables`; `satisfiable` ones have a planted "
    "solution. About 4.26 clauses a variable are hardest at width 3.",
    make=_make,
    parameters={"variables": 150, "clauses": 640, "width": 3, "satisfiable": False},
)
