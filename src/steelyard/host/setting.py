"""What a setting is: something about the machine that trials ask to be at a level.

A knob has one quiet state; a setting has the levels that an experiment compares. What it changes is
journaled and put back like what a knob changes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from steelyard.core.errors import HostError
from steelyard.core.experiment_spec import LaunchSpec
from steelyard.host.kernel_files import (
    difference,
    file_texts,
    files_unavailable,
    foreign_text,
    texts_left,
    write_back,
)
from steelyard.host.system import Host

# Before the name of a setting in the host's journal: knobs and settings may have the same name.
JOURNAL_PREFIX = "setting:"


@dataclass(frozen=True)
class Asked:
    """What a trial asks of a setting.

    Parameters
    ----------
    level : str
        In the normal form of its factor.
    launch : LaunchSpec
        Of the program that is to run at it.
    texts : mapping of str to str
        What else is said of it.
    session : str
        A name for things that are made for this session, not to be guessed.
    companions : tuple of int
        Processes that belong to this one and start the program.
    """

    level: str
    launch: LaunchSpec
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    session: str = "session"
    companions: tuple[int, ...] = ()


class Setting(ABC):
    """Base of all settings. One holds no state: what it read is kept by the caller.

    States are JSON values. `apply` gets the state that `wanted` gave, `restore` gets the one that
    `read` gave; `restore` does no harm when called again or when only a part was applied.
    """

    name = ""
    each_trial = False
    """Whether it is brought about before every trial anew, and leaves nothing to be put back."""

    @property
    def journal_name(self) -> str:
        """What the host's journal calls its changes."""
        return JOURNAL_PREFIX + self.name

    def parts(self, asked: Asked) -> Sequence[Setting]:
        """What brings the level about, in this order."""
        return (self,)

    def told(self, parts: Sequence[str]) -> str:
        """The level that was realised, from that of each part."""
        return "+".join(parts)

    @abstractmethod
    def unavailable(self, host: Host, asked: Asked) -> str | None:
        """Why this machine or this user cannot have the level; None when they can."""

    @abstractmethod
    def read(self, host: Host, asked: Asked) -> Any:
        """The state now, exactly."""

    @abstractmethod
    def wanted(self, host: Host, asked: Asked, previous: Any) -> Any:
        """The state that the level stands for."""

    @abstractmethod
    def apply(self, host: Host, wanted: Any) -> None:
        """Bring about `wanted`.

        Raises
        ------
        OSError, HostError
            That failed. The caller restores.
        """

    @abstractmethod
    def realised(self, host: Host, wanted: Any) -> str:
        """What is in force now, in the words of levels."""

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        """Put back exactly `previous`, however much of `wanted` is in force.

        Raises
        ------
        OSError, HostError
            Something could not be put back.
        """
        return

    def foreign(self, host: Host, previous: Any, wanted: Any) -> str | None:
        """What in a change of the journal this setting would never have written there; None when
        all of it may be its own."""
        return None

    def left_by_boot(self, host: Host, previous: Any, wanted: Any) -> Any:
        """What of `previous` is still to be put back after the machine has started anew."""
        return None

    def launch_changes(self, wanted: Any) -> Mapping[str, Any]:
        """Fields of the launch specification that belong to the state `wanted`."""
        return {}


class FileSetting(Setting):
    """A setting whose state is the text of some files of the kernel, which only root writes."""

    absent_reason = "this kernel does not have it"

    @abstractmethod
    def paths(self, host: Host) -> Sequence[str]:
        """The files, in the order in which they are written."""

    def text(self, level: str) -> str:
        """What a file holds at `level`."""
        return level

    def level(self, text: str) -> str:
        """The level that the text of a file stands for."""
        return text

    def refused(self, host: Host, level: str) -> str | None:
        """Why the kernel would not take `level`; None when it would."""
        return None

    def unavailable(self, host: Host, asked: Asked) -> str | None:
        reason = files_unavailable(host, self.paths(host), self.absent_reason)
        return reason or self.refused(host, asked.level)

    def read(self, host: Host, asked: Asked) -> Any:
        return file_texts(host, self.paths(host))

    def wanted(self, host: Host, asked: Asked, previous: Any) -> Any:
        return dict.fromkeys(previous, self.text(asked.level))

    def apply(self, host: Host, wanted: Any) -> None:
        for path, text in wanted.items():
            if host.selected(path) != text:
                host.write(path, text)
        differs = difference(host, wanted)
        if differs is not None:
            raise HostError(differs)

    def realised(self, host: Host, wanted: Any) -> str:
        found = (host.selected(path) for path in wanted)
        return "+".join(sorted({self.level(text) for text in found if text is not None}))

    def foreign(self, host: Host, previous: Any, wanted: Any) -> str | None:
        return foreign_text(host, (previous, wanted), self.paths(host))

    def restore(self, host: Host, previous: Any, wanted: Any) -> None:
        write_back(host, previous)

    def left_by_boot(self, host: Host, previous: Any, wanted: Any) -> Any:
        return texts_left(host, previous, wanted)
