"""Browsers in which people are signed in, and attempts to sign in that failed."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, or_, select

from steelyard.service.accounts import ROLES, Identity, digest_of
from steelyard.service.service_schema import accounts, failed_sign_ins, sign_ins

# After a week one signs in again.
SIGN_IN_S = 7 * 86400.0
# Where the clock is set back, what was made before lasts at most twice as long as it should.
_LATEST = 2
# A person who forgot a password tries a few; who guesses needs thousands.
_WINDOW_S = 900.0
MOST_OF_NAME, MOST_OF_CLIENT = 10, 50


@dataclass(frozen=True)
class PasswordAccount:
    """An account with what is kept of its password."""

    id: int
    name: str
    password: str


def password_account(connection: Connection, name: str) -> PasswordAccount | None:
    """The account of a name that may sign in."""
    chosen = (
        (accounts.c.name == name) & accounts.c.disabled.is_(False) & (accounts.c.password != "")
    )
    row = connection.execute(select(accounts).where(chosen)).first()
    return None if row is None else PasswordAccount(row.id, row.name, row.password)


def add_sign_in(connection: Connection, account_id: int, now_s: float) -> str:
    """Sign in; what the browser's cookie holds from now on."""
    cookie = secrets.token_urlsafe(32)
    expires = sign_ins.c.expires_unix_s
    old = or_(expires <= now_s, expires > now_s + _LATEST * SIGN_IN_S)
    connection.execute(delete(sign_ins).where(old))
    values = {
        "account_id": account_id,
        "digest": digest_of(cookie),
        "created_unix_s": now_s,
        "expires_unix_s": now_s + SIGN_IN_S,
    }
    connection.execute(insert(sign_ins).values(values))
    return cookie


# Every page asks this; to put it together each time would cost as much as the answer.
_SIGNED_IN = (
    select(accounts.c.id, accounts.c.name, accounts.c.role)
    .join(sign_ins, sign_ins.c.account_id == accounts.c.id)
    .where(
        sign_ins.c.digest == bindparam("digest"),
        sign_ins.c.expires_unix_s > bindparam("now_s"),
        sign_ins.c.expires_unix_s <= bindparam("latest_s"),
        accounts.c.disabled.is_(False),
    )
)


def signed_in(connection: Connection, cookie: str, now_s: float) -> Identity | None:
    """Who is signed in by a cookie; their role is what it is now."""
    latest_s = now_s + _LATEST * SIGN_IN_S
    given = {"digest": digest_of(cookie), "now_s": now_s, "latest_s": latest_s}
    row = connection.execute(_SIGNED_IN, given).first()
    if row is None:
        return None
    return Identity(row.id, row.name, row.role, ROLES.get(row.role, frozenset()))


def end_sign_in(connection: Connection, cookie: str) -> None:
    """Sign out."""
    connection.execute(delete(sign_ins).where(sign_ins.c.digest == digest_of(cookie)))


def end_sign_ins(connection: Connection, account_id: int) -> int:
    """Sign an account out of every browser; how many there were."""
    chosen = delete(sign_ins).where(sign_ins.c.account_id == account_id)
    return connection.execute(chosen).rowcount


def has_failed(connection: Connection, name: str, client: str, now_s: float) -> None:
    """Count an attempt that failed."""
    connection.execute(delete(failed_sign_ins).where(~_counts(now_s)))
    values = {
        "name_digest": digest_of(name),
        "client_digest": digest_of(_counted(client)),
        "unix_s": now_s,
    }
    connection.execute(insert(failed_sign_ins).values(values))


def failed_too_often(connection: Connection, name: str, client: str, now_s: float) -> bool:
    """Whether nothing more is tried for now, by this name or from this client."""
    limits = (
        (failed_sign_ins.c.name_digest, digest_of(name), MOST_OF_NAME),
        (failed_sign_ins.c.client_digest, digest_of(_counted(client)), MOST_OF_CLIENT),
    )
    for column, digest, most in limits:
        chosen = (column == digest) & _counts(now_s)
        counted = select(func.count()).select_from(failed_sign_ins).where(chosen)
        if connection.execute(counted).scalar_one() >= most:
            return True
    return False


def _counts(now_s: float) -> ColumnElement[bool]:
    """Which attempts are counted: by a clock that was set back, those of the future end too."""
    return failed_sign_ins.c.unix_s.between(now_s - _WINDOW_S, now_s + _WINDOW_S)


def forget_failures(connection: Connection, name: str) -> None:
    """Whoever has the password may start anew."""
    chosen = failed_sign_ins.c.name_digest == digest_of(name)
    connection.execute(delete(failed_sign_ins).where(chosen))


def _counted(client: str) -> str:
    """Whose attempts count together: of IPv6 a whole /64, of which one host may have any address
    (RFC 4291, section 2.5.4)."""
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if isinstance(address, ipaddress.IPv4Address):
        return client
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False))
