"""Queries and table of the tenants' own message templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, String, delete, insert, select, update

from app.contract.messages.models import MailTemplate, TextMessageTemplate
from app.identity.platform.resource_storage.items import Item, Store, StoreAccess
from app.identity.platform.store.tables import Instant, Json, tenant_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.resources.resource import Resource

template_table = tenant_table(
    "letter_templates",
    Column("channel", String(8), primary_key=True),  # mail, sms
    Column("kind", String(40), primary_key=True),  # the interface's template type
    Column("name", String(100), primary_key=True),
    Column(
        "content", Json, nullable=False
    ),  # contract/messages/models.py: MailTemplate or SmsTemplate, without type and name
    Column("modified_at", Instant, nullable=False),
)


MAIL, SMS = "mail", "sms"
T = template_table.c


def contents(work: UnitOfWork, channel: str, kind: str | None = None) -> list[tuple[str, str, dict[str, Any]]]:
    """Return (kind, name, content) of the tenant's templates, of one kind or of all, in their order."""
    where = [T.tenant_id == work.tenant_id, T.channel == channel, *([T.kind == kind] if kind is not None else [])]
    rows = work.all(select(T.kind, T.name, T.content).where(*where).order_by(T.kind, T.name))
    return [(row.kind, row.name, dict(row.content)) for row in rows]


def add(work: UnitOfWork, template: MailTemplate | TextMessageTemplate, now: datetime) -> None:
    """Insert a template. Raises IntegrityError if the kind has one of that name."""
    row = {"tenant_id": work.tenant_id, **_key(template), "content": content_of(template), "modified_at": now}
    work.run(insert(template_table).values(row))


def content_of(template: MailTemplate | TextMessageTemplate) -> dict[str, Any]:
    """Return the stored content of a template: only members that are set."""
    return template.model_dump(mode="json", exclude_unset=True, exclude={"type", "name"})


def template_of(channel: str, kind: str, name: str, content: Mapping[str, Any]) -> MailTemplate | TextMessageTemplate:
    """Return a stored template. Raises ValueError if this version does not accept it."""
    model = MailTemplate if channel == MAIL else TextMessageTemplate
    names = {} if name == f"{kind}-default" else {"name": name}
    return model.model_validate({"type": kind, **names, **content})


def _key(template: MailTemplate | TextMessageTemplate) -> dict[str, str]:
    channel = MAIL if isinstance(template, MailTemplate) else SMS
    return {"channel": channel, "kind": template.type.value, "name": template.known_as}


@dataclass(frozen=True)
class TemplateStore(Store):
    """The templates of one channel as a resource. An item's content has its type, and its name unless it is the default one."""

    channel: str

    def items(self, access: StoreAccess, resource: Resource, id_prefix: Sequence[str] = ()) -> list[Item]:  # noqa: ARG002 - Store
        """Return the templates, of one type or of all."""
        return [self._item(*row) for row in contents(access.work, self.channel, *id_prefix)]

    def item(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> Item | None:  # noqa: ARG002 - Store
        """Return a template."""
        row = access.work.one(select(T.content).where(*self._where(access, item_id)))
        return self._item(item_id[0], item_id[1], row.content) if row is not None else None

    def add(self, access: StoreAccess, resource: Resource, item: Item) -> None:  # noqa: ARG002 - Store
        """Add a template. Raises IntegrityError if the type has one of that name."""
        add(access.work, self._template(item), access.now)

    def change(self, access: StoreAccess, resource: Resource, item: Item) -> None:  # noqa: ARG002 - Store
        """Replace a template."""
        values = {"content": content_of(self._template(item)), "modified_at": access.now}
        access.work.run(update(template_table).where(*self._where(access, item.id)).values(values))

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:  # noqa: ARG002 - Store
        """Remove a template."""
        access.work.run(delete(template_table).where(*self._where(access, item_id)))

    def _item(self, kind: str, name: str, content: Mapping[str, Any]) -> Item:
        template = template_of(self.channel, kind, name, content)
        return Item((kind, name), template.model_dump(mode="json", exclude_unset=True))

    def _template(self, item: Item) -> MailTemplate | TextMessageTemplate:
        return (MailTemplate if self.channel == MAIL else TextMessageTemplate).model_validate(item.content)

    def _where(self, access: StoreAccess, item_id: tuple[str, ...]) -> tuple[Any, ...]:
        return (
            T.tenant_id == access.work.tenant_id,
            T.channel == self.channel,
            T.kind == item_id[0],
            T.name == item_id[1],
        )
