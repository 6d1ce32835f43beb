"""What the planner of paths writes of a program."""

from __future__ import annotations

import subprocess

from steelyard.core.errors import UsageError
from steelyard.core.native_program import native_program

PLANNER_ADVICE = "It is there on x86-64; in a checkout, `make native` builds it."


def planner_lines(option: str, program: str, what: str, field: str) -> list[str]:
    """The lines that the planner writes.

    Parameters
    ----------
    option : str
        Which of its forms.
    program : str
        The file.
    what : str
        What is read, for the message.
    field : str
        The option that names the file.

    Raises
    ------
    UsageError
        It is no program that can be read.
    MissingCapabilityError
        The planner was not built.
    """
    planner = native_program(
        "steelyard-path-planner", "the planner of paths", advice=PLANNER_ADVICE
    )
    done = subprocess.run(
        [planner, option, program], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode != 0:
        reason = done.stderr.decode(errors="replace").strip() or "the planner was killed"
        raise UsageError(f"The {what} of {program} cannot be read.\n{reason}", field=field)
    return done.stdout.decode(errors="replace").splitlines()
