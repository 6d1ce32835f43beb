"""The machine at the levels that trial after trial asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.core.errors import HostError, MissingCapabilityError
from steelyard.core.experiment_spec import HostLevel, LaunchSpec
from steelyard.host.host_journal import Change, HostJournal
from steelyard.host.properties import SETTINGS
from steelyard.host.quiet import signals_held_back
from steelyard.host.restore import restore_changes
from steelyard.host.setting import Asked, Setting
from steelyard.host.system import Host


@dataclass(frozen=True)
class AtLevels:
    """The machine as a trial finds it.

    Parameters
    ----------
    realised : mapping of factor to str
        What was read back.
    launch_changes : mapping
        Fields to replace in the launch specification of the trial.
    """

    realised: Mapping[str, str]
    launch_changes: Mapping[str, Any]


@dataclass(frozen=True)
class _Part:
    """One part of a level that is in force."""

    setting: Setting
    wanted: Any
    change: Change


def check_levels(levels: Sequence[HostLevel], launch: LaunchSpec, host: Host | None = None) -> None:
    """Refuse a level that this machine or this user cannot have.

    Raises
    ------
    MissingCapabilityError
        The message names the factor and the reason.
    UnknownNameError
        There is no such setting or knob.
    """
    host = host or Host()
    for level in levels:
        asked = Asked(level.level, launch, dict(level.texts))
        reason = SETTINGS.get(level.setting).unavailable(host, asked)
        if reason is not None:
            raise MissingCapabilityError(
                f"The factor {level.factor} cannot be realised here at {level.level!r}: {reason}.",
                field=level.factor,
            )


class HostLevels:
    """Brings about what trials ask for, and changes only what the trial before had otherwise.

    Each level is set from the state that the machine was found in: one that goes is put back
    before the next one is set. What is in force at the end is put back with the quiet session that
    `journal` belongs to, and by `steelyard host restore` after a crash.

    Parameters
    ----------
    journal : HostJournal
        Open, of a quiet session that is under way.
    companions : sequence of int
        Processes that belong to this one and start the programs.
    """

    def __init__(
        self, journal: HostJournal, companions: Sequence[int] = (), host: Host | None = None
    ) -> None:
        self._journal = journal
        self._companions = tuple(companions)
        self._host = host or Host()
        self._in_force: dict[tuple[HostLevel, str | None], list[_Part]] = {}

    def bring_about(self, levels: Sequence[HostLevel], launch: LaunchSpec) -> AtLevels:
        """Have the machine at `levels` for a trial of `launch`.

        Raises
        ------
        HostError
            One of them cannot be brought about; the message names it. It was put back.
        """
        keys = [(level, launch.working_directory) for level in levels]
        for key in reversed([key for key in self._in_force if key not in keys]):
            self._leave(key)
        realised: dict[str, str] = {}
        changes: dict[str, Any] = {}
        for key in keys:
            level, setting = key[0], SETTINGS.get(key[0].setting)
            asked = self._asked(level, launch)
            if setting.each_trial:
                realised[level.factor] = self._do_once(setting, asked)
                continue
            if key not in self._in_force:
                self._enter(key, setting, asked)
            parts = self._in_force[key]
            told = [part.setting.realised(self._host, part.wanted) for part in parts]
            realised[level.factor] = setting.told(told)
            for part in parts:
                changes.update(part.setting.launch_changes(part.wanted))
        return AtLevels(realised, changes)

    def _asked(self, level: HostLevel, launch: LaunchSpec) -> Asked:
        # Not to be guessed: it names folders where other users may write.
        session = f"{os.getpid()}-{os.urandom(6).hex()}"
        return Asked(level.level, launch, dict(level.texts), session, self._companions)

    def _do_once(self, setting: Setting, asked: Asked) -> str:
        wanted = setting.wanted(self._host, asked, None)
        try:
            setting.apply(self._host, wanted)
            return setting.realised(self._host, wanted)
        except OSError as error:
            raise HostError(_failure(setting, asked, _reason(error))) from None

    def _enter(self, key: tuple[HostLevel, str | None], setting: Setting, asked: Asked) -> None:
        self._in_force[key] = []
        for part in setting.parts(asked):
            with signals_held_back():
                reason = self._apply(key, part, asked)
            if reason is not None:
                self._leave(key)
                raise HostError(_failure(part, asked, reason))

    def _apply(self, key: tuple[HostLevel, str | None], part: Setting, asked: Asked) -> str | None:
        host = self._host
        previous = part.read(host, asked)
        wanted = part.wanted(host, asked, previous)
        change = self._journal.announce(part.journal_name, previous, wanted, host.boot_id())
        self._in_force[key].append(_Part(part, wanted, change))
        try:
            part.apply(host, wanted)
        except OSError as error:
            return _reason(error)
        except HostError as error:
            return error.message
        return None

    def _leave(self, key: tuple[HostLevel, str | None]) -> None:
        parts = self._in_force.pop(key)
        with signals_held_back():
            done = restore_changes(self._host, self._journal, [part.change for part in parts])
        if done.failures:
            name, reason = done.failures[0]
            raise HostError(
                f"What {name} changed could not be put back: {reason}. It stays in the journal; "
                "mend the cause and run `steelyard host restore`."
            )


def _failure(setting: Setting, asked: Asked, reason: str) -> str:
    return f"The machine could not be had at {setting.name} = {asked.level}: {reason}."


def _reason(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    return f"{error.strerror}{where}"
