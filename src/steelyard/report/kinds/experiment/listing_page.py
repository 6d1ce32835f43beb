"""The page of a store: its experiments, each with a link to its own page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from steelyard.core.experiment_results import Caution
from steelyard.report.kinds.experiment.text import listing_row, short_identifiers
from steelyard.report.pages.rendered import rendered_page

if TYPE_CHECKING:
    from steelyard.store.database import Listed

REFRESH_S = 10


def listing_page(
    store: str, experiments: Sequence[Listed], cautions: Sequence[Caution], *, has_tracks: bool
) -> str:
    """A row for each experiment, the one that was added last first.

    Parameters
    ----------
    store : str
        The store's file.
    experiments : sequence of Listed
        Without secrets.
    cautions : sequence of Caution
        On what could not be read.
    has_tracks : bool
        Whether there is a history to link to.
    """
    short = short_identifiers([found.spec.identifier for found in experiments])
    rows: list[dict[str, Any]] = [
        {
            "identifier": found.spec.identifier,
            "cells": listing_row(found, short[found.spec.identifier]),
            "running": found.running,
        }
        for found in experiments
    ]
    view = {
        "title": f"{len(rows)} experiment{'s' * (len(rows) != 1)}",
        "store": store,
        "rows": rows,
        "cautions": [caution.message for caution in cautions],
        "has_tracks": has_tracks,
        "refresh_s": REFRESH_S if any(row["running"] for row in rows) else 0,
    }
    return rendered_page("experiment/listing.html.jinja", view)
