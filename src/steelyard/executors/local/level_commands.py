"""The commands of the levels that a user named: run where a unit enters another repetition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from steelyard.core.errors import TrialsFailedError
from steelyard.core.experiment_spec import LaunchSpec
from steelyard.core.repetition import RepetitionLevel
from steelyard.design.level_positions import Unit
from steelyard.executors.local.trial_source import Failure
from steelyard.measure.level_costs import entered_line
from steelyard.measure.level_step import run_level_command


class LevelCommands:
    """Where the levels above builds are, and the command that failed, if one did.

    Parameters
    ----------
    levels : tuple of RepetitionLevel
        Highest first.
    note : callable
        Takes the journal's line on each repetition that was entered.
    """

    def __init__(
        self, levels: tuple[RepetitionLevel, ...], note: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self._levels = levels
        self._note = note
        self._failed: tuple[tuple[int, ...], Failure] | None = None

    @property
    def failure(self) -> Failure | None:
        """Why nothing can be run in the present repetition."""
        return None if self._failed is None else self._failed[1]

    def enter(self, unit: Unit, before: Unit | None) -> None:
        """Run the commands of those levels of which `unit` is a new repetition."""
        left = () if before is None else before.levels
        if self._failed is not None:
            failed = self._failed[0]
            if unit.levels[: len(failed)] == failed:
                return
            self._failed = None
        for depth, level in enumerate(self._levels):
            here = unit.levels[: depth + 1]
            if level.command is None or left[: depth + 1] == here:
                continue
            try:
                # In the caller's directory and environment.
                cost_s = run_level_command(level, here[-1], LaunchSpec(argv=()))
            except TrialsFailedError as error:
                self._failed = here, Failure("prepare", error.message)
                return
            self._note(entered_line(level.name, here[-1], cost_s))
