"""The API of builds that one worker makes for all of its platform."""

from __future__ import annotations

import json
from contextlib import suppress
from os import unlink
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from steelyard.app.service.service import Service
from steelyard.build.build_archive import MOST_BYTES
from steelyard.core.json_codec import experiment_spec_from_json, to_json
from steelyard.service.shared_builds import GivenBuild
from steelyard.service.workers import Worker
from steelyard.web.service.answered_call import answered, token_of
from steelyard.web.service.in_turn import in_turn
from steelyard.web.service.sent_body import body_length, save_body

_SCHEMA = {"schema": "steelyard/1"}
_PATH = "/api/worker/builds/{part:number}/{attempt:number}/{key}"


def given_build(given: GivenBuild) -> dict[str, Any]:
    """What a build host gets of an experiment whose builds others wait for."""
    specification = experiment_spec_from_json(json.loads(given.specification))
    return {
        **_SCHEMA,
        "kind": "given-build",
        "part": given.part_id,
        "attempt": given.attempt,
        "experiment": given.experiment,
        "file": given.file,
        "plan": given.plan,
        "specification": to_json(specification),
    }


def wanted_build(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    """What a worker does about a build that it wants."""
    found = service.builds.want(worker, body)
    return {
        **_SCHEMA,
        "kind": "wanted-build",
        "do": found.doing,
        "worker": found.worker,
        "yours": found.worker == worker.name,
        "sha256": found.digest,
        "size_bytes": found.size_bytes,
        "message": found.message,
    }


def unshared_build(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    """A worker says why a build is not shared."""
    service.builds.unshared(worker, body)
    return {**_SCHEMA, "kind": "taken-build", "kept": False, "message": ""}


def refused_build(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    """A worker says that a build which it fetched is not what it should be."""
    service.builds.refused(worker, body)
    return {**_SCHEMA, "kind": "taken-build", "kept": False, "message": ""}


def build_routes(service: Service) -> list[Route]:
    """The calls whose bodies are builds."""

    async def receive(request: Request) -> Response:
        async def answer() -> Any:
            worker = await in_turn(service.access.worker, token_of(request))
            asked = {**request.path_params, "sha256": request.query_params.get("sha256", "")}
            path = await in_turn(service.builds.upload, body_length(request, 0))
            try:
                await save_body(request, path, MOST_BYTES, "A build")
                digest, why = await in_turn(service.builds.receive, worker, asked, path)
            finally:
                with suppress(FileNotFoundError):
                    unlink(path)
            told = {"kept": not why, "sha256": digest, "worker": worker.name, "message": why}
            return {**_SCHEMA, "kind": "taken-build", **told}

        return await answered(answer)

    async def give(request: Request) -> Response:
        async def answer() -> Any:
            worker = await in_turn(service.access.worker, token_of(request))
            path = await in_turn(service.builds.path, worker, request.path_params)
            return FileResponse(path, media_type="application/x-tar")

        return await answered(answer)

    return [Route(_PATH, receive, methods=["POST"]), Route(_PATH, give, methods=["GET"])]
