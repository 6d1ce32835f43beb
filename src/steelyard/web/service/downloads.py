"""An experiment as a file that `steelyard export` writes and `steelyard import` reads."""

from __future__ import annotations

import os
import shutil
import tempfile

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from steelyard.app.service.experiment_archive import write_experiment_archive
from steelyard.app.service.service import Service
from steelyard.app.service.service_archives import may_have_archives
from steelyard.app.service.who_may import may_change
from steelyard.core.experiment_results import Experiment
from steelyard.core.masked_experiment import masked_experiment
from steelyard.service.accounts import Identity
from steelyard.service.submitted_packages import packages_of
from steelyard.web.service.masked_submission import without_secrets


def download(found: Experiment, name: str, kind: str) -> Response:
    """An experiment as a file of a format.

    Raises
    ------
    UnknownNameError, UsageError, DataError
        There is no such format, or it has no place for this experiment.
    """
    from steelyard.store.file_format import writer_of
    from steelyard.store.formats import FORMATS

    chosen = FORMATS.get(kind)
    write = writer_of(chosen)
    directory = tempfile.mkdtemp(prefix="steelyard-download-")
    path = os.path.join(directory, f"{name}{next(iter(chosen.suffixes), f'.{kind}')}")
    try:
        write(found, path)
    except BaseException:
        shutil.rmtree(directory)
        raise
    # From the disk: many who read slowly would have the memory of as many files.
    return FileResponse(
        path,
        media_type="application/octet-stream",
        filename=os.path.basename(path),
        background=BackgroundTask(shutil.rmtree, directory, ignore_errors=True),
    )


def archive_download(service: Service, who: Identity, identifier: str, *, masks: bool) -> Response:
    """An archive from which alone an experiment can be run again.

    Its packages are in it for who may change the experiment: they are no more public than before.
    """
    sent = service.submission(who, identifier)
    found = service.trials(sent)
    hides = masks or sent.account != who.name
    shown = without_secrets(sent) if hides else sent
    digests: dict[str, str] = {}
    results: list[tuple[str, str]] = []
    if may_have_archives(who, sent):
        kept = [each for each in service.archives.listed(who, sent) if each.digest]
        results = [(each.name, service.archives.place(each)) for each in kept]
    if may_change(who, sent):
        with service.database.reading() as connection:
            digests = packages_of(connection, sent.id)
    number, path = tempfile.mkstemp(prefix="steelyard-archive-", suffix=".tar.gz")
    os.close(number)
    try:
        experiment = masked_experiment(found) if hides else found
        write_experiment_archive(path, experiment, shown.file, service.packages, digests, results)
    except BaseException:
        os.unlink(path)
        raise
    return FileResponse(
        path,
        media_type="application/gzip",
        filename=f"{sent.identifier}.tar.gz",
        background=BackgroundTask(os.unlink, path),
    )
