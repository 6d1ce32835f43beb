"""A graph without loops and double edges, as a list of edges or in the DIMACS format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value


def _edges(stream: Stream, nodes: int, count: int, skewed: bool) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    while len(found) < count:
        one, other = stream.below(nodes), stream.below(nodes)
        if skewed:  # The smaller of two draws: few nodes have many edges.
            one = min(one, stream.below(nodes), stream.below(nodes))
        if one != other:
            found.add((min(one, other), max(one, other)))
    return found


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    stream = Stream(seed, "graph")
    nodes, heaviest = int(parameters["nodes"]), int(parameters["weights"])
    count = min(int(parameters["edges"]), nodes * (nodes - 1) // 4)
    edges = sorted(_edges(stream, nodes, count, bool(parameters["skewed"])))
    dimacs = bool(parameters["dimacs"])
    if dimacs:
        yield f"p edge {nodes} {len(edges)}\n".encode()
    for one, other in edges:
        weight = f" {1 + stream.below(heaviest)}" if heaviest else ""
        line = f"e {one + 1} {other + 1}" if dimacs else f"{one} {other}"
        yield (line + weight + "\n").encode()


EXTENSION = Generator(
    name="graph",
    description="`nodes` and `edges`, one edge a line; `weights` up to that number, `skewed` to "
    "few nodes, or in the `dimacs` format (from 1, with a head), where asked for.",
    make=_make,
    parameters={"nodes": 1000, "edges": 10_000, "weights": 0, "skewed": False, "dimacs": False},
)
