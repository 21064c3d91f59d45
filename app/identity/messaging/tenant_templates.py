"""A tenant's own templates: what is wrong with one, and the letter that it makes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

from app.contract.messages import Carries, MailTemplate, SmsTemplate
from app.identity.messaging import placeholders, sanitized_html
from app.identity.messaging.message import MOST_SUBJECT_LETTERS, Branding, RenderedMessage, one_line
from app.identity.messaging.placeholders import LINKS, SECTIONS, Parts, Placeholder, RenderError, fill, parse
from app.identity.messaging.rendering import collapse_blank_lines, element_styles, render_in_frame
from app.identity.messaging.sanitized_html import SanitizedHtml, StyleSlot
from app.kit.languages import Language

MOST_TEXT_MESSAGE_LETTERS = 1_000

Problems = list[tuple[str, str]]
"""What is wrong, by key."""


@dataclass(frozen=True)
class TenantEmailTemplate:
    """A mail template that was read. Made once and kept: reading HTML takes its time."""

    template: MailTemplate

    @cached_property
    def carries(self) -> Carries | None:
        """Whether a link, a code or both have to be made for it."""
        return self.template.carries or placeholders.carries(self._names(SECTIONS))

    def render(
        self, look: Branding, values: Mapping[str, str], language: Language, kept: Collection[str]
    ) -> RenderedMessage:
        """Return the mail, with the sections that are kept; raises CannotDraw."""
        read, text = self._read(frozenset(kept))
        if self.carries and placeholders.carries(self._names(kept)) is None:
            raise RenderError("what it is sent for stands in a section that does not concern the account")
        subject = one_line(fill(parse(self.template.subject), values, is_html=False), MOST_SUBJECT_LETTERS)
        if not subject:
            raise RenderError("nothing is left of the subject")
        looks = element_styles(look) if not read.is_document else {}
        parts = [_style_attributes(part, looks) if isinstance(part, StyleSlot) else part for part in read.parts]
        html = fill(parts, values, is_html=True).strip() + "\n"
        if not read.is_document:
            html = render_in_frame(look, language, subject, html)
        return RenderedMessage(
            subject,
            collapse_blank_lines(fill(text, values, is_html=False)),
            html,
            language.tag,
            self.template.sender_name,
        )

    def problems(self, custom_fields: Collection[str] | None) -> Problems:
        """Return what is wrong; with None the custom fields are not known yet, and any other name may be one."""
        rule, template = placeholders.EMAIL_RULES[self.template.type], self.template
        said = [("subject", f"{one} in a subject") for one in _links_in(template.subject)]
        for key, text in (("subject", template.subject), ("html", template.html), ("text", template.text or "")):
            said += [(key, one) for one in placeholders.unknown_placeholders(text, rule, custom_fields)]
        for kept in self._variants():
            said += [("html", str(one)) for one in self._read(kept)[0].problems]
        return [*dict.fromkeys([*said, *self._misses(rule)])]

    def _misses(self, rule: placeholders.PlaceholderRule) -> Iterator[tuple[str, str]]:
        """Yield what the template should hold and does not: a mail without its link or code is worth nothing."""
        template = self.template
        held, said = placeholders.carries(self._names(SECTIONS)), template.carries
        if said and said not in rule.may_carry:
            yield "carries", _one_of(rule.may_carry) if rule.may_carry else "nothing, for a mail of this kind"
        elif rule.may_carry and held not in rule.may_carry:
            yield "html", _one_of(rule.may_carry)
        elif said and held != said:
            yield "html", f"{_CARRIED[said]}, because carries is {said}"
        if (
            template.text is not None
            and held
            and placeholders.carries(placeholders.placeholder_names(template.text)) != held
        ):
            yield "text", f"{_CARRIED[held]}, as in html"

    def _names(self, kept: Collection[str]) -> list[str]:
        return [part.name for part in self._read(frozenset(kept))[0].parts if isinstance(part, Placeholder)]

    def _variants(self) -> list[frozenset[str]]:
        if not placeholders.has_sections(self.template.html):
            return [frozenset(SECTIONS)]
        return [frozenset(some) for count in range(len(SECTIONS) + 1) for some in combinations(SECTIONS, count)]

    def _read(self, kept: frozenset[str]) -> tuple[SanitizedHtml, Parts]:
        return _read(self.template.html, self.template.text, kept)


@dataclass(frozen=True)
class TenantSmsTemplate:
    """A template of a text message."""

    template: SmsTemplate

    @property
    def carries(self) -> Carries | None:
        return placeholders.carries(placeholders.placeholder_names(self.template.text))

    def render(self, values: Mapping[str, str]) -> str:
        """Return the text; raises CannotDraw."""
        return fill(parse(self.template.text), values, is_html=False).strip()[:MOST_TEXT_MESSAGE_LETTERS]

    def problems(self, custom_fields: Collection[str] | None) -> Problems:
        """Return what is wrong, as of a mail."""
        rule, text = placeholders.SMS_RULES[self.template.type], self.template.text
        said = [("text", one) for one in placeholders.unknown_placeholders(text, rule, custom_fields)]
        if any(ord(letter) < 32 and letter != "\n" for letter in text):
            said.append(("text", "words and line breaks, without other control characters"))
        if rule.may_carry and self.carries not in rule.may_carry:
            said.append(("text", _one_of(rule.may_carry)))
        return said


TenantTemplate = TenantEmailTemplate | TenantSmsTemplate


def tenant_template(template: MailTemplate | SmsTemplate) -> TenantTemplate:
    """Return the template, ready to be checked or drawn."""
    return TenantEmailTemplate(template) if isinstance(template, MailTemplate) else TenantSmsTemplate(template)


_CARRIED = {"link": "#Url#", "otp": "#OTP#", "both": "#Url# and #OTP#"}


def _style_attributes(part: StyleSlot, looks: Mapping[str, str]) -> str:
    if part.name not in looks:
        return ""
    turns_dark = "" if part.has_class else f' class="{"link" if part.name == "a" else "ink"}"'
    return f'{turns_dark} style="{looks[part.name]}"'


def _one_of(may_carry: tuple[Carries, ...]) -> str:
    words = [_CARRIED[one] for one in may_carry if one != "both"]
    return f"{' or '.join(words)}, which a letter of this kind is sent for"


def _links_in(text: str) -> list[str]:
    return [f"no #{name}#" for name in placeholders.placeholder_names(text) if name in LINKS]


@lru_cache(maxsize=256)
def _read(html: str, text: str | None, kept: frozenset[str]) -> tuple[SanitizedHtml, Parts]:
    read = sanitized_html.sanitize(placeholders.keep_sections(html, kept))
    if text is None:
        return read, read.text
    return read, parse(placeholders.keep_sections(text, kept))
