"""Rules of the tenants' own templates, in addition to their declarations."""

from __future__ import annotations

from collections.abc import Iterator, Set
from enum import StrEnum
from typing import Any, Final

from app.contract import errors
from app.contract.messages import message_operations
from app.contract.messages.models import MailKind, MailTemplate, SmsKind, TextMessageTemplate
from app.contract.tenants.settings import TenantSettings
from app.identity.messaging.tenant_templates import template_store
from app.identity.messaging.tenant_templates.placeholders import (
    EMAIL_RULES,
    SMS_RULES,
    carries,
    misspelled_placeholders,
    placeholder_names,
)
from app.identity.messaging.tenant_templates.template_rendering import TenantEmailTemplate, tenant_template
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, Power
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.rules import Rules
from app.kit.operations.errors import ApiError
from app.kit.resources.resource_values import ItemInput

_UNSUPPORTED_MAILS = frozenset(
    {"forgotprovider", "risk_identified_to_admin", "invite_user_to_organization", "breached_password"}
    | {"admin_notification_breached_password"}
)
_UNSUPPORTED_SMS = frozenset({"resetpassword", "breached_password"})
"""Types of the interface that are not sent yet."""
_TOKEN_TYPES: dict[str | None, Any] = {"otp": "Otp", "link": "link"}


def read_mail(context: Context, item_input: ItemInput) -> None:
    method, sender = context.raw.method, context.services.settings.mail_sender
    unsupported = errors.MailTemplateNotConfigured if method == "POST" else errors.UnknownMailTemplate
    kind = _read_type(item_input, "template_type", MailKind, _UNSUPPORTED_MAILS, unsupported, errors.UnknownMailType)
    if item_input.values.get(("from_email",)) in ("", sender):
        del item_input.values["from_email",]
    if method in ("POST", "PUT"):
        item_input.id.setdefault("template_name", f"{kind}-default")
    if carries := item_input.values.get(("carries",)):
        item_input.values["carries",] = carries.lower()
    if item_input.values.get(("is_active",)):
        del item_input.values["is_active",]


def read_text_message(context: Context, item_input: ItemInput) -> None:  # noqa: ARG001 - the hook's signature
    _read_type(
        item_input, "sms_template_type", SmsKind, _UNSUPPORTED_SMS, errors.UnknownSmsTemplate, errors.UnknownSmsType
    )


def show_mail(context: Context, template: MailTemplate, values: dict[str, Any]) -> None:
    values["from_name"] = template.sender_name or None
    values["from_email"] = template.from_email or context.services.settings.mail_sender
    values["verification_token_type"] = _TOKEN_TYPES.get(TenantEmailTemplate(template).carries)


def check_placeholders(
    template: MailTemplate | TextMessageTemplate, settings: TenantSettings | None
) -> Iterator[tuple[str, str]]:
    custom_fields = settings.custom_fields if settings else None
    yield from tenant_template(template).problems(custom_fields)
    if isinstance(template, MailTemplate):
        rule = EMAIL_RULES[template.type]
        texts = {"subject": template.subject, "html": template.html, "text": template.text or ""}
        yield from _problems_of_sender(template, settings)
    else:
        rule, texts = SMS_RULES[template.type], {"text": template.text}
    for key, text in texts.items():  # stored templates are sent as before
        yield from ((key, problem) for problem in misspelled_placeholders(text, rule, custom_fields or ()))


def _problems_of_sender(template: MailTemplate, settings: TenantSettings | None) -> Iterator[tuple[str, str]]:
    """Yield a sender whose domain the operator did not list; without settings it is judged when a mail is sent."""
    if template.from_email and settings is not None and not settings.sending.may_come_from(template.from_email):
        yield "from_email", "an address at a domain of settings.sending.from_domains, which the operator lists"


def powers_of(context: Context, item: Item) -> Iterator[Power]:  # noqa: ARG001 - the hook's signature
    """A program that writes the text around a link or a code can send both to another address, and sign in as the person."""
    rule = (
        EMAIL_RULES[MailKind(item.content["type"])]
        if "html" in item.content
        else SMS_RULES[SmsKind(item.content["type"])]
    )
    texts = " ".join(str(item.content.get(name) or "") for name in ("subject", "html", "text"))
    if rule.may_carry or carries(placeholder_names(texts)):
        yield Power(ALL, "templates with a link or a code")


def _read_type(
    item_input: ItemInput,
    field: str,
    types: type[StrEnum],
    unsupported: Set[str],
    unsupported_error: type[ApiError],
    unknown_error: type[ApiError],
) -> str:
    """Read the type in any letter case; empty if the request names none."""
    kind = item_input.id.get(field, "").strip().lower()
    if field in item_input.id:
        if kind in unsupported:
            raise unsupported_error
        if kind not in set(types):
            raise unknown_error
        item_input.id[field] = item_input.values["type",] = kind
    return kind


RULES: Final = {
    message_operations.MAILS: Rules(
        on_input=read_mail,
        on_output=show_mail,
        problems=check_placeholders,
        powers=powers_of,
        store=template_store.TemplateStore(template_store.MAIL),
    ),
    message_operations.SMS: Rules(
        on_input=read_text_message,
        problems=check_placeholders,
        powers=powers_of,
        store=template_store.TemplateStore(template_store.SMS),
    ),
}
