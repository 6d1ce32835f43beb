"""What a person or a program sees of a measurement: while it runs, and at its end."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence

from steelyard.app.experiment.weigh import Weighing
from steelyard.app.request.experiment_request import DEFAULT_METRICS
from steelyard.app.running import Progress, Watcher
from steelyard.cli.console.output import terminal_width, write_json, write_text

TELLING_METRICS = ("wall_time", "user_time", "system_time", "max_rss")
GATE_STATUS = 1
FAILED_STATUS = 3
INTERRUPTED_STATUS = 130


@contextlib.contextmanager
def watching(json_target: str | None) -> Iterator[Watcher | None]:
    """A progress line for a person at a terminal; nothing where nobody watches."""
    from steelyard.report.texts.live_look import look_text
    from steelyard.report.texts.progress import Progress as ProgressLine

    if json_target == "-" or not sys.stderr.isatty():
        yield None
        return
    with ProgressLine(sys.stderr) as line:

        def tell(progress: Progress) -> None:
            blocks, compares = progress.blocks, progress.compares
            look = look_text(progress.metric, progress.intervals, blocks, compares=compares)
            noun = "block" if compares else "run"
            line.update(blocks, look, progress.expected_left_s, noun=noun)

        yield tell


def show(
    weighing: Weighing,
    json_target: str | None,
    asked: Sequence[str] = (),
) -> int:
    """Print the answer, write its JSON, and give the exit status.

    Of the metrics that come unasked only the most telling are printed; JSON and report have all.
    """
    answer = weighing.answer
    if json_target != "-":
        from steelyard.report.kinds.comparison.text import terminal_text

        is_terminal = sys.stdout.isatty()
        hidden = set(DEFAULT_METRICS) - set(TELLING_METRICS) - set(asked)
        width = terminal_width() or 80
        text = terminal_text(
            answer,
            is_terminal=is_terminal,
            environment=os.environ,
            width=width,
            hidden=hidden,
        )
        write_text(text + "\n")
    if json_target is not None:
        from steelyard.report.kinds.comparison.answer_document import answer_kind_document

        write_json(answer_kind_document(answer, weighing.experiment), json_target)
    if not all(check.passed for check in answer.gates):
        return GATE_STATUS
    if any(variant.failed for variant in answer.variants):
        return FAILED_STATUS
    return INTERRUPTED_STATUS if answer.stopped == "interrupted" else 0
