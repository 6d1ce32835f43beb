"""An experiment of a service as every analysis takes it: its specification and its trials."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast, get_args

from sqlalchemy import Connection, select

from steelyard.app.service.worker_levels import levels_of
from steelyard.core.experiment_results import Experiment, StopReason
from steelyard.core.json_codec import experiment_spec_from_json, trial_from_json
from steelyard.core.placement_spec import BROUGHT, WORKER, PlacedWorker, PlacementSpec
from steelyard.service.service_schema import attempts, parts, workers
from steelyard.service.submissions import Submission, committed_rows
from steelyard.service.workers import Worker, all_workers

# What a part says of its own blocks.
_OF_PARTS = ("rooms", "shared_builds")


def service_experiment(connection: Connection, sent: Submission) -> Experiment:
    """The experiment with all trials that have been committed so far."""
    rows = committed_rows(connection, sent.id)
    spec = experiment_spec_from_json(json.loads(sent.specification))
    enrolled = {worker.name: worker for worker in all_workers(connection)}
    trials = tuple(trial_from_json(json.loads(row.trial)) for row in rows)
    last = max((row.block for row in rows), default=-1)
    count = last + 1 if spec.stopping.runs is None else spec.stopping.runs
    placed = replace(spec, placement=_placement(rows, enrolled, count))
    ended = sent.state not in ("queued", "running")
    complete = ended and sent.committed_count >= sent.trial_count
    return Experiment(
        placed,
        _provenance(connection, sent.id),
        sent.created_unix_s,
        trials,
        _stopped(sent) if complete else "interrupted" if ended else None,
    )


def _stopped(sent: Submission) -> StopReason:
    """Why all that was planned is there."""
    known = [reason for reason in get_args(StopReason) if reason == sent.stopped]
    return known[0] if known else "runs"


def _placement(
    rows: Sequence[Any], enrolled: Mapping[str, Worker], block_count: int
) -> PlacementSpec | None:
    """Where each block was run; those that were not are said to be the first worker's."""
    ran = {row.block: (row.worker, row.levels) for row in rows}
    places = sorted(set(ran.values()))
    if not places:
        return None
    index = {place: number for number, place in enumerate(places)}
    return PlacementSpec(
        tuple(PlacedWorker(name, _levels(enrolled[name], brought)) for name, brought in places),
        tuple(index[ran.get(block, places[0])] for block in range(block_count)),
    )


def _levels(worker: Worker, brought: str) -> tuple[tuple[str, str], ...]:
    """What follows from the facts of a worker, and what it was brought to for a block."""
    levels = levels_of(worker).levels
    own = {
        name: ", ".join(sorted(levels[name]))
        for name in levels
        if name != WORKER and name not in BROUGHT
    }
    return tuple({**own, **json.loads(brought)}.items())


def _provenance(connection: Connection, submission_id: int) -> dict[str, Any]:
    """What the first part says, of each worker its host, and what workers were brought to."""
    chosen = (
        select(attempts.c.provenance, parts.c.block, workers.c.name)
        .join(parts, attempts.c.part_id == parts.c.id)
        .join(workers, attempts.c.worker_id == workers.c.id)
        .where(parts.c.submission_id == submission_id, attempts.c.outcome == "committed")
        .order_by(attempts.c.id)
    )
    rows = [(json.loads(row.provenance), row.block, row.name) for row in connection.execute(chosen)]
    found = [each for each, _, _ in rows]
    if not found:
        return {}
    hosts = {
        str(each["host"].get("hostname", "")): each["host"]
        for each in found
        if isinstance(each.get("host"), dict)
    }
    rooms: dict[str, set[str]] = {}
    for each, _, name in rows:
        if each.get("rooms"):
            rooms.setdefault(json.dumps(each["rooms"], sort_keys=True), set()).add(name)
    first = {name: value for name, value in found[0].items() if name not in _OF_PARTS}
    by = [{**json.loads(text), "workers": sorted(rooms[text])} for text in sorted(rooms)]
    told = {"rooms": by} if rooms else {}
    if builds := _shared_builds(rows):
        told["shared_builds"] = builds
    return {**first, "hosts": [hosts[name] for name in sorted(hosts)], **told}


def _shared_builds(rows: Sequence[tuple[Mapping[str, Any], int, str]]) -> list[dict[str, Any]]:
    """Of each build that is shared whose it is and its digest, or why one was made where it was
    used, with the blocks whose trials ran it and the worker that ran them."""
    blocks: dict[str, list[int]] = {}
    for provenance, block, name in rows:
        told = provenance.get("shared_builds", [])
        for each in cast("list[Any]", told) if isinstance(told, list) else []:
            text = json.dumps({"used_by": name, "build": each}, sort_keys=True)
            blocks.setdefault(text, []).append(block)
    found: list[dict[str, Any]] = []
    for text in sorted(blocks):
        read = json.loads(text)
        build = read["build"] if isinstance(read["build"], dict) else {}
        found.append({**build, "used_by": read["used_by"], "blocks": sorted(blocks[text])})
    return found
