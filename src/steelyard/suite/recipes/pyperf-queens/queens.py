"""Queens on boards with holes, and the colours of a graph, under pyperf.

    queens.py INPUT SIDE VALUES

The holes and the graph are drawn from the input. Standard output has the digest of the result
alone.
"""

from __future__ import annotations

import hashlib
import sys

from pyperf_program import benchmarked  # pyright: ignore[reportMissingImports]

COLOUR_COUNT = 4
VERTEX_COUNT = 40
EDGES_A_VERTEX = 4


class Draw:
    """Whole numbers out of the bytes of the input, which is begun again at its end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.state = 1
        self.place = 0

    def below(self, limit: int) -> int:
        """The next one below `limit`."""
        self.place = (self.place + 1) % len(self.data)
        self.state = (self.state * 1103515245 + 12345 + self.data[self.place]) & 0x7FFFFFFF
        return (self.state >> 8) % limit


def queens(side: int, holes: list[int]) -> int:
    """In how many ways `side` queens stand on a board without attacking each other."""
    every = (1 << side) - 1

    def place(row: int, columns: int, left: int, right: int) -> int:
        if row == side:
            return 1
        count = 0
        free = every & ~(columns | left | right | holes[row])
        while free:
            bit = free & -free
            free ^= bit
            count += place(row + 1, columns | bit, (left | bit) << 1 & every, (right | bit) >> 1)
        return count

    return place(0, 0, 0, 0)


class Vertex:
    """A vertex of a graph with its neighbours and its colour."""

    def __init__(self, name: int) -> None:
        self.name = name
        self.neighbours: set[Vertex] = set()
        self.colour: int | None = None

    def free(self) -> list[int]:
        """The colours that no neighbour has."""
        taken = {other.colour for other in self.neighbours}
        return [colour for colour in range(COLOUR_COUNT) if colour not in taken]


def coloured(vertices: list[Vertex], limit: list[int]) -> bool:
    """Colour the vertices by backtracking, the one with the fewest free colours first."""
    open_ones = [vertex for vertex in vertices if vertex.colour is None]
    if not open_ones or limit[0] == 0:
        return not open_ones
    limit[0] -= 1
    vertex = min(open_ones, key=lambda one: (len(one.free()), one.name))
    for colour in vertex.free():
        vertex.colour = colour
        if coloured(vertices, limit):
            return True
    vertex.colour = None
    return False


def graph(draw: Draw) -> list[Vertex]:
    """A graph with edges at random."""
    vertices = [Vertex(name) for name in range(VERTEX_COUNT)]
    for _ in range(VERTEX_COUNT * EDGES_A_VERTEX // 2):
        one, other = vertices[draw.below(VERTEX_COUNT)], vertices[draw.below(VERTEX_COUNT)]
        if one is not other:
            one.neighbours.add(other)
            other.neighbours.add(one)
    return vertices


def work(data: bytes, side: int) -> str:
    """Ways to place queens, and the colours of a graph, as a text."""
    draw = Draw(data)
    holes = [1 << draw.below(side) for _ in range(side)]
    vertices = graph(draw)
    whole = coloured(vertices, [500])
    colours = "".join("-" if v.colour is None else str(v.colour) for v in vertices)
    return f"{queens(side, holes)} {whole} {colours}"


def main(path: str, side: str, values: str, *options: str) -> None:
    """Run as pyperf's main process or, where it gives `options`, as its worker."""
    with open(path, "rb") as file:
        data = file.read()
    program = (__file__, path, side)
    found = benchmarked("queens", lambda: work(data, int(side)), program, values, options)
    if found is not None:
        print("pyperf-queens", hashlib.sha256(found.encode()).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])
