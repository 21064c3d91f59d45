"""A fake identity provider: an HTTP server for OpenID Connect and OAuth 2.0 that validates requests and returns
manipulated answers on demand. pytest loads this module as a plugin."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from joserfc import jws, jwt
from joserfc.jwk import Key, RSAKey

from app.identity.platform.outbound.openid_metadata import ProviderMetadataCache
from app.identity.platform.services import IdentityServices
from app.kit import randomness
from tests.support.credentials.devices import store_service_secrets
from tests.support.tenants.tenant_server import TenantServer

CLIENT, SECRET = "gatehouse-of-acme", "the provider's own secret: 100% & more"
ADA: dict[str, Any] = {
    "sub": "ada-1815", "email": "ada@example.test", "email_verified": True, "name": "Ada Lovelace", "given_name": "Ada",
    "family_name": "Lovelace", "picture": "https://pictures.example/ada.png",
}  # fmt: skip


@cache
def key(number: int) -> RSAKey:
    """Return one of the provider's keys, generated on first use."""
    return RSAKey.generate_key(2048, parameters={"kid": f"key-{number}"})


def public(*numbers: int) -> list[dict[str, Any]]:
    return [dict(key(number).as_dict(private=False)) for number in numbers]


@dataclass(frozen=True)
class ReceivedRequest:
    """A received request."""

    path: str
    headers: Mapping[str, str]
    form: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    method: str = ""


