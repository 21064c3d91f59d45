"""Every letter in every state, as one tenant sends it: ours in the tenant's look, and the tenant's own beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from app.contract.messages import MailKind, MailTemplate, SmsKind, SmsTemplate
from app.identity.messaging import gsm7, rendering, template_selection, text_message
from app.identity.messaging.message import Branding, Facts, RenderedMessage
from app.identity.messaging.placeholders import SECTIONS, RenderError
from app.identity.messaging.samples import EMAIL_SAMPLES, SMS_SAMPLES
from app.identity.messaging.tenant_templates import TenantEmailTemplate, TenantSmsTemplate
from app.kit.languages import LANGUAGES, Language

HOST = "acme.example.com"
T = TypeVar("T", MailTemplate, SmsTemplate)


@dataclass(frozen=True)
class GalleryMessage:
    """One letter: `template` is empty where it is ours, `problem` says why one of the tenant's cannot be drawn."""

    kind: MailKind | SmsKind
    state: str
    template: str
    language: Language
    letter: RenderedMessage | None = None
    problem: str = ""

    @property
    def name(self) -> str:
        """What the letter is called in the gallery and in the names of pictures."""
        word = "Mail" if isinstance(self.kind, MailKind) else "Sms"
        return word + self.kind.name.title().replace("_", "") + (f".{self.template}" if self.template else "")

    @property
    def parts(self) -> int:
        """How many messages a network makes of a text."""
        return gsm7.count_parts(self.letter.text) if self.letter else 0


def emails(
    look: Branding, language: Language, own: Sequence[MailTemplate], default: str = "en"
) -> Iterator[GalleryMessage]:
    """Yield every mail as it is sent to somebody of this language, ours first; `default` is the tenant's language."""
    for kind, states in EMAIL_SAMPLES.items():
        for state, facts in states.items():
            yield GalleryMessage(kind, state, "", language, rendering.render(kind, look, facts, language))
            for template, spoken in _in_language([one for one in own if one.type is kind], language, default):
                yield _tenant_email(template, look, state, facts, spoken)


def text_messages(
    look: Branding, language: Language, own: Sequence[SmsTemplate], default: str = "en"
) -> Iterator[GalleryMessage]:
    """Yield every text message, likewise; the text alone stands in the letter."""
    for kind, states in SMS_SAMPLES.items():
        for state, facts in states.items():
            text = text_message.render_sms(kind, look.tenant, facts, language, HOST)
            yield GalleryMessage(kind, state, "", language, RenderedMessage("", text, "", language.tag))
            for template, spoken in _in_language([one for one in own if one.type is kind], language, default):
                yield _tenant_text_message(template, look, state, facts, spoken)


def _in_language(own: Sequence[T], language: Language, default: str) -> Iterator[tuple[T, Language]]:
    """Yield, of each name, the template that speaks to this language, and the language that it is in."""
    by_name = {one.known_as: one for one in own if _is_active(one)}
    for name in dict.fromkeys(_without_language(one) for one in by_name):
        if found := template_selection.match_language(by_name, name, language, LANGUAGES.get(default, language)):
            yield by_name[found[0]], found[1]


def _is_active(template: MailTemplate | SmsTemplate) -> bool:
    return template.is_active if isinstance(template, MailTemplate) else True


def _without_language(name: str) -> str:
    first, _, last = name.rpartition("-")
    return first if last in LANGUAGES else name


def _tenant_email(
    template: MailTemplate, look: Branding, state: str, facts: Facts, language: Language
) -> GalleryMessage:
    values, problem = _sample_values(look, facts, language), ""
    try:
        letter = TenantEmailTemplate(template).render(look, values, language, SECTIONS)
    except RenderError as missing:
        letter, problem = None, f"not drawn: {missing}; ours is sent"
    return GalleryMessage(template.type, state, template.known_as, language, letter, problem)


def _tenant_text_message(
    template: SmsTemplate, look: Branding, state: str, facts: Facts, language: Language
) -> GalleryMessage:
    text = gsm7.simplify(TenantSmsTemplate(template).render(_sample_values(look, facts, language)))
    letter = RenderedMessage("", text_message.append_origin_line(text, facts.otp, HOST), "", language.tag)
    return GalleryMessage(template.type, state, template.known_as, language, letter)


def _sample_values(look: Branding, facts: Facts, language: Language) -> dict[str, str]:
    """What placeholders stand for, of somebody who is not there."""
    minutes = facts.otp_minutes or facts.minutes
    return {
        "Name": f"{facts.name} Lovelace" if facts.name else "",
        "FirstName": facts.name,
        "LastName": "Lovelace" if facts.name else "",
        "UserName": facts.username,
        "Email": facts.email or facts.to,
        "TenantName": look.tenant,
        "City": "London",
        "Country": "United Kingdom",
        "CurrentYear": "2027",
        "IpAddress": "192.0.2.7",
        "UserAgent": "Firefox · Linux",
        "Url": facts.url or f"https://{HOST}/profile",
        "GUID": facts.url.rpartition("vtoken=")[2],
        "OTP": facts.otp,
        "LinkExpiry": rendering.format_duration(facts.minutes, language.tag) if facts.minutes else "",
        "OTPExpiry": rendering.format_duration(minutes, language.tag) if minutes else "",
    }
