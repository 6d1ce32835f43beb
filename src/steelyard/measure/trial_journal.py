"""The journal of an experiment: one line of JSON a trial, which is the trial's commit.

The first line says what the experiment is. The launcher appends a line when a trial ends;
this side appends what it takes from the program's output, and why the experiment stopped.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from steelyard.core.errors import BusyError, StoreError
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, MetricSpec
from steelyard.core.json_codec import to_json
from steelyard.measure.trial_artifacts import PRINTED_SOURCES

VERSION = 1
DETAILS = ("exit_code", "signal", "error", "stderr_tail", "leftover_processes", "output", "log")


class JournalWriter:
    """A journal that is open for appending, and locked, so that nobody takes it for abandoned.

    A journal that exists already is gone on with: a torn last line is cut off, and a line says
    that the experiment was resumed, where and as what.

    Parameters
    ----------
    path : str
        Its directory is made where it is missing.
    spec : ExperimentSpec
        What the experiment is, or is from now on.
    provenance : mapping
        Where it runs and with what.
    created_unix_s : float, optional
        When it was made; now.
    files : str, optional
        Where trials leave what is taken from them; whoever reads the journal looks there for what
        it lacks.

    Raises
    ------
    StoreError
        The file cannot be written.
    BusyError
        Another process writes this journal.
    """

    def __init__(
        self,
        path: str,
        spec: ExperimentSpec,
        provenance: Mapping[str, Any],
        created_unix_s: float | None = None,
        files: str | None = None,
    ) -> None:
        self.path = path
        now_s = time.time() if created_unix_s is None else created_unix_s
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            self._file = _open_locked(path)
        except OSError as error:
            raise _unwritable(path, error) from None
        about = {"provenance": to_json(provenance), "files": files}
        if _cut_torn_line(self._file) == 0:
            header = {"journal": VERSION, "created_unix_s": now_s, "experiment": to_json(spec)}
            self.append({**header, **about})
        else:
            self.append({"resumed_unix_s": now_s, "spec": to_json(spec), **about})
        self.sync()

    def __enter__(self) -> JournalWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """The descriptor, which the launcher shares, and with it the lock."""
        return self._file

    def append(self, line: Mapping[str, Any]) -> None:
        """Append one object.

        Raises
        ------
        StoreError
            It cannot be written whole; what was written of it is taken back.
        """
        data = json.dumps(line).encode() + b"\n"
        try:
            written = os.write(self._file, data)
        except OSError as error:
            raise _unwritable(self.path, error) from None
        if written != len(data):
            _cut_torn_line(self._file)
            raise StoreError(f"The journal {self.path} cannot be written: the disk is full.")

    def sync(self) -> None:
        """Wait until all that was appended, by the launcher too, is on the disk.

        Raises
        ------
        StoreError
            It cannot be written, or somebody has removed it.
        """
        try:
            os.fdatasync(self._file)
            links = os.fstat(self._file).st_nlink
        except OSError as error:
            raise _unwritable(self.path, error) from None
        if links == 0:
            raise StoreError(
                f"The journal {self.path} was removed while it was written, and with it what was "
                "measured. Leave the directory beside the store alone while something is measured."
            )

    def discard(self) -> None:
        """Remove the journal of an experiment of which nothing was run, and let go of it."""
        with suppress(OSError):
            os.unlink(self.path)
        os.close(self._file)
        self._file = -1

    def close(self) -> None:
        """Sync and let go of the lock. Does nothing the second time."""
        if self._file < 0:
            return
        descriptor, self._file = self._file, -1
        try:
            with suppress(OSError):
                os.fdatasync(descriptor)
        finally:
            os.close(descriptor)


def _unwritable(path: str, error: OSError) -> StoreError:
    return StoreError(
        f"The journal {path} cannot be written: {error.strerror}. Make room there, or name "
        "another place with --store."
    )


def _open_locked(path: str) -> int:
    """Open and lock `path`; again where whoever held the lock has deleted it meanwhile."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.stat(path).st_ino == os.fstat(descriptor).st_ino:
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise BusyError(f"Another process is running the experiment of {path}.") from None
        except FileNotFoundError:
            pass
        os.close(descriptor)


