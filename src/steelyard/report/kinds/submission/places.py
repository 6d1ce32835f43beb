"""A section of an answer's page: on which workers the experiment ran."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from steelyard.core.trial_table import TrialTable
from steelyard.report.pages.rendered import rendered_page

if TYPE_CHECKING:
    from steelyard.core.experiment_results import Experiment


def places_section(experiment: Experiment) -> str:
    """Each worker with the blocks that it ran and its facts; empty where nothing ran yet."""
    placement = experiment.spec.placement
    if placement is None:
        return ""
    ran = set(TrialTable.of(experiment.trials).block)
    counts = Counter(place for block, place in enumerate(placement.blocks) if block in ran)
    rows = [
        (worker.name, counts[place], "; ".join(f"{name}: {level}" for name, level in worker.levels))
        for place, worker in enumerate(placement.workers)
    ]
    return rendered_page("submission/places.html.jinja", {"rows": rows})
