"""What was run, where and how, as tables."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping
from typing import Any

from steelyard.core.ending import exit_words, signal_name
from steelyard.core.experiment_results import Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec
from steelyard.core.trial_table import TrialTable
from steelyard.core.units import format_duration
from steelyard.report.texts.readable import (
    REPLACEMENT,
    build_texts,
    elided,
    levels_text,
    one_line,
    without_surrogates,
)
from steelyard.report.texts.table import Table

FAILED_LIMIT = 100
_VALUE_LIMIT = 2000
_COMMAND_LIMIT = 1000


def readable(text: str) -> str:
    """`text` in its lines, without what a browser cannot show."""
    kept = without_surrogates(text).replace("\r\n", "\n")
    return "".join(c if c.isprintable() or c in "\n\t" else REPLACEMENT for c in kept)


def moment(unix_s: float) -> str:
    """A point in time in UTC."""
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(unix_s))


def command_line(argv: tuple[str, ...]) -> str:
    """A command as one types it."""
    if not argv:
        return "(not known)"
    return elided(one_line(shlex.join(argv)), _COMMAND_LIMIT)


def command_table(experiment: Experiment) -> Table:
    """A row a variant: its command and what differs from the defaults."""
    rows: list[tuple[str, ...]] = []
    for variant in experiment.spec.variants:
        extras = [f"{name} = {value}" for name, value in variant.parameters]
        if variant.prepare:
            extras.append(f"prepare: {command_line(variant.prepare)}")
        if variant.cleanup:
            extras.append(f"cleanup: {command_line(variant.cleanup)}")
        extras += _launch_changes(variant.launch)
        rows.append(
            (one_line(variant.name), command_line(variant.launch.argv), one_line("; ".join(extras)))
        )
    table = Table(("variant", "command", "with"), tuple(rows), frozenset({0, 1, 2}))
    return table if any(row[2] for row in rows) else table.without(2)


def _launch_changes(launch: LaunchSpec) -> list[str]:
    plain = LaunchSpec(launch.argv)
    changed: list[str] = []
    for name, value in vars(launch).items():
        if value != getattr(plain, name):
            changed.append(f"{name.replace('_', ' ')}: {elided(str(value), _VALUE_LIMIT)}")
    return changed


def design_table(experiment: Experiment, block_count: int) -> Table:
    """How the experiment was laid out and when it stopped."""
    spec = experiment.spec
    trials = TrialTable.of(experiment.trials)
    warmups = sum(trials.warmup)
    rows = [
        ("experiment", spec.identifier),
        ("started", moment(experiment.created_unix_s)),
        *(("levels", levels_text(spec)) for _ in spec.levels[:1]),
        *(("build", text) for text in build_texts(spec)),
        ("order", _order(spec)),
        ("seed", str(spec.seed)),
        ("blocks", str(block_count)),
        ("trials", str(len(trials) - warmups)),
        ("warm-up trials, not analysed", str(warmups)),
        ("time spent", format_duration(sum(trials.spent_s))),
        ("stopping", _stopping(spec)),
        ("stopped", experiment.stopped or "not yet"),
        ("confidence", f"{100 * spec.confidence:g} %"),
        ("margin of equivalence", f"{100 * spec.margin_ratio:g} %"),
        ("metrics", ", ".join(one_line(metric.name) for metric in spec.metrics)),
        ("quietened", ", ".join(spec.quiet) or "nothing"),
    ]
    if spec.note:
        rows.append(("note", one_line(spec.note)))
    return Table(("what", "value"), tuple(rows), frozenset({0, 1}))


def _order(spec: ExperimentSpec) -> str:
    return {
        "blocks": "randomised complete blocks: every variant once a block, in random order",
        "parallel": "parallel blocks: every variant at the same time, on CPUs drawn by lot",
        "sequential": "sequential: one variant after the other",
    }[spec.order]


def _stopping(spec: ExperimentSpec) -> str:
    stopping = spec.stopping
    if stopping.runs is not None:
        return f"{stopping.runs} blocks"
    parts = [f"half-width within {100 * stopping.precision_ratio:g} %"]
    if stopping.until == "decided":
        parts = ["every verdict decided"]
    if stopping.budget_s is not None:
        parts.append(f"at most {format_duration(stopping.budget_s)}")
    if stopping.budget_runs is not None:
        parts.append(f"at most {stopping.budget_runs} trials")
    return f"{', '.join(parts)}; at least {stopping.minimum_blocks} blocks"


def failed_trials(experiment: Experiment) -> tuple[Table, int]:
    """The first failed trials with their reasons, and how many there are in all."""
    failed = TrialTable.of(experiment.trials).only(failed=True)
    variants = experiment.spec.variants
    rows = tuple(
        (
            str(trial.position),
            str(trial.block + 1),
            one_line(variants[trial.variant].name),
            trial.reason or "",
            _outcome(trial),
            readable(str(trial.details.get("stderr_tail") or "")).strip(),
        )
        for trial in failed[:FAILED_LIMIT]
    )
    headers = ("trial", "block", "variant", "reason", "ended with", "last words")
    return Table(headers, rows, frozenset({2, 3, 4, 5})), len(failed)


def _outcome(trial: Trial) -> str:
    details = trial.details
    if details.get("signal"):
        return signal_name(details["signal"])
    if details.get("exit_code") is not None:
        return exit_words(details["exit_code"])
    return ""


def provenance_groups(provenance: Mapping[str, Any]) -> list[tuple[str, Table]]:
    """Everything that was noted of the host and the programs, a table for each part."""
    groups: list[tuple[str, Table]] = []
    single: list[tuple[str, str]] = []
    for key, value in provenance.items():
        if isinstance(value, Mapping) and value:
            rows = tuple(_flat(value))
            groups.append((_title(key), Table(("what", "value"), rows, frozenset({0, 1}))))
        else:
            single.append((_title(key), _text(value)))
    if single:
        groups.append(("more", Table(("what", "value"), tuple(single), frozenset({0, 1}))))
    return groups


def _title(key: Any) -> str:
    return one_line(str(key)).replace("_", " ")


def _flat(values: Mapping[Any, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        name = f"{above}{_title(key)}"
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{name} / ")
        else:
            yield name, _text(value)


def _text(value: Any) -> str:
    if value is None or (not isinstance(value, bool | int | float) and not value):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return elided(readable(", ".join(str(item) for item in value)), _VALUE_LIMIT)
    return elided(readable(str(value)), _VALUE_LIMIT)
