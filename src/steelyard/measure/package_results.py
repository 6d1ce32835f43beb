"""What `collect.sh` of a benchmark package left: an archive, and the metrics found in it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from steelyard.archives.member_names import MemberNames
from steelyard.archives.unpack_limits import UnpackLimits
from steelyard.archives.unpack_tar import DAMAGED as DAMAGED_TAR
from steelyard.archives.unpack_tar import unpack_tar
from steelyard.archives.unpack_zip import DAMAGED as DAMAGED_ZIP
from steelyard.archives.unpack_zip import unpack_zip
from steelyard.core.errors import ArchiveError, DataError
from steelyard.core.experiment_spec import IterationsSpec
from steelyard.harness.adapter import Series, Source, read_series, recognised, text_of
from steelyard.harness.adapters import ADAPTERS
from steelyard.harness.result_tables import read_results
from steelyard.measure.iterations import iterations_file

# Of an archive of results, unpacked; and of a file in it that is looked at for metrics.
MOST_BYTES = 2 * 2**30
MOST_MEMBERS = 50_000
MOST_SECONDS = 60.0
LOOKED_AT_BYTES = 16 * 2**20
# Files by these names are results, whatever they look like.
NAMED = ("results.csv", "metrics.json")
# The adapter of what Steelyard itself writes.
LINES = "json-lines"
_OF_TABLES = (".csv", ".json", ".jsonl", ".txt", ".xml", ".log", ".out")


def report_file(directory: str, position: int) -> str:
    """What the container's program writes about the end of a trial."""
    return os.path.join(directory, f"{position}.package")


def found_package(
    directory: str, record: Mapping[str, Any], asked: IterationsSpec | None
) -> dict[str, Any]:
    """What a trial of a package left.

    Returns
    -------
    dict
        What the container's program reported (``result``, ``result_bytes``, ``kept``,
        ``leftover_processes``, ``refused_forks``, ``memory_kills``, ``held``, ``full``), the
        archive's ``sha256``, and ``metrics``: of each metric that was recognised in it ``unit``,
        ``direction``, ``values`` and ``file``. A ``problem`` says what went wrong. The file that
        iterations are `asked` of is copied to where they are looked for.
    """
    position = record["trial"]
    try:
        with open(report_file(directory, position), encoding="utf-8", errors="replace") as file:
            found: dict[str, Any] = json.load(file)
    except (OSError, ValueError):
        return {"problem": "the container left no report"}
    kept = found.get("kept")
    if found.get("problem") is not None or not isinstance(kept, str):
        with suppress(OSError):
            os.unlink(str(kept))
        found.pop("kept", None)
        return found
    try:
        with open(kept, "rb") as file:
            found["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
        with _unpacked(kept) as folder:
            found["metrics"] = _metrics(folder)
            if asked is not None:
                _take_iterations(folder, asked, iterations_file(directory, position))
    except (ArchiveError, *DAMAGED_TAR, *DAMAGED_ZIP) as error:
        found["problem"] = f"the archive of results {found.get('result')!r} is refused: {error}"
    except OSError as error:
        found["problem"] = f"the archive of results cannot be read: {error.strerror}"
    return found


@contextmanager
def _unpacked(archive: str) -> Iterator[str]:
    """A folder with what is in an archive, while the block lasts."""
    limits = UnpackLimits(
        os.path.getsize(archive),
        member_count=MOST_MEMBERS,
        total_bytes=MOST_BYTES,
        time_s=MOST_SECONDS,
        names=MemberNames(),
    )
    with open(archive, "rb") as file:
        is_zip = file.read(4) in (b"PK\3\4", b"PK\5\6")
    with tempfile.TemporaryDirectory(prefix="steelyard-results-") as folder:
        (unpack_zip if is_zip else unpack_tar)(archive, folder, limits)
        yield folder


def _plain_files(folder: str) -> Iterator[tuple[str, str]]:
    """Plain files with their names in the archive, those that lie highest first."""
    for above, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(above, name)
            if not os.path.islink(path) and os.path.getsize(path) <= LOOKED_AT_BYTES:
                yield os.path.relpath(path, folder), path


def _metrics(folder: str) -> dict[str, Any]:
    metrics: dict[str, Any] = {}
    for name, path in _plain_files(folder):
        base = os.path.basename(name)
        if base not in NAMED and not base.endswith(_OF_TABLES):
            continue
        with suppress(DataError):
            for item in _series(name, path):
                if item.error is None and item.fault is None and item.values:
                    metrics.setdefault(_metric_name(item), _told(item, name))
    return metrics


def _series(name: str, path: str) -> tuple[Series, ...]:
    """What a file holds, by its name or by what it looks like; nothing where neither tells."""
    with open(path, "rb") as file:
        source = Source(text_of(file.read()), name)
    if os.path.basename(name) in NAMED:
        return read_results(source)
    adapter = recognised(source.text, ADAPTERS)
    return () if adapter is None else read_series(ADAPTERS.get(adapter), source, ADAPTERS)


def _metric_name(item: Series) -> str:
    return f"{item.benchmark} {item.metric}".strip()


def _told(item: Series, name: str) -> dict[str, Any]:
    return {
        **{"unit": item.unit, "direction": item.direction, "file": name},
        "values": list(item.values[item.warmup_count :]),
    }


def _take_iterations(folder: str, asked: IterationsSpec, target: str) -> None:
    """Put what iterations are asked of where the adapter looks; tables as lines of JSON."""
    wanted = NAMED if asked.file is None else (asked.file,)
    for name, path in _plain_files(folder):
        base = os.path.basename(name)
        if name not in wanted and base not in wanted:
            continue
        if base in NAMED and asked.adapter == LINES:
            with open(target, "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in _lines(_series(name, path)))
        else:
            shutil.copyfile(path, target)
        return


def _lines(series: tuple[Series, ...]) -> Iterator[str]:
    for item in series:
        about = {"metric": item.metric, "unit": item.unit, "direction": item.direction}
        for value in item.values:
            yield json.dumps({**about, "value": value})
