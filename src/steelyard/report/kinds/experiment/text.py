"""The experiments of a store, and one of them in detail, as plain text."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from steelyard.core.ending import ending_words
from steelyard.core.experiment_results import Experiment, StopReason, Trial
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.trial_table import TrialTable
from steelyard.core.units import format_duration, format_value
from steelyard.report.kinds.comparison.shown_parts import STOPPED
from steelyard.report.texts.labels import labels
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.readable import build_texts, elided, levels_text, one_line
from steelyard.report.texts.table import Table

if TYPE_CHECKING:
    from steelyard.store.database import Listed

# As many characters of a ULID as hold its time: experiments made in different milliseconds.
SHORTEST_IDENTIFIER = 10
_NAMES_WIDTH = 48
_COMMAND_WIDTH = 72
_HOST_FACTS = (
    *("hostname", "cpu_model", "cpu_count", "kernel", "governor", "turbo", "smt", "aslr"),
    "virtualisation",
)


def short_identifiers(identifiers: Sequence[str]) -> dict[str, str]:
    """The first characters of each identifier, as many as tell all of them apart."""
    length = SHORTEST_IDENTIFIER
    while len({identifier[:length] for identifier in identifiers}) < len(set(identifiers)):
        length += 1
    return {identifier: identifier[:length] for identifier in identifiers}


def local_time(unix_s: float) -> str:
    """A time for people, in their time zone; ``?`` where it is none."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(unix_s))
    except (OverflowError, OSError, ValueError):
        return "?"


def state_text(stopped: StopReason | None, running: bool) -> str:
    """How far an experiment is."""
    if running:
        return "running"
    return "unfinished" if stopped is None else STOPPED[stopped]


def listing_text(experiments: Sequence[Listed], width: int | None = None) -> str:
    """A row for each experiment, ending with a newline."""
    if not experiments:
        return "The store holds no experiment yet. `steelyard measure` or `compare` makes one.\n"
    short = short_identifiers([found.spec.identifier for found in experiments])
    rows = tuple(listing_row(found, short[found.spec.identifier]) for found in experiments)
    headers = ("id", "date", "kind", "variants", "trials", "failed", "state", "note")
    table = Table(headers, rows, left=frozenset({0, 1, 2, 3, 6, 7}), spare=(7, 2, 1, 5))
    if not any(found.spec.note for found in experiments):
        table = table.without(7)
    return _text(plain_table(table, width))


def listing_row(found: Listed, short: str) -> tuple[str, ...]:
    """Identifier, date, kind, variants, trials, failed, state, note of an experiment."""
    names = ", ".join(labels(variant.name for variant in found.spec.variants).values())
    return (
        short,
        local_time(found.created_unix_s),
        found.spec.kind,
        elided(names, _NAMES_WIDTH),
        str(found.trials),
        str(found.failed) if found.failed else "",
        state_text(found.stopped, found.running),
        elided(one_line(found.spec.note), _NAMES_WIDTH),
    )


def experiment_text(
    experiment: Experiment, *, running: bool, trials: bool, width: int | None = None
) -> str:
    """What was run, where, how often, and what failed; ends with a newline.

    Parameters
    ----------
    running : bool
        Whether a session is adding to it.
    trials : bool
        Also list every trial.
    width : int, optional
        Columns to fit into.
    """
    spec = experiment.spec
    state = state_text(experiment.stopped, running)
    lines = [
        f"experiment {spec.identifier}",
        f"{spec.kind}, {local_time(experiment.created_unix_s)}, {state}",
    ]
    if spec.note:
        lines.append(f"note: {one_line(spec.note)}")
    names = labels(variant.name for variant in spec.variants)
    lines += ["", *plain_table(_variants_table(experiment, names), width)]
    failures = _failures_table(experiment, names)
    if failures.rows:
        lines += ["", *plain_table(failures, width)]
    lines += ["", *_pairs([*_design_pairs(spec), *_host_pairs(experiment.provenance)])]
    if trials:
        lines += ["", *plain_table(_trials_table(experiment, names), width)]
    return _text([*lines, "", f"report: steelyard report {spec.identifier}"])


def _variants_table(experiment: Experiment, names: Mapping[str, str]) -> Table:
    heads, cells = _name_columns(experiment.spec, names)
    rows: list[tuple[str, ...]] = []
    for index, variant in enumerate(experiment.spec.variants):
        own = TrialTable.of(experiment.trials).only(index)
        kept = own.only(warmup=False)
        failed = len(kept.only(failed=True))
        command = " ".join(variant.launch.argv) or "(imported, not known)"
        rows.append(
            (
                *cells[index],
                str(len(kept)),
                str(failed),
                str(len(own) - len(kept)),
                format_duration(sum(own.spent_s)),
                elided(one_line(command), _COMMAND_WIDTH),
            )
        )
    headers = (*heads, "trials", "failed", "warm-ups", "spent", "command")
    count = len(heads)
    left = frozenset({*range(count), count + 4})
    return Table(headers, tuple(rows), left=left, spare=(count + 2, count + 4))


