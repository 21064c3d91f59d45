"""Messages posted without an operation, and the worker that delivers them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from sqlalchemy import select

from app.identity.assembly.worker import Worker
from app.identity.platform.encryption import Encryption
from app.identity.platform.outbox.outbox import Outbox, QueuedDelivery, outbox, outbox_queues
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import Clock
from app.settings import Settings

_SENDER: Final[Any] = {
    "hub_domain": "id.example.com",
    "mail_from": "door@id.example.com",
    "push_url": "http://127.0.0.1:9",
}
SECRET = b"0" * 32
VAULT = Encryption((SECRET,))


def posted(database: Database, clock: Clock, tenant: str = "acme", kind: str = "mail", **payload: Any) -> str:
    """Post a mail, and return its id."""
    work = UnitOfWork(database, tenant)
    mail = {
        "to": "ada@example.com",
        "subject": "Grüße",
        "text": "Your code is 123456",
        "sender_name": "Acme",
        **payload,
    }
    message_id = Outbox(work, clock, VAULT).post(kind, mail)
    work.commit()
    return message_id


def queued(
    database: Database,
    clock: Clock,
    queue: str = "hook",
    *,
    tenant: str = "acme",
    order_key: str | None = None,
    event: str = "Login",
) -> str:
    """Post a webhook into a queue, and return its id."""
    work = UnitOfWork(database, tenant)
    outbox = Outbox(work, clock, VAULT)
    message_id = outbox.post("webhook", {"body": "{}"}, delivery=QueuedDelivery(queue, order_key, event))
    work.commit()
    return message_id


def queue_row(database: Database, queue: str = "hook", tenant: str = "acme") -> Any:
    """Return the stored state of a queue, None of one that never failed."""
    work = UnitOfWork(database, tenant)
    try:
        return work.one(
            select(outbox_queues).where(outbox_queues.c.tenant_id == tenant, outbox_queues.c.queue == queue)
        )
    finally:
        work.rollback()


def row(database: Database, message_id: str, tenant: str = "acme") -> Any:
    """Return the row of a message."""
    work = UnitOfWork(database, tenant)
    try:
        return work.one(select(outbox).where(outbox.c.message_id == message_id))
    finally:
        work.rollback()


def worker(database: Database, clock: Clock, url: str = "inbox:", *secrets: bytes) -> Worker:
    """Return a worker that knows these secrets, or the secret that was posted under."""
    return Worker(Settings(mail_url=url, secrets=secrets or (SECRET,), **_SENDER), database, clock)


def worker_of(services: IdentityServices, url: str) -> Worker:
    """Return a worker of an installation whose mail server is at an address."""
    return Worker(replace(services.settings, mail_url=url, **_SENDER), services.database, services.clock)
