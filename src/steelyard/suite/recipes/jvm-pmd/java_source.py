"""A class in Java that a static analysis has something to say of."""

from __future__ import annotations

import sys

from steelyard.suite.generator import Stream

_NAMES = ("count", "total", "left", "right", "index", "limit", "found", "offset", "width")
_OPERATORS = ("+", "-", "*", "^", "&", "|")


def _value(stream: Stream, depth: int) -> str:
    if depth == 0:
        return stream.pick((*_NAMES, str(stream.below(1000))))
    left, right = _value(stream, depth - 1), _value(stream, depth - 1)
    return f"({left} {stream.pick(_OPERATORS)} {right})"


def _statement(stream: Stream, depth: int) -> str:
    name = stream.pick(_NAMES)
    kind = stream.below(8 if depth else 3)
    if kind == 0:
        return f"{name} = {_value(stream, 2)};"
    if kind == 1:
        return f'log.append("{name} is " + {name} + "\\n");'
    if kind == 2:
        return f"{name} += values.size() > {stream.below(9)} ? {_value(stream, 1)} : 0;"
    inner = "\n".join(_statement(stream, depth - 1) for _ in range(1 + stream.below(3)))
    if kind == 3:
        return f"if ({name} > {stream.below(100)}) {{\n{inner}\n}}"
    if kind == 4:
        return f"if ({name} == {stream.below(9)}) {{\n{inner}\n}} else {{\n}}"
    if kind == 5:
        return f"for (int i{depth} = 0; i{depth} < {name}; i{depth}++) {{\n{inner}\n}}"
    if kind == 6:
        return f"try {{\n{inner}\n}} catch (RuntimeException problem) {{\nlog.append(problem);\n}}"
    return (
        f"switch ({name} & 3) {{\ncase {stream.below(2)}:\n{inner}\nbreak;\ncase 2:\n"
        f"{name}++;\ndefault:\nbreak;\n}}"
    )


def _method(stream: Stream, number: int) -> str:
    variables = "".join(f"int {name} = {stream.below(100)};\n" for name in _NAMES)
    body = "\n".join(_statement(stream, 3) for _ in range(6))
    access = stream.pick(("public", "private", "protected", ""))
    return (
        f"{access} int Method_{number}(List<Integer> values, int unused) {{\n"
        f"{variables}{body}\nreturn {_value(stream, 3)};\n}}\n"
    )


def main(output: str, seed: str, methods: str) -> None:
    """Write a class with as many methods as `methods`, such as ``methods=20``, says."""
    stream = Stream(int(seed), "java")
    with open(output, "w", encoding="ascii") as file:
        file.write("package generated;\n\nimport java.util.*;\n\npublic class Input {\n")
        file.write("private StringBuilder log = new StringBuilder();\n")
        for number in range(int(methods.removeprefix("methods="))):
            file.write(_method(stream, number))
        file.write("}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
