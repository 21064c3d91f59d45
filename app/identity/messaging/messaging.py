"""Sends emails and text messages: one outbox row each, in the transaction of the change that they announce."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Protocol
from urllib.parse import urlsplit

from app.contract import errors
from app.contract.messages.models import Carries, MailKind, SmsKind
from app.contract.shared_responses import PostedSms, SmsSent
from app.contract.tenants.branding import theme_digest
from app.contract.tenants.tenant_pages import MAX_THEME_FAILURE, MAX_THEME_FILE, ThemeFailure
from app.identity.directory.accounts.account import Account, full_name, is_verified
from app.identity.directory.tenants.themed_tenant import named_themes, themed_tenant
from app.identity.directory.tenants.urls.allowed_urls import with_query
from app.identity.messaging import gsm7, rendering, send_limits, text_message, theme_failures
from app.identity.messaging.message import (
    MAX_NAME_LENGTH,
    Branding,
    MessageFacts,
    RenderedMessage,
    ThemeFileFailed,
    one_line,
    safe_name,
    unlinked,
)
from app.identity.messaging.send_limits import CountedAs, Recipient
from app.identity.messaging.tenant_templates import placeholder_values, template_selection
from app.identity.messaging.tenant_templates.placeholders import RenderError
from app.identity.messaging.tenant_templates.template_rendering import TenantEmailTemplate, TenantSmsTemplate
from app.identity.platform.context import Context
from app.identity.platform.services import FailedMail
from app.kit import randomness
from app.kit.operations.errors import ApiError
from app.kit.text.languages import Language, negotiate
from app.kit.web.user_agents import BROWSERS, parse_user_agent

log = logging.getLogger("gatehouse.messaging")

_BY_DEFAULT = CountedAs()
FactsSource = MessageFacts | Callable[[], MessageFacts]
"""The facts of a message, or a function that makes them, which is called only if no limit refuses the message."""


class SmsOptions(Protocol):
    """How a text message is sent."""

    @property
    def sms_template(self) -> str | None: ...

    @property
    def is_voice_otp(self) -> bool: ...


@dataclass(frozen=True)
class PlainSmsOptions:
    """Send as text, by the named template."""

    sms_template: str | None = None
    is_voice_otp: bool = False


DEFAULT_SMS_OPTIONS: Final = PlainSmsOptions()


def mail(
    context: Context,
    kind: MailKind,
    to: str,
    *,
    account: Account | None,
    facts: FactsSource,
    template: str | None = None,
    language: str | None = None,
    is_requested: bool = False,
    counted_as: CountedAs | None = _BY_DEFAULT,
) -> None:
    """Queue an email. A notice over its limit is left out and raises nothing.

    Args:
        template: the tenant's template of that name; without one its default template, and then the built-in one.
        language: by default the account's, then the page's, then the tenant's.
        is_requested: the caller asked for this email, so that over the limit even a notice is refused.
        counted_as: the kind, account and verification under which the limits count it, if they differ; None: `count_mail` has counted it.

    Raises:
        MailLimitReached: the recipient reached the limit of this kind.
    """
    uid = account.uid if account else None
    try:
        if counted_as is not None:
            send_limits.count_mail(context, counted_as.kind or kind, _recipient(context, to, account, counted_as))
    except ApiError:
        if is_requested or not send_limits.is_notice(kind):
            raise
        context.audit.record("mail.left_out", uid=uid, kind=kind.value)
        return
    branding = _branding(context)
    locale = _language(context, account, language)
    content = _with_origin(context, _facts(context, to, account, facts), account)
    message = _tenant_email(context, kind, account, content, template, locale) or rendering.render(
        kind, branding, content, locale
    )
    _post(context, kind, to, message, branding, uid)
    if message.failure is not None:
        record_failed_mail(context, message.failure, branding)


def mail_sample(
    context: Context, kind: MailKind, to: str, facts: MessageFacts, language: Language, branding: Branding
) -> RenderedMessage:
    """Queue an email of a theme with facts of a sample, which no limit counts, and return it."""
    message = rendering.render(kind, branding, replace(facts, to=one_line(to, 320)), language)
    _post(context, kind, to, message, branding, None)
    return message


def _post(
    context: Context, kind: MailKind, to: str, message: RenderedMessage, branding: Branding, uid: str | None
) -> None:
    payload = {
        "to": to,
        "subject": message.subject,
        "text": message.text,
        "html": message.html,
        "language": message.language,
        **_sender_of(context, message, branding),
    }
    message_id = context.outbox.post("mail", payload)
    context.audit.record("mail.posted", uid=uid, kind=kind.value, message_id=message_id)


def record_theme_failure(context: Context, failure: ThemeFailure) -> bool:
    """Record that people get ours in the place of a file of the theme, and email the contacts once for each version; return whether
    it was new.
    """
    facts = MessageFacts(theme_file=failure.template, problem=failure.reason, failed_at=context.now)
    language = context.tenant.settings.default_locale

    def notify(address: str) -> None:
        mail(context, MailKind.THEME_FAILED, address, account=None, facts=facts, language=language)

    return theme_failures.record(context, failure, notify)


def record_failed_mail(context: Context, failed: ThemeFileFailed, branding: Branding) -> None:
    """Record that a file failed; once a process found that committed, each mail only looks that up in memory."""
    tenant, known = context.tenant, context.services.failed_mails
    key = FailedMail(tenant.tenant_id, tenant.version, named_themes(context), failed.file, context.sends)
    if known.get(key):
        return
    failure = ThemeFailure(
        digest=theme_digest(branding.brand),
        template=failed.file[:MAX_THEME_FILE],
        reason=failed.reason[:MAX_THEME_FAILURE],
    )
    if theme_failures.is_recorded(context, failure):
        known.put(key, True, context.work, theme_failures.theme_failures)
    elif record_theme_failure(context, failure):
        facts = {"tenant": tenant.name, "template": failure.template, "digest": failure.digest}
        log.warning("a mail of the tenant's theme failed; ours is sent", extra={**facts, "problem": failure.reason})


def _branding(context: Context) -> Branding:
    """Return the look of the page that a message starts from."""
    tenant = themed_tenant(context)
    return Branding(tenant.display_line, tenant.brand, context.pages_url, tenant.settings.default_locale)


def _sender_of(context: Context, message: RenderedMessage, branding: Branding) -> dict[str, str]:
    """Return the members of a payload that say whom an email comes from."""
    sending = context.tenant.settings.sending
    name = one_line(message.sender_name or sending.sender_name or branding.tenant(message.language), MAX_NAME_LENGTH)
    address = message.from_email if sending.may_come_from(message.from_email) else ""
    stated = {"sender_name": name, "from_email": address, "reply_to": sending.reply_to or ""}
    return {member: value for member, value in stated.items() if value or member == "sender_name"}


def count_mail(context: Context, kind: MailKind, to: str, account: Account | None) -> None:
    """Count an email that will be queued with `counted_as=None`, where its refusal must come before other changes.

    Raises MailLimitReached.
    """
    send_limits.count_mail(context, kind, _recipient(context, to, account, _BY_DEFAULT))


def sms(
    context: Context,
    kind: SmsKind,
    to: str,
    *,
    account: Account | None,
    facts: FactsSource,
    options: SmsOptions = DEFAULT_SMS_OPTIONS,
    changes_for: str | None = None,
    language: str | None = None,
) -> str:
    """Queue a text message and return its Sid. Responses carry it beside `account_sid`.

    Args:
        options: the tenant's template, and whether a call reads the code out.
        changes_for: the uid of the account that changes to this number; its count does not reveal who has the number.
        language: as in `mail`.

    Raises:
        NoSmsConfiguration: no SMS sender is configured. VoiceOtpOff: the sender makes no calls.
        SmsLimitReached: the recipient reached the limit of this kind.
        SharedSmsLimitReached: the tenant reached its daily limit.
    """
    uid = account.uid if account else None
    if options.is_voice_otp and context.services.settings.sms_target and not context.services.settings.sms_speaks:
        raise errors.VoiceOtpOff
    send_limits.count_sms(context, SmsKind.CHANGE_PHONE if changes_for else kind, to, changes_for or uid)
    content = _facts(context, to, account, facts)
    host = urlsplit(context.pages_url).netloc
    locale = _language(context, account, language)
    tenant = themed_tenant(context)
    text = _tenant_text_message(context, kind, account, content, options.sms_template, locale) or text_message.sentence(
        kind, tenant.name_in(locale.tag), content, tenant.texts.catalogue(locale.tag)
    )
    payload = {"text": text_message.append_origin_line(gsm7.simplify(text), content.otp, host)}
    if options.is_voice_otp and content.otp:
        payload |= {"spoken": text_message.voice_text(text, content.otp), "language": locale.tag}
    return _post_sms(context, kind, to, payload, uid)


def sms_sample(
    context: Context, kind: SmsKind, to: str, facts: MessageFacts, language: Language, branding: Branding
) -> str:
    """Queue a text message of a theme with facts of a sample, which no limit counts, and return its text.

    Raises NoSmsConfiguration.
    """
    if not context.services.settings.sms_target:
        raise errors.NoSmsConfiguration
    name, texts = branding.tenant(language.tag), branding.texts.catalogue(language.tag)
    text = text_message.render_sms(kind, name, facts, texts, urlsplit(context.pages_url).netloc)
    _post_sms(context, kind, to, {"text": text}, None)
    return text


def _post_sms(context: Context, kind: SmsKind, to: str, payload: dict[str, str], uid: str | None) -> str:
    """Queue a text message and return its Sid."""
    sid = f"SM{randomness.uid()}"
    message_id = context.outbox.post("sms", {"to": to, **payload, "sid": sid})
    context.audit.record("sms.posted", uid=uid, kind=kind.value, message_id=message_id, sid=sid)
    return sid


def carries(
    context: Context,
    kind: MailKind,
    *,
    account: Account | None,
    template: str | None = None,
    language: str | None = None,
) -> Carries | None:
    """Return whether the email of `mail` would contain a link, a code or both; None for the built-in template, which has both.

    The caller need not create the part that it does not contain.
    """
    if not template_selection.has_any(context, kind):
        return None
    selected = template_selection.select(context, kind, template, _language(context, account, language))
    return selected.template.carries if selected and selected.template else None


def account_sid(context: Context) -> str:
    """Return the `AccountSid` of SMS responses. It names the tenant, not the operator's account at the SMS provider."""
    return f"AC{context.tenant.tenant_id}"


