"""Benchmark packages on a worker: fetched by their digest, kept for the next part, rehearsed."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from steelyard.app.experiment.experiment_entries import KnownPackages
from steelyard.app.package.rehearse_package import rehearsed
from steelyard.core.errors import ArchiveError, SteelyardError
from steelyard.core.json_codec import package_from_json
from steelyard.core.private_file import make_private_directories
from steelyard.service.package.archive import PackageLimits
from steelyard.service.package.kept_packages import KeptPackages
from steelyard.service.service_client import ServiceClient, UnreachableError

# Beyond this, packages that were not used for longest go.
MOST_KEPT_BYTES = 8 << 30
# A tar file is larger than what is in it by a header and padding for each member.
_MOST_ARCHIVE_BYTES = PackageLimits().total_bytes + PackageLimits().member_count * 4096


@dataclass(frozen=True)
class WorkerPackages:
    """The packages that a worker keeps.

    Parameters
    ----------
    client : ServiceClient
        From where those that are missing come.
    directory : str
    """

    client: ServiceClient
    directory: str

    def fetched(self, digests: Mapping[str, str], scratch: str) -> KnownPackages:
        """Packages by their names in an experiment file, all of them kept here.

        Parameters
        ----------
        scratch : str
            A directory for archives, which are taken away.

        Raises
        ------
        UnreachableError
            The service does not answer.
        ServiceRefusal, ArchiveError, StoreError
            It does not give one, or what it gives is another, or there is no place for it.
        """
        if not digests:
            return KnownPackages(self.directory, {})
        make_private_directories(self.directory)
        kept = KeptPackages(self.directory)
        for digest in sorted(set(digests.values())):
            if not kept.is_whole(digest):
                # A crash of the host, or a failing disk, may have damaged what was kept.
                kept.forget(digest)
                self._fetch(kept, digest, scratch)
            os.utime(kept.place(digest))
        self._trim(kept, set(digests.values()))
        return KnownPackages(self.directory, dict(digests))

    def variables(self, known: KnownPackages) -> dict[str, str]:
        """What tells a command that runs trials where packages are kept."""
        return {"STEELYARD_PACKAGES": self.directory} if known.digests else {}

    def _fetch(self, kept: KeptPackages, digest: str, scratch: str) -> None:
        path = os.path.join(scratch, "package.tar")
        try:
            self.client.receive_file(f"api/worker/packages/{digest}", path, _MOST_ARCHIVE_BYTES)
            found = kept.add(path, PackageLimits(archive_bytes=_MOST_ARCHIVE_BYTES))
        finally:
            with suppress(FileNotFoundError):
                os.unlink(path)
        if found.digest != digest:
            kept.forget(found.digest)
            raise ArchiveError(f"The service sent another package than {digest}.")

    def _trim(self, kept: KeptPackages, used: set[str]) -> None:
        """Forget those that were not used for longest, beyond `MOST_KEPT_BYTES` in all."""
        names = [name for name in os.listdir(self.directory) if len(name) == 64]
        names.sort(key=lambda name: os.stat(kept.place(name)).st_mtime, reverse=True)
        total = 0
        for name in names:
            total += _size(kept.place(name))
            if total > MOST_KEPT_BYTES and name not in used:
                kept.forget(name)


def run_rehearsal(
    given: Mapping[str, Any], directory: str, packages: WorkerPackages
) -> dict[str, Any]:
    """Run the scripts of a package once; the result that goes back.

    Raises
    ------
    UnreachableError
        The package cannot be fetched now.
    """
    about = {name: given[name] for name in ("rehearsal", "attempt")}
    # What a container leaves is taken away with the part.
    held, tempfile.tempdir = tempfile.tempdir, directory
    try:
        packages.fetched(given["packages"], directory)
        done = rehearsed(package_from_json(given["package"]), packages.directory)
    except UnreachableError:
        raise
    except (SteelyardError, OSError, subprocess.SubprocessError) as error:
        return {**about, "problem": str(error), "output": ""}
    finally:
        tempfile.tempdir = held
    problem = f"{done.script or 'its container'}: {done.problem}" if done.problem else ""
    return {**about, "problem": problem, "output": done.output}


def _size(folder: str) -> int:
    return sum(
        os.lstat(os.path.join(place, name)).st_size
        for place, _, names in os.walk(folder)
        for name in names
    )
