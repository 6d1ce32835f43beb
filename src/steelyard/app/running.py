"""What a command needs of the engine: the place where an experiment is kept, and its progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from steelyard.executors.local.check_run import planned_refusals
from steelyard.run.run_experiment import Place, run_experiment
from steelyard.run.trial_session import Progress, Watcher
from steelyard.store.store_location import store_path

if TYPE_CHECKING:
    from steelyard.host.quiet import QuietState

__all__ = ["Place", "Progress", "Watcher", "planned_refusals", "run_experiment", "told_place"]


def told_place(store: str | None, wait: bool, say: Callable[[str], None]) -> Place:
    """The place of an experiment whose engine tells `say` in sentences what it does."""

    def tell_quiet(state: QuietState) -> None:
        from steelyard.report.kinds.host.text import quiet_lines

        for line in quiet_lines(state):
            say(line)

    return Place(store_path(store), wait, say, tell_quiet)
