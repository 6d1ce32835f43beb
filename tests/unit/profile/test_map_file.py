"""Files of path maps: what they hold, and what becomes of damaged ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from steelyard.analysis.paths.path_map import ROOT, PathMap, PathNode
from steelyard.core.errors import DataError
from steelyard.profile.paths.map_file import read_map, write_map

NODES = (PathNode(ROOT, 4096, 272, 3), PathNode(0, 4160, 304, 12))
LEARNT = PathMap("p", "ab", 2, {4096: "main", 4160: "häufig"}, {"x": "too short"}, NODES)
WITH_SITES = PathMap(
    "p",
    "ab",
    1,
    {4096: "main", 4160: "leaf"},
    {},
    (PathNode(ROOT, 4096, 272, 3), PathNode(0, 4160, 304, 12, 4101)),
    marks={(4096, 4160): 7},
    call_sites={4101: "c.c:9"},
)


@pytest.fixture(params=[LEARNT, WITH_SITES], ids=["plain", "with call sites and marks"])
def written(request, tmp_path: Path) -> tuple[PathMap, Path]:
    path = tmp_path / "map"
    write_map(request.param, str(path))
    return request.param, path


def test_a_map_is_read_as_it_was_written(written):
    path_map, path = written
    assert read_map(str(path)) == path_map


def test_a_map_with_any_byte_changed_is_refused_or_says_the_same(written):
    path_map, path = written
    whole = path.read_bytes()
    refused = 0
    for at in range(len(whole)):
        for other in (whole[at] ^ 1, ord("0"), ord("9"), 0xFF):
            path.write_bytes(whole[:at] + bytes((other,)) + whole[at + 1 :])
            try:
                assert read_map(str(path)) == path_map
            except DataError:
                refused += 1
    assert refused > 3 * len(whole)


def test_a_map_that_is_cut_short_is_refused_at_every_length(written):
    _, path = written
    whole = path.read_bytes()
    for length in range(len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(DataError):
            read_map(str(path))


def test_a_height_that_was_changed_is_told(written):
    _, path = written
    path.write_text(path.read_text().replace("304", "320"))
    with pytest.raises(DataError, match="its digest is of another content"):
        read_map(str(path))


def test_a_map_that_another_tool_laid_out_anew_is_the_same(written):
    path_map, path = written
    path.write_text(json.dumps(json.loads(path.read_text()), indent=2, sort_keys=True))
    assert read_map(str(path)) == path_map


def test_a_map_without_a_digest_is_read_as_those_that_were_written_before(written):
    path_map, path = written
    document = json.loads(path.read_text())
    del document["digest"]
    path.write_text(json.dumps(document))
    assert read_map(str(path)) == path_map
