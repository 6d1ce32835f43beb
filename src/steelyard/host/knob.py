"""What a knob is: one thing about the machine that is read, set, checked and put back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from steelyard.host.kernel_files import (
    difference,
    file_texts,
    files_unavailable,
    foreign_text,
    texts_left,
    write_back,
)
from steelyard.host.system import Host

Severity = Literal["ok", "info", "warning", "bad"]
SEVERITIES: tuple[Severity, ...] = ("ok", "info", "warning", "bad")


@dataclass(frozen=True)
class Request:
    """What the user asked of the knobs beside their names.

    Parameters
    ----------
    cpus : tuple of int or None
        CPUs for the measured program; None lets the shield choose.
    services : tuple of str
        Services to stop.
    realtime_priority : int
        Priority of ``SCHED_FIFO``, 1 to 99.
    session : str
        A name for things that are made for this session.
    companions : tuple of int
        Processes that belong to this one and start the measured program.
    """

    cpus: tuple[int, ...] | None = None
    services: tuple[str, ...] = ()
    realtime_priority: int = 10
    session: str = "session"
    companions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One line of the host's status.

    Parameters
    ----------
    knob, title : str
        Its stable name, and its name for people.
    value, wanted : str or None
        What was found (None: not known), and what a quiet machine has.
    severity : str
        ``ok``; ``info``: good to know; ``warning``: widens intervals; ``bad``: can mislead.
    available : bool
        Whether this machine and this user can have it otherwise.
    advice : str
        How to mend it, with the command, or why it cannot be mended. Empty when it is fine.
    """

    knob: str
    title: str
    value: str | None
    wanted: str | None
    severity: Severity
    available: bool
    advice: str = ""


class Knob(ABC):
    """Base of all knobs. A knob holds no state: what it read is kept by the caller.

    States are JSON values. `apply` gets the state that `wanted` gave, `restore` gets the one
    that `read` gave; both must do no harm when called again or when only a part was done.
    """

    name = ""
    title = ""
    in_default_set = False
    wanted_text = ""
    changes_host = True
    """Whether it changes the machine, so that there is something to journal and to put back."""
    order = 50
    """Knobs are applied by ascending order and restored in the reverse."""

    @abstractmethod
    def available(self, host: Host, request: Request) -> str | None:
        """Why this machine or this user cannot set it; None when it can be set."""

    @abstractmethod
    def read(self, host: Host, request: Request) -> Any:
        """The state now, exactly."""

    @abstractmethod
    def wanted(self, host: Host, request: Request, previous: Any) -> Any:
        """The quiet state for this machine."""

    @abstractmethod
    def apply(self, host: Host, wanted: Any) -> tuple[str, ...]:
        """Bring about `wanted`; sentences about parts that the kernel did not allow.

        Raises
        ------
        OSError, HostError
            Nothing useful could be done. The caller restores.
        """

    @abstractmethod
    def verify(self, host: Host, wanted: Any) -> str | None:
        """What differs from `wanted`; None when it is in force."""

    @abstractmethod
    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        """Put back exactly `previous`, however much of `wanted` is in force.

        Raises
        ------
        OSError, HostError
            Something could not be put back.
        """

    def foreign(self, host: Host, previous: Any, wanted: Any) -> str | None:
        """What in a change of the journal this knob would never have written there; None when
        all of it may be its own. Asked before anything is put back."""
        return None

    def left_by_boot(self, host: Host, previous: Any, wanted: Any) -> Any:
        """What of `previous` is still to be put back after the machine has started anew.

        None: nothing, since the setting does not outlive the kernel. Others say what still is
        as `wanted`; what has another value now was set by someone else since.
        """
        return None

    def launch_changes(self, wanted: Any) -> Mapping[str, Any]:
        """Fields of the launch specification that belong to the state `wanted`."""
        return {}

    def summary(self, state: Any) -> Any:
        """What of a state is worth keeping with a measurement."""
        return state

    def finding(self, host: Host, request: Request) -> Finding:
        """The line for the host's status."""
        reason = self.available(host, request)
        value, severity = self.assess(host, request)
        advice = "" if severity == "ok" else self.advice(host, request)
        if severity != "ok" and reason is not None:
            advice = f"{advice}; not from here: {reason}" if advice else reason
        return Finding(
            knob=self.name,
            title=self.title,
            value=value,
            wanted=self.wanted_text or None,
            severity=severity,
            available=reason is None,
            advice=advice,
        )

    @abstractmethod
    def assess(self, host: Host, request: Request) -> tuple[str | None, Severity]:
        """What is in force now, for people, and how bad it is."""

    def advice(self, host: Host, request: Request) -> str:
        """How to mend it, with the command."""
        return f"steelyard host quiet --knob {self.name} -- CMD"


class FileKnob(Knob):
    """A knob whose state is the text of some files of the kernel."""

    @abstractmethod
    def paths(self, host: Host, request: Request) -> Sequence[str]:
        """The files, in the order in which they are written."""

    @abstractmethod
    def quiet_text(self, host: Host, path: str, text: str) -> str:
        """The quiet text for one of `paths`, which holds `text` now."""

    absent_reason = "this kernel does not have it"

    def available(self, host: Host, request: Request) -> str | None:
        return files_unavailable(host, self.paths(host, request), self.absent_reason)

    def read(self, host: Host, request: Request) -> Any:
        return file_texts(host, self.paths(host, request))

    def wanted(self, host: Host, request: Request, previous: Any) -> Any:
        return {path: self.quiet_text(host, path, text) for path, text in previous.items()}

    def apply(self, host: Host, wanted: Any) -> tuple[str, ...]:
        for path, text in wanted.items():
            if host.selected(path) != text:
                host.write(path, text)
        return ()

    def verify(self, host: Host, wanted: Any) -> str | None:
        return difference(host, wanted)

    def foreign(self, host: Host, previous: Any, wanted: Any) -> str | None:
        return foreign_text(host, (previous, wanted), self.paths(host, Request()))

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        write_back(host, previous)

    def left_by_boot(self, host: Host, previous: Any, wanted: Any) -> Any:
        return texts_left(host, previous, wanted)
