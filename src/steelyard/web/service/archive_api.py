"""Archives of results by the API and on pages: in from workers, out to who may see them."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from steelyard.app.service.service import Service
from steelyard.app.service.service_archives import MOST_ARCHIVE_BYTES, may_have_archives
from steelyard.report.kinds.submission.archives_page import archives_page, totals_text
from steelyard.service.accounts import Identity
from steelyard.service.result_archives import ResultArchive
from steelyard.service.submissions import Submission
from steelyard.web.service.answered_call import answered, token_of
from steelyard.web.service.archive_stream import tar_stream
from steelyard.web.service.in_turn import in_turn
from steelyard.web.service.masked_submission import without_secrets
from steelyard.web.service.page_table import EVERYONE, Asked, Page
from steelyard.web.service.sent_body import body_length, save_body

_SCHEMA = {"schema": "steelyard/1"}
_SHOWN = 500
# In the specification of an experiment that runs one.
_OF_A_PACKAGE = '"package": {'


def archive_routes(service: Service) -> list[Route]:
    """The call by which workers send archives."""

    async def receive(request: Request) -> Response:
        async def answer() -> Any:
            worker = await in_turn(service.access.worker, token_of(request))
            names = request.path_params
            place = (names["part"], names["attempt"])
            path = await in_turn(service.archives.upload, body_length(request, 0))
            try:
                await save_body(request, path, MOST_ARCHIVE_BYTES, "An archive of results")
                why = await in_turn(
                    service.archives.receive, worker, place, names["position"], path
                )
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(path)
            return {**_SCHEMA, "kind": "taken-archive", "kept": not why, "message": why}

        return await answered(answer)

    path = "/api/worker/archives/{part:number}/{attempt:number}/{position:number}"
    return [Route(path, receive, methods=["POST"])]


def archives_call(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    """The archives of an experiment, for a program."""
    sent = service.submission(who, path["experiment"])
    rows = [
        {
            "position": each.position,
            "file": each.name if each.digest else None,
            "size_bytes": each.size_bytes,
            "sha256": each.digest or None,
            "reason": each.reason or None,
        }
        for each in service.archives.listed(who, sent)
    ]
    return {**_SCHEMA, "kind": "archives", "experiment": sent.identifier, "archives": rows}


def one_archive(service: Service, who: Identity, path: Any, _body: Any) -> Response:
    """One of them, as its bytes are."""
    sent = service.submission(who, path["experiment"])
    return _file(service, service.archives.one(who, sent, int(path["position"])))


def all_archives(service: Service, who: Identity, path: Any, _body: Any) -> Response:
    """All of them, in one tar file."""
    sent = service.submission(who, path["experiment"])
    kept = [each for each in service.archives.listed(who, sent) if each.digest]
    folder = f"{sent.identifier}-results"
    files = [(f"{folder}/{each.name}", service.archives.place(each)) for each in kept]
    headers = {"Content-Disposition": f'attachment; filename="{folder}.tar"'}
    return StreamingResponse(tar_stream(files), media_type="application/x-tar", headers=headers)


def archive_pages(service: Service) -> list[Page]:
    """The pages of an experiment's archives, below that of the experiment."""

    def listed(asked: Asked) -> Response:
        sent = service.submission(asked.who, asked.path["experiment"])
        found = service.archives.listed(asked.who, sent, _SHOWN)
        totals = service.archives.totals(sent)
        name = without_secrets(sent).name
        return HTMLResponse(archives_page(name, sent.identifier, found, totals, asked.shell))

    def one(asked: Asked) -> Response:
        return one_archive(service, asked.who, asked.path, None)

    def every(asked: Asked) -> Response:
        return all_archives(service, asked.who, asked.path, None)

    def told(asked: Asked) -> Response:
        return JSONResponse(archives_call(service, asked.who, asked.path, None))

    return [
        Page("/service/{experiment}/results", EVERYONE, listed),
        Page("/service/{experiment}/results.json", EVERYONE, told),
        Page("/service/{experiment}/results.tar", EVERYONE, every),
        Page("/service/{experiment}/results/{position:number}", EVERYONE, one),
    ]


def archives_line(service: Service, asked: Asked, sent: Submission) -> str:
    """How many archives the page of an experiment tells of; none to who may not have them."""
    if _OF_A_PACKAGE not in sent.specification:
        return ""
    text = totals_text(service.archives.totals(sent))
    return text if text and may_have_archives(asked.who, sent) else ""


def _file(service: Service, found: ResultArchive) -> Response:
    path = service.archives.path(found)
    return FileResponse(path, media_type="application/octet-stream", filename=found.name)
