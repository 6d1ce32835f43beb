"""What a service is told of an issuer by which people sign in: OpenID Connect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from steelyard.app.experiment.field_types import Field, Table, choice, list_of, text
from steelyard.core.decoding import regular_opener
from steelyard.core.errors import DataError
from steelyard.service.issuer import IssuerClient

_MOST_SECRET_BYTES = 4096
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
# The page to which the issuer sends browsers back, below the service's address.
BACK = "sign-in/oidc/back"
OIDC = Table(
    "oidc",
    (
        Field(
            "issuer",
            text("the address of an issuer of OpenID Connect"),
            "as its discovery document has it; people may sign in there",
            is_required=True,
        ),
        Field(
            "client_id", text("text"), "by which the issuer knows this service", is_required=True
        ),
        Field(
            "client_secret_file",
            text("a file"),
            "with the secret that the issuer gave this service; without it there is none",
        ),
        Field(
            "allowed_domains",
            list_of("a list of domains", text(), 1),
            "of verified e-mail addresses that may sign in",
        ),
        Field(
            "allowed_subjects",
            list_of("a list of subjects", text(), 1),
            "that may sign in, as the issuer names them",
        ),
        Field(
            "newcomers",
            choice("`reader` or `member`", "reader", "member"),
            "the role of accounts that a first sign-in makes; without it invitations alone do",
        ),
    ),
)


@dataclass(frozen=True)
class OidcSettings:
    """An issuer, who of its people may sign in, and what becomes of those without an account.

    Without domains and subjects everyone may whom an invitation has let in.
    """

    issuer: str
    client_id: str
    client_secret_file: str = ""
    allowed_domains: tuple[str, ...] = ()
    allowed_subjects: tuple[str, ...] = ()
    newcomers: str = ""

    @property
    def host(self) -> str:
        """What people know the issuer by."""
        return urlsplit(self.issuer).netloc

    def client(self) -> IssuerClient:
        """What the issuer knows this service by; its secret is read anew each time.

        Raises
        ------
        DataError
            The file of the secret cannot be read, or has none.
        """
        if not self.client_secret_file:
            return IssuerClient(self.client_id)
        try:
            with open(self.client_secret_file, "rb", opener=regular_opener) as file:
                secret = file.read(_MOST_SECRET_BYTES).decode().strip()
        except OSError as error:
            why = error.strerror or "it is no regular file"
        except ValueError:
            why = "it is no text"
        else:
            if secret:
                return IssuerClient(self.client_id, secret)
            why = "it is empty"
        raise DataError(
            f"The secret of oidc.client_secret_file, {self.client_secret_file}, cannot be read: "
            f"{why}.",
            field="oidc.client_secret_file",
        )


def oidc_settings(
    path: str, given: dict[str, Any] | None, *, signs_in: bool
) -> OidcSettings | None:
    """The table, where its fields go together; None where there is none.

    Raises
    ------
    DataError
        They do not.
    """
    if given is None:
        return None
    lists = {name: tuple(given.get(name, ())) for name in ("allowed_domains", "allowed_subjects")}
    lists["allowed_domains"] = tuple(each.lower() for each in lists["allowed_domains"])
    found = OidcSettings(**{**given, **lists})
    if not is_address_of_issuer(found.issuer):
        raise _slip(path, "issuer", f"takes an address with https://, not {found.issuer!r}")
    if not signs_in:
        raise _slip(path, "issuer", "people sign in only where [service] has an `address`")
    if found.newcomers and not any(lists.values()):
        told = "needs `allowed_domains` or `allowed_subjects`, or everyone at the issuer gets in"
        raise _slip(path, "newcomers", told)
    return found


def is_address_of_issuer(address: str) -> bool:
    """Whether nobody between reads along: HTTPS, or this machine's."""
    try:
        url = urlsplit(address)
        host, _ = url.hostname, url.port
    except ValueError:
        return False
    is_plain = url.scheme == "http" and host in _LOOPBACK
    has_more = url.query or url.fragment or "@" in url.netloc
    return bool(host) and (url.scheme == "https" or is_plain) and not has_more


def _slip(path: str, field: str, told: str) -> DataError:
    return DataError(f"{path}: oidc.{field}: {told}.", field=f"oidc.{field}")
