"""What trials of a benchmark took before, on whatever hosts: what an experiment will cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from steelyard.app.experiment.experiment_entries import BenchmarkEntry
from steelyard.app.experiment.experiment_file import experiment_file_of
from steelyard.app.service.planned_submission import PlannedSubmission
from steelyard.core.errors import SteelyardError
from steelyard.factors.randomised_setups import BENCHMARK
from steelyard.service.submissions import ListedSubmission, find_submission, newest_trials

# Of so many experiments that went before, and so many trials of each.
_EXPERIMENTS = 20
_TRIALS = 200


def with_known_cost(
    connection: Connection, planned: PlannedSubmission, seen: Sequence[ListedSubmission]
) -> PlannedSubmission:
    """It with an estimate from the experiments `seen`, where all its benchmarks ran in some of them
    and its file says nothing."""
    if planned.estimated_s is not None:
        return planned
    wanted = {_key(entry) for entry in _benchmarks(planned.file)}
    known: dict[str, float] = {}
    for sent in [each for each in seen if each.committed_count][:_EXPERIMENTS]:
        if wanted <= known.keys():
            break
        for key, cost_s in _costs(connection, sent.identifier):
            known.setdefault(key, cost_s)
    if not wanted or not wanted <= known.keys():
        return planned
    mean_s = sum(known[key] for key in wanted) / len(wanted)
    return replace(
        planned,
        estimated_s=mean_s * planned.trial_count / len(planned.workers),
        estimated_from="earlier trials",
    )


def _costs(connection: Connection, identifier: str) -> Iterator[tuple[str, float]]:
    """Of each benchmark of an experiment that was sent, the mean time of its newest trials."""
    sent = find_submission(connection, identifier)
    if sent is None:
        return
    entries = _benchmarks(sent.file)
    variants = json.loads(sent.specification)["variants"]
    spent: dict[str, list[float]] = {entry.name: [] for entry in entries}
    for text in newest_trials(connection, sent.id, _TRIALS):
        trial = json.loads(text)
        name = _benchmark_of(variants[trial["variant"]], entries)
        if trial["status"] == "ok" and name in spent:
            spent[name].append(float(trial["spent_s"]))
    for entry in entries:
        if spent[entry.name]:
            yield _key(entry), sum(spent[entry.name]) / len(spent[entry.name])


def _benchmark_of(variant: Mapping[str, Any], entries: Sequence[BenchmarkEntry]) -> str:
    return dict(variant["parameters"]).get(BENCHMARK, entries[0].name)


def _benchmarks(text: str) -> tuple[BenchmarkEntry, ...]:
    """None where a file is read no more, since it was sent to an older version."""
    try:
        return experiment_file_of(text, "").benchmarks
    except SteelyardError:
        return ()


def _key(entry: BenchmarkEntry) -> str:
    """What is run; packages are other ones under the same name."""
    return json.dumps([entry.command, entry.options.get("build"), entry.package and id(entry)])