@dataclass
class FakeProvider:
    """A provider; changing a field changes its answers."""

    services: IdentityServices
    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    """Overrides of ID token claims; None removes a claim."""
    header: dict[str, Any] = field(default_factory=dict)
    key: Key = field(default_factory=lambda: key(1))
    """The signing key."""
    published: list[dict[str, Any]] = field(default_factory=lambda: public(1))
    metadata: dict[str, Any] = field(default_factory=dict)
    """Overrides of the discovery document; None removes a member."""
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    """Complete answers by path."""
    padding: dict[str, int] = field(default_factory=dict)
    """Spaces after the answer, by path."""
    id_token: str | None = None
    needs_pkce: bool = True
    """Whether PKCE is supported; LinkedIn refuses a verifier."""
    userinfo: dict[str, Any] = field(default_factory=dict)
    emails: Any = None
    delay_seconds: float = 0
    answers_after: threading.Event | None = None
    hangs_at: str = ""
    """The path whose answer takes a second longer than the deadline that a test sets."""
    drip_seconds: float = 0
    """Delay between two bytes of a body."""
    back: dict[str, str] = field(default_factory=dict)
    """Overrides of the callback's parameters."""
    lets_in: Callable[[str], str] | None = None
    """Maps an authorization address to the callback, for a sign-in without interaction."""
    sent_out: dict[str, dict[str, Any]] = field(default_factory=dict)
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Valid access tokens; an expired one is removed."""
    issues_refresh_tokens: bool = False
    rotates: bool = True
    """Whether each use of a refresh token replaces it."""
    refresh_tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    received: list[ReceivedRequest] = field(default_factory=list)
    for_apps: Callable[[ReceivedRequest], tuple[int, Any] | None] | None = None
    """Answers requests about what SDKs returned to apps; None leaves a request to the rest."""

    @property
    def now(self) -> int:
        return int(self.services.clock.now().timestamp())

    def openid(self, **overrides: Any) -> dict[str, Any]:
        """Return the settings of an OpenID Connect connection to it."""
        return {"key": CLIENT, "issuer": self.url, **overrides}

    def oauth2(self, **overrides: Any) -> dict[str, Any]:
        """Return the settings of an OAuth 2.0 connection by endpoints, like GitHub's."""
        return {
            "key": CLIENT, "authorization_endpoint": f"{self.url}/authorize", "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/user", "scope": "read:user", "claims": {"subject": "id"}, **overrides,
        }  # fmt: skip

    def known_to(self, tenant: TenantServer, *names: str, **settings: Any) -> None:
        """Configure connections with these names and the client secret at a tenant."""
        store_service_secrets(tenant, connections=dict.fromkeys(names, SECRET))
        tenant.change_settings(connections={name: self.openid(**settings) for name in names})

    def signs_in(self, address: str, **who: Any) -> dict[str, str]:
        """Sign in, by default as Ada, and return the parameters of the callback."""
        parts, requested = urlsplit(address), dict(parse_qsl(urlsplit(address).query))
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.url}/authorize"
        assert (requested["response_type"], requested["client_id"]) == ("code", CLIENT)
        assert requested.get("code_challenge_method") == ("S256" if self.needs_pkce else None)
        assert requested["redirect_uri"].endswith(("/socialauth/validate.sauth", "/callback"))
        code = randomness.token(16)
        self.sent_out[code] = {**requested, "who": {**ADA, **who}}
        return {"code": code, "state": requested["state"], "iss": self.url, **self.back}

    def refuses(self, address: str, error: str = "access_denied") -> dict[str, str]:
        """Deny, and return the parameters of the callback."""
        requested = dict(parse_qsl(urlsplit(address).query))
        return {"error": error, "state": requested["state"], "iss": self.url, **self.back}

    def callback_url(self, address: str, **who: Any) -> str:
        """Sign in and return the callback URL."""
        requested = dict(parse_qsl(urlsplit(address).query))
        return f"{requested['redirect_uri']}?{urlencode(self.signs_in(address, **who))}"

    def requests_to(self, path: str) -> int:
        return sum(1 for item in self.received if item.path == path)

    def configuration(self) -> dict[str, Any]:
        said = {
            "issuer": self.url, "authorization_endpoint": f"{self.url}/authorize", "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo", "jwks_uri": f"{self.url}/keys",
            "authorization_response_iss_parameter_supported": True, "response_types_supported": ["code"], **self.metadata,
        }  # fmt: skip
        return {name: value for name, value in said.items() if value is not None}

    def token(self, form: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        if form.get("grant_type") == "refresh_token":
            return self.renewed(form["refresh_token"])
        requested = self.sent_out.pop(form.get("code", ""), None)
        if requested is None or requested["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        if not self.needs_pkce and "code_verifier" in form:
            return 401, {"error": "invalid_client"}
        if self.needs_pkce and challenge_of(form["code_verifier"]) != requested["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        said = self.issued(requested["who"], with_refresh=self.issues_refresh_tokens)
        if "openid" not in requested.get("scope", "").split():
            return 200, said
        return 200, {**said, "id_token": self.id_token or self.signed(requested, said["access_token"])}

    def renewed(self, refresh_token: str) -> tuple[int, dict[str, Any]]:
        """Answer a refresh request (RFC 6749 section 6)."""
        who = self.refresh_tokens.get(refresh_token)
        if who is None:
            return 400, {"error": "invalid_grant"}
        if self.rotates:
            del self.refresh_tokens[refresh_token]
        return 200, self.issued(who, with_refresh=self.rotates)

    def issued(self, who: dict[str, Any], *, with_refresh: bool) -> dict[str, Any]:
        access_token, refresh_token = randomness.token(16), randomness.token(16)
        self.tokens[access_token] = who
        said = {"access_token": access_token, "token_type": "Bearer", "expires_in": 300}
        if not with_refresh:
            return said
        self.refresh_tokens[refresh_token] = who
        return {**said, "refresh_token": refresh_token}

    def signed(self, requested: Mapping[str, Any], access_token: str) -> str:
        claims = {
            "iss": self.url, "aud": CLIENT, "iat": self.now, "exp": self.now + 300, "nonce": requested.get("nonce"),
            "at_hash": half_of(access_token), **requested["who"], **self.claims,
        }  # fmt: skip
        overrides = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": "RS256", "kid": self.key.kid, **self.header}
        shown = {name: value for name, value in header.items() if value is not None}
        registry = jws.JWSRegistry(algorithms=[str(shown["alg"])], strict_check_header=False)
        return jwt.encode(shown, overrides, self.key, registry=registry)

    def answer(self, path: str, token: str, form: Mapping[str, str]) -> tuple[int, Any]:
        who = self.tokens.get(token)
        said: dict[str, tuple[int, Any]] = {
            "/.well-known/openid-configuration": (200, self.configuration()),
            "/keys": (200, {"keys": self.published}),
            "/userinfo": (200, {**(who or {}), **self.userinfo}) if who else (401, {}),
            "/user": (200, {"id": 1815, "login": "ada", "name": "Ada", **self.userinfo}) if who else (401, {}),
            "/user/emails": (200, self.emails) if who else (401, {}),
        }
        return self.token(form) if path == "/token" else said.get(path, (404, {}))


def challenge_of(verifier: str) -> str:
    """RFC 7636 section 4.2."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def half_of(access_token: str) -> str:
    """OpenID Connect Core section 3.1.3.6, for RS256."""
    return base64.urlsafe_b64encode(hashlib.sha256(access_token.encode()).digest()[:16]).rstrip(b"=").decode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    provider: FakeProvider


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._respond({})

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._respond(dict(parse_qsl(content)))

    def _respond(self, form: dict[str, str]) -> None:
        stored, path = self.server.provider, urlsplit(self.path).path
        query = dict(parse_qsl(urlsplit(self.path).query))
        request = ReceivedRequest(path, dict(self.headers), form, query, f"{stored.url}{self.path}", self.command)
        stored.received.append(request)
        time.sleep(stored.delay_seconds + (2 if path == stored.hangs_at else 0))
        if stored.answers_after is not None:
            stored.answers_after.wait(4)
        if path in stored.answers:
            status, headers, body = stored.answers[path]
        elif path == "/authorize" and stored.lets_in is not None:
            status, headers, body = 302, {"Location": stored.lets_in(stored.url + self.path)}, b""
        else:
            answered = stored.for_apps(request) if stored.for_apps is not None else None
            status, said = answered or stored.answer(
                path, self.headers.get("Authorization", "").removeprefix("Bearer "), form
            )
            body = said if isinstance(said, bytes) else json.dumps(said).encode()
            headers = {"Content-Type": "text/html" if isinstance(said, bytes) else "application/json"}
        body += b" " * stored.padding.get(path, 0)
        try:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            for part in [body[at : at + 1] for at in range(len(body))] if stored.drip_seconds else [body]:
                self.wfile.write(part)
                time.sleep(stored.drip_seconds)
        except OSError:
            self.close_connection = True  # the client has read enough

    def log_message(self, *_: Any) -> None:
        """Disable logging."""


@contextmanager
def provider(services: IdentityServices) -> Iterator[FakeProvider]:
    """Serve a provider at its own port, with the cache of its metadata cleared."""
    services.provider_metadata = ProviderMetadataCache(services.clock, services.provider_metadata.resolver)
    server = _Server(("127.0.0.1", 0), _Handler)
    server.provider = FakeProvider(services, f"http://provider.localhost:{server.server_port}")
    threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True).start()
    try:
        yield server.provider
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def fake_provider(services: IdentityServices) -> Iterator[FakeProvider]:
    """Serve a provider for one test."""
    with provider(services) as stored:
        yield stored
