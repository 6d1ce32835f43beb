"""The API of benchmark packages: archives in, archives out, and what their scripts print."""

from __future__ import annotations

import os
import shutil
from typing import Any, cast

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from steelyard.app.service.service import Service
from steelyard.app.service.service_packages import TakenPackage
from steelyard.core.errors import UsageError
from steelyard.service.accounts import Identity
from steelyard.service.package.archive import PackageLimits
from steelyard.service.rehearsals import Rehearsal
from steelyard.service.workers import Worker
from steelyard.web.service.answered_call import (
    answered,
    text_in,
    token_of,
)
from steelyard.web.service.in_turn import in_turn
from steelyard.web.service.sent_body import body_length, save_body

_SCHEMA = {"schema": "steelyard/1"}


def package_routes(service: Service) -> list[Route]:
    """The calls whose bodies are archives."""

    async def receive(request: Request) -> Response:
        async def answer() -> Any:
            who = await in_turn(service.access.identity, token_of(request), "submit")
            limit = PackageLimits().archive_bytes
            directory = await run_in_threadpool(
                service.packages.upload_directory, body_length(request, limit)
            )
            try:
                path = os.path.join(directory, "archive")
                await save_body(request, path, limit, "A package")
                taken = await in_turn(service.packages.receive, who, path)
            finally:
                await run_in_threadpool(shutil.rmtree, directory, ignore_errors=True)
            return package_document(taken)

        return await answered(answer)

    async def give(request: Request) -> Response:
        async def answer() -> Any:
            digest = request.path_params["digest"]

            def written() -> str:
                return service.packages.write_for(service.access.worker(token_of(request)), digest)

            path = await in_turn(written)
            gone = BackgroundTask(os.unlink, path)
            return FileResponse(path, media_type="application/x-tar", background=gone)

        return await answered(answer)

    return [
        Route("/api/packages", receive, methods=["POST"]),
        Route("/api/worker/packages/{digest}", give, methods=["GET"]),
    ]


def package_document(taken: TakenPackage) -> dict[str, Any]:
    """A package that was taken: its digest, by which experiments name it, and notes on it."""
    return {
        **_SCHEMA,
        "kind": "taken-package",
        "digest": taken.package.digest,
        "files": len(taken.package.members),
        "size_bytes": taken.package.size_bytes,
        "notes": [each.message for each in taken.found.notes],
    }


def rehearsal_document(batch: str, found: list[Rehearsal]) -> dict[str, Any]:
    """Rehearsals that were asked for at once, and how each went."""
    return {
        **_SCHEMA,
        "kind": "rehearsals",
        "batch": batch,
        "rehearsals": [
            {
                "benchmark": each.name,
                "architecture": each.architecture,
                "worker": each.worker,
                "state": each.state,
                "problem": each.problem,
                "output": each.output,
            }
            for each in found
        ],
    }


def given_rehearsal(given: Rehearsal) -> dict[str, Any]:
    """What a worker gets of a rehearsal."""
    return {
        **_SCHEMA,
        "kind": "given-rehearsal",
        "rehearsal": given.id,
        "attempt": given.attempt,
        "benchmark": given.name,
        "packages": {given.name: given.digest},
        "package": dict(given.package),
    }


def take_rehearsal(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    """What a worker sends back of a rehearsal."""
    taken = service.rehearsals.take(worker, body)
    message = "" if taken else "no such rehearsal was given to this worker"
    return {
        **_SCHEMA,
        "kind": "taken",
        "outcome": "committed" if taken else "late",
        "message": message,
    }


def digests_of(body: dict[str, Any]) -> dict[str, str]:
    """The digests of packages by their names in an experiment file.

    Raises
    ------
    UsageError
        The field is no object of texts.
    """
    found = body.get("packages", {})
    told = cast("dict[str, Any]", found) if isinstance(found, dict) else {"": None}
    if not all(isinstance(digest, str) for digest in told.values()):
        raise UsageError(
            "packages takes an object of digests by names in the file.", field="packages"
        )
    return {name: str(digest) for name, digest in told.items()}


def listed_packages(service: Service, who: Identity, _path: Any, _body: Any) -> Any:
    """The packages that one has sent."""
    found = [vars(each) for each in service.packages.sent(who)]
    return {**_SCHEMA, "kind": "packages", "packages": found}


def asked_rehearsal(service: Service, who: Identity, _path: Any, body: dict[str, Any]) -> Any:
    """Have the packages of an experiment file run once on each architecture."""
    known = service.packages.known(who, digests_of(body))
    planned = service.plan(text_in(body, "file"), text_in(body, "name", "experiment.toml"), known)
    return shown_rehearsals(service, who, {"batch": service.rehearsals.ask(who, planned)}, body)


def shown_rehearsals(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    """How far the rehearsals of a batch are."""
    batch = path["batch"]
    return rehearsal_document(batch, service.rehearsals.progress(who, batch))
