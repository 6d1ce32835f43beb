"""Writes a program in JavaScript, of functions with nested statements, for a parser to read.

Usage: python3 script.py OUTPUT SEED functions=N
"""

from __future__ import annotations

import sys

from steelyard.suite.generator import Stream

_NAMES = ("count", "total", "left", "right", "index", "limit", "found", "offset", "width")
_OPERATORS = ("+", "-", "*", "===", "<", "&&", "||", "%")


def _value(stream: Stream, depth: int) -> str:
    if depth == 0:
        return stream.pick((*_NAMES, str(stream.below(1000)), f'"{stream.pick(_NAMES)}"'))
    left, right = _value(stream, depth - 1), _value(stream, depth - 1)
    forms = (
        f"({left} {stream.pick(_OPERATORS)} {right})",
        f"{stream.pick(_NAMES)}.map({stream.pick(_NAMES)} => {left})",
        f"({{ {stream.pick(_NAMES)}: {left}, {stream.pick(_NAMES)}: {right} }})",
        f"[{left}, {right}]",
        f"`${{{left}}} of ${{{right}}}`",
    )
    return stream.pick(forms)


def _statement(stream: Stream, depth: int) -> str:
    name, value = stream.pick(_NAMES), _value(stream, 2)
    if depth == 0:
        return f"{name} = {value};"
    inner = "\n".join(_statement(stream, depth - 1) for _ in range(1 + stream.below(3)))
    forms = (
        f"let {name}{depth} = {value};",
        f"if ({value}) {{\n{inner}\n}} else {{\n{name}++;\n}}",
        f"for (const each of {name}) {{\n{inner}\n}}",
        f"try {{\n{inner}\n}} catch (problem) {{\nthrow {value};\n}}",
        f"while (/{name}+/.test({name})) {{\n{inner}\nbreak;\n}}",
    )
    return stream.pick(forms)


def main(output: str, seed: str, functions: str) -> None:
    """Write as many functions as `functions`, such as ``functions=20``, says."""
    stream = Stream(int(seed), "javascript")
    with open(output, "w", encoding="ascii") as file:
        for number in range(int(functions.removeprefix("functions="))):
            body = "\n".join(_statement(stream, 3) for _ in range(6))
            file.write(
                f"function f{number}({', '.join(_NAMES)}) {{\n{body}\nreturn {number};\n}}\n"
            )


main(*sys.argv[1:])
