"""The operations by which management programs state the tenant's own mails and text messages, and the configuration that
shows what those mails hold."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from app.contract import errors as e
from app.contract import message_templates as contract
from app.contract import tenants
from app.contract.groups import Deleted
from app.contract.messages import MailKind, MailTemplate, SmsKind, SmsTemplate
from app.identity.directory.tenants import appinfo
from app.identity.messaging import service, store, template_changes
from app.identity.messaging.tenant_templates import TenantEmailTemplate
from app.identity.platform.context import Context
from app.kit.errors import ApiError
from app.kit.wire import Nothing

_LATER_MAILS = frozenset(
    {"forgotprovider", "risk_identified_to_admin"}
    | {"invite_user_to_organization", "breached_password"}
    | {"admin_notification_breached_password"}
)
_LATER_SMS = frozenset({"resetpassword", "breached_password"})
"""Types that the interface lists and that nothing sends yet."""
_SHOWN_MAILS = {
    "AddEmail": MailKind.ADD_EMAIL,
    "AutoLogin": MailKind.SMART_LOGIN,
    "DeleteAccount": MailKind.DELETE_ACCOUNT,
    "ForgotPIN": MailKind.RESET_PIN,
    "ForgotPassword": MailKind.RESET,
    "NoRegistrationPasswordlessLogin": MailKind.ONE_TOUCH,
    "OneClickSignin": MailKind.SIGN_IN,
    "Registration": MailKind.VERIFICATION,
}
_TOKEN_TYPES: dict[str | None, Any] = {"otp": "Otp", "link": "link"}
_MAIL_FIELDS = {"name": "TemplateName", "subject": "Subject", "html": "Template", "text": "TextTemplate"} | {
    "sender_name": "FromName", "carries": "VerificationTokenType"
}  # fmt: skip
_SMS_FIELDS = {"name": "Name", "text": "Template"}


@tenants.appinfo.implements
def read_appinfo(context: Context, req: tenants.ReadAppinfo) -> tenants.Appinfo:
    """Whether a mail has a link or a code says the template that is sent where none is asked for; ours has both."""
    codes = {name for name, kind in _SHOWN_MAILS.items() if _is_code(context, kind)}
    return tenants.Appinfo.model_validate(appinfo.build(context, codes))


def _is_code(context: Context, kind: MailKind) -> bool:
    carries = service.carries(context, kind, account=None)
    return carries == "otp" or (
        carries is None and kind is MailKind.RESET and context.tenant.settings.reset_password_codes
    )


@contract.list_mails.implements
def list_mails(context: Context, req: Nothing) -> contract.EmailTemplates:
    return _mails(context, None, e.MailTemplateNotConfigured)


@contract.read_mails.implements
def read_mails(context: Context, req: contract.MailTemplateOf) -> contract.EmailTemplates:
    return _mails(context, _mail_kind(req.template_type), e.UnknownMailTemplate)


@contract.add_mail.implements
def add_mail(context: Context, req: contract.NewMailTemplate) -> contract.EmailTemplate:
    kind = _mail_kind(req.template_type, e.MailTemplateNotConfigured)
    template = _mail_template(context, kind, req)
    template_changes.add(context, template, e.MailTemplateExists, _MAIL_FIELDS)
    return _shown_mail(context, template)


@contract.change_mail.implements
def change_mail(context: Context, req: contract.ChangedMailTemplate) -> contract.EmailTemplate:
    template = _mail_template(context, _mail_kind(req.template_type), req)
    template_changes.change(context, template, e.UnknownMailTemplate, _MAIL_FIELDS)
    return _shown_mail(context, template)


@contract.remove_mail.implements
def remove_mail(context: Context, req: contract.MailTemplateGone) -> Deleted:
    template_changes.remove(
        context, store.MAIL, _mail_kind(req.template_type), req.template_name, e.UnknownMailTemplate
    )
    return Deleted()


@contract.list_sms.implements
def list_sms(context: Context, req: Nothing) -> contract.SmsTemplates:
    return _messages(context, None)


@contract.read_sms.implements
def read_sms(context: Context, req: contract.SmsTemplateOf) -> contract.SmsTemplates:
    return _messages(context, _sms_kind(req.template_type))


@contract.add_sms.implements
def add_sms(context: Context, req: contract.NewSmsTemplate) -> contract.SmsTemplateText:
    template = _sms_template(_sms_kind(req.sms_template_type), req.name, req.template)
    template_changes.add(context, template, e.SmsTemplateExists, _SMS_FIELDS)
    return _shown_sms(template)


@contract.change_sms.implements
def change_sms(context: Context, req: contract.ChangedSmsTemplate) -> contract.SmsTemplateText:
    template = _sms_template(_sms_kind(req.template_type), req.name, req.template)
    template_changes.change(context, template, e.UnknownSmsTemplate, _SMS_FIELDS)
    return _shown_sms(template)


@contract.remove_sms.implements
def remove_sms(context: Context, req: contract.SmsTemplateGone) -> Deleted:
    template_changes.remove(context, store.SMS, _sms_kind(req.template_type), req.name, e.UnknownSmsTemplate)
    return Deleted()


def _mail_kind(text: str, later: type[ApiError] = e.UnknownMailTemplate) -> MailKind:
    name = text.strip().lower()
    if name in _LATER_MAILS:
        raise later
    if name not in set(MailKind):
        raise e.UnknownMailType
    return MailKind(name)


def _sms_kind(text: str) -> SmsKind:
    name = text.strip().lower()
    if name in _LATER_SMS:
        raise e.UnknownSmsTemplate
    if name not in set(SmsKind):
        raise e.UnknownSmsType
    return SmsKind(name)


def _mail_template(context: Context, kind: MailKind, req: contract.MailTemplateText) -> MailTemplate:
    if req.from_email and req.from_email != context.services.settings.mail_sender:
        raise e.BadField(f"FromEmail: mails come from {context.services.settings.mail_sender}; leave it out.")
    stated = {
        "name": req.template_name,
        "text": req.text_template,
        "carries": req.verification_token_type.lower() if req.verification_token_type else None,
        "sender_name": req.from_name,
        "is_active": None if req.is_active else False,
    }
    given = {key: value for key, value in stated.items() if value is not None}
    try:
        return MailTemplate.model_validate({"type": kind, "subject": req.subject, "html": req.template, **given})
    except ValidationError as problem:
        raise _names(problem, _MAIL_FIELDS) from None


def _sms_template(kind: SmsKind, name: str, text: str) -> SmsTemplate:
    try:
        return SmsTemplate(type=kind, name=name, text=text)
    except ValidationError as problem:
        raise _names(problem, _SMS_FIELDS) from None


def _names(problem: ValidationError, fields: dict[str, str]) -> ApiError:
    first = problem.errors()[0]
    key = str(first["loc"][0])
    return e.BadField(f"{fields.get(key, key)}: {first['msg']}.")


def _mails(context: Context, kind: MailKind | None, none: type[ApiError]) -> contract.EmailTemplates:
    held = template_changes.kept(context, store.MAIL, kind)
    if not held:
        raise none
    return contract.EmailTemplates(data=[_shown_mail(context, one) for one in held if isinstance(one, MailTemplate)])


def _messages(context: Context, kind: SmsKind | None) -> contract.SmsTemplates:
    held = template_changes.kept(context, store.SMS, kind)
    if not held:
        raise e.UnknownSmsTemplate
    return contract.SmsTemplates(data=[_shown_sms(one) for one in held if isinstance(one, SmsTemplate)])


def _shown_mail(context: Context, template: MailTemplate) -> contract.EmailTemplate:
    return contract.EmailTemplate(
        template_type=template.type.value,
        template_name=template.known_as,
        subject=template.subject,
        template=template.html,
        text_template=template.text,
        from_name=template.sender_name or None,
        from_email=context.services.settings.mail_sender,
        verification_token_type=_TOKEN_TYPES.get(TenantEmailTemplate(template).carries),
        is_active=template.is_active,
    )


def _shown_sms(template: SmsTemplate) -> contract.SmsTemplateText:
    return contract.SmsTemplateText(
        sms_template_type=template.type.value, name=template.known_as, template=template.text
    )
