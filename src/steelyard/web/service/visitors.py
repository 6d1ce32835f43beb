"""Who asks for a page: on a laptop whoever has the address, elsewhere whoever has signed in."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response

from steelyard.app.service.people import People
from steelyard.service.accounts import VISITOR, Identity
from steelyard.service.sign_ins import SIGN_IN_S

# A sign-in elsewhere, with a password to look for and a second factor.
_BEGUN_S = 900


@dataclass(frozen=True)
class Visitor:
    """Who asks, what the forms on their pages send back, and the cookie of their browser."""

    who: Identity
    csrf: str = ""
    cookie: str = field(default="", repr=False)


class Visitors(Protocol):
    """How it is known who asks."""

    signs_in: bool

    def visitor(self, request: Request) -> Visitor:
        """Who asks."""
        ...

    def may_post(self, request: Request) -> bool:
        """Whether a form may have come from a page of the service."""
        ...

    def begun(self, request: Request) -> str:
        """What the browser keeps of a sign-in elsewhere that was begun in it."""
        ...


class LaptopVisitors:
    """Whoever has the address, with the secret in it, is the one person whose laptop this is.

    A page from elsewhere does not know the secret, so that forms need no other.
    """

    signs_in = False

    def __init__(self, owner: Identity) -> None:
        self._visitor = Visitor(owner)

    def visitor(self, request: Request) -> Visitor:
        """The owner."""
        return self._visitor

    def may_post(self, request: Request) -> bool:
        """It knew the address."""
        return True

    def begun(self, request: Request) -> str:
        """Nothing: nobody signs in."""
        return ""


class SignedInVisitors:
    """Whoever has a cookie that a sign-in has set.

    Parameters
    ----------
    people : People
    origins : tuple of str
        What browsers call the service, such as ``https://bench.example``.
    path : str
        Below which it lies there, such as ``/``.
    is_secure : bool
        Whether it is reached by HTTPS.
    cookie : str
        The name of the cookie.
    """

    signs_in = True

    def __init__(
        self, people: People, origins: tuple[str, ...], path: str, *, is_secure: bool, cookie: str
    ) -> None:
        self.people = people
        self._origins = origins
        self._path = path
        self._is_secure = is_secure
        self._cookie = cookie

    def visitor(self, request: Request) -> Visitor:
        """Who has signed in, or a visitor."""
        cookie = request.cookies.get(self._cookie, "")
        who = self.people.signed_in(cookie) if cookie else None
        return Visitor(VISITOR) if who is None else Visitor(who, csrf_of(cookie), cookie)

    def may_post(self, request: Request) -> bool:
        """Whether the browser does not say that it came from elsewhere."""
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site", "same-origin")
        return (origin is None or origin in self._origins) and site in ("same-origin", "none")

    def begun(self, request: Request) -> str:
        """What the browser keeps of a sign-in elsewhere that was begun in it."""
        return request.cookies.get(f"{self._cookie}-begun", "")

    def set_cookie(self, response: Response, cookie: str) -> None:
        """Let the browser keep it."""
        self._set(response, self._cookie, cookie, int(SIGN_IN_S))

    def unset_cookie(self, response: Response) -> None:
        """Let the browser forget it."""
        self._set(response, self._cookie, "", 0)

    def keep_begun(self, response: Response, kept: str) -> None:
        """Let the browser keep what proves that it began a sign-in elsewhere."""
        self._set(response, f"{self._cookie}-begun", kept, _BEGUN_S)

    def forget_begun(self, response: Response) -> None:
        """Let the browser forget it: it works once."""
        self._set(response, f"{self._cookie}-begun", "", 0)

    def _set(self, response: Response, name: str, cookie: str, seconds: int) -> None:
        response.set_cookie(
            name,
            cookie,
            max_age=seconds,
            path=self._path,
            secure=self._is_secure,
            httponly=True,
            samesite="lax",
        )


def csrf_of(cookie: str) -> str:
    """What forms of a signed-in browser send back: known only to who knows the cookie."""
    return hmac.new(cookie.encode("utf-8", "replace"), b"csrf", hashlib.sha256).hexdigest()


def fits(visitor: Visitor, given: str) -> bool:
    """Whether a form sent back what its page gave it."""
    return secrets.compare_digest(visitor.csrf.encode(), given.encode("utf-8", "replace"))
