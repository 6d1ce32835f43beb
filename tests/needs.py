"""What tests take of the machine. One that lacks it skips them, and says by name what it lacks."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

import pytest

from steelyard.core.errors import MissingCapabilityError
from steelyard.profile.java.java_command import agent_path

# The packages of Debian that are not named as their program is.
PACKAGES = {
    "ar": "binutils",
    "cc": "gcc",
    "java": "default-jdk-headless",
    "javac": "default-jdk-headless",
    "jcmd": "default-jdk-headless",
    "ld": "binutils",
    "nm": "binutils",
}


def _reason(missing: Iterable[str]) -> str:
    missing = list(missing)
    packages = dict.fromkeys(PACKAGES.get(program, program) for program in missing)
    return f"it takes {' and '.join(missing)}: apt-get install {' '.join(packages)}"


def needs(*programs: str) -> pytest.MarkDecorator:
    """A mark of tests that run these programs."""
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=_reason(missing) if missing else "")


def need(*programs: str) -> None:
    """Go on, in a fixture or a test, where these programs are."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(_reason(missing))


def need_java() -> None:
    """Go on where there are a JDK and the agent for Java."""
    need("java", "javac")
    try:
        agent_path()
    except MissingCapabilityError as error:
        pytest.skip(error.message)
