"""A page of a service: its path, what it takes to see it, and how it is answered."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from steelyard.app.service.service import MOST_FILE_BYTES
from steelyard.core.errors import DataError, SteelyardError
from steelyard.report.pages.shell import Shell
from steelyard.service.accounts import Identity
from steelyard.service.package.archive import PackageLimits
from steelyard.web.service.error_status import status_of
from steelyard.web.service.in_turn import in_turn
from steelyard.web.service.inner_fault import inner_fault
from steelyard.web.service.sent_form import (
    MULTIPART,
    FormLimits,
    SentFile,
    SentForm,
    sent_form,
)
from steelyard.web.service.visitors import Visitor, Visitors, fits

# All programs of the suite ticked, and every row filled.
_MOST_FIELDS = 400
_FORM = "application/x-www-form-urlencoded"
# Of a form: an experiment file whose every byte is written as three.
MOST_FORM_BYTES = 4 * MOST_FILE_BYTES
_TOO_OLD = "This form is too old. Go back, load its page again and repeat."
# The browser has kept what it sent, and sends all of it again.
_SIGNED_OUT = (
    "You are not signed in, so nothing was done. Sign in in another tab, then load this page anew: "
    "your browser sends once more what you typed."
)
# The page may be seen by who has not signed in.
EVERYONE = ""


@dataclass(frozen=True)
class Asked:
    """What a page is asked for.

    Parameters
    ----------
    visitor : Visitor
    shell : Shell
    path : mapping of str to str
        The parts of the address that have names.
    query : mapping of str to str
    fields : mapping of str to sequence of str
        Of a form.
    client : str
        Where it came from.
    begun : str
        What the browser keeps of a sign-in elsewhere that was begun in it.
    files : mapping of str to SentFile
        Of a form of a page that takes some.
    """

    visitor: Visitor
    shell: Shell
    path: Mapping[str, str]
    query: Mapping[str, str]
    fields: Mapping[str, Sequence[str]]
    client: str
    begun: str = field(default="", repr=False)
    files: Mapping[str, SentFile] = field(default_factory=dict[str, SentFile])

    @property
    def who(self) -> Identity:
        """Who asks."""
        return self.visitor.who

    def field(self, name: str, default: str = "") -> str:
        """The last value of a field of the form."""
        return self.fields.get(name, (default,))[-1]


@dataclass(frozen=True)
class Page:
    """One row of the table.

    Parameters
    ----------
    path : str
    needs : str
        The scope without which it is refused, or `EVERYONE`.
    answer : callable
        Runs in a thread; may raise what is told in one sentence.
    method : str
    room : callable or None
        Makes a directory for a file of so many bytes that its form brings; None takes no files.
    again : callable or None
        Shows a form with what was typed, whose sender has signed in anew since it was loaded; None
        says to go back.
    is_long : bool
        It reads all trials of an experiment.
    """

    path: str
    needs: str
    answer: Callable[[Asked], Response]
    method: str = "GET"
    room: Callable[[int], str] | None = None
    again: Callable[[Asked], Response] | None = None
    is_long: bool = False


def page_route(page: Page, visitors: Visitors) -> Route:
    """The route of a page, which asks who it is before anything else is read."""

    def looked_at(request: Request) -> Response:
        try:
            visitor = visitors.visitor(request)
        except SteelyardError as error:
            return refusal(error)
        denied = _denied(page, visitor, visitors, request)
        return denied or _answered(page.answer, _asked(request, visitor, visitors, {}))

    async def seen(request: Request) -> Response:
        return await in_turn(looked_at, request, kind=page.path if page.is_long else "")

    async def posted(request: Request) -> Response:
        if not visitors.may_post(request):
            return sentence("This form came from a page of another site.", 403)
        try:
            visitor = await in_turn(visitors.visitor, request)
            denied = _denied(page, visitor, visitors, request)
            if denied is not None:
                return denied
            async with _form(request, page, visitor) as form:
                asked = _asked(request, visitor, visitors, form.fields, form.files)
                answer = page.answer if _is_of_page(visitor, form.fields) else page.again
                if answer is None:
                    return sentence(_TOO_OLD, 403)
                return await in_turn(_answered, answer, asked)
        except SteelyardError as error:
            return refusal(error)

    endpoint = posted if page.method == "POST" else seen
    return Route(page.path, endpoint, methods=[page.method])


def _denied(page: Page, visitor: Visitor, visitors: Visitors, request: Request) -> Response | None:
    """Why the visitor may not, or the way to sign in; None where they may."""
    if page.needs == EVERYONE or visitor.who.may(page.needs):
        return None
    if visitor.who.account_id:
        return sentence(f"{visitor.who.name} may not do this: it takes {page.needs!r}.", 403)
    if visitors.signs_in and page.method == "GET":
        following = quote(request.url.path.lstrip("/"), safe="")
        return RedirectResponse(f"{_root(request)}sign-in?following={following}", 303)
    return sentence(_SIGNED_OUT, 401)


def _asked(
    request: Request,
    visitor: Visitor,
    visitors: Visitors,
    fields: Mapping[str, Sequence[str]],
    files: Mapping[str, SentFile] | None = None,
) -> Asked:
    who = visitor.who
    allowed = frozenset(scope for scope in who.scopes if who.may(scope))
    shell = Shell(_root(request), who.name, allowed, visitor.csrf, visitors.signs_in)
    client = request.client.host if request.client else ""
    begun = visitors.begun(request)
    return Asked(
        *(visitor, shell, request.path_params, request.query_params, fields, client, begun),
        files or {},
    )


def _root(request: Request) -> str:
    """From a page to the first one."""
    return "../" * (request.scope["path"].count("/") - 1)


def _answered(answer: Callable[[Asked], Response], asked: Asked) -> Response:
    try:
        return answer(asked)
    except SteelyardError as error:
        return refusal(error)
    except Exception as error:  # noqa: BLE001 - a slip of one page, which the journal has to show
        return refusal(inner_fault(error))


def refusal(error: SteelyardError) -> Response:
    """One sentence about what is wrong."""
    return sentence(error.message, status_of(error))


def sentence(text: str, status: int) -> Response:
    """One sentence in place of a page."""
    return Response(f"{text}\n".encode("utf-8", "replace"), status, media_type="text/plain")


def _is_of_page(visitor: Visitor, fields: Mapping[str, Sequence[str]]) -> bool:
    return fits(visitor, fields.get("csrf", ("",))[-1])


@asynccontextmanager
async def _form(request: Request, page: Page, visitor: Visitor) -> AsyncIterator[SentForm]:
    """The form of a request; files are taken by pages that have room for them."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if page.room is None or kind != MULTIPART:
        yield SentForm(await _fields(request))
        return
    limits = FormLimits(_MOST_FIELDS, MOST_FORM_BYTES, PackageLimits().archive_bytes)

    def may_send(fields: Mapping[str, Sequence[str]]) -> bool:
        return _is_of_page(visitor, fields)

    async with sent_form(request, limits, page.room, may_send) as form:
        yield form


async def _fields(request: Request) -> dict[str, list[str]]:
    """The fields of a form, read no farther than its limit.

    Raises
    ------
    DataError
        It is too large.
    """
    data = bytearray()
    if request.headers.get("content-type", "").partition(";")[0] != _FORM:
        return {}
    async for chunk in request.stream():
        data += chunk
        if len(data) > MOST_FORM_BYTES:
            raise DataError(f"A form has at most {MOST_FORM_BYTES >> 20} MiB.")
    try:
        return parse_qs(
            data.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        raise DataError(f"A form has at most {_MOST_FIELDS} fields.") from None
