"""The queries of the tenants' own templates."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select, update

from app.contract.messages import MailTemplate, SmsTemplate
from app.identity.messaging.tables import letter_templates
from app.identity.platform.store.unit import UnitOfWork

MAIL, SMS = "mail", "sms"
T = letter_templates.c


def contents(work: UnitOfWork, channel: str, kind: str | None = None) -> list[tuple[str, str, dict[str, Any]]]:
    """Return (kind, name, content) of the tenant's templates, of one kind or of all, in their order."""
    where = [T.tenant_id == work.tenant_id, T.channel == channel, *([T.kind == kind] if kind is not None else [])]
    rows = work.all(select(T.kind, T.name, T.content).where(*where).order_by(T.kind, T.name))
    return [(row.kind, row.name, dict(row.content)) for row in rows]


def add(work: UnitOfWork, template: MailTemplate | SmsTemplate, now: datetime) -> None:
    """Keep a new template. Raises IntegrityError where the kind has one of that name."""
    row = {"tenant_id": work.tenant_id, **_key(template), "content": content_of(template), "modified_at": now}
    work.run(insert(letter_templates).values(row))


def change(work: UnitOfWork, template: MailTemplate | SmsTemplate, now: datetime) -> bool:
    """State a template anew; return whether there was one."""
    where = [T.tenant_id == work.tenant_id, *(T[name] == value for name, value in _key(template).items())]
    values = {"content": content_of(template), "modified_at": now}
    return work.changed(update(letter_templates).where(*where).values(values)) > 0


def remove(work: UnitOfWork, channel: str, kind: str, name: str) -> bool:
    """Remove a template; return whether there was one."""
    where = (T.tenant_id == work.tenant_id, T.channel == channel, T.kind == kind, T.name == name)
    return work.changed(delete(letter_templates).where(*where)) > 0


def content_of(template: MailTemplate | SmsTemplate) -> dict[str, Any]:
    """Return what is kept of a template: nothing that stands at its default."""
    return template.model_dump(mode="json", exclude_unset=True, exclude={"type", "name"})


def template_of(channel: str, kind: str, name: str, content: Mapping[str, Any]) -> MailTemplate | SmsTemplate:
    """Return a kept template; raises ValueError where this version does not take it."""
    model = MailTemplate if channel == MAIL else SmsTemplate
    named = {} if name == f"{kind}-default" else {"name": name}
    return model.model_validate({"type": kind, **named, **content})


def _key(template: MailTemplate | SmsTemplate) -> dict[str, str]:
    channel = MAIL if isinstance(template, MailTemplate) else SMS
    return {"channel": channel, "kind": template.type.value, "name": template.known_as}
