"""Reads the journals of experiments, of which nothing is believed: whoever may write beside the
store may write one.

A line is taken whole or not at all. `read_journal` refuses a journal with a line that is wrong;
`salvage_journal` leaves out such lines and keeps the others.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn, get_args

from steelyard.core.errors import DataError
from steelyard.core.experiment_check import check_spec, check_trial, is_between, is_whole
from steelyard.core.experiment_results import Experiment, StopReason, Trial
from steelyard.core.field_reader import FIELD_FAULTS, wrong_field
from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.core.units import LARGEST_VALUE, LAST_UNIX_S
from steelyard.measure.at_levels import AT_LEVELS, with_levels
from steelyard.measure.level_costs import BUILT, ENTERED, LevelCosts
from steelyard.measure.trial_artifacts import taken_line
from steelyard.measure.trial_journal import VERSION, trial_from_record

# From a record, its specification, the directory with what trials left and whether a report of the
# layout was asked for, to the line on what that trial left; `taken.taken_line` is one.
TakeLeft = Callable[..., dict[str, Any]]


class _Reader:
    """What the lines of a journal add up to."""

    def __init__(self, header: Mapping[str, Any], take: TakeLeft) -> None:
        self._take = take
        if header.get("journal") != VERSION:
            raise DataError(f"its version is {header.get('journal')!r}, not {VERSION}")
        self.created_unix_s = float(_between(header, "created_unix_s", LAST_UNIX_S))
        self._take_spec(header["experiment"])
        self.provenance = dict(_object_of(header, "provenance"))
        self._files = _text_or_none(header, "files")
        self.stopped: Any = None
        self._records: dict[int, tuple[int, Mapping[str, Any]]] = {}
        self._taken: dict[int, Mapping[str, Any]] = {}
        self._levels: dict[int, Mapping[str, str]] = {}
        self._costs = LevelCosts(self.spec)

    def _take_spec(self, data: Any) -> None:
        spec = experiment_spec_from_json(data)
        check_spec(spec)
        self.spec = spec

    def add(self, line: Mapping[str, Any], number: int) -> None:
        """Take a line; nothing of one that is refused is kept."""
        if "trial" in line:
            self._records.setdefault(_position(line, "trial"), (number, line))
        elif AT_LEVELS in line:
            realised = _object_of(line, "realised")
            self._levels[_position(line, AT_LEVELS)] = realised
        elif "printed" in line:
            _check_taken(line)
            self._taken[_position(line, "printed")] = line
        elif "stopped" in line:
            if line["stopped"] not in (None, *get_args(StopReason)):
                raise wrong_field("stopped", "a known reason", line["stopped"])
            self.stopped = line["stopped"]
        elif "resumed_unix_s" in line:
            self._resume(line)
        elif BUILT in line or ENTERED in line:
            _check_cost(line)
            self._costs.add(line)

    def _resume(self, line: Mapping[str, Any]) -> None:
        time_s = _between(line, "resumed_unix_s", LAST_UNIX_S)
        resumed = {"unix_s": time_s, **_object_of(line, "provenance")}
        files = _text_or_none(line, "files")
        self._take_spec(line["spec"])
        self.stopped, self._files = None, files
        self.provenance["resumed"] = [*self.provenance.get("resumed", ()), resumed]

    def trials(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The line of each trial and its record."""
        yield from self._records.values()

    def trial(self, record: Mapping[str, Any]) -> Trial:
        """The trial of a record, with what other lines tell of it."""
        position = record["trial"]
        taken = self._taken.get(position)
        if taken is None:  # Nothing is, or Steelyard was killed before it was.
            left = self._files if _has_entries(self._files) else None
            taken = self._take(record, self.spec, left, telling=False)
        trial = trial_from_record(record, self.spec.metrics, taken)
        trial = with_levels(trial, self._levels.get(position, {}))
        check_trial(trial, self.spec)
        return self._costs.placed(trial)

    def experiment(self, trials: list[Trial]) -> Experiment:
        """The experiment of these trials."""
        provenance = dict(self.provenance)
        if self._costs.builds:
            provenance["builds"] = self._costs.builds
        return Experiment(self.spec, provenance, self.created_unix_s, tuple(trials), self.stopped)


def _position(line: Mapping[str, Any], name: str) -> int:
    if not is_whole(line[name], -(2**31)):
        raise wrong_field(name, "a whole number", line[name])
    return line[name]


def _between(line: Mapping[str, Any], name: str, greatest: float) -> float:
    if not is_between(line[name], 0, greatest):
        raise wrong_field(name, f"a number from 0 to {greatest:.0f}", line[name])
    return line[name]


