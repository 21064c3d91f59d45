"""The tenant's own templates as management programs keep them: checked as in a configuration file, seen at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.exc import IntegrityError

from app.contract import errors as e
from app.contract.messages import MailKind, MailTemplate, SmsKind, SmsTemplate
from app.identity.directory.tenants import changes
from app.identity.messaging import store
from app.identity.messaging.tenant_templates import tenant_template
from app.identity.platform.context import Context
from app.kit.errors import ApiError

Template = MailTemplate | SmsTemplate
MOST = {store.MAIL: 200, store.SMS: 100}
"""As many as a configuration file may state."""


def kept(context: Context, channel: str, kind: MailKind | SmsKind | None) -> Sequence[Template]:
    """Return the tenant's templates of one kind, or of all."""
    rows = store.contents(context.work, channel, kind.value if kind else None)
    return [store.template_of(channel, *row) for row in rows]


def add(context: Context, template: Template, exists: type[ApiError], fields: Mapping[str, str]) -> None:
    """Keep a new one. Raises `exists`, and BadField naming the field that is wrong."""
    _check(context, template, fields)
    channel = store.MAIL if isinstance(template, MailTemplate) else store.SMS
    held = store.contents(context.work, channel)
    if (template.type.value, template.known_as) in {(kind, name) for kind, name, _ in held}:
        raise exists
    if len(held) >= MOST[channel]:
        raise e.BadField(f"At most {MOST[channel]} templates.")
    try:
        store.add(context.work, template, context.now)
    except IntegrityError:
        raise exists from None
    _changed(context, "template.added", template.type, template.known_as)


def change(context: Context, template: Template, unknown: type[ApiError], fields: Mapping[str, str]) -> None:
    """State one anew. Raises `unknown`, and BadField naming the field that is wrong."""
    _check(context, template, fields)
    if not store.change(context.work, template, context.now):
        raise unknown
    _changed(context, "template.changed", template.type, template.known_as)


def remove(context: Context, channel: str, kind: MailKind | SmsKind, name: str, unknown: type[ApiError]) -> None:
    """Remove one. Raises `unknown`."""
    if not store.remove(context.work, channel, kind.value, name):
        raise unknown
    _changed(context, "template.removed", kind, name)


def _check(context: Context, template: Template, fields: Mapping[str, str]) -> None:
    for key, sentence in tenant_template(template).problems(context.tenant.settings.custom_fields):
        raise e.BadField(f"{fields[key]}: expected {sentence}.")


def _changed(context: Context, event: str, kind: MailKind | SmsKind, name: str) -> None:
    changes.change(context.work)
    context.audit.record(event, kind=kind.value, name=name)
    context.services.directory.clear_cache()