def posted_sms(context: Context, sid: str) -> PostedSms:
    """Return the response to a requested text message: the same whether one was sent, or none and `sid` is empty."""
    return PostedSms(data=SmsSent(account_sid=account_sid(context), sid=sid or f"SM{randomness.uid()}"))


def _recipient(context: Context, to: str, account: Account | None, counted_as: CountedAs) -> Recipient:
    has_verified = counted_as.is_verified
    if has_verified is None:
        has_verified = account is not None and is_verified(account, to)
    uid = counted_as.uid or (account.uid if account else None)
    return Recipient(to, uid, has_verified, context.sends)


def _tenant_email(
    context: Context,
    kind: MailKind,
    account: Account | None,
    facts: MessageFacts,
    template: str | None,
    language: Language,
) -> RenderedMessage | None:
    """Return the email by the tenant's template, or None if it has none that can be rendered."""
    selected = template_selection.select(context, kind, template, language)
    problem = selected.problem if selected else ""
    if selected and isinstance(selected.template, TenantEmailTemplate):
        branding = _branding(context)
        values = placeholder_values.values_for(context, kind, account, facts, selected.language)
        try:
            return selected.template.render(
                branding, values, selected.language, placeholder_values.applicable_sections(account)
            )
        except RenderError as error:
            problem = str(error)
    if selected:
        _record_render_failure(context, kind, selected.name, problem, account)
    return None


