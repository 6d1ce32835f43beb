"""What an experiment file asks of hosts: its table `hosts`, and the images of its packages."""

from __future__ import annotations

from dataclasses import replace

from steelyard.allocation.hosts_asked import HostsAsked, read_hosts_asked
from steelyard.allocation.requirement import Requirement
from steelyard.app.experiment.experiment_entries import ExperimentFile
from steelyard.core.errors import UsageError
from steelyard.factors.kinds.image import EXTENSION, HOSTS_OWN


def hosts_asked_by(read: ExperimentFile) -> HostsAsked:
    """The hosts that can run a file.

    Raises
    ------
    UsageError
        The table is wrong, or varies the root file system of a benchmark that has none of its own.
    """
    asked = read_hosts_asked(read.hosts)
    if "image" in asked.factors:
        if varied := _varied_images(read):
            raise UsageError(
                f"{read.path}: `image` is varied twice: by a factor within blocks "
                f"({', '.join(sorted(varied))}), and among blocks by hosts.factors. Leave one out.",
                field="hosts.factors.image",
            )
        for entry in read.benchmarks:
            if not entry.package:
                raise UsageError(
                    f"{read.path}: `image` varies the root file system of packages, and the "
                    f"benchmark {entry.name!r} runs on the host's own. Make a package of it: "
                    "steelyard package init FOLDER -- CMD.",
                    field="hosts.factors.image",
                )
        return asked
    names = _varied_images(read) or {
        str(entry.options.get("package_options", {}).get("image", ""))
        for entry in read.benchmarks
        if entry.package
    }
    wanted = tuple(sorted(name for name in names if name and "/" not in name))
    if not wanted:
        return asked
    return replace(asked, require=(*asked.require, Requirement("images", "=", wanted)))


def _varied_images(read: ExperimentFile) -> set[str]:
    """The images that a factor of the file varies within blocks: a host must have all of them."""
    levels = {
        level for entry in read.factors if entry.factor == EXTENSION.name for level in entry.levels
    }
    return levels - {HOSTS_OWN}
