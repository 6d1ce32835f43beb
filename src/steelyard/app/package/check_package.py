"""Check a benchmark package as the service does."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace

from steelyard.app.package.packaged_variant import PackageChoice
from steelyard.app.package.rehearse_package import rehearse_package
from steelyard.core.errors import ArchiveError
from steelyard.service.package.archive import Package, unpack
from steelyard.service.package.host_rooms import image_folder
from steelyard.service.package.kept_packages import KeptPackages
from steelyard.service.package.package_faults import PackageFaults, find_faults
from steelyard.service.package.script_faults import Fault

__all__ = ["Fault", "PackageCheck", "check_package"]


@dataclass(frozen=True)
class PackageCheck:
    """What was found: `package` is None where the archive cannot be read."""

    source: str
    package: Package | None
    found: PackageFaults

    @property
    def passed(self) -> bool:
        """Whether the service takes it."""
        return not self.found.faults


def check_package(source: str, choice: PackageChoice, *, executes: bool = False) -> PackageCheck:
    """List all faults of a package.

    Parameters
    ----------
    executes : bool
        Run its scripts once too, if nothing else is wrong, and look at the archive of results.
    """
    with tempfile.TemporaryDirectory(prefix="steelyard-check-") as folder:
        try:
            files = os.path.join(folder, "files")
            package = unpack(source, files)
        except ArchiveError as error:
            fault = Fault("", "archive", error.message)
            return PackageCheck(source, None, PackageFaults((fault,), ()))
        image = image_folder(choice.image)
        found = find_faults(package, files, image=image, has_network=choice.has_network)
        if executes and not found.faults:
            found = replace(found, faults=_execution_faults(package, source, choice, folder))
    return PackageCheck(source, package, found)


def _execution_faults(
    package: Package, source: str, choice: PackageChoice, folder: str
) -> tuple[Fault, ...]:
    """What one execution shows; nothing of it is kept."""
    kept = os.path.join(folder, "kept")
    KeptPackages(kept).add(source)
    done = rehearse_package(package.digest, source, choice, directory=kept)
    if not done.problem:
        return ()
    return (Fault(done.script, "execution", done.problem.rstrip(".") + "."),)
