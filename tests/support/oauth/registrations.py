"""Applications that register themselves at a tenant, as programs do it over HTTP."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from werkzeug.test import TestResponse

from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.protocols.oauth.registration import initial_access_tokens
from app.kit import randomness
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World

CALLBACK = "https://calendar.example/cb"
METADATA: dict[str, Any] = {"client_name": "Calendar", "redirect_uris": [CALLBACK]}


@dataclass
class Registrar:
    """A program that registers applications."""

    world: World
    address: str = "203.0.113.20"

    def send(self, method: str, path: str, body: Any = None, token: str | None = None, **how: Any) -> TestResponse:
        """Send a request to the tenant's host; a body that is bytes goes as it is."""
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        if body is not None:
            how.setdefault("data", body if isinstance(body, bytes) else json.dumps(body))
            how.setdefault("content_type", "application/json")
        base = self.world.services.settings.hub_url(self.world.name)
        how.setdefault("environ_overrides", {"REMOTE_ADDR": self.address})
        return self.world.wsgi.open(path, method=method, base_url=base, headers=headers, **how)

    def register(
        self, members: Any = None, *, path: str = "/api/oidc/register", token: str | None = None
    ) -> TestResponse:
        return self.send("POST", path, METADATA if members is None else members, token)

    def registered(
        self, *, path: str = "/api/oidc/register", token: str | None = None, **changed: Any
    ) -> dict[str, Any]:
        """Register an application, and return the response."""
        members = {name: value for name, value in {**METADATA, **changed}.items() if value is not None}
        answer = self.register(members, path=path, token=token)
        assert answer.status_code == 201, answer.text
        return dict(answer.json or {})

    def manage(
        self, made: dict[str, Any], method: str = "GET", body: Any = None, token: str | None = None
    ) -> TestResponse:
        """Read, replace or delete a registration at the address that it returned."""
        path = urlsplit(made["registration_client_uri"]).path
        return self.send(method, path, body, made["registration_access_token"] if token is None else token)

    def relying_party(self, made: dict[str, Any], **changed: Any) -> RelyingParty:
        """Return the registered application as the relying party it is."""
        world = self.world
        known = {
            "client_id": made["client_id"],
            "redirect_uri": made["redirect_uris"][0],
            "secret": made.get("client_secret"),
            **changed,
        }
        return RelyingParty(world.services, world.wsgi, world.name, world.api_key, name="registered", **known)

    def initial_access_token(self, text: str = "the initial access token", *, max_uses: int = 1, days: int = 7) -> str:
        """Add an initial access token, as a management operation would."""
        world, now = self.world, self.world.services.clock.now()
        with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
            times = {"created_at": now, "expires_at": now + timedelta(days=days)}
            digest = randomness.digest(text)
            initial_access_tokens.add(work, f"token-{text[-8:].strip()}", digest, max_uses=max_uses, **times)
        return text


def error_of(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {}).get("error", "")
