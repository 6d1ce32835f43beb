"""What tests take of the machine. One that lacks it skips them, and says by name what it lacks."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path

import pytest

from steelyard.core.errors import MissingCapabilityError
from steelyard.profile.java.java_command import agent_path

_LIST = Path(__file__).parents[1] / "tools" / "test_programs"
# From a program to the package of Debian that has it.
PACKAGES = dict(
    line.split() for line in _LIST.read_text("utf-8").splitlines() if not line.startswith("#")
)
needs_x86_64 = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="it takes a processor of x86-64"
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="it takes root")


def _lack(programs: tuple[str, ...]) -> str | None:
    """Words for those of them that are missing; None: none is."""
    for program in programs:
        if program not in PACKAGES:
            raise ValueError(f"{program} is not in {_LIST}, so no set-up installs it: add it there")
    missing = [program for program in programs if shutil.which(program) is None]
    packages = dict.fromkeys(PACKAGES[program] for program in missing)
    if not missing:
        return None
    return f"it takes {' and '.join(missing)}: apt-get install {' '.join(packages)}"


def needs(*programs: str) -> pytest.MarkDecorator:
    """A mark of tests that run these programs.

    Raises
    ------
    ValueError
        `make setup-dev` does not install one of them.
    """
    lack = _lack(programs)
    return pytest.mark.skipif(lack is not None, reason=lack or "")


def need(*programs: str) -> None:
    """Go on, in a fixture or a test, where these programs are.

    Raises
    ------
    ValueError
        `make setup-dev` does not install one of them.
    """
    if lack := _lack(programs):
        pytest.skip(lack, allow_module_level=True)


def needed(program: str) -> str:
    """The path of a program that a test cannot do without, or a skip.

    Raises
    ------
    ValueError
        `make setup-dev` does not install it.
    """
    need(program)
    path = shutil.which(program)
    assert path is not None
    return path


def need_x86_64() -> None:
    """Go on, in a fixture or a test, on a processor of x86-64."""
    if platform.machine() != "x86_64":
        pytest.skip("it takes a processor of x86-64")


def need_root() -> None:
    """Go on, in a fixture or a test, as root."""
    if os.geteuid() != 0:
        pytest.skip("it takes root")


def need_java() -> None:
    """Go on where there are a JDK and the agent for Java."""
    need("java", "javac")
    try:
        agent_path()
    except MissingCapabilityError as error:
        pytest.skip(error.message)
