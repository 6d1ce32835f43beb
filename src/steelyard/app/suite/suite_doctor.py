"""What this machine lacks for programs of the suite, and the one command that installs it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

from steelyard.core.install_hint import install_command as hint
from steelyard.suite.fetch.pypi import has_own_pip
from steelyard.suite.outcomes import Need
from steelyard.suite.recipe import Recipe, Requirement
from steelyard.suite.recipe_expansion import is_compiled
from steelyard.suite.suite_compilers import COMPILED, Toolchain, compiler_package

# What building takes whatever the recipe says, by package: a program that it has.
_ALWAYS = {
    "debian": (("dpkg-dev", "dpkg-source"), ("patch", "patch")),
    "maven": (("maven", "mvn"),),
    "pypi": (("python3-pip", "pip3"),),
    "npm": (("npm", "npm"),),
    "crates": (("cargo", "cargo"),),
    "own": (),
    "user": (),
}
_LANGUAGES = {
    "java": ("default-jdk-headless", "javac"),
    "python": ("python3", "python3"),
    "javascript": ("nodejs", "node"),
    "rust": ("rustc", "rustc"),
    "scala": ("default-jdk-headless", "javac"),
    "kotlin": ("default-jdk-headless", "javac"),
}


def needs_with(recipes: Sequence[Recipe], compilers: Sequence[str]) -> list[Need]:
    """What the programs need of the system, with each of these C compilers; see `needs_of`."""
    return needs_of(recipes, [Toolchain(cc=name) for name in compilers if name])


def needs_of(recipes: Sequence[Recipe], toolchains: Sequence[Toolchain]) -> list[Need]:
    """Everything that the programs need of the system, each once, what is missing first."""
    wanted: dict[Requirement, list[str]] = {}
    for recipe in recipes:
        for requirement in _requirements(recipe, toolchains):
            wanted.setdefault(requirement, []).append(recipe.name)
    needs = [
        Need(requirement, tuple(dict.fromkeys(programs)), is_available(requirement))
        for requirement, programs in wanted.items()
    ]
    return sorted(needs, key=lambda need: (need.available, need.requirement.package))


def install_command(needs: Sequence[Need]) -> str | None:
    """The one command that installs what is missing; None where nothing is."""
    packages = sorted({need.requirement.package for need in needs if not need.available})
    return hint(*packages) if packages else None


def _requirements(recipe: Recipe, toolchains: Sequence[Toolchain]) -> list[Requirement]:
    kind = recipe.source.kind
    found = [Requirement(package, "program", name) for package, name in _ALWAYS[kind]]
    if kind == "pypi" and has_own_pip():
        found = []
    if is_compiled(recipe):
        found.append(Requirement("make", "program", "make"))
        for toolchain in toolchains or (Toolchain(),):
            compilers = toolchain.compilers()
            for language in recipe.languages:
                if language in COMPILED:
                    compiler = compilers[COMPILED[language]]
                    found.append(Requirement(compiler_package(compiler), "program", compiler))
    for language in recipe.languages:
        if language in _LANGUAGES:
            package, program = _LANGUAGES[language]
            found.append(Requirement(package, "program", program))
    return [*found, *recipe.requires]


def is_available(requirement: Requirement) -> bool:
    """Whether what is wanted is found on this machine."""
    wanted = requirement.wanted
    if requirement.probe == "program":
        return shutil.which(wanted) is not None
    if requirement.probe == "file":
        return os.path.exists(wanted)
    if requirement.probe == "pkg-config":
        return _succeeds(["pkg-config", "--exists", wanted])
    return any(os.path.exists(os.path.join(place, wanted)) for place in _include_places()) or (
        _succeeds(["c++", "-E", "-include", wanted, "-x", "c++", os.devnull])
    )


def _include_places() -> list[str]:
    common = ["/usr/include", "/usr/local/include"]
    machine = os.uname().machine
    return [*common, f"/usr/include/{machine}-linux-gnu"]


def _succeeds(argv: Sequence[str]) -> bool:
    if shutil.which(argv[0]) is None:
        return False
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode == 0
