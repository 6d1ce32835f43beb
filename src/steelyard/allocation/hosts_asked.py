"""What an experiment asks of the hosts that run it, as its file's table `hosts` says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from steelyard.allocation.requirement import Requirement, read_requirements
from steelyard.allocation.worker_facts import BROUGHT_FACTORS, HOST_FACTORS, REBOOTS
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_duration, parse_share

FIELDS = (
    *("require", "factors", "replicates", "workers", "redundant", "reboot", "builds"),
    *("time_limit", "cost_limit"),
)
# Who makes the builds: each worker its own, or one for all of its platform.
BUILDS = ("worker", "platform")
MOST_REPLICATES = 1_000_000


@dataclass(frozen=True)
class HostsAsked:
    """Which hosts, how many, and how often each runs the whole design.

    Parameters
    ----------
    require : tuple of Requirement
        What each host must be.
    shares : mapping of placement factor to float
        From 0 (one level, drawn) to 1 (every level that hosts which meet `require` have).
    named : mapping of placement factor to tuple of str
        Levels each of which some host must be at.
    replicates : int
        Blocks on each worker.
    least, most : int, int or None
        How many workers there may be.
    reboot : str
        One of `REBOOTS`.
    time_limit_s, cost_limit_s : float or None
        After what the experiment ends: from when it was sent, and of all workers together.
    redundant_ratio : float
        The share of the blocks that another worker repeats.
    builds : str
        One of `BUILDS`.
    """

    require: tuple[Requirement, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict[str, float])
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    replicates: int = 1
    least: int = 1
    most: int | None = None
    reboot: str = "never"
    time_limit_s: float | None = None
    cost_limit_s: float | None = None
    redundant_ratio: float = 0.0
    builds: str = BUILDS[0]

    @property
    def factors(self) -> tuple[str, ...]:
        """The factors of hosts that are varied."""
        return (*self.shares, *self.named)

    @property
    def brought(self) -> tuple[str, ...]:
        """Those of them that a host is brought to, block by block."""
        return tuple(name for name in self.factors if name in BROUGHT_FACTORS)

    @property
    def boots(self) -> bool:
        """Whether every host has to be booted for it."""
        return self.reboot != "never"


def read_hosts_asked(given: Mapping[str, Any], where: str = "hosts") -> HostsAsked:
    """What the table `hosts` of an experiment file, or of a form, asks.

    Raises
    ------
    UsageError
        A field is unknown, or a value of the wrong kind; the message names it.
    """
    for name in given:
        if name not in FIELDS:
            raise UsageError(
                f"{where}.{name}: there is no such field; known: {', '.join(FIELDS)}.",
                field=f"{where}.{name}",
            )
    require = _mapping(given.get("require", {}), f"{where}.require")
    factors = _mapping(given.get("factors", {}), f"{where}.factors")
    shares: dict[str, float] = {}
    named: dict[str, tuple[str, ...]] = {}
    for name, value in factors.items():
        place = f"{where}.factors.{name}"
        if name not in HOST_FACTORS:
            raise UsageError(
                f"{place}: {name!r} is no factor of hosts. Known: {', '.join(HOST_FACTORS)}.",
                field=place,
            )
        if isinstance(value, list):
            named[name] = _levels(cast("list[Any]", value), place)
        else:
            shares[name] = parse_share(value, place, ", or a list of levels")
    least, most = _workers(given.get("workers"), f"{where}.workers")
    replicates = _whole(given.get("replicates", 1), 1, f"{where}.replicates")
    reboot = given.get("reboot", "never")
    if reboot not in REBOOTS:
        raise UsageError(
            f"{where}.reboot takes {', '.join(REBOOTS)}, not {reboot!r}.", field=f"{where}.reboot"
        )
    if "reboot" in given and "reboot" in factors:
        raise UsageError(
            f"{where}: reboot is varied under `factors` and held by `reboot`. Give one of them.",
            field=f"{where}.reboot",
        )
    builds = given.get("builds", BUILDS[0])
    if builds not in BUILDS:
        raise UsageError(
            f"{where}.builds takes {', '.join(BUILDS)}, not {builds!r}.", field=f"{where}.builds"
        )
    required = read_requirements(require, f"{where}.require")
    limits = [_limit(given.get(name), f"{where}.{name}") for name in ("time_limit", "cost_limit")]
    redundant = _redundant(given.get("redundant"), f"{where}.redundant")
    return HostsAsked(
        *(required, shares, named, replicates, least, most, reboot),
        time_limit_s=limits[0],
        cost_limit_s=limits[1],
        redundant_ratio=redundant,
        builds=builds,
    )


def _redundant(value: Any, where: str) -> float:
    return 0.0 if value is None else parse_share(value, where)


def _limit(value: Any, where: str) -> float | None:
    return None if value is None else parse_duration(str(value), where)


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{where} takes a table, not {value!r}.", field=where)
    return cast("Mapping[str, Any]", value)


def _levels(values: list[Any], where: str) -> tuple[str, ...]:
    if not values or not all(type(each) in (str, int, float) for each in values):
        raise UsageError(f"{where} takes a share such as 50%, or a list of levels.", field=where)
    return tuple(dict.fromkeys(str(each) for each in values))


def _whole(value: Any, low: int, where: str) -> int:
    if type(value) is not int or not low <= value <= MOST_REPLICATES:
        raise UsageError(
            f"{where} takes a whole number from {low} to {MOST_REPLICATES}, not {value!r}.",
            field=where,
        )
    return value


def _workers(value: Any, where: str) -> tuple[int, int | None]:
    """The least and the most workers, from a number or from text such as ``2-8`` or ``2-``."""
    if value is None:
        return 1, None
    if type(value) is int:
        number = _whole(value, 1, where)
        return number, number
    low, dash, high = str(value).partition("-")
    if type(value) is str and dash and low.strip().isdigit():
        least = _whole(int(low), 1, where)
        if not high.strip():
            return least, None
        if high.strip().isdigit() and int(high) >= least:
            return least, _whole(int(high), 1, where)
    raise UsageError(
        f'{where} takes a number, or text such as "2-8" or "2-", not {value!r}.', field=where
    )
