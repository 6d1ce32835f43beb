"""Facets on a page: an experiment's results split by the factors that a reader chooses."""

from __future__ import annotations

from collections import OrderedDict
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
)
from steelyard.service.submissions import Submission
from steelyard.web.service.masked_submission import without_secrets
from steelyard.web.service.page_table import EVERYONE, Asked, Page

# A reader asks for one experiment in many ways, one after the other, and looks again.
_KEPT, _KEPT_PICTURES = 4, 64


class _KeptExperiments:
    """Experiments with their trials, until further ones come."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._lock = Lock()
        self._kept: OrderedDict[int, tuple[object, Experiment]] = OrderedDict()
        self._drawn: OrderedDict[object, DrawnFacets] = OrderedDict()

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

    def drawn(self, sent: Submission, found: Experiment, question: FacetQuestion) -> DrawnFacets:
        """The split with its picture, which takes a second for many panels."""
        key = (sent.id, sent.state, sent.committed_count, question.command)
        with self._lock:
            held = self._drawn.get(key)
        if held is not None:
            return held
        made = drawn_facets(facets_of(found, question))
        with self._lock:
            self._drawn[key] = made
            while len(self._drawn) > _KEPT_PICTURES:
                self._drawn.popitem(last=False)
        return made


def facet_pages(service: Service) -> list[Page]:
    """The page, below that of the experiment."""
    kept = _KeptExperiments(service)

    def shown(asked: Asked) -> Response:
        sent = service.submission(asked.who, asked.path["experiment"])
        found = kept.of(sent)
        factors = facet_factors(found)
        question = _question(asked, found, factors)
        choices = FacetChoices(
            [each.name for each in found.spec.metrics],
            factors,
            question.response,
            question.show,
            {place: question.places.get(place, "") for place in PLACES},
        )
        about = (without_secrets(sent).name, sent.identifier, question.command)
        try:
            made = kept.drawn(sent, found, question)
            page = facets_page(about, choices, made, "", asked.shell)
        except (AnalysisError, UsageError, TrialsFailedError) as error:
            page = facets_page(about, choices, None, error.message, asked.shell)
            # An experiment without a value yet is no mistake of who asks.
            return HTMLResponse(page, 200 if isinstance(error, TrialsFailedError) else 422)
        return HTMLResponse(page)

    return [Page("/service/{experiment}/facets", EVERYONE, shown)]


def _question(asked: Asked, found: Experiment, factors: list[str]) -> FacetQuestion:
    """What the address asks, or what is shown first."""
    first = first_question(found, factors)
    query = asked.query
    if not any(place in query for place in PLACES):
        return FacetQuestion(query.get("response", first.response), first.places)
    places = {place: query.get(place, "") for place in PLACES}
    return FacetQuestion(query.get("response", first.response), places, query.get("show", "boxes"))
