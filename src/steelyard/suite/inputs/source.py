"""A C program: functions with loops, branches, arrays and structures that call earlier ones.

It compiles without a header and, run, returns 0 and prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.suite.generator import Generator, Stream, Value

_OPERATORS = ("+", "-", "*", "^", "|", "&")
_HEAD = """struct cell { int key; unsigned mark; struct cell *next; };
static struct cell cells[64];
static int table[256];
"""


class _Code:
    """Statements whose variables are a, b, c, i and table."""

    def __init__(self, seed: int) -> None:
        self.stream = Stream(seed, "source")

    def term(self) -> str:
        number = str(1 + self.stream.below(4000))
        return self.stream.pick(
            ("a", "b", "c", "table[c & 255]", "(int)cells[b & 63].mark", number)
        )

    def expression(self, depth: int) -> str:
        if depth == 0 or self.stream.below(4) == 0:
            return self.term()
        kind = self.stream.below(8)
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if kind == 0:
            return f"(({left}) < ({right}) ? {self.term()} : {self.term()})"
        if kind == 1:
            return f"(int)((unsigned)({left}) >> {1 + self.stream.below(12)})"
        operator = self.stream.pick(_OPERATORS)
        return f"(int)((unsigned)({left}) {operator} (unsigned)({right}))"

    def statement(self, depth: int) -> str:
        kind = self.stream.below(7 if depth else 4)
        target = self.stream.pick("abc")
        if kind < 3:
            return f"{target} = {self.expression(3)};"
        if kind == 3:
            place = self.stream.pick(("table[b & 255]", "cells[a & 63].key"))
            return f"{place} = {self.expression(2)};"
        if kind == 4:
            return f"for (i = 0; i < {2 + self.stream.below(6)}; i++) {{ {self.block(0, 3)} }}"
        if kind == 5:
            other = self.block(depth - 1, 2)
            return f"if ({self.expression(2)}) {{ {self.block(depth - 1, 2)} }} else {{ {other} }}"
        cases = "".join(
            f"case {number}: {self.statement(0)} break; "
            for number in range(2 + self.stream.below(5))
        )
        return f"switch ({target} & 7) {{ {cases}default: {self.statement(0)} }}"

    def block(self, depth: int, count: int) -> str:
        return " ".join(self.statement(depth) for _ in range(1 + self.stream.below(count)))

    def function(self, number: int) -> str:
        call = ""
        if number:
            call = f"    if (b > 0) c += f{self.stream.below(number)}(a, 0);\n"
        body = "".join(f"    {self.statement(2)}\n" for _ in range(4 + self.stream.below(10)))
        return (
            f"static int f{number}(int a, int b)\n{{\n    int c = {number}, i;\n{body}{call}"
            "    return a + b + c;\n}\n\n"
        )


def _make(seed: int, parameters: Mapping[str, Value]) -> Iterator[bytes]:
    code, count = _Code(seed), int(parameters["functions"])
    yield _HEAD.encode()
    for number in range(count):
        yield code.function(number).encode()
    calls = "".join(f"    s = (int)((unsigned)s + (unsigned)f{n}(s, 1));\n" for n in range(count))
    yield f"int main(void)\n{{\n    int s = 0;\n{calls}    return s == 0x7fffffff;\n}}\n".encode()


EXTENSION = Generator(
    name="source",
    description="A C program of so many `functions`.",
    make=_make,
    parameters={"functions": 1000},
)
