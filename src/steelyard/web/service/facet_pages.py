"""Facets on a page: an experiment's results split by the factors that a reader chooses."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

from starlette.responses import HTMLResponse, Response

from steelyard.app.service.facet_view import (
    PLACES,
    FacetQuestion,
    facet_factors,
    facets_of,
    first_question,
)
from steelyard.app.service.service import Service
from steelyard.core.errors import AnalysisError, TrialsFailedError, UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.core.masked_experiment import masked_experiment
from steelyard.report.kinds.submission.facets_page import (
    DrawnFacets,
    FacetChoices,
    drawn_facets,
    facets_page,
    unfinished_facets_page,
)
from steelyard.service.submissions import Submission
from steelyard.web.service.made_behind import MadeBehind
from steelyard.web.service.masked_submission import without_secrets
from steelyard.web.service.page_table import EVERYONE, Asked, Page

# A reader asks for one experiment in many ways, one after the other, and looks again.
_KEPT = 4
_ASKED = ("response", "show", *PLACES)


@dataclass(frozen=True)
class _Split:
    """What a page shows below its head: what one may choose, and the split or what is wrong."""

    command: str
    choices: FacetChoices
    drawn: DrawnFacets | None
    error: str = ""
    status: int = 200


class _KeptExperiments:
    """Experiments with their trials, until further ones come."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._lock = Lock()
        self._kept: OrderedDict[int, tuple[object, Experiment]] = OrderedDict()

    def of(self, sent: Submission) -> Experiment:
        """An experiment that someone may see, without secrets."""
        state = (sent.state, sent.committed_count)
        with self._lock:
            held = self._kept.get(sent.id)
            if held is not None and held[0] == state:
                self._kept.move_to_end(sent.id)
                return held[1]
        found = masked_experiment(self._service.trials(sent))
        with self._lock:
            self._kept[sent.id] = (state, found)
            self._kept.move_to_end(sent.id)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found


def facet_pages(service: Service) -> list[Page]:
    """The page, below that of the experiment. Reading and drawing many trials takes seconds: the
    page is shown without them meanwhile, and loads itself anew."""
    kept = _KeptExperiments(service)
    splits: MadeBehind[_Split] = MadeBehind()

    def shown(asked: Asked) -> Response:
        sent = service.submission(asked.who, asked.path["experiment"])
        query = {name: asked.query[name] for name in _ASKED if name in asked.query}
        key, state = (sent.id, tuple(query.items())), (sent.state, sent.committed_count)
        split, is_present = splits.of(key, state, lambda: _split(kept.of(sent), query))
        name = without_secrets(sent).name
        if split is None:
            return HTMLResponse(unfinished_facets_page(name, sent.identifier, asked.shell))
        about = (name, sent.identifier, split.command)
        page = facets_page(
            about, split.choices, split.drawn, split.error, asked.shell, is_present=is_present
        )
        return HTMLResponse(page, split.status)

    return [Page("/service/{experiment}/facets", EVERYONE, shown)]


def _split(found: Experiment, query: Mapping[str, str]) -> _Split:
    """The answer to what an address asks."""
    factors = facet_factors(found)
    question = _question(query, found, factors)
    choices = FacetChoices(
        [each.name for each in found.spec.metrics],
        factors,
        question.response,
        question.show,
        {place: question.places.get(place, "") for place in PLACES},
    )
    try:
        return _Split(question.command, choices, drawn_facets(facets_of(found, question)))
    except (AnalysisError, UsageError, TrialsFailedError) as error:
        # An experiment without a value yet is no mistake of who asks.
        status = 200 if isinstance(error, TrialsFailedError) else 422
        return _Split(question.command, choices, None, error.message, status)


def _question(query: Mapping[str, str], found: Experiment, factors: list[str]) -> FacetQuestion:
    """What the address asks, or what is shown first."""
    first = first_question(found, factors)
    if not any(place in query for place in PLACES):
        return FacetQuestion(query.get("response", first.response), first.places)
    places = {place: query.get(place, "") for place in PLACES}
    return FacetQuestion(query.get("response", first.response), places, query.get("show", "boxes"))
