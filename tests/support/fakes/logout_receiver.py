"""An application's address for logout tokens (OpenID Connect Back-Channel Logout 1.0). pytest loads it as a plugin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet
from sqlalchemy import select
from sqlalchemy.engine import Row

from app.identity.assembly.worker import Worker
from app.identity.platform.outbox.outbox import decrypt_payload, outbox
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import FixedClock
from tests.support.fakes.identity_provider import FakeProvider, provider
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World

KIND = "backchannel_logout"


@dataclass(frozen=True)
class LogoutReceiver:
    """The server behind `backchannel_logout_uri`, and the outbox on the other side."""

    services: IdentityServices
    server: FakeProvider

    @property
    def address(self) -> str:
        return f"{self.server.url}/out"

    def answers(self, status: int, headers: dict[str, str] | None = None) -> None:
        self.server.answers["/out"] = (status, headers or {}, b"")

    def deliver(self) -> None:
        """Let a worker deliver all messages due now, with messages of other tests; none becomes due while it works."""
        worker = Worker(self.services.settings, self.services.database, FixedClock(self.services.clock.now()))
        while worker.deliver_due():
            pass

    @property
    def tokens(self) -> list[str]:
        """The tokens that arrived, in turn."""
        return [item.form["logout_token"] for item in self.server.received if item.path == "/out"]

    def rows(self, world: World) -> Sequence[Row[Any]]:
        """Return the tenant's rows in the outbox, the oldest first."""
        where = (outbox.c.tenant_id == world.tenant_id, outbox.c.kind == KIND)
        with UnitOfWork(self.services.database, world.tenant_id).separate_transaction() as work:
            return work.all(select(outbox).where(*where).order_by(outbox.c.created_at))

    def posted(self, world: World, client: RelyingParty) -> list[dict[str, Any]]:
        """Return the verified claims of the tokens in the outbox for a client."""
        texts = [
            str(decrypt_payload(self.services.encryption, row)["logout_token"])
            for row in self.rows(world)
            if row.state == "waiting"
        ]
        return [claims for text in texts if (claims := read(client, text))["aud"] == client.client_id]


def read(client: RelyingParty, token: str, algorithm: str = "RS256") -> dict[str, Any]:
    """Verify a logout token's signature and type with the published keys, and return its claims."""
    published: Any = client.get("/service/oidc/jwks").json
    keys = KeySet.import_key_set(published)
    read = jwt.decode(token, keys, algorithms=[algorithm])
    assert read.header["typ"] == "logout+jwt"
    return dict(read.claims)


@pytest.fixture
def receiver(services: IdentityServices) -> Iterator[LogoutReceiver]:
    with provider(services) as server:
        stored = LogoutReceiver(services, server)
        stored.answers(200)
        yield stored
