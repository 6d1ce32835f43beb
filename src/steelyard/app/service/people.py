"""People of a service: they are invited, sign in, make tokens, and are shut out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from steelyard.app.service.service_room import ServiceRoom
from steelyard.app.service.who_may import DeniedError, NotAllowedError
from steelyard.core.errors import UsageError
from steelyard.service.account_changes import (
    Account,
    Token,
    all_accounts,
    anyone_signs_in,
    checked_account_name,
    find_account,
    is_account,
    revoke_token,
    set_disabled,
    set_password,
    set_role,
    tokens_of,
)
from steelyard.service.accounts import ROLES, Identity, add_account, add_token
from steelyard.service.audit_log import entries_before, note
from steelyard.service.invitations import (
    Invitation,
    add_invitation,
    find_invitation,
    use_invitation,
)
from steelyard.service.passwords import is_password, kept_password
from steelyard.service.sign_ins import (
    add_sign_in,
    end_sign_in,
    end_sign_ins,
    failed_too_often,
    forget_failures,
    has_failed,
    password_account,
    signed_in,
)

LONGEST_TOKEN_DAYS = 3650
_ENTRIES = 200


class TooOftenError(UsageError):
    """It was tried too often; later it may be tried again."""

    code = "too-often"


class People(ServiceRoom):
    """What people of a service do with their accounts, each call one transaction."""

    def signed_in(self, cookie: str) -> Identity | None:
        """Who is signed in by a cookie."""
        with self._database.reading() as connection:
            return signed_in(connection, cookie, self.clock())

    def sign_in(self, name: str, password: str, client: str) -> str:
        """What the browser's cookie is to hold.

        Raises
        ------
        DeniedError
            The name or the password is wrong; which of them is not said.
        TooOftenError
            It was wrong too often.
        """
        account = self._tried(name, client)
        kept = "" if account is None else account.password
        fits = is_password(password, kept)
        with self._database.writing() as connection:
            now_s = self.clock()
            if not fits or account is None:
                if account is not None:
                    note(connection, now_s, account.name, "wrong password", "sign-in", client)
                cookie = None
            else:
                forget_failures(connection, name)
                cookie = add_sign_in(connection, account.id, now_s)
                note(connection, now_s, account.name, "sign in", "sign-in", client)
        if cookie is None:
            raise DeniedError("The name or the password is wrong.")
        return cookie

    def _tried(self, name: str, client: str) -> Any:
        """Count the attempt before it is made: many at once are no more than one by one."""
        with self._database.writing() as connection:
            now_s = self.clock()
            if failed_too_often(connection, name, client, now_s):
                raise TooOftenError("That was wrong too often. Try again in 15 minutes.")
            has_failed(connection, name, client, now_s)
            return password_account(connection, name)

    def sign_out(self, who: Identity, cookie: str) -> None:
        """End one sign-in."""
        with self._database.writing() as connection:
            end_sign_in(connection, cookie)
            note(connection, self.clock(), who.name, "sign out", "sign-in")

    def needs_first(self) -> bool:
        """Whether no administrator can sign in."""
        with self._database.reading() as connection:
            return not anyone_signs_in(connection)

    def invite(self, who: Identity, role: str) -> str:
        """The secret of a link by which someone makes an account with a role.

        Raises
        ------
        UsageError
            There is no such role.
        """
        if role not in ROLES:
            raise UsageError(f"There is no role {role!r}. Roles: {', '.join(ROLES)}.", field="role")
        with self._database.writing() as connection:
            secret = add_invitation(connection, role, self.clock())
            note(connection, self.clock(), who.name, "invite", f"role {role}")
        return secret

    def invite_again(self, who: Identity, number: int) -> str:
        """The secret of a link by which an account gets a new password."""
        with self._database.writing() as connection:
            account = find_account(connection, number)
            secret = add_invitation(connection, account.role, self.clock(), account.id)
            note(connection, self.clock(), who.name, "new password", f"account {account.name}")
        return secret

    def invitation(self, secret: str) -> Invitation:
        """What a link is for.

        Raises
        ------
        DeniedError
            It is worth nothing.
        """
        with self._database.reading() as connection:
            found = find_invitation(connection, secret, self.clock())
        if found is None:
            raise DeniedError("This invitation was used, or is too old. Ask for another.")
        return found

    def accept(self, secret: str, name: str, password: str) -> str:
        """Use an invitation; what the browser's cookie is to hold.

        Raises
        ------
        DeniedError
            It is worth nothing.
        UsageError
            The name is taken or none, or the password too short.
        """
        self.invitation(secret)
        kept = kept_password(password)
        with self._database.writing() as connection:
            now_s = self.clock()
            found = find_invitation(connection, secret, now_s)
            if found is None or not use_invitation(connection, secret):
                raise DeniedError("This invitation was used, or is too old. Ask for another.")
            number, name = _invited(connection, found, name, now_s)
            set_password(connection, number, kept)
            end_sign_ins(connection, number)
            forget_failures(connection, name)
            note(connection, now_s, name, "accept", f"account {name}", f"role {found.role}")
            return add_sign_in(connection, number, now_s)

    def change_password(self, who: Identity, old: str, new: str, client: str) -> str:
        """Keep another password, and sign out everywhere else; a new cookie."""
        account = self._tried(who.name, client)
        if account is None or not is_password(old, account.password):
            raise DeniedError("The present password is wrong.")
        kept = kept_password(new)
        with self._database.writing() as connection:
            now_s = self.clock()
            forget_failures(connection, who.name)
            set_password(connection, who.account_id, kept)
            end_sign_ins(connection, who.account_id)
            note(connection, now_s, who.name, "change password", f"account {who.name}")
            return add_sign_in(connection, who.account_id, now_s)

    def accounts(self) -> list[Account]:
        """Every account."""
        with self._database.reading() as connection:
            return all_accounts(connection)

    def change_account(
        self, who: Identity, number: int, role: str | None = None, is_disabled: bool | None = None
    ) -> None:
        """Give another account another role, shut it out, or let it in again.

        Raises
        ------
        UsageError
            There is none, there is no such role, or it is one's own.
        """
        if number == who.account_id:
            raise UsageError(
                "Your own account is changed by another administrator.", field="account"
            )
        with self._database.writing() as connection:
            account = find_account(connection, number)
            about, now_s = f"account {account.name}", self.clock()
            if role is not None:
                set_role(connection, number, role)
                note(connection, now_s, who.name, "role", about, f"{account.role} to {role}")
            if is_disabled is not None:
                set_disabled(connection, number, is_disabled=is_disabled)
                end_sign_ins(connection, number)
                done = "shut out" if is_disabled else "let in"
                note(connection, now_s, who.name, done, about)

    def tokens(self, who: Identity) -> list[Token]:
        """One's own tokens."""
        with self._database.reading() as connection:
            return tokens_of(connection, who.account_id)

    def make_token(self, who: Identity, name: str, scopes: Sequence[str], days: int) -> str:
        """A token of one's own, for no more than one may do oneself.

        Raises
        ------
        UsageError
            The name, the scopes or the days are wrong.
        NotAllowedError
            One may not do this oneself.
        """
        if not name.strip() or len(name) > 100 or not name.isprintable():
            raise UsageError(
                "A token's name has 1 to 100 characters that can be read.", field="name"
            )
        if not scopes:
            raise UsageError("A token has one scope or more.", field="scopes")
        if not 1 <= days <= LONGEST_TOKEN_DAYS:
            raise UsageError(f"A token lasts 1 to {LONGEST_TOKEN_DAYS} days.", field="days")
        with self._database.writing() as connection:
            now_s = self.clock()
            token = add_token(
                connection, who.account_id, name, scopes, now_s, now_s + days * 86400.0
            )
            lacking = [scope for scope in scopes if not who.may(scope)]
            if lacking:
                raise NotAllowedError(f"You lack the scope {lacking[0]!r} yourself.")
            detail = f"{', '.join(scopes)} for {days} days"
            note(connection, now_s, who.name, "make token", f"token {name}", detail)
        return token

    def revoke_token(self, who: Identity, number: int) -> None:
        """Make one of one's tokens worthless."""
        with self._database.writing() as connection:
            name = revoke_token(connection, who.account_id, number)
            note(connection, self.clock(), who.name, "revoke token", f"token {name}")

    def audit(self, before: int | None = None) -> Sequence[Any]:
        """Entries of the audit log, the newest first; with `before` those of lower numbers."""
        with self._database.reading() as connection:
            return entries_before(connection, before, _ENTRIES)


def _invited(connection: Connection, found: Invitation, name: str, now_s: float) -> tuple[int, str]:
    """The account that an invitation is for, made if it is a new one; its number and name."""
    if found.account_id is not None:
        return found.account_id, found.name
    if is_account(connection, checked_account_name(name)):
        raise UsageError(f"The name {name} is taken.", field="name")
    return add_account(connection, name, found.role, now_s), name