def _tenant_text_message(
    context: Context,
    kind: SmsKind,
    account: Account | None,
    facts: MessageFacts,
    template: str | None,
    language: Language,
) -> str | None:
    """Return the text by the tenant's template, or None if it has none that can be rendered."""
    selected = template_selection.select(context, kind, template, language)
    problem = selected.problem if selected else ""
    if selected and isinstance(selected.template, TenantSmsTemplate):
        try:
            return selected.template.render(
                placeholder_values.values_for(context, kind, account, facts, selected.language)
            )
        except RenderError as error:
            problem = str(error)
    if selected:
        _record_render_failure(context, kind, selected.name, problem, account)
    return None


def _record_render_failure(
    context: Context, kind: MailKind | SmsKind, name: str, problem: str, account: Account | None
) -> None:
    """Record why a template was not rendered. The built-in one is sent instead."""
    facts = {"channel": "mail" if isinstance(kind, MailKind) else "sms", "kind": kind.value, "name": name}
    context.audit.record("template.not_drawn", uid=account.uid if account else None, **facts, problem=problem)
    log.warning("template %s of tenant %s was not rendered: %s", name, context.tenant.name, problem)


def _facts(context: Context, to: str, account: Account | None, source: FactsSource) -> MessageFacts:
    """Return the facts with those of the account. Names and addresses become harmless: other people may have typed them."""
    facts = source() if callable(source) else source
    return replace(
        facts,
        to=one_line(to, 320),
        name=safe_name(account.profile.get("FirstName") or full_name(account)) if account else "",
        url=_with_brand(context, facts.url) if facts.url.startswith(("https://", "http://")) else "",
        otp=one_line(facts.otp, 20),
        email=one_line(facts.email, 320),
        username=one_line(facts.username or (account.username if account else None) or "", 64),
        sign_in_name=unlinked(facts.sign_in_name),
        added_by=one_line(facts.added_by, 64),
        device=one_line(facts.device, 160),
        provider=one_line(facts.provider, 60),
        organization=unlinked(facts.organization),
        organization_logo=facts.organization_logo if facts.organization_logo.startswith("https://") else "",
        domain=one_line(facts.domain, 253),
        inviter=safe_name(facts.inviter),
        theme_file=one_line(facts.theme_file, MAX_THEME_FILE),
        problem=one_line(facts.problem, MAX_THEME_FAILURE),
    )


