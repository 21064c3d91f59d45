"""The tenant's own templates as management programs keep them: checked as in a configuration file, seen at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.exc import IntegrityError

from app.contract import errors as e
from app.contract.letters import MailKind, MailTemplate, SmsKind, SmsTemplate
from app.identity.call import Call
from app.identity.letters import store
from app.identity.letters.own import own
from app.identity.tenants import changes
from app.kit.errors import ApiError

Template = MailTemplate | SmsTemplate
MOST = {store.MAIL: 200, store.SMS: 100}
"""As many as a configuration file may state."""


def kept(call: Call, channel: str, kind: MailKind | SmsKind | None) -> Sequence[Template]:
    """Return the tenant's templates of one kind, or of all."""
    rows = store.contents(call.work, channel, kind.value if kind else None)
    return [store.template_of(channel, *row) for row in rows]


def add(call: Call, template: Template, exists: type[ApiError], fields: Mapping[str, str]) -> None:
    """Keep a new one. Raises `exists`, and BadField naming the field that is wrong."""
    _check(call, template, fields)
    channel = store.MAIL if isinstance(template, MailTemplate) else store.SMS
    held = store.contents(call.work, channel)
    if (template.type.value, template.known_as) in {(kind, name) for kind, name, _ in held}:
        raise exists
    if len(held) >= MOST[channel]:
        raise e.BadField(f"At most {MOST[channel]} templates.")
    try:
        store.add(call.work, template, call.now)
    except IntegrityError:
        raise exists from None
    _changed(call, "template.added", template.type, template.known_as)


def change(call: Call, template: Template, unknown: type[ApiError], fields: Mapping[str, str]) -> None:
    """State one anew. Raises `unknown`, and BadField naming the field that is wrong."""
    _check(call, template, fields)
    if not store.change(call.work, template, call.now):
        raise unknown
    _changed(call, "template.changed", template.type, template.known_as)


def remove(call: Call, channel: str, kind: MailKind | SmsKind, name: str, unknown: type[ApiError]) -> None:
    """Remove one. Raises `unknown`."""
    if not store.remove(call.work, channel, kind.value, name):
        raise unknown
    _changed(call, "template.removed", kind, name)


def _check(call: Call, template: Template, fields: Mapping[str, str]) -> None:
    for key, sentence in own(template).problems(call.tenant.settings.custom_fields):
        raise e.BadField(f"{fields[key]}: expected {sentence}.")


def _changed(call: Call, event: str, kind: MailKind | SmsKind, name: str) -> None:
    changes.change(call.work)
    call.ledger.record(event, kind=kind.value, name=name)
    call.house.directory.forget()
