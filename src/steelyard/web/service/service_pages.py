"""The pages of a service: what was sent, one experiment, the workers, and a form."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import Any

from starlette.responses import HTMLResponse, RedirectResponse, Response

from steelyard.app.service.service import Service
from steelyard.app.service.who_may import may_change
from steelyard.core.errors import SteelyardError
from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.core.masked_experiment import given_values, masked_experiment
from steelyard.core.masking import mask_text
from steelyard.report.kinds.submission.document import submission_document
from steelyard.report.kinds.submission.pages import (
    form_page,
    submission_page,
    submissions_page,
    workers_page,
)
from steelyard.service.submissions import Submission
from steelyard.web.service.downloads import download
from steelyard.web.service.error_status import status_of
from steelyard.web.service.made_answers import MadeAnswers
from steelyard.web.service.page_table import EVERYONE, Asked, Page
from steelyard.web.shown_experiment import Answer, shown_experiment

HIDDEN = "What is hidden on pages stands as *** here: write it anew before you send the file."


def service_pages(service: Service) -> list[Page]:
    """The pages of experiments and workers, below ``/service``."""

    def submissions(asked: Asked) -> Response:
        found = service.submissions(asked.who)
        return HTMLResponse(submissions_page(found, service.hosts.shown_workers(), asked.shell))

    def workers(asked: Asked) -> Response:
        return HTMLResponse(workers_page(service.hosts.shown_workers(), asked.shell))

    def one(asked: Asked) -> Response:
        sent, parts = service.progress(asked.who, asked.path["experiment"])
        faults = service.faults(sent)
        own = may_change(asked.who, sent)
        shown = _without_secrets(sent)
        return HTMLResponse(submission_page(shown, parts, faults, asked.shell, is_own=own))

    answers = MadeAnswers()

    def answer(asked: Asked) -> Response:
        sent = service.submission(asked.who, asked.path["experiment"])

        def make() -> Answer:
            return shown_experiment(masked_experiment(service.trials(sent)))

        shown = answers.answer(sent.id, (sent.state, sent.committed_count), make)
        return Response(shown.data, shown.status, media_type=shown.kind)

    def downloaded(asked: Asked) -> Response:
        sent = service.submission(asked.who, asked.path["experiment"])
        found = masked_experiment(service.trials(sent))
        return download(found, sent.identifier, asked.path["format"])

    def form(asked: Asked) -> Response:
        return _form(service, asked)

    def sent(asked: Asked) -> Response:
        return _sent(service, asked)

    def cancelled(asked: Asked) -> Response:
        service.cancel(asked.who, asked.path["experiment"])
        return _back(asked)

    def shown_to(asked: Asked) -> Response:
        service.show_to(asked.who, asked.path["experiment"], asked.field("visibility"))
        return _back(asked)

    return [
        Page("/service", EVERYONE, submissions),
        Page("/service/workers", "read", workers),
        Page("/service/new", "submit", form),
        Page("/service/new", "submit", sent, "POST"),
        Page("/service/{experiment}", EVERYONE, one),
        Page("/service/{experiment}/answer", EVERYONE, answer),
        Page("/service/{experiment}/download/{format}", EVERYONE, downloaded),
        Page("/service/{experiment}/cancel", "cancel", cancelled, "POST"),
        Page("/service/{experiment}/visibility", "submit", shown_to, "POST"),
    ]


def _back(asked: Asked) -> Response:
    """To the page of the experiment."""
    return RedirectResponse(f"../{asked.path['experiment']}", 303)


def _form(service: Service, asked: Asked) -> Response:
    """The form, with the file of an experiment to send again where one is named."""
    name = asked.query.get("from", "")
    if not name:
        return HTMLResponse(form_page("", None, "", asked.shell))
    found = service.submission(asked.who, name)
    shown = _without_secrets(found)
    hidden = "" if shown.file == found.file else HIDDEN
    return HTMLResponse(form_page(shown.file, None, hidden, asked.shell, found.visibility))


def _without_secrets(sent: Submission) -> Submission:
    """A submission whose file and name show no values of variables and no passwords."""
    file, name = _masked(sent.specification, sent.file, sent.name)
    return replace(sent, file=file, name=name)


@lru_cache(maxsize=64)
def _masked(specification: str, file: str, name: str) -> tuple[str, str]:
    hidden = given_values(experiment_spec_from_json(json.loads(specification)))
    return mask_text(file, hidden), mask_text(name, hidden)


def _sent(service: Service, asked: Asked) -> Response:
    text = asked.field("file").replace("\r\n", "\n")
    visibility = asked.field("visibility", "private")
    try:
        if asked.field("ask") == "plan":
            planned: dict[str, Any] = submission_document(service.plan(text, "the form").summary)
            return HTMLResponse(form_page(text, planned, "", asked.shell, visibility))
        found = service.submit(asked.who, text, "the form", visibility)
    except SteelyardError as error:
        page = form_page(text, None, error.message, asked.shell, visibility)
        return HTMLResponse(page, status_of(error))
    return RedirectResponse(found.spec.identifier, 303)
