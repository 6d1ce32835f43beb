"""Archives of results that trials of a part left, given to whoever asked for the part."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Trial
from steelyard.core.private_file import make_private_directories

PACKAGE, KEPT = "package", "kept"


def give_archive(trial: Trial, target: str | None) -> Trial:
    """`trial` without the name of its archive, which goes with the part's directory; with `target`
    the archive is moved there first, under the trial's position.

    Archives of warm-ups are left: their trials answer nothing.

    Raises
    ------
    UsageError
        The directory cannot be written.
    """
    package = trial.details.get(PACKAGE)
    if not isinstance(package, dict) or KEPT not in package:
        return trial
    told = {name: value for name, value in package.items() if name != KEPT}
    if target is not None and not trial.warmup and "problem" not in package:
        _move(str(package[KEPT]), target, str(trial.position))
    return replace(trial, details={**trial.details, PACKAGE: told})


def _move(archive: str, target: str, name: str) -> None:
    try:
        make_private_directories(target)
        shutil.move(archive, os.path.join(target, name))
    except OSError as error:
        raise UsageError(
            f"--archives: {target} cannot take an archive of results: {error.strerror}.",
            field="--archives",
        ) from None
