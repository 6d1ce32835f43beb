"""The pages of a service: what was sent, one experiment, the workers, and a form."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from steelyard.app.service.service import Service
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
from steelyard.service.accounts import Identity
from steelyard.service.submissions import Submission
from steelyard.web.service.service_api import MOST_BODY_BYTES, status_of
from steelyard.web.shown_experiment import shown_experiment

_FORM = "application/x-www-form-urlencoded"


def page_routes(service: Service, owner: Identity) -> list[Route]:
    """All pages, below ``/service``."""

    def submissions(_request: Request) -> Response:
        found = service.submissions(owner)
        return HTMLResponse(submissions_page(found, service.workers()))

    def workers(_request: Request) -> Response:
        return HTMLResponse(workers_page(service.workers()))

    def one(request: Request) -> Response:
        sent, parts = service.progress(owner, request.path_params["experiment"])
        faults = service.faults(owner, sent.identifier)
        return HTMLResponse(submission_page(_without_secrets(sent), parts, faults))

    def answer(request: Request) -> Response:
        found = service.experiment(owner, request.path_params["experiment"])
        shown = shown_experiment(masked_experiment(found))
        return Response(shown.data, shown.status, media_type=shown.kind)

    def download(request: Request) -> Response:
        name, kind = request.path_params["experiment"], request.path_params["format"]
        found = masked_experiment(service.experiment(owner, name))
        return _download(found, name, kind)

    def form(_request: Request) -> Response:
        return HTMLResponse(form_page("", None, ""))

    async def sent(request: Request) -> Response:
        fields = await _fields(request)
        return await run_in_threadpool(_sent, service, owner, fields)

    async def cancelled(request: Request) -> Response:
        await _fields(request)
        name = request.path_params["experiment"]
        try:
            await run_in_threadpool(service.cancel, owner, name)
        except SteelyardError as error:
            return _refusal(error)
        return RedirectResponse(f"../{name}", 303)

    return [
        Route("/service", _page(submissions)),
        Route("/service/workers", _page(workers)),
        Route("/service/new", _page(form)),
        Route("/service/new", sent, methods=["POST"]),
        Route("/service/{experiment}", _page(one)),
        Route("/service/{experiment}/answer", _page(answer)),
        Route("/service/{experiment}/download/{format}", _page(download)),
        Route("/service/{experiment}/cancel", cancelled, methods=["POST"]),
    ]


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


def _page(make: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """A page, or one sentence about why there is none; run in a thread, as it reads a database."""

    def answer(request: Request) -> Response:
        try:
            return make(request)
        except SteelyardError as error:
            return _refusal(error)

    return answer


def _refusal(error: SteelyardError) -> Response:
    text = f"{error.message}\n".encode("utf-8", "replace")
    return Response(text, status_of(error), media_type="text/plain")


def _sent(service: Service, owner: Identity, fields: dict[str, str]) -> Response:
    text = fields.get("file", "").replace("\r\n", "\n")
    try:
        if fields.get("ask") == "plan":
            planned: dict[str, Any] = submission_document(service.plan(text, "the form").summary)
            return HTMLResponse(form_page(text, planned, ""))
        found = service.submit(owner, text, "the form", fields.get("visibility", "private"))
    except SteelyardError as error:
        return HTMLResponse(form_page(text, None, error.message), status_of(error))
    return RedirectResponse(found.spec.identifier, 303)


async def _fields(request: Request) -> dict[str, str]:
    data = bytearray()
    if request.headers.get("content-type", "").partition(";")[0] != _FORM:
        return {}
    async for chunk in request.stream():
        data += chunk
        if len(data) > MOST_BODY_BYTES:
            return {}
    found = parse_qs(data.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[-1] for name, values in found.items()}
