"""The pages of a service: what was sent, one experiment, the workers, and a form."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from typing import Any

from starlette.responses import HTMLResponse, RedirectResponse, Response

from steelyard.app.service.service import Service, may_change
from steelyard.core.errors import SteelyardError
from steelyard.core.experiment_results import Experiment
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
from steelyard.web.service.error_status import status_of
from steelyard.web.service.page_table import EVERYONE, Asked, Page
from steelyard.web.shown_experiment import shown_experiment

HIDDEN = "What is hidden on pages stands as *** here: write it anew before you send the file."


def service_pages(service: Service) -> list[Page]:
    """The pages of experiments and workers, below ``/service``."""

    def submissions(asked: Asked) -> Response:
        found = service.submissions(asked.who)
        return HTMLResponse(submissions_page(found, service.workers(), asked.shell))

    def workers(asked: Asked) -> Response:
        return HTMLResponse(workers_page(service.workers(), asked.shell))

    def one(asked: Asked) -> Response:
        sent, parts = service.progress(asked.who, asked.path["experiment"])
        faults = service.faults(asked.who, sent.identifier)
        own = may_change(asked.who, sent)
        shown = _without_secrets(sent)
        return HTMLResponse(submission_page(shown, parts, faults, asked.shell, is_own=own))

    def answer(asked: Asked) -> Response:
        found = service.experiment(asked.who, asked.path["experiment"])
        shown = shown_experiment(masked_experiment(found))
        return Response(shown.data, shown.status, media_type=shown.kind)

    def download(asked: Asked) -> Response:
        name, kind = asked.path["experiment"], asked.path["format"]
        found = masked_experiment(service.experiment(asked.who, name))
        return _download(found, name, kind)

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
        Page("/service/{experiment}/download/{format}", EVERYONE, download),
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


def _download(found: Experiment, name: str, kind: str) -> Response:
    """An experiment as a file of a format that `steelyard export` writes.

    Raises
    ------
    UnknownNameError, UsageError, DataError
        There is no such format, or it has no place for this experiment.
    """
    from steelyard.store.file_format import writer_of
    from steelyard.store.formats import FORMATS

    chosen = FORMATS.get(kind)
    with tempfile.TemporaryDirectory(prefix="steelyard-download-") as directory:
        path = os.path.join(directory, f"{name}{chosen.suffixes[0]}")
        writer_of(chosen)(found, path)
        with open(path, "rb") as file:
            data = file.read()
    headers = {"Content-Disposition": f'attachment; filename="{os.path.basename(path)}"'}
    return Response(data, media_type="application/octet-stream", headers=headers)


def _without_secrets(sent: Submission) -> Submission:
    """A submission whose file and name show no values of variables and no passwords."""
    hidden = given_values(experiment_spec_from_json(json.loads(sent.specification)))
    return replace(sent, file=mask_text(sent.file, hidden), name=mask_text(sent.name, hidden))


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
