"""What is posted past every operation, and the worker that delivers it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from sqlalchemy import select

from app.identity.house import House
from app.identity.outbox import Outbox
from app.identity.store.database import Database
from app.identity.store.unit import UnitOfWork
from app.identity.tasks.tables import outbox
from app.identity.tasks.worker import Worker
from app.identity.vault import Vault
from app.kit.clock import Clock
from app.settings import Settings

_SENDER: Final[Any] = {
    "hub_domain": "id.example.com",
    "mail_from": "door@id.example.com",
    "push_url": "http://127.0.0.1:9",
}
SECRET = b"0" * 32
VAULT = Vault((SECRET,))


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


def row(database: Database, message_id: str, tenant: str = "acme") -> Any:
    """Return the row of a message."""
    work = UnitOfWork(database, tenant)
    try:
        return work.one(select(outbox).where(outbox.c.message_id == message_id))
    finally:
        work.rollback()


def worker(database: Database, clock: Clock, url: str = "inbox:", *secrets: bytes) -> Worker:
    """Return a worker that knows these secrets, or the one that was posted under."""
    return Worker(Settings(mail_url=url, secrets=secrets or (SECRET,), **_SENDER), database, clock)


def worker_of(house: House, url: str) -> Worker:
    """Return a worker of an installation whose mail server is at an address."""
    return Worker(replace(house.settings, mail_url=url, **_SENDER), house.database, house.clock)
