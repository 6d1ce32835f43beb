"""From a benchmark package to the variant of an experiment that runs it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import ArchiveError, UsageError
from steelyard.core.experiment_spec import LaunchSpec, Variant
from steelyard.core.package_spec import EnvironmentLimits, PackageSpec
from steelyard.service.package.archive import RUN, SETUP, Package
from steelyard.service.package.environments import CONTAINED, environment_named
from steelyard.service.package.host_rooms import IMAGES
from steelyard.service.package.kept_packages import KeptPackages, packages_directory
from steelyard.service.package.package_faults import find_faults, variables_of


@dataclass(frozen=True)
class PackageChoice:
    """How packages are to be run.

    Parameters
    ----------
    environment : str
        The name of one of `service.package.environments.ENVIRONMENTS`.
    image : str or None
        The absolute path of a directory with a root file system, or the name of an image; None:
        the host's own.
    has_network : bool
    limits : EnvironmentLimits
    timeout_s : float or None
        For `run.sh`.
    expected_exit_codes : tuple of int
        Of `run.sh`.
    """

    environment: str = CONTAINED.name
    image: str | None = None
    has_network: bool = False
    limits: EnvironmentLimits = field(default_factory=EnvironmentLimits)
    timeout_s: float | None = None
    expected_exit_codes: tuple[int, ...] = (0,)


def keep_package(source: str, directory: str | None = None) -> Package:
    """Keep a package where this user's are kept, or in `directory`, under its digest.

    Raises
    ------
    ArchiveError
    """
    return KeptPackages(directory or packages_directory()).add(source)


def packaged_variant(
    digest: str, name: str, choice: PackageChoice | None = None, directory: str | None = None
) -> Variant:
    """The variant that runs a package that is kept.

    Its build runs `setup.sh` in the package's environment; its program is `run.sh`. Where it runs,
    the package is kept too (`keep_package`); the variant itself names it by its digest alone.

    Parameters
    ----------
    name : str
        Of the variant.

    Raises
    ------
    UsageError
        The package has faults; the message names the first and says how all are listed.
    ArchiveError
        It is not kept.
    """
    choice = choice or PackageChoice()
    environment_named(choice.environment)
    kept = KeptPackages(directory or packages_directory())
    package, folder = kept.package(digest), kept.place(digest)
    image = choice.image
    if image is not None and not os.path.isabs(image):
        # By its name it may be another host's: where it is, its interpreters are looked for.
        image = IMAGES.folder(image) if image in IMAGES.found() else ""
    found = find_faults(package, folder, image=image, has_network=choice.has_network)
    if found.faults:
        more = len(found.faults) - 1
        others = f" and {more} more faults" if more else ""
        raise UsageError(
            f"The package {name!r} cannot run: {found.faults[0].message}\n"
            f"That{others}: `steelyard package check {name}` lists what is to be mended.",
            field="package",
        )
    spec = PackageSpec(
        digest=digest,
        environment=choice.environment,
        has_setup=package.has_setup,
        variables=variables_of(package, folder),
        image=choice.image,
        has_network=choice.has_network,
        limits=choice.limits,
    )
    launch = LaunchSpec(
        argv=(f"{{build}}/{RUN}",),
        timeout_s=choice.timeout_s,
        expected_exit_codes=choice.expected_exit_codes,
    )
    build = BuildSpec(argv=(f"./{SETUP}",) if package.has_setup else ("true",))
    return Variant(name=name, launch=launch, build=build, package=spec)


def package_name(source: str) -> str:
    """What a package is called: its file or folder without what says how it is packed."""
    name = os.path.basename(os.path.abspath(source))
    for ending in (".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tgz", ".txz", ".tar", ".zip"):
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending)
    return name


def kept_variants(
    sources: tuple[str, ...], choice: PackageChoice, directory: str | None = None
) -> tuple[Variant, ...]:
    """The variants of several packages, each kept first; the first is the baseline.

    Raises
    ------
    UsageError
        Two have the same name and different contents, or one has faults.
    ArchiveError
    """
    variants: list[Variant] = []
    for source in sources:
        if not os.path.exists(source):
            raise ArchiveError(f"There is no package {source!r}.", field="package")
        name = source if any(v.name == package_name(source) for v in variants) else None
        digest = keep_package(source, directory).digest
        variants.append(packaged_variant(digest, name or package_name(source), choice, directory))
    return tuple(variants)
