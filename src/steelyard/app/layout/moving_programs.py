"""Compile programs that move while they run, move what can be of others, and audit one."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    from steelyard.layout.audit import LayoutAudit, SampledCode
    from steelyard.layout.toolchain import Language


def drive_compiler(arguments: Sequence[str], language: Language, say: Callable[[str], None]) -> int:
    """Be the compiler driver of `language` and give its exit status.

    Raises
    ------
    SteelyardError
        What `steelyard.layout.driver.drive` raises.
    """
    from steelyard.layout.driver import drive

    return drive(arguments, language, say)


def audit_layout(binary: str, profile: str | None) -> tuple[LayoutAudit, SampledCode | None]:
    """What moves of a program, and how many samples of a profile lie in what does.

    Raises
    ------
    DataError
        One of the files cannot be read, or the profile is not of this program.
    """
    from steelyard.app.profile.layout_samples import sampled_code
    from steelyard.layout.audit import audit_program

    audited = audit_program(binary)
    return audited, None if profile is None else sampled_code(audited, profile)


def become_moved(argv: tuple[str, ...], parts: str, seed: str | None) -> NoReturn:
    """Become a program that was not built for it, with its heap shuffled, its stack elsewhere.

    Parameters
    ----------
    argv : tuple of str
    parts : str
        Some of ``stack`` and ``heap``, with a comma between.
    seed : str or None
        What both are drawn from; None: another one each time.

    Raises
    ------
    UsageError
        `parts` or `seed` is none, or a part takes building the program.
    MissingCapabilityError
        The heap's library is not installed, or the program is not there.
    """
    import secrets

    from steelyard.layout.layout_request import parse_parts, parse_seed
    from steelyard.layout.unbuilt_programs import become, randomised_environment

    chosen = secrets.randbits(63) + 1 if seed is None else parse_seed(seed)
    become(argv, randomised_environment(parse_parts(parts), chosen, os.environ))
    raise AssertionError("a process that has become another one does not go on")
