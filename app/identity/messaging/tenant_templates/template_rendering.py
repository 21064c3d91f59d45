"""A tenant's own templates: validation and rendering."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

from app.contract.messages.models import Carries, MailTemplate, TextMessageTemplate
from app.identity.messaging.message import MAX_SUBJECT_LENGTH, Branding, RenderedMessage, one_line
from app.identity.messaging.rendering import collapse_blank_lines, element_styles, render_in_frame
from app.identity.messaging.tenant_templates import placeholders, sanitized_html
from app.identity.messaging.tenant_templates.placeholders import (
    LINKS,
    SECTIONS,
    Parts,
    Placeholder,
    RenderError,
    fill,
    parse,
)
from app.identity.messaging.tenant_templates.sanitized_html import SanitizedHtml, StyleSlot
from app.kit.text.languages import Language

MAX_SMS_LENGTH = 1_000

Problems = list[tuple[str, str]]
"""Pairs of a member's name and its expected value."""


@dataclass(frozen=True)
class TenantEmailTemplate:
    """A parsed mail template. It is cached, because parsing HTML is slow."""

    template: MailTemplate

    @cached_property
    def carries(self) -> Carries | None:
        """Return whether it needs a link, a code or both."""
        return self.template.carries or placeholders.carries(self._names(SECTIONS))

    def render(
        self, branding: Branding, values: Mapping[str, str], language: Language, sections: Collection[str]
    ) -> RenderedMessage:
        """Return the mail with these optional sections. Raises RenderError."""
        parsed, text = self._parse(frozenset(sections))
        if self.carries and placeholders.carries(self._names(sections)) is None:
            raise RenderError("what it is sent for stands in a section that does not concern the account")
        if "OTP" in self._names(sections) and self.carries and not values.get("OTP"):
            raise RenderError("it has a code, and this message has none")
        subject = one_line(fill(parse(self.template.subject), values, is_html=False), MAX_SUBJECT_LENGTH)
        if not subject:
            raise RenderError("nothing is left of the subject")
        styles = element_styles(branding) if not parsed.is_document else {}
        parts = [_style_attributes(part, styles) if isinstance(part, StyleSlot) else part for part in parsed.parts]
        html, failure = fill(parts, values, is_html=True).strip() + "\n", None
        if not parsed.is_document:
            html, failure = render_in_frame(branding, language, subject, html)
        return RenderedMessage(
            subject,
            collapse_blank_lines(fill(text, values, is_html=False)),
            html,
            language.tag,
            self.template.sender_name,
            self.template.from_email or "",
            failure,
        )

    def problems(self, custom_fields: Collection[str] | None) -> Problems:
        """Return the problems. Without `custom_fields` any other placeholder may be a custom field."""
        rule, template = placeholders.EMAIL_RULES[self.template.type], self.template
        problems = [("subject", f"{link} in a subject") for link in _links_in(template.subject)]
        for key, text in (("subject", template.subject), ("html", template.html), ("text", template.text or "")):
            problems += [(key, problem) for problem in placeholders.unknown_placeholders(text, rule, custom_fields)]
        for sections in self._variants():
            problems += [("html", str(problem)) for problem in self._parse(sections)[0].problems]
        return [*dict.fromkeys([*problems, *self._link_and_code_problems(rule)])]

    def _link_and_code_problems(self, rule: placeholders.PlaceholderRule) -> Iterator[tuple[str, str]]:
        """Yield problems of the link and code: a mail without the one it is sent for is useless."""
        template = self.template
        carried, declared = placeholders.carries(self._names(SECTIONS)), template.carries
        if declared and declared not in rule.may_carry:
            yield "carries", _one_of(rule.may_carry) if rule.may_carry else "nothing, for a message of this type"
        elif rule.may_carry and carried not in rule.may_carry:
            yield "html", _one_of(rule.may_carry)
        elif declared and carried != declared:
            yield "html", f"{_CARRIED[declared]}, because carries is {declared}"
        if (
            template.text is not None
            and carried
            and placeholders.carries(placeholders.placeholder_names(template.text)) != carried
        ):
            yield "text", f"{_CARRIED[carried]}, as in html"

    def _names(self, sections: Collection[str]) -> list[str]:
        return [part.name for part in self._parse(frozenset(sections))[0].parts if isinstance(part, Placeholder)]

    def _variants(self) -> list[frozenset[str]]:
        if not placeholders.has_sections(self.template.html):
            return [frozenset(SECTIONS)]
        return [frozenset(some) for count in range(len(SECTIONS) + 1) for some in combinations(SECTIONS, count)]

    def _parse(self, sections: frozenset[str]) -> tuple[SanitizedHtml, Parts]:
        return _parse(self.template.html, self.template.text, sections)


@dataclass(frozen=True)
class TenantSmsTemplate:
    """A parsed template of a text message."""

    template: TextMessageTemplate

    @property
    def carries(self) -> Carries | None:
        return placeholders.carries(placeholders.placeholder_names(self.template.text))

    def render(self, values: Mapping[str, str]) -> str:
        """Return the text. Raises RenderError."""
        return fill(parse(self.template.text), values, is_html=False).strip()[:MAX_SMS_LENGTH]

    def problems(self, custom_fields: Collection[str] | None) -> Problems:
        """Return the problems, as for a mail."""
        rule, text = placeholders.SMS_RULES[self.template.type], self.template.text
        problems = [("text", problem) for problem in placeholders.unknown_placeholders(text, rule, custom_fields)]
        if any(ord(character) < 32 and character != "\n" for character in text):
            problems.append(("text", "words and line breaks, without other control characters"))
        if rule.may_carry and self.carries not in rule.may_carry:
            problems.append(("text", _one_of(rule.may_carry)))
        return problems


TenantTemplate = TenantEmailTemplate | TenantSmsTemplate


def tenant_template(template: MailTemplate | TextMessageTemplate) -> TenantTemplate:
    """Return the parsed template."""
    return TenantEmailTemplate(template) if isinstance(template, MailTemplate) else TenantSmsTemplate(template)


_CARRIED = {"link": "#Url#", "otp": "#OTP#", "both": "#Url# and #OTP#"}


def _style_attributes(part: StyleSlot, styles: Mapping[str, str]) -> str:
    if part.name not in styles:
        return ""
    class_attribute = "" if part.has_class else f' class="{"link" if part.name == "a" else "ink"}"'
    return f'{class_attribute} style="{styles[part.name]}"'


def _one_of(may_carry: tuple[Carries, ...]) -> str:
    expected = [_CARRIED[carried] for carried in may_carry if carried != "both"]
    return f"{' or '.join(expected)}, which a message of this type is sent for"


def _links_in(text: str) -> list[str]:
    return [f"no #{name}#" for name in placeholders.placeholder_names(text) if name in LINKS]


@lru_cache(maxsize=256)
def _parse(html: str, text: str | None, sections: frozenset[str]) -> tuple[SanitizedHtml, Parts]:
    parsed = sanitized_html.sanitize(placeholders.keep_sections(html, sections))
    if text is None:
        return parsed, parsed.text
    return parsed, parse(placeholders.keep_sections(text, sections))