def _name_columns(
    spec: ExperimentSpec, names: Mapping[str, str]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """How variants are called: by a column for each factor where all have levels of the same, and
    by the program where there are several; else by their names."""
    factors = [tuple(name for name, _ in variant.parameters) for variant in spec.variants]
    if len(set(factors)) > 1 or not factors[0]:
        return ("variant",), [(names[variant.name],) for variant in spec.variants]
    levels = [tuple(one_line(level) for _, level in v.parameters) for v in spec.variants]
    programs = [variant.name.rpartition(" (")[0] or variant.name for variant in spec.variants]
    short = labels(dict.fromkeys(programs))
    if len(short) == 1:
        return tuple(map(one_line, factors[0])), levels
    heads = ("program", *map(one_line, factors[0]))
    return heads, [(short[p], *each) for p, each in zip(programs, levels, strict=True)]


def failure_text(trial: Trial) -> str:
    """Why a trial failed, in a few words; empty for one that did not."""
    if trial.status == "ok":
        return ""
    return ending_words(trial)


def _last_words(trial: Trial) -> str:
    said = trial.details.get("stderr_tail") or trial.details.get("error") or ""
    last = str(said).strip().splitlines()[-1:]
    return elided(one_line(last[0]), _COMMAND_WIDTH) if last else ""


def _failures_table(experiment: Experiment, names: Mapping[str, str]) -> Table:
    failed = list(TrialTable.of(experiment.trials).only(failed=True))
    counts = Counter((trial.variant, failure_text(trial)) for trial in failed)
    last = {(trial.variant, failure_text(trial)): trial for trial in failed}
    rows = tuple(
        (
            names[experiment.spec.variants[variant].name],
            reason,
            str(count),
            _last_words(last[variant, reason]),
        )
        for (variant, reason), count in sorted(counts.items())
    )
    headers = ("failed variant", "reason", "times", "last words of the last one")
    return Table(headers, rows, left=frozenset({0, 1, 3}), spare=(3,))


def _design_pairs(spec: ExperimentSpec) -> list[tuple[str, str]]:
    stopping = spec.stopping
    rule = f"at {100 * stopping.precision_ratio:g} % precision"
    if stopping.until == "decided":
        rule = f"when every verdict is decided at a margin of {100 * spec.margin_ratio:g} %"
    if stopping.runs is not None:
        rule = f"after {stopping.runs} runs of each"
    if stopping.budget_s is not None:
        rule += f", or after {format_duration(stopping.budget_s)}"
    if stopping.budget_runs is not None:
        rule += f", or after {stopping.budget_runs} trials"
    return [
        ("metrics", ", ".join(metric.name for metric in spec.metrics)),
        *(("levels", levels_text(spec)) for _ in spec.levels[:1]),
        *(("build", text) for text in build_texts(spec)),
        ("order", spec.order),
        ("seed", str(spec.seed)),
        ("stops", rule),
        ("confidence", f"{100 * spec.confidence:g} %"),
        ("margin", f"{100 * spec.margin_ratio:g} %"),
        ("method", spec.method),
    ]


def _host_pairs(provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    host = provenance.get("host", {})
    known = [(name, host.get(name)) for name in _HOST_FACTS]
    facts = ", ".join(f"{name} {_spelled(value)}" for name, value in known if value is not None)
    pairs = [("host", one_line(facts))] if facts else []
    imported = provenance.get("imported")
    if imported:
        pairs.append(("imported", one_line(f"{imported.get('format')}, {imported.get('file')}")))
    return [*pairs, ("sessions", str(1 + len(provenance.get("resumed", ()))))]


def _spelled(fact: object) -> str:
    return ("off", "on")[fact] if isinstance(fact, bool) else str(fact)


def _pairs(pairs: Iterable[tuple[str, str]]) -> list[str]:
    known = list(pairs)
    width = max(len(name) for name, _value in known)
    return [f"{name.ljust(width)}  {value}" for name, value in known]


def _trials_table(experiment: Experiment, names: Mapping[str, str]) -> Table:
    metric = experiment.spec.primary_metric
    rows: list[tuple[str, ...]] = []
    for trial in sorted(experiment.trials, key=lambda t: (t.started_unix_s, t.position)):
        values = trial.measurements.get(metric.name, ())
        mean = sum(values) / len(values) if len(values) else None
        rows.append(
            (
                "warm-up" if trial.warmup else str(trial.position),
                str(trial.block),
                names[experiment.spec.variants[trial.variant].name],
                "" if mean is None else format_value(mean, metric.unit),
                failure_text(trial) or "ok",
                _last_words(trial) if trial.status == "failed" else "",
            )
        )
    headers = ("trial", "block", "variant", metric.name, "status", "last words")
    table = Table(headers, tuple(rows), left=frozenset({2, 4, 5}), spare=(5,))
    return table if any(row[5] for row in rows) else table.without(5)


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"
