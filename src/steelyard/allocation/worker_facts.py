"""What is known of a worker, and which level of each placement factor it is at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["text", "number", "size", "set"]
Fact = str | int | float | frozenset[str]

# What a requirement can be on, and what its values are; `size` is in bytes.
FACTS: Mapping[str, Kind] = {
    "name": "text",
    "architecture": "text",
    "cpu-model": "text",
    "cpu-family": "text",
    "cpus": "number",
    "memory": "size",
    "swap": "size",
    "l1d": "size",
    "l2": "size",
    "l3": "size",
    "flags": "set",
    "kernel": "text",
    "distribution": "text",
    "virtualisation": "text",
    "tags": "set",
    "images": "set",
    "libraries": "set",
    "boots": "text",
}
_GIB = 1 << 30


@dataclass(frozen=True)
class WorkerFacts:
    """A worker as an allocation sees it.

    Parameters
    ----------
    name : str
        Unique among workers.
    facts : mapping of name to value
        Of those in `FACTS`; what is not known is absent.
    levels : mapping of factor to frozenset of str
        Which levels of each placement factor can be had there: one, or several where the worker
        can be brought to them.
    """

    name: str
    facts: Mapping[str, Fact]
    levels: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


def _platform(facts: Mapping[str, Fact]) -> str:
    """A kind of host: what two hosts of the same make have in common."""
    memory = facts.get("memory")
    parts = [
        str(facts.get("cpu-model", "unknown CPU")),
        str(facts.get("architecture", "unknown architecture")),
        f"{facts.get('cpus', '?')} CPUs",
    ]
    if isinstance(memory, int | float):
        parts.append(f"{round(memory / _GIB)} GiB")
    return ", ".join(parts)


def _memory(facts: Mapping[str, Fact]) -> str | None:
    memory = facts.get("memory")
    return f"{round(memory / _GIB)} GiB" if isinstance(memory, int | float) else None


def _as_it_is(name: str) -> Callable[[Mapping[str, Fact]], str | None]:
    return lambda facts: str(facts[name]) if name in facts else None


# Factors that a cluster alone has: how each level follows from the facts of a worker.
PLACEMENT_FACTORS: Mapping[str, Callable[[Mapping[str, Fact]], str | None]] = {
    "worker": _as_it_is("name"),
    "platform": _platform,
    "architecture": _as_it_is("architecture"),
    "cpu-model": _as_it_is("cpu-model"),
    "cpu-family": _as_it_is("cpu-family"),
    "cpus": _as_it_is("cpus"),
    "memory": _memory,
    "kernel": _as_it_is("kernel"),
    "distribution": _as_it_is("distribution"),
    "virtualisation": _as_it_is("virtualisation"),
}

# The level of `image` and of `libraries` that every host has: what is installed on it.
AS_INSTALLED = "host"
# How often a host is booted anew: before nothing, the experiment, each block, each trial of it.
REBOOTS = ("never", "experiment", "block", "trial")
CAN_BOOT = "yes"


def _installed_and(name: str) -> Callable[[Mapping[str, Fact]], frozenset[str]]:
    def levels(facts: Mapping[str, Fact]) -> frozenset[str]:
        known = facts.get(name)
        own = known if isinstance(known, frozenset) else frozenset[str]()
        return own | {AS_INSTALLED}

    return levels


def _reboots(facts: Mapping[str, Fact]) -> frozenset[str]:
    return frozenset(REBOOTS if facts.get("boots") == CAN_BOOT else REBOOTS[:1])


# Factors that a host can be brought to: each block has a level of them, and which a host can have
# follows from its facts.
BROUGHT_FACTORS: Mapping[str, Callable[[Mapping[str, Fact]], frozenset[str]]] = {
    "image": _installed_and("images"),
    "libraries": _installed_and("libraries"),
    "reboot": _reboots,
}
HOST_FACTORS = (*PLACEMENT_FACTORS, *BROUGHT_FACTORS)


def worker_facts(facts: Mapping[str, Fact]) -> WorkerFacts:
    """A worker with the levels that follow from its facts, of which ``name`` must be one."""
    found = {name: level(facts) for name, level in PLACEMENT_FACTORS.items()}
    levels = {name: frozenset((level,)) for name, level in found.items() if level is not None}
    brought = {name: levels_there(facts) for name, levels_there in BROUGHT_FACTORS.items()}
    return WorkerFacts(str(facts["name"]), facts, {**levels, **brought})
