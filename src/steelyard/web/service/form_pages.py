"""The form by which an experiment is sent, as fields or as the text of its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from starlette.responses import HTMLResponse, RedirectResponse, Response

from steelyard.allocation.worker_facts import FACTS, HOST_FACTORS
from steelyard.app.experiment.experiment_fields import DESIGN_KINDS
from steelyard.app.service.following_up import refuse_no_screening
from steelyard.app.service.form_file import FEWEST_ROWS, ROWS, Fields, field_of, form_file, rows_of
from steelyard.app.service.service import Service
from steelyard.app.suite.suite_choice import known_recipes
from steelyard.core.errors import SteelyardError
from steelyard.factors.kinds import FACTORS
from steelyard.measure.metrics import METRICS
from steelyard.report.kinds.submission.document import submission_document
from steelyard.report.kinds.submission.sending_form import (
    Filled,
    FormChoices,
    Said,
    day_text,
    fields_page,
    form_page,
    section_of,
)
from steelyard.web.service.error_status import status_of
from steelyard.web.service.masked_submission import without_secrets
from steelyard.web.service.page_table import Asked, Page

HIDDEN = "What is hidden on pages stands as *** here: write it anew before you send the file."
# What a form begins with: two programs, two levels, every platform.
_FIRST: Fields = {
    "program": ("bzip2", "xz"),
    "size": ("test",),
    "factor": ("flags",),
    "factor_levels": ("-O1, -O2",),
    "factor_name": ("optimisation",),
    "metric": ("cpu_time",),
    "replicates": ("5",),
    "share_platform": ("100%",),
}
# These need more than levels: commands, programs or files of the host.
_NOT_IN_FORM = ("command",)
_BOXES = ("program", "metric", "follow_up", "design_folded")
_MOST_PACKAGES = 100


def form_pages(service: Service) -> list[Page]:
    """The form, and what is sent by it."""

    def form(asked: Asked) -> Response:
        return _form(service, asked)

    def sent(asked: Asked) -> Response:
        return (
            _by_fields(service, asked) if asked.field("by") == "fields" else _sent(service, asked)
        )

    return [Page("/service/new", "submit", form), Page("/service/new", "submit", sent, "POST")]


@cache
def form_choices() -> FormChoices:
    """What is registered."""
    factors = [each for each in FACTORS if each.name not in _NOT_IN_FORM]
    return FormChoices(
        programs=[(each.name, ", ".join(each.languages), each.title) for each in known_recipes()],
        factors=[(each.name, each.description) for each in factors],
        drawn=[(each.name, each.description) for each in factors if each.draw is not None],
        metrics=METRICS.names(),
        facts=list(FACTS),
        placements=list(HOST_FACTORS),
        designs=list(DESIGN_KINDS[1:]),
    )


def _filled(fields: Fields) -> Filled:
    rows = {kind: rows_of(fields, kind) for kind in FEWEST_ROWS}
    padded = {
        kind: [*found, *(dict.fromkeys(ROWS[kind], "") for _ in range(_empty(kind, len(found))))]
        for kind, found in rows.items()
    }
    return Filled(
        values={name: field_of(fields, name) for name in fields},
        ticked={name: frozenset(fields.get(name, ())) for name in _BOXES},
        rows=padded,
    )


def _empty(kind: str, count: int) -> int:
    """Empty rows: one at least, so that a list can grow."""
    return max(1, FEWEST_ROWS[kind] - count)


def _page(
    asked: Asked,
    fields: Fields,
    told: tuple[str, Mapping[str, Any] | None, str],
    sent: Mapping[str, str],
    place: str | None = None,
    status: int = 200,
) -> Response:
    visibility = asked.field("visibility", "private")
    choices = replace(form_choices(), packages=list(sent))
    text, planned, error = told
    said = Said(text, planned, error, section_of(place))
    page = fields_page(choices, _filled(fields), said, asked.shell, visibility)
    return HTMLResponse(page, status)


def _sent_packages(service: Service, asked: Asked) -> dict[str, str]:
    """The digests of what one has sent, by what the form calls each: digest, size and day."""
    found = service.packages.sent(asked.who)[:_MOST_PACKAGES]
    return {
        f"{each.digest[:12]} ({each.member_count} files, {day_text(each.created_unix_s)})": (
            each.digest
        )
        for each in found
    }


def _form(service: Service, asked: Asked) -> Response:
    """The form, with the file of an experiment to send again where one is named."""
    name = asked.query.get("from", "")
    if not name and "text" in asked.query:
        return HTMLResponse(form_page("", None, "", asked.shell))
    if not name:
        return _page(asked, _FIRST, (form_file(_FIRST), None, ""), _sent_packages(service, asked))
    found = service.submission(asked.who, name)
    shown = without_secrets(found)
    hidden = "" if shown.file == found.file else HIDDEN
    return HTMLResponse(form_page(shown.file, None, hidden, asked.shell, found.visibility))


def _by_fields(service: Service, asked: Asked) -> Response:
    """What a form with fields asks for: its file, what that would run, to edit or to send it."""
    ask, text = asked.field("ask"), ""
    visibility, follows = asked.field("visibility", "private"), bool(asked.field("follow_up"))
    sent = _sent_packages(service, asked)
    used = {row["package"] for row in rows_of(asked.fields, "package")}
    digests = {name: digest for name, digest in sent.items() if name in used}
    try:
        text = form_file(asked.fields, sent)
        if ask == "edit":
            return HTMLResponse(form_page(text, None, "", asked.shell, visibility))
        if ask != "send":
            known = service.packages.known(asked.who, digests)
            planned = service.plan(text, "the form", known, asked.who).summary
            return _page(asked, asked.fields, (text, submission_document(planned), ""), sent)
        if follows:
            refuse_no_screening(text, "the form")
        found = service.submit(asked.who, text, "the form", visibility, 0, digests)
    except SteelyardError as error:
        told = (text, None, error.message)
        return _page(asked, asked.fields, told, sent, error.field, status_of(error))
    if follows:
        service.follow_ups.ask(found.spec.identifier)
    return RedirectResponse(found.spec.identifier, 303)


def _sent(service: Service, asked: Asked) -> Response:
    text = asked.field("file").replace("\r\n", "\n")
    visibility = asked.field("visibility", "private")
    try:
        if asked.field("ask") == "plan":
            planned: dict[str, Any] = submission_document(
                service.plan(text, "the form", None, asked.who).summary
            )
            return HTMLResponse(form_page(text, planned, "", asked.shell, visibility))
        found = service.submit(asked.who, text, "the form", visibility)
    except SteelyardError as error:
        page = form_page(text, None, error.message, asked.shell, visibility)
        return HTMLResponse(page, status_of(error))
    return RedirectResponse(found.spec.identifier, 303)
