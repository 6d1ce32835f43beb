"""An archive of an experiment, from which alone it can be run again and analysed."""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from steelyard.app.service.service_packages import ServicePackages
from steelyard.core.experiment_results import Experiment
from steelyard.core.masking import MASK
from steelyard.report.texts.readable import one_line

FILE, TRIALS, README = "experiment.toml", "trials.json", "README.txt"
RESULTS = "results"
# More archives of results than these are fetched by themselves.
MOST_RESULT_BYTES = 1 << 30
_FORMAT = "steelyard-json"
_TEXT = """\
{name}
Experiment {identifier} of Steelyard.

{file}  what was run. Again on a service, or on this machine:
    steelyard submit {file}
    steelyard experiment run {file}
{trials}      what came of it so far, with its provenance:
    steelyard import {trials}
{more}"""


def write_experiment_archive(
    path: str,
    found: Experiment,
    text: str,
    packages: ServicePackages,
    digests: Mapping[str, str],
    results: Sequence[tuple[str, str]] = (),
) -> None:
    """Write the archive.

    Parameters
    ----------
    path : str
        Of the new file, a tar file packed by gzip.
    found : Experiment
    text : str
        Its experiment file.
    packages : ServicePackages
    digests : mapping of str to str
        Of those of its packages that belong into the archive, by their names in the file.
    results : sequence of tuple of str
        Archives of results that belong into it: what each is called, and where it lies.
    """
    from steelyard.store.file_format import writer_of
    from steelyard.store.formats import FORMATS

    with (
        tempfile.TemporaryDirectory(prefix="steelyard-archive-") as directory,
        tarfile.open(path, "w:gz") as archive,
    ):
        missing: list[str] = []
        for name, digest in digests.items():
            packed = os.path.join(directory, "package.tar")
            member = member_name(name)
            if member is None or not packages.write(digest, packed):
                missing.append(name)
                continue
            archive.add(packed, member, recursive=False)
        trials = os.path.join(directory, TRIALS)
        writer_of(FORMATS.get(_FORMAT))(found, trials)
        archive.add(trials, TRIALS, recursive=False)
        _add(archive, FILE, text)
        left = _add_results(archive, results)
        _add(archive, README, _readme(found, text, missing, left))


def _add_results(archive: tarfile.TarFile, results: Sequence[tuple[str, str]]) -> int:
    """Add archives of results up to a size; how many are left out."""
    total, left = 0, 0
    for name, path in results:
        total += os.path.getsize(path) if os.path.exists(path) else MOST_RESULT_BYTES
        if total > MOST_RESULT_BYTES:
            left += 1
        else:
            archive.add(path, f"{RESULTS}/{name}", recursive=False)
    return left


def member_name(name: str) -> str | None:
    """Where a package lies in the archive, so that the file finds it there; None where its name
    leads elsewhere or is another member's."""
    parts = PurePosixPath(name).parts
    if (
        not parts
        or name.startswith("/")
        or ".." in parts
        or parts[0] in (FILE, TRIALS, README, RESULTS)
    ):
        return None
    return "/".join(parts)


def _readme(found: Experiment, text: str, missing: list[str], left: int) -> str:
    told = [f"Not here: the package {one_line(each)}. Put it beside the file." for each in missing]
    if MASK in text:
        told.insert(0, f"Values that are hidden stand as *** in {FILE}: write them anew first.")
    more = "".join(f"{line}\n" for line in told)
    if left:
        more += f"Not here: {left} archives of results, which the service has by themselves.\n"
    spec = found.spec
    return _TEXT.format(
        name=one_line(spec.note), identifier=spec.identifier, file=FILE, trials=TRIALS, more=more
    )


def _add(archive: tarfile.TarFile, name: str, text: str) -> None:
    data = text.encode("utf-8", "replace")
    about = tarfile.TarInfo(name)
    about.size = len(data)
    archive.addfile(about, io.BytesIO(data))
