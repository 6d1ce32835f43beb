"""The benchmark packages that an experiment file names, sent to a service before the file."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

from steelyard.app.experiment.experiment_entries import BenchmarkEntry, ExperimentFile
from steelyard.app.experiment.packaged_benchmark import package_source
from steelyard.core.errors import ArchiveError, TrialsFailedError, UsageError
from steelyard.service.package.archive import unpack
from steelyard.service.package.canonical_archive import write_archive
from steelyard.service.service_client import ServiceClient

_LOOK_EVERY_S = 1.0
Say = Callable[[str], None]


def send_packages(client: ServiceClient, file: ExperimentFile, say: Say) -> dict[str, str]:
    """Send the packages of a file; their digests by their names in it.

    Raises
    ------
    UsageError
        One is not there, cannot be read, or has faults; the message names its line.
    """
    found: dict[str, str] = {}
    for entry in file.benchmarks:
        if entry.package and entry.package not in found:
            found[entry.package] = _sent(client, file, entry, say)
    return found


def _sent(client: ServiceClient, file: ExperimentFile, entry: BenchmarkEntry, say: Say) -> str:
    source = package_source(file, entry)
    place = entry.places.get("package", file.path)
    if not os.path.exists(source):
        raise UsageError(f"{place}: there is no package {entry.package!r}.", field="package")
    with tempfile.TemporaryDirectory(prefix="steelyard-submit-") as directory:
        try:
            archive = _archive(source, directory)
        except ArchiveError as error:
            raise UsageError(f"{place}: {error.message}", field="package") from None
        answer = client.send_file("api/packages", archive)
    for each in answer["notes"]:
        say(f"{entry.package}: {each}")
    return str(answer["digest"])


def _archive(source: str, directory: str) -> str:
    """The archive that is sent: a folder is packed, as everything is read by the same rules."""
    if not os.path.isdir(source):
        return source
    files = os.path.join(directory, "files")
    unpack(source, files)
    return packed(files, directory)


def packed(files: str, directory: str) -> str:
    """An archive in `directory` of a package whose files lie in `files`."""
    path = os.path.join(directory, "package.tar")
    with open(path, "wb") as target:
        write_archive(files, target)
    return path


def rehearse(client: ServiceClient, body: dict[str, Any], say: Say) -> None:
    """Have each package of a file run once on each architecture, and tell what it printed.

    Raises
    ------
    TrialsFailedError
        One failed.
    """
    told = client.post("api/rehearsals", body)
    failed: list[str] = []
    shown = 0
    while shown < len(told["rehearsals"]):
        each = told["rehearsals"][shown]
        if each["state"] != "done":
            time.sleep(_LOOK_EVERY_S)
            told = client.get(f"api/rehearsals/{told['batch']}")
            continue
        shown += 1
        where = f"{each['benchmark']} on {each['worker']} ({each['architecture']})"
        say(f"rehearsal of {where}")
        for line in str(each["output"]).splitlines():
            say(f"  {line}")
        if each["problem"]:
            failed.append(f"{where} fails in {each['problem']}")
    if failed:
        raise TrialsFailedError("Nothing was sent: " + "; ".join(failed))
