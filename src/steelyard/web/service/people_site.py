"""The pages of people: signing in, one's account, everyone's, and the audit log."""

from __future__ import annotations

from collections.abc import Callable

from starlette.responses import HTMLResponse, RedirectResponse, Response

from steelyard.app.service.people import People
from steelyard.core.errors import SteelyardError, UsageError
from steelyard.report.kinds.people.people_pages import account_page, audit_page, people_page
from steelyard.web.service.error_status import status_of
from steelyard.web.service.page_table import Asked, Page
from steelyard.web.service.visitors import SignedInVisitors, Visitors


def people_pages(people: People, visitors: Visitors, address: str) -> list[Page]:
    """The pages of those who are signed in; without sign-in, only those that make sense then.

    Parameters
    ----------
    people : People
    visitors : Visitors
    address : str
        Of the first page, for links that are passed on.
    """

    def account(asked: Asked) -> Response:
        return _account(people, asked)

    def token_made(asked: Asked) -> Response:
        return _token_made(people, asked)

    def token_revoked(asked: Asked) -> Response:
        people.revoke_token(asked.who, int(asked.path["token"]))
        return RedirectResponse(f"{asked.shell.root}account", 303)

    def audit(asked: Asked) -> Response:
        before = asked.query.get("before", "")
        digits = before.isascii() and before.isdigit() and len(before) < 10
        return HTMLResponse(audit_page(people.audit(int(before) if digits else None), asked.shell))

    pages = [
        Page("/account", "tokens", account),
        Page("/account/tokens", "tokens", token_made, "POST"),
        Page("/account/tokens/{token:number}/revoke", "tokens", token_revoked, "POST"),
        Page("/audit", "administer", audit),
    ]
    if isinstance(visitors, SignedInVisitors):
        pages += [_password_page(people, visitors), *_administration(people, address)]
    return pages


def _account(people: People, asked: Asked, made: str = "", error: str = "") -> Response:
    page = account_page(people.tokens(asked.who), asked.shell, people.clock(), made, error)
    return HTMLResponse(page)


def _token_made(people: People, asked: Asked) -> Response:
    days = asked.field("days")
    scopes = asked.fields.get("scope", ())
    try:
        if not (days.isascii() and days.isdigit() and len(days) < 10):
            raise UsageError("Days are a whole number.", field="days")
        made = people.make_token(asked.who, asked.field("name"), scopes, int(days))
    except SteelyardError as error:
        page = account_page(
            people.tokens(asked.who), asked.shell, people.clock(), error=error.message
        )
        return HTMLResponse(page, status_of(error))
    return _account(people, asked, made)


def new_password(asked: Asked) -> str:
    """The password of a form that has it twice.

    Raises
    ------
    UsageError
        Both differ.
    """
    password = asked.field("password")
    if password != asked.field("again"):
        raise UsageError("Both new passwords differ.", field="again")
    return password


def _password_page(people: People, visitors: SignedInVisitors) -> Page:
    def changed(asked: Asked) -> Response:
        try:
            cookie = people.change_password(
                asked.who, asked.field("old"), new_password(asked), asked.client
            )
        except SteelyardError as error:
            page = account_page(
                people.tokens(asked.who), asked.shell, people.clock(), error=error.message
            )
            return HTMLResponse(page, status_of(error))
        response = RedirectResponse(f"{asked.shell.root}account", 303)
        visitors.set_cookie(response, cookie)
        return response

    return Page("/account/password", "tokens", changed, "POST")


def _administration(people: People, address: str) -> list[Page]:
    """What administrators do with accounts."""

    def listed(asked: Asked, link: str = "") -> Response:
        page = people_page(people.accounts(), asked.who.account_id, asked.shell, link)
        return HTMLResponse(page)

    def invited(asked: Asked) -> Response:
        secret = people.invite(asked.who, asked.field("role"))
        return listed(asked, f"{address}welcome/{secret}")

    def invited_again(asked: Asked) -> Response:
        secret = people.invite_again(asked.who, int(asked.path["account"]))
        return listed(asked, f"{address}welcome/{secret}")

    def changed(change: Callable[[Asked], None]) -> Callable[[Asked], Response]:
        def answer(asked: Asked) -> Response:
            change(asked)
            return RedirectResponse(f"{asked.shell.root}people", 303)

        return answer

    def role(asked: Asked) -> None:
        people.change_account(asked.who, int(asked.path["account"]), role=asked.field("role"))

    def shut_out(asked: Asked) -> None:
        people.change_account(asked.who, int(asked.path["account"]), is_disabled=True)

    def let_in(asked: Asked) -> None:
        people.change_account(asked.who, int(asked.path["account"]), is_disabled=False)

    return [
        Page("/people", "administer", listed),
        Page("/people/invite", "administer", invited, "POST"),
        Page("/people/{account:number}/new-password", "administer", invited_again, "POST"),
        Page("/people/{account:number}/role", "administer", changed(role), "POST"),
        Page("/people/{account:number}/shut-out", "administer", changed(shut_out), "POST"),
        Page("/people/{account:number}/let-in", "administer", changed(let_in), "POST"),
    ]
