"""Signing in by an issuer of OpenID Connect: the way there, the way back, and whose account it is.

Authorization code with PKCE (RFC 6749, RFC 7636, OpenID Connect Core 1.0).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlencode

from sqlalchemy import Connection

from steelyard.app.service.oidc_settings import OidcSettings
from steelyard.app.service.people import TooOftenError
from steelyard.app.service.who_may import DeniedError
from steelyard.service.account_changes import Account, find_account
from steelyard.service.accounts import add_account
from steelyard.service.audit_log import note
from steelyard.service.id_tokens import Expected, Subject, subject_of
from steelyard.service.invitations import find_invitation, use_invitation
from steelyard.service.issuer import Code, IssuerError, discover, id_token_of, keys_of
from steelyard.service.linked_subjects import free_account_name, link_subject, linked_account
from steelyard.service.service_database import ServiceDatabase
from steelyard.service.sign_ins import (
    add_sign_in,
    failed_too_often,
    forget_failures,
    has_failed,
)


@dataclass(frozen=True)
class Begun:
    """A sign-in that was begun in a browser, which keeps `secret`.

    All that the issuer sees of it is made from the secret, so that nothing is kept here.
    """

    secret: str = field(repr=False)

    @property
    def state(self) -> str:
        """What the issuer sends back with the browser."""
        return self._made("state")

    @property
    def nonce(self) -> str:
        """What the ID token has to say."""
        return self._made("nonce")

    @property
    def verifier(self) -> str:
        """What proves to the issuer who asked for the code."""
        return self._made("verifier")

    @property
    def challenge(self) -> str:
        """What the issuer is shown of the verifier before (S256)."""
        return _plain(hashlib.sha256(self.verifier.encode()).digest())

    def _made(self, purpose: str) -> str:
        key = self.secret.encode("utf-8", "replace")
        return _plain(hmac.new(key, purpose.encode(), hashlib.sha256).digest())


def _plain(digest: bytes) -> str:
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


class OidcSignIn:
    """What the pages do with an issuer.

    Parameters
    ----------
    settings : OidcSettings
    database : ServiceDatabase
    redirect_uri : str
        The page to which the issuer sends browsers back.
    clock : callable
        Seconds since the epoch.
    """

    def __init__(
        self,
        settings: OidcSettings,
        database: ServiceDatabase,
        redirect_uri: str,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings
        self._database = database
        self._redirect_uri = redirect_uri
        self._clock = clock

    def begin(self, client: str) -> tuple[Begun, str]:
        """A new sign-in, and the address at the issuer where it goes on.

        Raises
        ------
        IssuerError
            The issuer does not answer.
        TooOftenError
            Too many from this client did not end.
        """
        begun = Begun(secrets.token_urlsafe(32))
        self._count(begun, client)
        found = discover(self.settings.issuer)
        asked = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": self._redirect_uri,
            "scope": "openid email profile",
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": begun.challenge,
            "code_challenge_method": "S256",
        }
        address = found.authorization_endpoint
        return begun, f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}"

    def _count(self, begun: Begun, client: str) -> None:
        with self._database.writing() as connection:
            now_s = self._clock()
            if failed_too_often(connection, begun.state, client, now_s):
                raise TooOftenError("That was tried too often. Try again in 15 minutes.")
            has_failed(connection, begun.state, client, now_s)

    def end(self, begun: Begun, told: dict[str, str], invitation: str, client: str) -> str:
        """What the browser's cookie is to hold after the issuer sent it back.

        Parameters
        ----------
        begun : Begun
        told : dict of str to str
            What the issuer sent with the browser.
        invitation : str
            The secret of one that is used by it; empty where there is none.
        client : str

        Raises
        ------
        DeniedError
            The sign-in is another, was refused, or the person may not sign in here.
        IssuerError
            The issuer does not answer, or its word is not to be trusted.
        TooOftenError
            Too many from this client did not end.
        """
        given = told.get("state", "").encode("utf-8", "replace")
        if not begun.secret or not secrets.compare_digest(given, begun.state.encode()):
            raise DeniedError(
                "This sign-in was not begun in this browser, or is too old. Repeat it."
            )
        self._count(begun, client)
        subject = self._subject(begun, told)
        with self._database.writing() as connection:
            now_s = self._clock()
            account = self._account(connection, subject, invitation)
            if account is None:
                about = f"subject {subject.id} of {self.settings.issuer}"
                note(connection, now_s, "", "not let in", about, client)
            else:
                forget_failures(connection, begun.state)
                cookie = add_sign_in(connection, account.id, now_s)
                note(connection, now_s, account.name, "sign in", self.settings.issuer, client)
                return cookie
        raise DeniedError(
            f"You are known to {self.settings.host}, but may not sign in here. Ask an "
            "administrator of this service for an invitation."
        )

    def _subject(self, begun: Begun, told: dict[str, str]) -> Subject:
        """Whom the issuer names."""
        settings = self.settings
        found = discover(settings.issuer)
        # RFC 9207: an issuer that says who it is says so always.
        named = told.get("iss", "" if found.names_itself else settings.issuer)
        if named != settings.issuer:
            raise IssuerError("Another issuer than that of this service sent you back. Repeat it.")
        if "error" in told or not told.get("code"):
            raise DeniedError(f"The sign-in at {settings.host} was given up or refused there.")
        code = Code(told["code"], begun.verifier, self._redirect_uri)
        token = id_token_of(found, settings.client(), code)
        expected = Expected(settings.issuer, settings.client_id, begun.nonce, self._clock())
        return subject_of(token, keys_of(found), expected)

    def _account(self, connection: Connection, subject: Subject, invitation: str) -> Account | None:
        """The account of a subject who may sign in; made or linked now where an invitation or the
        settings say so. An account is never found by an e-mail address or a name."""
        issuer, now_s = self.settings.issuer, self._clock()
        if not self._is_allowed(subject):
            return None
        linked = linked_account(connection, issuer, subject.id)
        if linked is not None:
            return None if linked.is_disabled else linked
        if invitation:
            found = find_invitation(connection, invitation, now_s)
            if found is None or not use_invitation(connection, invitation):
                raise DeniedError("This invitation was used, or is too old. Ask for another.")
            role, number = found.role, found.account_id
        elif self.settings.newcomers:
            role, number = self.settings.newcomers, None
        else:
            return None
        if number is not None and find_account(connection, number).is_disabled:
            return None
        if number is None:
            name = free_account_name(connection, subject.name)
            number = add_account(connection, name, role, now_s)
        account = find_account(connection, number)
        link_subject(connection, issuer, subject.id, number, now_s)
        detail = f"subject {subject.id} of {issuer}, role {account.role}"
        note(connection, now_s, account.name, "link", f"account {account.name}", detail)
        return account

    def _is_allowed(self, subject: Subject) -> bool:
        """Whether the settings let a subject in at all."""
        settings = self.settings
        if not settings.allowed_domains and not settings.allowed_subjects:
            return True
        _, _, domain = subject.verified_email.rpartition("@")
        return subject.id in settings.allowed_subjects or domain.lower() in settings.allowed_domains
