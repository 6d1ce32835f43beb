"""The API of a service: JSON in, JSON out, a token in the header `Authorization`."""

from __future__ import annotations

from starlette.routing import Route

from steelyard.app.service.people import People
from steelyard.app.service.service import Service
from steelyard.web.service.answered_call import person_route, worker_route
from steelyard.web.service.archive_api import (
    all_archives,
    archive_routes,
    archives_call,
    one_archive,
)
from steelyard.web.service.build_api import (
    build_routes,
    refused_build,
    unshared_build,
    wanted_build,
)
from steelyard.web.service.experiment_calls import (
    archived_experiment,
    cancelled_experiment,
    downloaded_experiment,
    experiment_trials,
    listed_experiments,
    sent_experiment,
    shown_experiment,
    shown_to,
)
from steelyard.web.service.package_api import (
    asked_rehearsal,
    listed_packages,
    package_routes,
    shown_rehearsals,
    take_rehearsal,
)
from steelyard.web.service.reproduction_pages import reproduction_call
from steelyard.web.service.token_calls import token_calls
from steelyard.web.service.worker_calls import (
    enrolled_worker,
    given_next,
    has_run,
    heard_beat,
    listed_workers,
    released_worker,
    taken_reading,
    taken_results,
)


def api_routes(service: Service, people: People) -> list[Route]:
    """All calls, below ``/api``."""
    return [
        person_route("/api/experiments", "GET", service, "read", listed_experiments),
        person_route("/api/experiments", "POST", service, "submit", sent_experiment),
        person_route("/api/experiments/{experiment}", "GET", service, "read", shown_experiment),
        *(
            person_route(f"/api/experiments/{path}", "GET", service, "read", call, is_long=True)
            for path, call in (
                ("{experiment}/trials", experiment_trials),
                ("{experiment}/download/{format}", downloaded_experiment),
                ("{experiment}/reproduction/{again}", reproduction_call),
                ("{experiment}/archive", archived_experiment),
            )
        ),
        person_route(
            "/api/experiments/{experiment}/results", "GET", service, "read", archives_call
        ),
        person_route(
            "/api/experiments/{experiment}/results.tar", "GET", service, "read", all_archives
        ),
        person_route(
            "/api/experiments/{experiment}/results/{position:number}",
            "GET",
            service,
            "read",
            one_archive,
        ),
        person_route(
            "/api/experiments/{experiment}/cancel", "POST", service, "cancel", cancelled_experiment
        ),
        person_route(
            "/api/experiments/{experiment}/visibility", "POST", service, "submit", shown_to
        ),
        *(
            person_route(path, method, service, "tokens", call)
            for path, method, call in token_calls(people)
        ),
        person_route("/api/workers", "GET", service, "read", listed_workers),
        person_route("/api/workers", "POST", service, "enrol", enrolled_worker),
        worker_route("/api/worker/next", service, given_next),
        person_route("/api/workers/{worker}/release", "POST", service, "enrol", released_worker),
        worker_route("/api/worker/beat", service, heard_beat),
        worker_route("/api/worker/ran", service, has_run),
        worker_route("/api/worker/reading", service, taken_reading),
        worker_route("/api/worker/results", service, taken_results),
        person_route("/api/packages", "GET", service, "read", listed_packages),
        person_route("/api/rehearsals", "POST", service, "submit", asked_rehearsal),
        person_route("/api/rehearsals/{batch}", "GET", service, "submit", shown_rehearsals),
        worker_route("/api/worker/rehearsals", service, take_rehearsal),
        *package_routes(service),
        *archive_routes(service),
        worker_route("/api/worker/builds/wanted", service, wanted_build),
        worker_route("/api/worker/builds/unshared", service, unshared_build),
        worker_route("/api/worker/builds/refused", service, refused_build),
        *build_routes(service),
    ]
