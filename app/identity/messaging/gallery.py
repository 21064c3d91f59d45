"""Renders sample messages in every state: the built-in ones with a tenant's branding, and the tenant's own templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from app.contract.messages.models import MailKind, MailTemplate, SmsKind, TextMessageTemplate
from app.contract.tenants.tenant_pages import MailPreview, MessagePreviews, TextPreview
from app.identity.messaging import gsm7, rendering, text_message
from app.identity.messaging.message import Branding, MessageFacts, RenderedMessage
from app.identity.messaging.samples import EMAIL_SAMPLES, SMS_SAMPLES
from app.identity.messaging.tenant_templates import template_selection
from app.identity.messaging.tenant_templates.placeholders import SECTIONS, RenderError
from app.identity.messaging.tenant_templates.template_rendering import TenantEmailTemplate, TenantSmsTemplate
from app.kit.text.languages import LANGUAGES, Language

HOST = "acme.example.com"
T = TypeVar("T", MailTemplate, TextMessageTemplate)


@dataclass(frozen=True)
class GalleryMessage:
    """One sample message. `template` is empty for a built-in one; `problem` says why a tenant's template was not rendered."""

    kind: MailKind | SmsKind
    state: str
    template: str
    language: Language
    message: RenderedMessage | None = None
    problem: str = ""

    @property
    def name(self) -> str:
        """Return the message's name in the gallery and in file names of screenshots."""
        word = "Mail" if isinstance(self.kind, MailKind) else "Sms"
        return word + self.kind.name.title().replace("_", "") + (f".{self.template}" if self.template else "")

    @property
    def parts(self) -> int:
        """Return the number of SMS that the text takes."""
        return gsm7.measure(self.message.text).parts if self.message else 0


def emails(
    branding: Branding, language: Language, templates: Sequence[MailTemplate], default: str = "en"
) -> Iterator[GalleryMessage]:
    """Yield every mail in this language, the built-in ones first; `default` is the tenant's default language."""
    for kind, states in EMAIL_SAMPLES.items():
        for state, facts in states.items():
            yield GalleryMessage(kind, state, "", language, rendering.render(kind, branding, facts, language))
            for template, written_in in _in_language(
                [candidate for candidate in templates if candidate.type is kind], language, default
            ):
                yield _tenant_email(template, branding, state, facts, written_in)


def text_messages(
    branding: Branding, language: Language, templates: Sequence[TextMessageTemplate], default: str = "en"
) -> Iterator[GalleryMessage]:
    """Yield every text message in this language, as `emails` does; only `text` is set."""
    for kind, states in SMS_SAMPLES.items():
        for state, facts in states.items():
            text = text_message.render_sms(
                kind, branding.tenant(language.tag), facts, branding.texts.catalogue(language.tag), HOST
            )
            yield GalleryMessage(kind, state, "", language, RenderedMessage("", text, "", language.tag))
            for template, written_in in _in_language(
                [candidate for candidate in templates if candidate.type is kind], language, default
            ):
                yield _tenant_text_message(template, branding, state, facts, written_in)


def mail_samples() -> Iterator[tuple[str, str]]:
    """Yield the name of each mail's template, as `reset`, with each of its states."""
    return ((kind.name.lower(), state) for kind, states in EMAIL_SAMPLES.items() for state in states)


def mail(branding: Branding, language: Language, kind: str, state: str) -> RenderedMessage:
    """Return a mail of a theme. Raises KeyError for a sample that `mail_samples` does not have."""
    chosen = MailKind[kind.upper()]
    return rendering.render(chosen, branding, EMAIL_SAMPLES[chosen][state], language)


def previews(branding: Branding, language: Language) -> MessagePreviews:
    """Return every message of a theme in this language."""
    mails = [
        MailPreview(kind=kind, state=state, subject=shown.subject, text=shown.text, problem=str(shown.failure or ""))
        for kind, state in mail_samples()
        for shown in (mail(branding, language, kind, state),)
    ]
    texts = [
        TextPreview(kind=each.kind.name.lower(), state=each.state, text=each.message.text, **size._asdict())
        for each in text_messages(branding, language, [])
        if each.message is not None
        for size in (gsm7.measure(each.message.text),)
    ]
    return MessagePreviews(mails=mails, texts=texts)


def _in_language(templates: Sequence[T], language: Language, default: str) -> Iterator[tuple[T, Language]]:
    """Yield for each template name the template for this language, and the language that it is written in."""
    by_name = {candidate.known_as: candidate for candidate in templates if _is_active(candidate)}
    for name in dict.fromkeys(_without_language(candidate) for candidate in by_name):
        if match := template_selection.match_language(by_name, name, language, LANGUAGES.get(default, language)):
            yield by_name[match[0]], match[1]


def _is_active(template: MailTemplate | TextMessageTemplate) -> bool:
    return template.is_active if isinstance(template, MailTemplate) else True


def _without_language(name: str) -> str:
    first, _, last = name.rpartition("-")
    return first if last in LANGUAGES else name


def _tenant_email(
    template: MailTemplate, branding: Branding, state: str, facts: MessageFacts, language: Language
) -> GalleryMessage:
    values, problem = _sample_values(branding, facts, language), ""
    try:
        message = TenantEmailTemplate(template).render(branding, values, language, SECTIONS)
    except RenderError as error:
        message, problem = None, f"not rendered: {error}; ours is sent"
    return GalleryMessage(template.type, state, template.known_as, language, message, problem)


def _tenant_text_message(
    template: TextMessageTemplate, branding: Branding, state: str, facts: MessageFacts, language: Language
) -> GalleryMessage:
    text = gsm7.simplify(TenantSmsTemplate(template).render(_sample_values(branding, facts, language)))
    message = RenderedMessage("", text_message.append_origin_line(text, facts.otp, HOST), "", language.tag)
    return GalleryMessage(template.type, state, template.known_as, language, message)


def _sample_values(branding: Branding, facts: MessageFacts, language: Language) -> dict[str, str]:
    """Return placeholder values of a sample account."""
    minutes, chosen = facts.otp_minutes or facts.minutes, branding.texts.catalogue(language.tag)
    return {
        "Name": f"{facts.name} Lovelace" if facts.name else "",
        "FirstName": facts.name,
        "LastName": "Lovelace" if facts.name else "",
        "UserName": facts.username,
        "Email": facts.email or facts.to,
        "TenantName": branding.tenant(language.tag),
        "City": "London",
        "Country": "United Kingdom",
        "CurrentYear": "2027",
        "IpAddress": "192.0.2.7",
        "UserAgent": "Firefox · Linux",
        "Url": facts.url or f"https://{HOST}/profile",
        "GUID": facts.url.rpartition("/")[2],
        "OTP": facts.otp,
        "LinkExpiry": rendering.format_duration(facts.minutes, chosen) if facts.minutes else "",
        "OTPExpiry": rendering.format_duration(minutes, chosen) if minutes else "",
    }
