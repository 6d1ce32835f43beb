"""What is known to disturb measurements on this machine, and what its knobs were found worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steelyard.host.knob import Finding


@dataclass(frozen=True)
class HostState:
    """What was found on this machine.

    Parameters
    ----------
    findings : tuple of Finding
        Settings first, then observations.
    facts : mapping
        Which machine it is.
    cpus : tuple of int or None
        Those that are to be measured on; None: all.
    study : mapping or None
        The last study of this machine; None where there is none.
    """

    findings: tuple[Finding, ...]
    facts: dict[str, Any]
    cpus: tuple[int, ...] | None
    study: Mapping[str, Any] | None


def host_state(cpus: str | None, store: str | None) -> HostState:
    """Look at this machine.

    Parameters
    ----------
    cpus : str or None
        Those to measure on, as the kernel lists CPUs; None: all.
    store : str or None
        The file of the store beside which studies are kept; None: the user's own.

    Raises
    ------
    UsageError
        `cpus` is no list of CPUs.
    """
    from steelyard.host.cpu_list import parse_cpu_list
    from steelyard.host.facts import host_facts
    from steelyard.host.status import read_status
    from steelyard.store.kept_study import kept_study
    from steelyard.store.store_location import store_path

    chosen = None if cpus is None else parse_cpu_list(cpus)
    findings, facts = read_status(cpus=chosen), host_facts()
    return HostState(findings, facts, chosen, kept_study(store_path(store), facts))
