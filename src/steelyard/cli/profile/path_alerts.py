"""What `steelyard profile record --watch` says while a program runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from steelyard.cli.console.output import write_note
from steelyard.cli.profile.record_options import RecordOptions
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.profile.path_watch import PathAlert


class ShownAlerts:
    """Shows alerts, and counts them.

    Parameters
    ----------
    lines : file or None
        Takes a line of JSON an alert.
    """

    def __init__(self, lines: TextIO | None) -> None:
        self._lines = lines
        self.count = 0

    def tell(self, alert: PathAlert) -> None:
        """Say it on standard error, and write it to the file."""
        from steelyard.report.kinds.paths.alert_text import alert_document, alert_line

        self.count += 1
        write_note(alert_line(alert))
        if self._lines is not None:
            self._lines.write(json.dumps(alert_document(alert)) + "\n")
            self._lines.flush()


@contextmanager
def shown_alerts(given: RecordOptions) -> Iterator[ShownAlerts]:
    """Where alerts go while a program is recorded.

    Raises
    ------
    UsageError
        The options do not go together, or the file cannot be written.
    """
    of_paths = {
        "--watch": given.watch,
        "--library-frames": given.library_frames,
        "--walk-ambiguous": given.walk_ambiguous,
    }
    for name, is_given in of_paths.items():
        if is_given and given.paths is None:
            raise UsageError(f"{name} goes with --paths.", field=name)
    if given.watch and given.paths in ("auto", "keys"):
        raise UsageError(
            f"--watch needs a map that was learnt before: with --paths {given.paths} every path is "
            "new.",
            field="--watch",
        )
    if given.alerts is None:
        yield ShownAlerts(None)
        return
    if not given.watch:
        raise UsageError("--alerts goes with --watch.", field="--alerts")
    try:
        lines = open(given.alerts, "a", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise UsageError(
            f"{given.alerts} cannot be written: {error.strerror}.", field="--alerts"
        ) from None
    with lines:
        yield ShownAlerts(lines)
