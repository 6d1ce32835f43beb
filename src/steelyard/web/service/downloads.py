"""An experiment as a file that `steelyard export` writes and `steelyard import` reads."""

from __future__ import annotations

import os
import tempfile

from starlette.responses import Response

from steelyard.core.experiment_results import Experiment


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
    with tempfile.TemporaryDirectory(prefix="steelyard-download-") as directory:
        path = os.path.join(directory, f"{name}{chosen.suffixes[0]}")
        writer_of(chosen)(found, path)
        with open(path, "rb") as file:
            data = file.read()
    headers = {"Content-Disposition": f'attachment; filename="{os.path.basename(path)}"'}
    return Response(data, media_type="application/octet-stream", headers=headers)
