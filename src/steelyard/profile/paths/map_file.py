"""The file of a path map: a document of kind ``path-map``."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from typing import Any

from steelyard.analysis.paths.path_map import NO_CALL_SITE, ROOT, Alignment, PathMap, PathNode
from steelyard.analysis.paths.stack_alignment import KEPT_BYTES, LONGEST_BYTES
from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError, SteelyardError
from steelyard.core.field_reader import FieldReader, json_fault

_SCHEMA, _KIND = "steelyard/1", "path-map"
_COLUMNS = ("parent", "function", "height_bytes", "call_count")
_SITE_COLUMN = "call_site"
_DIGEST = "digest"


def read_map(path: str, field: str = "map") -> PathMap:
    """Read a path map.

    Raises
    ------
    DataError
        It cannot be read, or is no path map that holds together.
    """
    try:
        with open(path, "rb", opener=regular_opener) as file:
            text = file.read()
    except OSError as error:
        raise DataError(f"The map {path} cannot be read: {error.strerror}.", field=field) from None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = json_fault(error)
        raise DataError(f"The map {path} is not JSON: {reason}.", field=field) from None
    path_map = _map_of(value, FieldReader(path))
    # Maps that were written before there were digests have none.
    if _DIGEST in value and value[_DIGEST] != _digest(value):
        raise DataError(
            f"The map {path} is damaged or was changed: its digest is of another content.\n"
            "Take a copy of it, or learn the map anew.",
            field=field,
        )
    return path_map


def write_map(path_map: PathMap, path: str) -> None:
    """Write a path map, whole or not at all.

    Raises
    ------
    SteelyardError
        It cannot be written.
    """
    document: dict[str, Any] = {
        "schema": _SCHEMA,
        "kind": _KIND,
        "program": path_map.program,
        "build": path_map.build,
        "runs": path_map.run_count,
        "lost": path_map.lost_count,
        "guessed": path_map.guessed_count,
        "functions": {str(address): name for address, name in sorted(path_map.functions.items())},
        "unwatched": path_map.unwatched,
        "marks": [[*call, number] for call, number in sorted(path_map.marks.items())],
        "clones": [list(pair) for pair in sorted(path_map.originals.items())],
        "nodes": {
            name: [getattr(node, name) for node in path_map.nodes]
            for name in _columns(path_map.has_call_sites)
        },
    }
    if path_map.aligning is not None:
        document["aligning"] = [[at, *one] for at, one in sorted(path_map.aligning.items())]
    if path_map.call_sites is not None:
        sites = sorted(path_map.call_sites.items())
        document["call_sites"] = {str(address): name for address, name in sites}
    folder = os.path.dirname(os.path.abspath(path))
    try:
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
            json.dump({**document, _DIGEST: _digest(document)}, file, separators=(",", ":"))
            file.write("\n")
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(file.name, 0o666 & ~umask)
        os.replace(file.name, path)
    except OSError as error:
        raise SteelyardError(
            f"The map {path} cannot be written: {error.strerror}.", field="--output"
        ) from None


def _digest(document: dict[str, Any]) -> str:
    """Of all that a map says, however its file is laid out."""
    said = {name: value for name, value in document.items() if name != _DIGEST}
    text = json.dumps(said, separators=(",", ":"), sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _map_of(value: Any, reader: FieldReader) -> PathMap:
    fields = reader.mapping(value, "the top level")
    reader.choice(reader.required(fields, "schema", ""), "schema", (_SCHEMA,))
    reader.choice(reader.required(fields, "kind", ""), "kind", (_KIND,))
    functions = _names(reader.required(fields, "functions", ""), "functions", reader)
    # Maps without call sites have no such field, as those that were written before there were any.
    sites = None
    if "call_sites" in fields:
        sites = _names(fields["call_sites"], "call_sites", reader)
    unwatched = reader.mapping(reader.required(fields, "unwatched", ""), "unwatched")
    return PathMap(
        program=reader.text(reader.required(fields, "program", ""), "program"),
        build=reader.text(reader.required(fields, "build", ""), "build"),
        run_count=_count(fields, "runs", reader),
        functions=functions,
        unwatched={name: reader.text(why, f"unwatched.{name}") for name, why in unwatched.items()},
        nodes=_nodes(fields, functions, sites, reader),
        lost_count=_count(fields, "lost", reader),
        guessed_count=_count(fields, "guessed", reader),
        marks=_marks(fields, reader),
        call_sites=sites,
        originals=_originals(fields, reader),
        aligning=_aligning(fields, reader),
    )


def _columns(has_call_sites: bool) -> tuple[str, ...]:
    return (*_COLUMNS, _SITE_COLUMN) if has_call_sites else _COLUMNS


def _count(fields: dict[str, Any], name: str, reader: FieldReader) -> int:
    return reader.whole(reader.required(fields, name, ""), name, 2**63)


def _names(value: Any, field: str, reader: FieldReader) -> dict[int, str]:
    names = reader.mapping(value, field)
    for text in names:
        if not text.isascii() or not text.isdigit() or len(text) > 20:
            raise reader.error(field, "addresses with their names", text)
    return {int(text): reader.text(name, f"{field}.{text}") for text, name in names.items()}


def _originals(fields: dict[str, Any], reader: FieldReader) -> dict[int, int]:
    # Maps that were written before there were clones have no such field.
    found: dict[int, int] = {}
    for index, row in enumerate(reader.sequence(fields.get("clones", []), "clones")):
        pair = reader.sequence(row, f"clones[{index}]")
        if len(pair) != 2 or not all(type(one) is int and 0 <= one < 2**63 for one in pair):
            raise reader.error(f"clones[{index}]", "the addresses of a clone and its original", row)
        found[pair[0]] = pair[1]
    return found


def _aligning(fields: dict[str, Any], reader: FieldReader) -> dict[int, Alignment] | None:
    # Maps that were written before this was kept have no such field.
    if "aligning" not in fields:
        return None
    found: dict[int, Alignment] = {}
    for index, row in enumerate(reader.sequence(fields["aligning"], "aligning")):
        name = f"aligning[{index}]"
        numbers = reader.sequence(row, name)
        depth = numbers[2] if len(numbers) == 3 else -1
        known = [number for number in numbers if number is not None]
        are_whole = all(type(one) is int and 0 <= one < 2**63 for one in known)
        is_one = len(known) == 2 + (depth is not None) and are_whole
        if not is_one or not _is_alignment(known[1], depth):
            raise reader.error(name, "an address, an alignment above 16 and a depth or null", row)
        found[known[0]] = Alignment(known[1], depth)
    return found


def _is_alignment(size_bytes: int, depth_bytes: int | None) -> bool:
    is_power = size_bytes > KEPT_BYTES and size_bytes & (size_bytes - 1) == 0
    return is_power and (depth_bytes is None or size_bytes <= LONGEST_BYTES)


def _marks(fields: dict[str, Any], reader: FieldReader) -> dict[tuple[int, int], int]:
    # Maps that were written before there were marks have no such field.
    found: dict[tuple[int, int], int] = {}
    for index, row in enumerate(reader.sequence(fields.get("marks", []), "marks")):
        numbers = reader.sequence(row, f"marks[{index}]")
        if len(numbers) != 3 or not all(type(one) is int and 0 <= one < 2**63 for one in numbers):
            raise reader.error(f"marks[{index}]", "a caller, a callee and a number", row)
        found[numbers[0], numbers[1]] = numbers[2]
    return found


def _nodes(
    fields: dict[str, Any],
    functions: dict[int, str],
    sites: dict[int, str] | None,
    reader: FieldReader,
) -> tuple[PathNode, ...]:
    columns = reader.mapping(reader.required(fields, "nodes", ""), "nodes")
    if sites is None and _SITE_COLUMN in columns:
        raise reader.error("call_sites", "names of the call sites of nodes", None)
    lists = [
        reader.sequence(reader.required(columns, name, "nodes"), f"nodes.{name}")
        for name in _columns(sites is not None)
    ]
    known_sites = {NO_CALL_SITE, *(sites or ())}
    counts = {len(column) for column in lists}
    if len(counts) > 1:
        raise reader.error("nodes", "columns of the same length", sorted(counts))
    nodes: list[PathNode] = []
    for index, row in enumerate(zip(*lists, strict=True)):
        node = PathNode(*row)
        whole = all(type(number) is int and abs(number) < 2**63 for number in node)
        known = whole and ROOT <= node.parent < index and node.function in functions
        is_counted = whole and node.height_bytes >= 0 and node.call_count >= 0
        if not known or not is_counted or node.call_site not in known_sites:
            raise reader.error(
                f"nodes[{index}]",
                "an earlier parent, a function and a call site of the map, two counts",
                row,
            )
        nodes.append(node)
    return tuple(nodes)
