"""The pages of a service: what was sent, one experiment, the workers, and a form."""

from __future__ import annotations

from starlette.responses import HTMLResponse, RedirectResponse, Response

from steelyard.app.service.service import Service
from steelyard.app.service.who_may import may_change
from steelyard.core.masked_experiment import masked_experiment
from steelyard.report.kinds.submission.pages import (
    Progress,
    submission_page,
    submissions_page,
    workers_page,
)
from steelyard.report.kinds.submission.places import places_section
from steelyard.web.service.archive_api import archive_pages, archives_line
from steelyard.web.service.downloads import archive_download, download
from steelyard.web.service.facet_pages import facet_pages
from steelyard.web.service.form_pages import form_pages
from steelyard.web.service.made_answers import MadeAnswers
from steelyard.web.service.masked_submission import masked_words, without_secrets
from steelyard.web.service.page_table import EVERYONE, Asked, Page
from steelyard.web.service.reproduction_pages import reproduction_pages
from steelyard.web.shown_experiment import Answer, shown_experiment, with_section, with_way_back

_SHOWN_DISAGREEMENTS = 50


def service_pages(service: Service) -> list[Page]:
    """The pages of experiments and workers, below ``/service``."""

    def submissions(asked: Asked) -> Response:
        found = service.submissions(asked.who)
        return HTMLResponse(submissions_page(found, service.hosts.shown_workers(), asked.shell))

    def workers(asked: Asked) -> Response:
        return HTMLResponse(workers_page(service.hosts.shown_workers(), asked.shell))

    def one(asked: Asked) -> Response:
        found = service.standing(asked.who, asked.path["experiment"])
        sent, repeats, failures = found.sent, found.repeats, found.failures
        own = may_change(asked.who, sent)
        shown = without_secrets(sent)
        archives = archives_line(service, asked, sent)
        *why, failure = masked_words(sent, *(fault[3] for fault in found.faults), failures.why)
        told = [(*fault[:3], each) for fault, each in zip(found.faults, why, strict=True)]
        so_far = Progress(
            *(found.parts, found.running, told, archives),
            repeats.pair_count,
            [
                (each.one.block, each.one.worker, each.two.block, each.two.worker, each.why)
                for each in repeats.disagreements[:_SHOWN_DISAGREEMENTS]
            ],
            (failures.failed, failures.looked_at, failure),
        )
        page = submission_page(shown, so_far, asked.shell, is_own=own)
        return HTMLResponse(page)

    answers = MadeAnswers()

    def answer(asked: Asked) -> Response:
        sent = service.submission(asked.who, asked.path["experiment"])

        def make() -> Answer:
            found = masked_experiment(service.trials(sent))
            shown = with_section(shown_experiment(found), places_section(found))
            return with_way_back(shown, f"../{sent.identifier}", "The experiment")

        shown = answers.answer(sent.id, (sent.state, sent.committed_count), make)
        return Response(shown.data, shown.status, media_type=shown.kind)

    def downloaded(asked: Asked) -> Response:
        sent = service.submission(asked.who, asked.path["experiment"])
        found = masked_experiment(service.trials(sent))
        return download(found, sent.identifier, asked.path["format"])

    def archived(asked: Asked) -> Response:
        return archive_download(service, asked.who, asked.path["experiment"], masks=True)

    def cancelled(asked: Asked) -> Response:
        service.cancel(asked.who, asked.path["experiment"])
        return _back(asked)

    def shown_to(asked: Asked) -> Response:
        service.show_to(asked.who, asked.path["experiment"], asked.field("visibility"))
        return _back(asked)

    return [
        Page("/service", EVERYONE, submissions),
        Page("/service/workers", "read", workers),
        *form_pages(service),
        *reproduction_pages(service),
        *archive_pages(service),
        *facet_pages(service),
        Page("/service/{experiment}", EVERYONE, one),
        Page("/service/{experiment}/answer", EVERYONE, answer, is_long=True),
        Page("/service/{experiment}/download/{format}", EVERYONE, downloaded, is_long=True),
        Page("/service/{experiment}/archive", EVERYONE, archived, is_long=True),
        Page("/service/{experiment}/cancel", "cancel", cancelled, "POST"),
        Page("/service/{experiment}/visibility", "submit", shown_to, "POST"),
    ]


def _back(asked: Asked) -> Response:
    """To the page of the experiment."""
    return RedirectResponse(f"../{asked.path['experiment']}", 303)