def _object_of(line: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    if not isinstance(line[name], dict):
        raise wrong_field(name, "an object", line[name])
    return line[name]


def _text_or_none(line: Mapping[str, Any], name: str) -> str | None:
    found = line.get(name)
    if found is not None and not isinstance(found, str):
        raise wrong_field(name, "a text or null", found)
    return found


def _check_taken(line: Mapping[str, Any]) -> None:
    """Refuse what `taken.taken_line` does not write."""
    for name in ("values", "warmups"):
        for metric, values in line.get(name, {}).items():
            fits = isinstance(values, list)
            if not fits or not all(is_between(v, -LARGEST_VALUE, LARGEST_VALUE) for v in values):
                raise wrong_field(f"{name}.{metric}", "a list of finite numbers", values)
    if not all(isinstance(text, str) for text in line.get("differences", ())):
        raise wrong_field("differences", "a list of texts", line["differences"])
    _text_or_none(line, "problem")
    if "profile" in line:
        _check_profile(_object_of(line, "profile"))


def _check_profile(profile: Mapping[str, Any]) -> None:
    """Refuse what no reading of a profile is."""
    for name, share in profile.get("shares", {}).items():
        if not is_between(share, 0, 1):
            raise wrong_field(f"profile.shares.{name}", "a number from 0 to 1", share)
    for call in profile.get("calls", ()):
        if not (isinstance(call, list) and list(map(type, call)) == [str, str]):
            raise wrong_field("profile.calls", "pairs of names", call)
    if "program_s" in profile:
        _between(profile, "program_s", LAST_UNIX_S)
    _text_or_none(profile, "problem")


def _check_cost(line: Mapping[str, Any]) -> None:
    _between(line, "cost_s", LAST_UNIX_S)
    built = BUILT in line
    for name in (BUILT, "variant") if built else ("index",):
        if not is_whole(line[name], 0):
            raise wrong_field(name, "a whole number from 0 on", line[name])
    if not built and not isinstance(line[ENTERED], str):
        raise wrong_field(ENTERED, "the name of a level", line[ENTERED])


def _has_entries(directory: str | None) -> bool:
    try:
        return directory is not None and bool(os.listdir(directory))
    except OSError:
        return False


def read_journal(path: str, take: TakeLeft = taken_line) -> Experiment:
    """The experiment that a journal holds, as far as it went.

    A last line without its end was being written when the machine or Steelyard stopped; it is
    left out. A trial that is there twice counts once, as it was first. Of a trial without a line on
    what it left, `take` reads that now.

    Raises
    ------
    DataError
        The file cannot be read or one of its whole lines is damaged; the message names it.
    """
    lines = _lines(path)
    with _naming(path, 1):
        reader = _Reader(_object(lines[0]), take)
    for number, line in enumerate(lines[1:], 2):
        with _naming(path, number):
            reader.add(_object(line), number)
    trials: list[Trial] = []
    for number, record in reader.trials():
        with _naming(path, number):
            trials.append(reader.trial(record))
    return reader.experiment(trials)


def salvage_journal(path: str, take: TakeLeft = taken_line) -> Experiment | None:
    """The experiment of those lines of a damaged journal that can be read.

    None where its first line, or the file, cannot be read.
    """
    try:
        lines = _lines(path)
        reader = _Reader(_object(lines[0]), take)
    except FIELD_FAULTS:
        return None
    for number, line in enumerate(lines[1:], 2):
        try:
            reader.add(_object(line), number)
        except FIELD_FAULTS:
            continue
    trials: list[Trial] = []
    for _, record in reader.trials():
        try:
            trials.append(reader.trial(record))
        except FIELD_FAULTS:
            continue
    return reader.experiment(trials)


def _lines(path: str) -> list[bytes]:
    try:
        # Not waiting: a pipe in the place of a journal would never come to its end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise DataError(f"The journal {path} cannot be read: it is not a regular file.")
            lines = file.read().split(b"\n")[:-1]
    except OSError as error:
        raise DataError(f"The journal {path} cannot be read: {error.strerror}.") from None
    if not lines:
        raise DataError(f"The journal {path} has no whole first line, so it holds no experiment.")
    return lines


@contextmanager
def _naming(path: str, number: int) -> Iterator[None]:
    try:
        yield
    except FIELD_FAULTS as error:
        _fail(path, number, error)


def _fail(path: str, number: int, error: BaseException) -> NoReturn:
    told = str(error).removesuffix(".")
    if isinstance(error, KeyError):
        told = f"lacks {error}"
    elif isinstance(error, RecursionError):
        told = "it nests too deep"
    raise DataError(f"The journal {path} is damaged at line {number}: {told}.") from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no finite number")


def _object(line: bytes) -> dict[str, Any]:
    value = json.loads(line, parse_constant=_no_number)
    if not isinstance(value, dict):
        raise DataError("it is not an object")
    return value
