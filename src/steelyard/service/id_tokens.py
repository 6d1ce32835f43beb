"""ID tokens of an issuer, checked before anything that they say is believed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.service.issuer import IssuerError

if TYPE_CHECKING:
    from joserfc.jwk import Key

_ALGORITHMS = {"RS256": "RSA", "ES256": "EC"}
# Clocks of two hosts differ by less.
_LEEWAY_S = 60
_MOST_TOKEN_CHARS = 65536
_LONGEST_SUBJECT = 255


@dataclass(frozen=True)
class Subject:
    """A person as their issuer names them.

    Parameters
    ----------
    id : str
        Unique at the issuer, and never given to another.
    name : str
        What they are called; nothing is decided by it.
    verified_email : str
        Empty where the issuer does not say that it is theirs.
    """

    id: str
    name: str
    verified_email: str


@dataclass(frozen=True)
class Expected:
    """What a token has to say: who made it, for whom, for which sign-in, and when."""

    issuer: str
    client_id: str
    nonce: str
    now_s: float


def subject_of(token: str, keys: Sequence[Mapping[str, Any]], expected: Expected) -> Subject:
    """Whom a token is about (OpenID Connect Core 1.0, section 3.1.3.7).

    Raises
    ------
    IssuerError
        It is not signed by one of the keys, or made for another service, sign-in or time.
    """
    from joserfc import jwt
    from joserfc.errors import JoseError

    if len(token) > _MOST_TOKEN_CHARS:
        raise IssuerError(f"The ID token of {expected.issuer} is too long.")
    try:
        claims = jwt.decode(token, _finder(keys, expected.issuer), list(_ALGORITHMS)).claims
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        raise IssuerError(
            f"The ID token of {expected.issuer} is not signed by one of its keys, by RS256 or "
            "ES256."
        ) from None
    _check_claims(claims, expected)
    name = next(
        (claims[key] for key in ("preferred_username", "name", "email") if key in claims), ""
    )
    email = claims.get("email") if claims.get("email_verified") is True else ""
    return Subject(claims["sub"], _text(name), _text(email))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _finder(keys: Sequence[Mapping[str, Any]], issuer: str) -> Callable[[Any], Key]:
    """Which key a token says that it is signed by; one without a word needs no choice."""
    from joserfc.jwk import import_key

    def find(signed: Any) -> Key:
        header = signed.headers()
        kind = _ALGORITHMS.get(header.get("alg"))
        fitting = [
            key
            for key in keys
            if kind is not None
            and key.get("kty") == kind
            and key.get("use", "sig") == "sig"
            and key.get("alg", header["alg"]) == header["alg"]
            and header.get("kid", key.get("kid")) == key.get("kid")
        ]
        if len(fitting) != 1:
            raise IssuerError(f"The ID token of {issuer} is signed by a key that it does not have.")
        return import_key(dict(fitting[0]))

    return find


def _check_claims(claims: Mapping[str, Any], expected: Expected) -> None:
    from joserfc.errors import ClaimError, ExpiredTokenError
    from joserfc.jwt import JWTClaimsRegistry

    registry = JWTClaimsRegistry(
        now=int(expected.now_s),
        leeway=_LEEWAY_S,
        iss={"essential": True, "value": expected.issuer},
        aud={"essential": True, "value": expected.client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
        nonce={"essential": True, "value": expected.nonce},
    )
    try:
        registry.validate(dict(claims))
    except ExpiredTokenError:
        raise IssuerError(
            f"The ID token of {expected.issuer} has expired. Sign in again, and compare the clocks."
        ) from None
    except ClaimError as error:
        raise _other(expected, error.claim) from None
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if claims.get("azp", None if several else expected.client_id) != expected.client_id:
        raise _other(expected, "azp")
    subject = claims["sub"]
    fits = isinstance(subject, str) and subject.isascii() and subject.isprintable()
    if not fits or not 0 < len(subject) <= _LONGEST_SUBJECT:
        raise _other(expected, "sub")


def _other(expected: Expected, claim: str) -> IssuerError:
    told = {
        "iss": "was made by another issuer",
        "aud": "was made for another service",
        "azp": "was made for another service",
        "nonce": "was made for another sign-in",
    }.get(claim, f"has no {claim!r} that can be used")
    return IssuerError(f"The ID token of {expected.issuer} {told}. Sign in again.")