def _cut_torn_line(descriptor: int) -> int:
    """Cut off what follows the last end of line; the size in bytes that is left."""
    size = os.fstat(descriptor).st_size
    kept = size
    while kept > 0:
        start = max(0, kept - 65536)
        newline = os.pread(descriptor, kept - start, start).rfind(b"\n")
        if newline >= 0:
            kept = start + newline + 1
            break
        kept = start
    if kept != size:
        os.ftruncate(descriptor, kept)
    return kept


# What a harness gives beside measurements: its name in a line, and in the details of a trial.
KEPT_OF_HARNESSES = {"warmups": "warmup_iterations", "benchmarks": "benchmarks"}


def trial_from_record(
    record: Mapping[str, Any],
    metrics: Sequence[MetricSpec],
    taken: Mapping[str, Any] | None = None,
) -> Trial:
    """The trial that a record of the launcher tells of.

    Parameters
    ----------
    record : mapping
        A line of the journal.
    metrics : sequence of MetricSpec
        Those asked for; one that the machine did not give is left out.
    taken : mapping, optional
        What the program printed and its harness wrote, as `taken.taken_line` gives it. A trial
        that ran well but lacks one of these values is failed, with the reason ``metric``; one
        whose output is not what it must be, with the reason ``check``. Under ``layout`` the
        report of a moving program; a trial without one keeps its values. Under ``profile`` what
        a profiler said; a trial with a ``problem`` there is failed, with the reason ``profile``.
        Under ``package`` what a benchmark package left; its ``problem`` is one of the clean-up.
    """
    from steelyard.measure.metrics import METRICS

    taken = taken or {}
    printed: Mapping[str, Sequence[float]] = taken.get("values", {})
    details = {name: record[name] for name in DETAILS if record.get(name) not in (None, "", 0)}
    status, reason = _ending(record, taken, details)
    measurements: dict[str, tuple[float, ...]] = {}
    missing: list[str] = []
    for metric in metrics:
        if metric.source in PRINTED_SOURCES:
            values = tuple(printed.get(metric.name, ()))
            if values:
                measurements[metric.name] = values
            else:
                missing.append(metric.name)
            continue
        value = METRICS.get(metric.name).value(record)
        if value is not None:
            measurements[metric.name] = (value,)
    if taken.get("differences") and status == "ok":
        status, reason = "failed", "check"
        details["error"] = "; ".join(taken["differences"])
    if missing and status == "ok":
        status, reason = "failed", "metric"
        told = f"Its output has no value for {', '.join(missing)}."
        details["error"] = taken.get("problem", told)
    if "events" in taken:
        details["events"] = taken["events"]
    if "profile" in taken:
        details["profile"] = taken["profile"]
        if "problem" in taken["profile"] and status == "ok":
            status, reason = "failed", "profile"
            details["error"] = taken["profile"]["problem"]
    details |= {name: taken[key] for key, name in KEPT_OF_HARNESSES.items() if key in taken}
    realised = record.get("realised", {})
    if "layout" in taken:
        from steelyard.measure.layout_report import realised_level

        details["layout"] = taken["layout"]
        level = realised_level(taken["layout"])
        realised = {**realised, **({} if level is None else {"layout": level})}
    return Trial(
        position=record["trial"],
        block=record["block"],
        variant=record["variant"],
        build=record["build"],
        warmup=record["warmup"],
        status=status,
        reason=reason,
        started_unix_s=record["started_unix_ns"] / 1e9,
        spent_s=record["spent_ns"] / 1e9,
        measurements=measurements,
        realised=realised,
        details=details,
    )


def _ending(
    record: Mapping[str, Any], taken: Mapping[str, Any], details: dict[str, Any]
) -> tuple[Any, Any]:
    """Status and reason, before what the program printed is looked at."""
    ending = record["status"], record["reason"]
    if "package" not in taken:
        return ending
    from steelyard.measure.package_ending import package_ending

    return package_ending(taken["package"], details, ending)
