"""A part whose host is booted before each trial: run one by one, kept on the disk between boots."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from steelyard.app.service.worker_archives import ARCHIVES
from steelyard.core.private_file import DIRECTORY_MODE, make_private_directories, private_opener

_EACH_TRIAL = "trial"


class BegunPart:
    """What of a given part is run now, and what was run of it before boots.

    Parameters
    ----------
    directory : str
        Where parts wait that have begun. There is one at a time, so that others are left over.
    given : mapping
        As the service sends it.
    """

    def __init__(self, directory: str, given: Mapping[str, Any]) -> None:
        self._given = given
        self._directory = directory
        self._path = os.path.join(directory, f"{given['part']}-{given['attempt']}.json")
        self._in_slices = given.get("reboot") == _EACH_TRIAL
        self.ran = int(given.get("ran", 0)) + self._in_slices

    @property
    def now(self) -> Mapping[str, Any]:
        """The part as it is run now: all of it, or its next trial."""
        if not self._in_slices:
            return self._given
        return {**self._given, "positions": self._given["positions"][self.ran - 1 : self.ran]}

    def after(self, result: dict[str, Any], scratch: str) -> dict[str, Any] | None:
        """The result of the whole part, or None where more of it is run after a boot; failures are
        of the whole part.

        Archives of results are moved from the directory `scratch` of what was run now, and all of
        them back to there with the whole result.
        """
        if not self._in_slices:
            return result
        if "failure" in result:
            self._forget()
            return result
        trials: Sequence[Any] = [*self._kept(), *result["trials"]]
        if len(trials) != self.ran:
            self._forget()
            about = {name: result[name] for name in ("part", "attempt", "experiment")}
            return {**about, "failure": "what this host ran before a boot is not on its disk"}
        here, kept = (os.path.join(place, ARCHIVES) for place in (scratch, self._directory))
        if self.ran == len(self._given["positions"]):
            _move_files(kept, here)
            self._forget()
            return {**result, "trials": trials}
        make_private_directories(self._directory)
        _move_files(here, kept)
        self._keep(trials)
        return None

    def _kept(self) -> Sequence[Any]:
        """What was run before; nothing where it is not there, or damaged: the block then says so,
        and the worker goes on."""
        try:
            with open(self._path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError, RecursionError):
            return []
        return found if isinstance(found, list) else []

    def _keep(self, trials: Sequence[Any]) -> None:
        """Keep what was run; it is on the disk when this returns."""
        part = f"{self._path}.part"
        with open(part, "w", encoding="utf-8", opener=private_opener) as file:
            json.dump(trials, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self._path)

    def _forget(self) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)


def _move_files(source: str, target: str) -> None:
    """Move the files of a directory, if it is there, into another of the same file system."""
    with suppress(FileNotFoundError):
        names = os.listdir(source)
        os.makedirs(target, mode=DIRECTORY_MODE, exist_ok=True)
        for name in names:
            os.replace(os.path.join(source, name), os.path.join(target, name))
