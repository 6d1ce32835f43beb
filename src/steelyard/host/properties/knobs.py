"""Knobs of the host, set while a trial runs: ``none``, or names with ``+`` between them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.core.errors import HostError
from steelyard.factors.host_levels import host_factor
from steelyard.host.cpu_list import parse_cpu_list
from steelyard.host.knob import Knob, Request
from steelyard.host.setting import Asked, Setting
from steelyard.host.system import Host

NONE = "none"
SEPARATOR = "+"


class QuietKnob(Setting):
    """One knob, quiet while the trials at its level run."""

    def __init__(self, knob: Knob) -> None:
        self.knob = knob
        self.name = knob.name

    @property
    def journal_name(self) -> str:
        return self.knob.name

    def unavailable(self, host: Host, asked: Asked) -> str | None:
        return self.knob.available(host, _request(asked))

    def read(self, host: Host, asked: Asked) -> Any:
        return self.knob.read(host, _request(asked))

    def wanted(self, host: Host, asked: Asked, previous: Any) -> Any:
        return self.knob.wanted(host, _request(asked), previous)

    def apply(self, host: Host, wanted: Any) -> None:
        self.knob.apply(host, wanted)
        differs = self.knob.verify(host, wanted)
        if differs is not None:
            raise HostError(differs)

    def realised(self, host: Host, wanted: Any) -> str:
        return self.name if self.knob.verify(host, wanted) is None else f"not {self.name}"

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        self.knob.restore(host, previous, wanted)

    def launch_changes(self, wanted: Any) -> Mapping[str, Any]:
        return self.knob.launch_changes(wanted)


class Knobs(Setting):
    """Several knobs together. Each is put back by its own."""

    name = "knobs"

    def parts(self, asked: Asked) -> Sequence[Setting]:
        from steelyard.host.quiet import ordered_knobs

        names = () if asked.level == NONE else tuple(asked.level.split(SEPARATOR))
        return [QuietKnob(knob) for knob in ordered_knobs(names)]

    def told(self, parts: Sequence[str]) -> str:
        return SEPARATOR.join(sorted(parts)) or NONE

    def unavailable(self, host: Host, asked: Asked) -> str | None:
        for part in self.parts(asked):
            reason = part.unavailable(host, asked)
            if reason is not None:
                return f"the knob {part.name} cannot be set: {reason}"
        return None

    def read(self, host: Host, asked: Asked) -> Any:
        return {part.name: part.read(host, asked) for part in self.parts(asked)}

    def wanted(self, host: Host, asked: Asked, previous: Any) -> Any:
        return {
            part.name: part.wanted(host, asked, previous[part.name]) for part in self.parts(asked)
        }

    def apply(self, host: Host, wanted: Any) -> None:
        for name, state in wanted.items():
            _part(name).apply(host, state)

    def realised(self, host: Host, wanted: Any) -> str:
        return self.told([_part(name).realised(host, state) for name, state in wanted.items()])

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        for name in reversed(list(wanted)):
            _part(name).restore(host, previous[name], wanted[name])


def _part(name: str) -> QuietKnob:
    from steelyard.host.properties import KNOBS

    return QuietKnob(KNOBS.get(name))


def _request(asked: Asked) -> Request:
    """What the texts of a level say to its knobs: the CPUs to shield, the services to stop."""
    cpus, services = asked.texts.get("cpus"), asked.texts.get("services")
    return Request(
        cpus=parse_cpu_list(cpus) if cpus else asked.launch.cpus,
        services=tuple(services.split(",")) if services else (),
        session=asked.session,
        companions=asked.companions,
    )


SETTING = Knobs()


def _level(text: str) -> str:
    names = text.split("+")
    if not all(re.fullmatch(r"[a-z][a-z0-9-]*", name) for name in names):
        raise ValueError("it takes none, or knobs such as aslr+cpu-shield")
    return "+".join(sorted(set(names)))


FACTOR = host_factor(
    "knobs",
    "none, or knobs of the host with + between them, such as aslr+cpu-shield.",
    _level,
    texts={
        "cpus": "The CPUs that cpu-shield leaves to the program, such as 1.",
        "services": "The services that the knob services stops, with commas between.",
    },
)
