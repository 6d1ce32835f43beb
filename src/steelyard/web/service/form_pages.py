"""The form by which an experiment is sent, as fields or as the text of its file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

from starlette.responses import HTMLResponse, RedirectResponse, Response

from steelyard.allocation.worker_facts import FACTS, HOST_FACTORS
from steelyard.app.experiment.experiment_fields import DESIGN_KINDS
from steelyard.app.service.following_up import refuse_no_screening
from steelyard.app.service.form_file import FEWEST_ROWS, ROWS, Fields, field_of, form_file, rows_of
from steelyard.app.service.planned_submission import Wishes
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
    fields_page,
    form_page,
    section_of,
)
from steelyard.web.service.error_status import status_of
from steelyard.web.service.form_packages import (
    named_in,
    sent_packages,
    shown_packages,
    with_archive,
)
from steelyard.web.service.masked_submission import without_secrets
from steelyard.web.service.page_table import Asked, Page

HIDDEN = "What is hidden on pages stands as *** here: write it anew before you send the file."
SIGNED_IN_ANEW = (
    "You have signed in anew since this form was loaded, so nothing was sent. What was typed is "
    "here: choose files again, and send it."
)
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


def form_pages(service: Service) -> list[Page]:
    """The form, and what is sent by it."""

    def form(asked: Asked) -> Response:
        return _form(service, asked)

    def sent(asked: Asked) -> Response:
        return (
            _by_fields(service, asked) if asked.field("by") == "fields" else _sent(service, asked)
        )

    def again(asked: Asked) -> Response:
        return _again(service, asked)

    room = service.packages.upload_directory
    return [
        Page("/service/new", "submit", form),
        Page("/service/new", "submit", sent, "POST", room, again),
    ]


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


def _page(asked: Asked, said: Said, sent: Mapping[str, str], status: int = 200) -> Response:
    visibility = asked.field("visibility", "private")
    choices = replace(form_choices(), packages=shown_packages(sent, asked.fields))
    page = fields_page(choices, _filled(asked.fields), said, asked.shell, visibility)
    return HTMLResponse(page, status)


def _form(service: Service, asked: Asked) -> Response:
    """The form, with the file of an experiment to send again where one is named."""
    name = asked.query.get("from", "")
    if not name and "text" in asked.query:
        return HTMLResponse(form_page("", None, "", asked.shell))
    if not name:
        first = replace(asked, fields=_FIRST)
        return _page(first, Said(form_file(_FIRST), None, ""), sent_packages(service, asked))
    found = service.submission(asked.who, name)
    shown = without_secrets(found)
    hidden = "" if shown.file == found.file else HIDDEN
    page = form_page(shown.file, None, hidden, asked.shell, found.visibility, found.identifier)
    return HTMLResponse(page)


def _again(service: Service, asked: Asked) -> Response:
    """The form with what was typed, by one who has signed in anew since it was loaded."""
    visibility = asked.field("visibility", "private")
    if asked.field("by") == "fields":
        sent, text = sent_packages(service, asked), ""
        with suppress(SteelyardError):
            text = form_file(asked.fields, sent)
        return _page(asked, Said(text, None, SIGNED_IN_ANEW), sent, 403)
    text = asked.field("file").replace("\r\n", "\n")
    page = form_page(text, None, SIGNED_IN_ANEW, asked.shell, visibility, asked.field("from"))
    return HTMLResponse(page, 403)


def _by_fields(service: Service, given: Asked) -> Response:
    """What a form with fields asks for: its file, what that would run, to edit or to send it."""
    taken = with_archive(service, given)
    asked, ask, text = taken.asked, given.field("ask"), ""
    visibility, follows = asked.field("visibility", "private"), bool(asked.field("follow_up"))
    sent = sent_packages(service, asked)
    used = {row["package"] for row in rows_of(asked.fields, "package")}
    digests = {name: digest for name, digest in sent.items() if name in used}
    try:
        if taken.error is not None:
            with suppress(SteelyardError):
                text = form_file(asked.fields, sent)
            raise taken.error
        text = form_file(asked.fields, sent)
        if ask == "edit":
            return HTMLResponse(form_page(text, None, "", asked.shell, visibility))
        if ask != "send":
            known = service.packages.known(asked.who, digests)
            planned = service.plan(text, "the form", known, asked.who).summary
            said = Said(text, submission_document(planned), "", notes=taken.notes)
            return _page(asked, said, sent)
        if follows:
            refuse_no_screening(text, "the form")
        wishes = Wishes(is_followed=follows)
        found = service.submit(asked.who, text, "the form", visibility, wishes, digests)
    except SteelyardError as error:
        said = Said(text, None, error.message, section_of(error.field), taken.notes)
        return _page(asked, said, sent, status_of(error))
    return RedirectResponse(found.spec.identifier, 303)


def _sent(service: Service, asked: Asked) -> Response:
    """What the text of a file asks for; its packages are those of the form, or of what it is of."""
    text = asked.field("file").replace("\r\n", "\n")
    visibility, again = asked.field("visibility", "private"), asked.field("from")
    try:
        known = sent_packages(service, asked)
        if again:
            sent = service.submission(asked.who, again)
            known |= service.packages.named_by(sent.id)
        digests = named_in(text, known)
        if asked.field("ask") == "plan":
            packages = service.packages.known(asked.who, digests)
            planned: dict[str, Any] = submission_document(
                service.plan(text, "the form", packages, asked.who).summary
            )
            return HTMLResponse(form_page(text, planned, "", asked.shell, visibility, again))
        found = service.submit(asked.who, text, "the form", visibility, packages=digests)
    except SteelyardError as error:
        page = form_page(text, None, error.message, asked.shell, visibility, again)
        return HTMLResponse(page, status_of(error))
    return RedirectResponse(found.spec.identifier, 303)
