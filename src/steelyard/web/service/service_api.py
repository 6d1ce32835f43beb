"""The API of a service: JSON in, JSON out, a token in the header `Authorization`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from steelyard.app.service.following_up import refuse_no_screening
from steelyard.app.service.host_boots import WantedBoot, read_said
from steelyard.app.service.people import People
from steelyard.app.service.sent_result import whole_field
from steelyard.app.service.service import Service
from steelyard.app.service.service_batches import checked_batch
from steelyard.core.errors import DataError, SteelyardError, UsageError
from steelyard.core.json_codec import experiment_spec_from_json, to_json
from steelyard.report.kinds.submission.document import submission_document
from steelyard.service.accounts import Identity
from steelyard.service.part_queue import GivenPart
from steelyard.service.submissions import ListedSubmission
from steelyard.service.workers import Worker
from steelyard.web.service.archive_api import (
    all_archives,
    archive_routes,
    archives_call,
    one_archive,
)
from steelyard.web.service.build_api import (
    build_routes,
    given_build,
    refused_build,
    unshared_build,
    wanted_build,
)
from steelyard.web.service.downloads import archive_download, download
from steelyard.web.service.error_status import status_of
from steelyard.web.service.package_api import (
    digests_of,
    given_rehearsal,
    package_routes,
    rehearsal_document,
    take_rehearsal,
)
from steelyard.web.service.reproduction_pages import reproduction_call
from steelyard.web.service.token_calls import token_calls

# What one request may hold; results of a block with a million iterations stay below it.
MOST_BODY_BYTES = 64 << 20
_SCHEMA = {"schema": "steelyard/1"}

Answer = Callable[[Any, Any], Any]


def api_routes(service: Service, people: People) -> list[Route]:
    """All calls, below ``/api``."""
    return [
        _route("/api/experiments", "GET", service, "read", _experiments),
        _route("/api/experiments", "POST", service, "submit", _submit),
        _route("/api/experiments/{experiment}", "GET", service, "read", _experiment),
        _route("/api/experiments/{experiment}/trials", "GET", service, "read", _trials),
        _route(
            "/api/experiments/{experiment}/download/{format}", "GET", service, "read", _downloaded
        ),
        _route(
            "/api/experiments/{experiment}/reproduction/{again}",
            "GET",
            service,
            "read",
            reproduction_call,
        ),
        _route("/api/experiments/{experiment}/archive", "GET", service, "read", _archived),
        _route("/api/experiments/{experiment}/results", "GET", service, "read", archives_call),
        _route("/api/experiments/{experiment}/results.tar", "GET", service, "read", all_archives),
        _route(
            "/api/experiments/{experiment}/results/{position:int}",
            "GET",
            service,
            "read",
            one_archive,
        ),
        _route("/api/experiments/{experiment}/cancel", "POST", service, "cancel", _cancel),
        _route("/api/experiments/{experiment}/visibility", "POST", service, "submit", _show_to),
        *(
            _route(path, method, service, "tokens", call)
            for path, method, call in token_calls(people)
        ),
        _route("/api/workers", "GET", service, "read", _workers),
        _route("/api/workers", "POST", service, "enrol", _enrol),
        _worker_route("/api/worker/next", service, _next),
        _route("/api/workers/{worker}/release", "POST", service, "enrol", _release),
        _worker_route("/api/worker/beat", service, _beat),
        _worker_route("/api/worker/ran", service, _ran),
        _worker_route("/api/worker/reading", service, _reading),
        _worker_route("/api/worker/results", service, _results),
        _route("/api/packages", "GET", service, "read", _packages),
        _route("/api/rehearsals", "POST", service, "submit", _rehearse),
        _route("/api/rehearsals/{batch}", "GET", service, "submit", _rehearsals),
        _worker_route("/api/worker/rehearsals", service, take_rehearsal),
        *package_routes(service, _told, token_of),
        *archive_routes(service, _told, token_of),
        _worker_route("/api/worker/builds/wanted", service, wanted_build),
        _worker_route("/api/worker/builds/unshared", service, unshared_build),
        _worker_route("/api/worker/builds/refused", service, refused_build),
        *build_routes(service, _told, token_of),
    ]


def _route(path: str, method: str, service: Service, scope: str, call: Any) -> Route:
    """A call of people's programs. Whose token it is comes first: strangers send no bodies."""

    async def endpoint(request: Request) -> Response:
        async def answer() -> Any:
            who = await run_in_threadpool(service.identity, token_of(request), scope)
            body = await _body(request) if method == "POST" else {}
            return await run_in_threadpool(call, service, who, request.path_params, body)

        return await _told(answer)

    return Route(path, endpoint, methods=[method])


