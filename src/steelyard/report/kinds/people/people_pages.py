"""The pages by which people sign in and keep their accounts, and those for administrators."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from steelyard.report.pages.rendered import rendered_page
from steelyard.report.pages.shell import Shell
from steelyard.service.account_changes import Account, Token
from steelyard.service.accounts import ROLES, SCOPES
from steelyard.service.invitations import INVITATION_S, Invitation
from steelyard.service.passwords import LONGEST, SHORTEST

_LENGTHS = {"shortest": SHORTEST, "longest": LONGEST}
_SCOPES = {
    "read": "see experiments, their trials and the workers",
    "submit": "send experiments",
    "cancel": "cancel experiments",
    "tokens": "make and revoke tokens",
    "enrol": "enrol workers",
    "administer": "keep accounts, and see the audit log and this machine's store",
}


def _rendered(template: str, title: str, shell: Shell, error: str, /, **view: Any) -> str:
    common = {"shell": shell, "title": title, "error": error, "refresh_s": 0}
    return rendered_page(f"people/{template}.html.jinja", {**common, **view})


def _when(unix_s: float | None) -> str:
    return "" if unix_s is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(unix_s))


def sign_in_page(
    shell: Shell, following: str, name: str = "", error: str = "", issuer: str = ""
) -> str:
    """The form to sign in; `following` is where one goes then, `issuer` where else one may."""
    return _rendered(
        "sign_in", "Sign in", shell, error, following=following, name=name, issuer=issuer
    )


def leaving_page(shell: Shell, issuer: str, address: str) -> str:
    """What leads on to an issuer."""
    view = {"issuer": issuer, "address": address, "refresh_s": f"0; url={address}"}
    return _rendered("leaving", f"Sign in at {issuer}", shell, "", **view)


def welcome_page(
    invitation: Invitation,
    shell: Shell,
    name: str = "",
    error: str = "",
    leaves: tuple[str, str] = ("", ""),
) -> str:
    """The form of an invitation: a name and a password, or for an account that is there a
    password; `leaves` is the issuer that may stand for it, and the secret of the invitation."""
    return _rendered(
        "welcome",
        f"Password of {invitation.name}" if invitation.name else "Welcome",
        shell,
        error,
        role=invitation.role,
        known=invitation.name,
        name=name,
        issuer=leaves[0],
        secret=leaves[1],
        **_LENGTHS,
    )


def account_page(
    tokens: Sequence[Token], shell: Shell, now_s: float, made: str = "", error: str = ""
) -> str:
    """One's tokens and password; `made` is a token that was made now."""
    rows = [
        {
            "id": token.id,
            "name": token.name,
            "scopes": token.scopes,
            "made": _when(token.created_unix_s),
            "until": _when(token.expires_unix_s),
            "is_worth": not token.is_revoked and (token.expires_unix_s or now_s + 1) > now_s,
            "state": "revoked" if token.is_revoked else "too old",
        }
        for token in tokens
    ]
    scopes = [(scope, _SCOPES[scope]) for scope in SCOPES if scope in shell.scopes]
    title = f"Account {shell.name}" if shell.signs_in else "Tokens"
    return _rendered(
        "account", title, shell, error, rows=rows, scopes=scopes, made=made, **_LENGTHS
    )


def _kind(account: Account) -> str:
    if account.may_sign_in:
        return "signs in"
    return "signs in elsewhere" if account.is_linked else "by tokens alone"


def people_page(
    accounts: Sequence[Account], own: int, shell: Shell, link: str = "", error: str = ""
) -> str:
    """Every account; `own` is the number of one's own, `link` that of an invitation made now."""
    rows = [
        {
            "id": account.id,
            "name": account.name,
            "role": account.role,
            "made": _when(account.created_unix_s),
            "is_disabled": account.is_disabled,
            "is_own": account.id == own,
            "kind": _kind(account),
        }
        for account in accounts
    ]
    roles = [(role, sorted(ROLES[role], key=SCOPES.index)) for role in ROLES]
    hours = f"{INVITATION_S / 3600:.0f}"
    return _rendered(
        "people", "People", shell, error, rows=rows, roles=roles, link=link, hours=hours
    )


def audit_page(entries: Sequence[Any], shell: Shell) -> str:
    """Entries of the audit log, the newest first."""
    rows = [
        {
            "id": entry.id,
            "when": time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.unix_s)),
            "who": entry.account,
            "did": entry.action,
            "what": entry.object,
            "detail": entry.detail,
        }
        for entry in entries
    ]
    return _rendered("audit", "Audit log", shell, "", rows=rows)
