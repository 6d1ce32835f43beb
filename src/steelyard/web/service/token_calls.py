"""Calls of the API by which programs make and revoke tokens of their account."""

from __future__ import annotations

from typing import Any

from steelyard.app.service.people import People
from steelyard.core.errors import UsageError
from steelyard.service.accounts import Identity

_SCHEMA = {"schema": "steelyard/1"}
_DAYS = 90


def token_calls(people: People) -> list[tuple[str, str, Any]]:
    """Path, method and call of each."""

    def listed(_service: Any, who: Identity, _path: Any, _body: Any) -> Any:
        found = [
            {
                "token": token.id,
                "name": token.name,
                "scopes": token.scopes.split(),
                "created_unix_s": token.created_unix_s,
                "expires_unix_s": token.expires_unix_s,
                "revoked": token.is_revoked,
            }
            for token in people.tokens(who)
        ]
        return {**_SCHEMA, "kind": "tokens", "tokens": found}

    def made(_service: Any, who: Identity, _path: Any, body: dict[str, Any]) -> Any:
        name, scopes, days = body.get("name"), body.get("scopes"), body.get("days", _DAYS)
        if not isinstance(name, str):
            raise UsageError("name takes text.", field="name")
        if not isinstance(scopes, list) or not all(isinstance(each, str) for each in scopes):
            raise UsageError("scopes takes a list of words.", field="scopes")
        if type(days) is not int:
            raise UsageError("days takes a whole number.", field="days")
        return {**_SCHEMA, "kind": "token", "value": people.make_token(who, name, scopes, days)}

    def revoked(_service: Any, who: Identity, path: Any, _body: Any) -> Any:
        people.revoke_token(who, path["token"])
        return {**_SCHEMA, "kind": "revoked", "token": path["token"]}

    return [
        ("/api/tokens", "GET", listed),
        ("/api/tokens", "POST", made),
        ("/api/tokens/{token:number}/revoke", "POST", revoked),
    ]
