"""Every schema of an answer is valid, names its kind, and refers only to what is there."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

KINDS = Path("src/steelyard/report/kinds")
SHARED = Path("src/steelyard/report/documents/definitions.json")


def references(node: Any) -> Iterator[str]:
    """Every ``$ref`` in a schema."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


def resolves(reference: str, own: Path) -> bool:
    """Whether a reference leads to a file here and to a place in it."""
    file, _, pointer = reference.partition("#")
    target = SHARED.with_name(file) if file else own
    if not target.is_file():
        return False
    node: Any = json.loads(target.read_text("utf-8"))
    for part in filter(None, pointer.split("/")):
        if not isinstance(node, dict) or part not in node:
            return False
        node = node[part]
    return True


def problems_of(path: Path) -> Iterator[str]:
    """What is wrong with one schema file."""
    schema = json.loads(path.read_text("utf-8"))
    if schema.get("$schema") != "https://json-schema.org/draft/2020-12/schema":
        yield "does not say that it is draft 2020-12"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        yield f"is not a schema: {error.message}"
    for reference in references(schema):
        if not resolves(reference, path):
            yield f"refers to {reference}, which is not there"
    kind = schema.get("properties", {}).get("kind", {}).get("const")
    if path.stem not in ("definitions", kind):
        yield f"must fix `kind` to {path.stem!r}, found {kind!r}"


def main() -> int:
    """Print every problem; the exit status says whether there was one."""
    paths = [SHARED, *sorted(KINDS.glob("*/*.json"))]
    problems = [f"{path}: {problem}" for path in paths for problem in problems_of(path)]
    for problem in problems:
        print(problem)
    print(f"{len(paths)} schemas")
    return 1 if problems or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