def _worker_route(path: str, service: Service, call: Any) -> Route:
    async def endpoint(request: Request) -> Response:
        async def answer() -> Any:
            worker = await run_in_threadpool(service.worker, token_of(request))
            return await run_in_threadpool(call, service, worker, await _body(request))

        return await _told(answer)

    return Route(path, endpoint, methods=["POST"])


def token_of(request: Request) -> str:
    """The token of the header, empty where there is none."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


async def _told(answer: Callable[[], Awaitable[Any]]) -> Response:
    """The answer as JSON, or what is wrong as an object with a status that says whose fault."""
    try:
        found = await answer()
    except SteelyardError as error:
        return error_response(error)
    except RecursionError:
        return error_response(DataError("What was sent is nested too deep."))
    if isinstance(found, Response):
        return found
    return Response(status_code=204) if found is None else JSONResponse(found)


def error_response(error: SteelyardError) -> Response:
    """The document of kind ``error``."""
    document = {**_SCHEMA, "kind": "error", "code": error.code, "message": error.message}
    return JSONResponse({**document, "field": error.field}, status_code=status_of(error))


async def _body(request: Request) -> dict[str, Any]:
    """The object of JSON that was sent, read no farther than its limit.

    Raises
    ------
    DataError
        It is too large, or no object.
    """
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MOST_BODY_BYTES:
            raise DataError(f"A request has at most {MOST_BODY_BYTES >> 20} MiB.")
    try:
        found = json.loads(bytes(data) or b"{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise DataError("A request's body must be an object of JSON.")
    return cast("dict[str, Any]", found)


def _text(body: dict[str, Any], name: str, default: str | None = None) -> str:
    value = body.get(name, default)
    if not isinstance(value, str):
        raise UsageError(f"{name} takes text, not {value!r}.", field=name)
    return value


def summary(sent: ListedSubmission) -> dict[str, Any]:
    """A submission in a list."""
    return {
        "experiment": sent.identifier,
        "name": sent.name,
        "account": sent.account,
        "state": sent.state,
        "visibility": sent.visibility,
        "trials": sent.trial_count,
        "committed": sent.committed_count,
        "created_unix_s": sent.created_unix_s,
    }


def _experiments(service: Service, who: Identity, _path: Any, _body: Any) -> Any:
    found = service.submissions(who)
    return {**_SCHEMA, "kind": "submissions", "experiments": [summary(each) for each in found]}


def _submit(service: Service, who: Identity, _path: Any, body: dict[str, Any]) -> Any:
    text, name = _text(body, "file"), _text(body, "name", "experiment.toml")
    digests = digests_of(body)
    if body.get("dry_run"):
        known = service.packages.known(who, digests)
        return submission_document(service.plan(text, name, known, who).summary)
    priority = body.get("priority", 0)
    if type(priority) is not int or not -100 <= priority <= 100:
        raise UsageError(
            f"priority takes a whole number from -100 to 100, not {priority!r}.", field="priority"
        )
    visibility = _text(body, "visibility", "private")
    follow_up = body.get("follow_up", False)
    if type(follow_up) is not bool:
        raise UsageError(f"follow_up takes true or false, not {follow_up!r}.", field="follow_up")
    batch = checked_batch(_text(body, "batch", ""))
    if follow_up:
        refuse_no_screening(text, name)
    planned = service.submit(who, text, name, visibility, priority, digests)
    if follow_up:
        service.follow_ups.ask(planned.spec.identifier)
    if batch:
        service.batches.keep(planned.spec.identifier, batch)
    return submission_document(planned.summary, sent=True)


def _experiment(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    found, parts, _ = service.progress(who, path["experiment"])
    repeats = service.repeats(found)
    told = {
        **summary(found),
        "parts": parts,
        "repeats": {
            "pairs": repeats.pair_count,
            "disagreements": [
                {
                    "block": each.one.block,
                    "worker": each.one.worker,
                    "repeated_as": each.two.block,
                    "repeated_by": each.two.worker,
                    "why": each.why,
                }
                for each in repeats.disagreements
            ],
        },
        "follow_up": found.follow_up,
        "stopped": found.stopped,
    }
    return {**_SCHEMA, "kind": "submitted", **told}


def _trials(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    found = service.experiment(who, path["experiment"])
    return {
        **_SCHEMA,
        "kind": "submitted-trials",
        "experiment": to_json(found.spec),
        "provenance": to_json(found.provenance),
        "created_unix_s": found.created_unix_s,
        "stopped": found.stopped,
        "trials": [to_json(trial) for trial in found.trials],
    }


def _downloaded(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    found = service.experiment(who, path["experiment"])
    return download(found, found.spec.identifier, path["format"])


def _archived(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    return archive_download(service, who, path["experiment"], masks=False)


def _cancel(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    ended = service.cancel(who, path["experiment"])
    return {**_SCHEMA, "kind": "cancelled", "experiment": path["experiment"], "was_open": ended}


def _show_to(service: Service, who: Identity, path: Any, body: dict[str, Any]) -> Any:
    visibility = _text(body, "visibility")
    service.show_to(who, path["experiment"], visibility)
    found = service.submission(who, path["experiment"])
    return {**_SCHEMA, "kind": "submitted", **summary(found)}


def worker_summary(worker: Worker) -> dict[str, Any]:
    """A worker in a list."""
    return {
        "worker": worker.name,
        "status": worker.status,
        "cluster": worker.cluster,
        "reason": worker.reason,
        "heartbeat_unix_s": worker.heartbeat_unix_s,
        "enrolled_unix_s": worker.enrolled_unix_s,
        "facts": dict(worker.facts),
    }


def _workers(service: Service, _who: Identity, _path: Any, _body: Any) -> Any:
    found = [worker_summary(each) for each in service.hosts.workers()]
    return {**_SCHEMA, "kind": "workers", "workers": found}


def _enrol(service: Service, who: Identity, _path: Any, body: dict[str, Any]) -> Any:
    facts = body.get("facts", {})
    if not isinstance(facts, dict):
        raise UsageError("facts takes an object.", field="facts")
    token = service.enrol(who, _text(body, "name"), cast("dict[str, Any]", facts))
    return {**_SCHEMA, "kind": "enrolled", "worker": body["name"], "token": token}


def _packages(service: Service, who: Identity, _path: Any, _body: Any) -> Any:
    found = [vars(each) for each in service.packages.sent(who)]
    return {**_SCHEMA, "kind": "packages", "packages": found}


def _rehearse(service: Service, who: Identity, _path: Any, body: dict[str, Any]) -> Any:
    known = service.packages.known(who, digests_of(body))
    planned = service.plan(_text(body, "file"), _text(body, "name", "experiment.toml"), known)
    return _rehearsals(service, who, {"batch": service.rehearsals.ask(who, planned)}, body)


def _rehearsals(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    batch = path["batch"]
    return rehearsal_document(batch, service.rehearsals.progress(who, batch))


def _next(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    rehearsal = service.rehearsals.give(worker)
    if rehearsal is not None:
        return given_rehearsal(rehearsal)
    builds = service.builds.give(worker)
    if builds is not None:
        return given_build(builds)
    given = service.give(worker, read_said(body))
    if isinstance(given, WantedBoot):
        return {**_SCHEMA, "kind": "wanted-boot", "booted_for": given.booted_for}
    return None if given is None else _given_document(given)


def _ran(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    part, attempt, count = (whole_field(body, name) for name in ("part", "attempt", "ran"))
    return {**_SCHEMA, "kind": "ran", "goes_on": service.ran(worker, part, attempt, count)}


def _given_document(given: GivenPart) -> dict[str, Any]:
    specification = experiment_spec_from_json(json.loads(given.specification))
    return {
        **_SCHEMA,
        "kind": "given-part",
        "part": given.id,
        "attempt": given.attempt,
        "experiment": given.experiment,
        "file": given.file,
        "plan": given.plan,
        "positions": list(given.positions),
        "packages": dict(given.packages),
        "levels": dict(given.levels),
        "reboot": given.reboot,
        "ran": given.ran,
        "specification": to_json(specification),
    }


def _release(service: Service, who: Identity, path: Any, _body: Any) -> Any:
    released = service.hosts.release(who, path["worker"])
    return {**_SCHEMA, "kind": "released", "worker": path["worker"], "was_held": released}


def _reading(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    return {**_SCHEMA, "kind": "reading", "set_aside": service.hosts.keep_reading(worker, body)}


def _beat(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    service.beat(worker, _text(body, "status"))


def _results(service: Service, worker: Worker, body: dict[str, Any]) -> Any:
    taken = service.take(worker, body)
    return {**_SCHEMA, "kind": "taken", "outcome": taken.outcome, "message": taken.message}
