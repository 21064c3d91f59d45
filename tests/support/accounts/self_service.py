"""An account that uses the self-service operations with its access token."""

from __future__ import annotations

from typing import Any

from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import sent_messages
from tests.support.tenants.tenant_server import TenantServer, answered, refused

OWN = "/identity/v2/auth/account"


class ProfilePerson:
    """An account with an access token."""

    def __init__(self, server: TenantServer, **members: Any) -> None:
        self.server = server
        self.created = server.create(EmailVerified=True, **members)
        self.uid = str(self.created["Uid"])
        self.email = (self.created["Email"] or [{"Value": ""}])[0]["Value"]
        self.token = str(server.tokens(self.uid)["access_token"])

    def send(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        return self.server.send(method, path, body, bearer=self.token, **query)

    def update(self, body: dict[str, Any], **query: Any) -> dict[str, Any]:
        answer = answered(self.send("PUT", OWN, body, **query))
        assert answer["IsPosted"] is True
        profile: dict[str, Any] = answer["Data"]
        return profile

    def refusal(self, method: str, path: str, body: Any = None, **query: Any) -> tuple[int, int]:
        return refused(self.send(method, path, body, **query))


def mails(server: TenantServer, to: str = "") -> list[dict[str, Any]]:
    return [payload for payload in sent_messages(server.services, server.tenant_id) if to in ("", payload["to"])]


def entries(server: TenantServer) -> list[str]:
    with UnitOfWork(server.services.database, server.tenant_id).separate_transaction() as work:
        rows = work.all(audit.select().where(audit.c.tenant_id == server.tenant_id))
    return [row.event for row in rows]