def _with_brand(context: Context, url: str) -> str:
    """Return a link; to our pages with the brand that the visit chose, for another browser."""
    brand = context.visit.brand if context.visit is not None else ""
    return with_query(url, brand=brand) if brand and url.startswith(f"{context.pages_url}/") else url


def _with_origin(context: Context, facts: MessageFacts, account: Account | None) -> MessageFacts:
    """Add application, browser, place and time of the request. Only names of browsers that we know: others are the requester's own words.

    The place is only for a verified address: the holder of a mistyped one must not learn where the account's owner is.
    """
    application = one_line(context.visit.application, 60) if context.visit else ""
    facts, agent = replace(facts, application=safe_name(application)), parse_user_agent(context.agent)
    if agent.browser not in BROWSERS:
        return facts
    has_place = account is not None and is_verified(account, facts.to)
    place = context.services.locations.place_of(context.ip_address).city if has_place else ""
    return replace(
        facts, browser=agent.browser, system=agent.system or "", place=one_line(place, 60), requested_at=context.now
    )


def _language(context: Context, account: Account | None, requested: str | None) -> Language:
    settings = context.tenant.settings
    account_language = account.profile.get("LocalLanguage") if account else None
    page_language = context.visit.language if context.visit else None
    other_tags = (tag for tag in settings.locales if tag != settings.default_locale)
    return negotiate(
        ([str(tag)] for tag in (requested, account_language, page_language) if tag),
        (settings.default_locale, *other_tags),
    )
