"""An issuer of OpenID Connect of the tests' own: an application in this process."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from dataclasses import dataclass, field
from urllib.parse import parse_qs, parse_qsl, unquote_plus, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

ISSUER = "https://issuer.example/realm"
CLIENT, SECRET = "steelyard-client", "s3cr3t/+of the client"


@dataclass
class TestIssuer:
    """It signs in whoever asks, as `claims` say, unless a test has changed it."""

    __test__ = False

    address: str = ISSUER
    keys: list = field(default_factory=lambda: [RSAKey.generate_key(2048, {"kid": "r"})])
    algorithm: str = "RS256"
    claims: dict = field(default_factory=dict)
    secret: str = SECRET
    is_away: bool = False
    document: dict = field(default_factory=dict)
    now_s: float = 1_800_000_000.0
    made: dict = field(default_factory=dict)
    calls: list = field(default_factory=list)
    forge = None

    def __post_init__(self):
        self.signing = self.keys[0]
        routes = [
            Route("/realm/.well-known/openid-configuration", self._document),
            Route("/realm/keys", self._keys),
            Route("/realm/token", self._token, methods=["POST"]),
        ]
        self.app = Starlette(routes=routes)

    def authorizes(self, address: str) -> dict[str, str]:
        """What the browser brings back after its person has signed in there."""
        asked = dict(parse_qsl(urlsplit(address).query, strict_parsing=True))
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT)
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = f"code-{len(self.made)}"
        self.made[code] = asked
        return {"code": code, "state": asked["state"]}

    def _document(self, _request):
        return JSONResponse(
            {
                "issuer": self.address,
                "authorization_endpoint": f"{self.address}/authorize",
                "token_endpoint": f"{self.address}/token",
                "jwks_uri": f"{self.address}/keys",
                "code_challenge_methods_supported": ["S256"],
                **self.document,
            }
        )

    def _keys(self, _request):
        return JSONResponse({"keys": [key.as_dict(private=False) for key in self.keys]})

    async def _token(self, request):
        form = {key: each[0] for key, each in parse_qs((await request.body()).decode()).items()}
        asked = self.made.pop(form["code"], None)
        proof = hashlib.sha256(form["code_verifier"].encode()).digest()
        fits = asked is not None and (
            asked["code_challenge"] == base64.urlsafe_b64encode(proof).rstrip(b"=").decode()
            and asked["redirect_uri"] == form["redirect_uri"]
            and self._knows(request.headers.get("authorization", ""), form)
        )
        if not fits:
            return JSONResponse({"error": "invalid_grant"}, 400)
        claims = {
            "iss": self.address,
            "aud": CLIENT,
            "sub": "subject-1",
            "iat": int(self.now_s),
            "exp": int(self.now_s) + 300,
            "nonce": asked["nonce"],
            **self.claims,
        }
        claims = {key: value for key, value in claims.items() if value is not None}
        return JSONResponse({"id_token": self._signed(claims), "access_token": "x"})

    def _signed(self, claims):
        if self.forge is not None:
            return self.forge(claims)
        header = {"alg": self.algorithm, "kid": self.signing.kid}
        return jwt.encode(header, claims, self.signing, [self.algorithm])

    def _knows(self, authorization, form):
        if not self.secret:
            return not authorization and form["client_id"] == CLIENT
        given = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        return tuple(map(unquote_plus, given.split(":"))) == (CLIENT, self.secret)

    def answer_of(self, method, address, body, headers):
        """In place of `issuer.answer_of`, which would ask the network."""
        self.calls.append(address)
        if self.is_away:
            raise TimeoutError("timed out")
        return asyncio.run(self._answer(method, address, body, headers))

    async def _answer(self, method, address, body, headers):
        sent, answers = [{"type": "http.request", "body": body or b""}], []

        async def receive():
            return sent.pop()

        async def send(message):
            answers.append(message)

        scope = {
            "type": "http",
            "method": method,
            "path": urlsplit(address).path,
            "query_string": b"",
            "root_path": "",
            "headers": [(key.lower().encode(), value.encode()) for key, value in headers.items()],
        }
        await self.app(scope, receive, send)
        return answers[0]["status"], b"".join(each.get("body", b"") for each in answers[1:])


def elliptic_key(kid="e"):
    """A key for ES256."""
    return ECKey.generate_key("P-256", {"kid": kid})
