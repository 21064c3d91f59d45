"""A tenant's own templates: what is wrong with one, and the letter that it makes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

from app.contract.letters import Carries, MailTemplate, SmsTemplate
from app.identity.messaging import placeholders, sanitized_html
from app.identity.messaging.message import MOST_SUBJECT_LETTERS, Letter, Look, one_line
from app.identity.messaging.placeholders import LINKS, SECTIONS, CannotDraw, Parts, Slot, filled, parts_of
from app.identity.messaging.rendering import element_looks, framed, spaced
from app.identity.messaging.sanitized_html import Looks, Read
from app.kit.languages import Language

MOST_TEXT_MESSAGE_LETTERS = 1_000

Sentences = list[tuple[str, str]]
"""What is wrong, by key."""


@dataclass(frozen=True)
class OwnMail:
    """A mail template that was read. Made once and kept: reading HTML takes its time."""

    template: MailTemplate

    @cached_property
    def carries(self) -> Carries | None:
        """Whether a link, a code or both have to be made for it."""
        return self.template.carries or placeholders.carried(self._names(SECTIONS))

    def draw(self, look: Look, values: Mapping[str, str], language: Language, kept: Collection[str]) -> Letter:
        """Return the mail, with the sections that are kept; raises CannotDraw."""
        read, text = self._read(frozenset(kept))
        if self.carries and placeholders.carried(self._names(kept)) is None:
            raise CannotDraw("what it is sent for stands in a section that does not concern the account")
        subject = one_line(filled(parts_of(self.template.subject), values, is_html=False), MOST_SUBJECT_LETTERS)
        if not subject:
            raise CannotDraw("nothing is left of the subject")
        looks = element_looks(look) if not read.is_document else {}
        parts = [_dressed(part, looks) if isinstance(part, Looks) else part for part in read.parts]
        html = filled(parts, values, is_html=True).strip() + "\n"
        if not read.is_document:
            html = framed(look, language, subject, html)
        return Letter(
            subject, spaced(filled(text, values, is_html=False)), html, language.tag, self.template.sender_name
        )

    def problems(self, custom_fields: Collection[str] | None) -> Sentences:
        """Return what is wrong; with None the custom fields are not known yet, and any other name may be one."""
        rule, template = placeholders.MAILS[self.template.type], self.template
        said = [("subject", f"{one} in a subject") for one in _links_in(template.subject)]
        for key, text in (("subject", template.subject), ("html", template.html), ("text", template.text or "")):
            said += [(key, one) for one in placeholders.unknown(text, rule, custom_fields)]
        for kept in self._variants():
            said += [("html", str(one)) for one in self._read(kept)[0].problems]
        return [*dict.fromkeys([*said, *self._misses(rule)])]

    def _misses(self, rule: placeholders.Rule) -> Iterator[tuple[str, str]]:
        """Yield what the template should hold and does not: a mail without its link or code is worth nothing."""
        template = self.template
        held, said = placeholders.carried(self._names(SECTIONS)), template.carries
        if said and said not in rule.may_carry:
            yield "carries", _one_of(rule.may_carry) if rule.may_carry else "nothing, for a mail of this kind"
        elif rule.may_carry and held not in rule.may_carry:
            yield "html", _one_of(rule.may_carry)
        elif said and held != said:
            yield "html", f"{_CARRIED[said]}, because carries is {said}"
        if template.text is not None and held and placeholders.carried(placeholders.names_in(template.text)) != held:
            yield "text", f"{_CARRIED[held]}, as in html"

    def _names(self, kept: Collection[str]) -> list[str]:
        return [part.name for part in self._read(frozenset(kept))[0].parts if isinstance(part, Slot)]

    def _variants(self) -> list[frozenset[str]]:
        if not placeholders.has_sections(self.template.html):
            return [frozenset(SECTIONS)]
        return [frozenset(some) for count in range(len(SECTIONS) + 1) for some in combinations(SECTIONS, count)]

    def _read(self, kept: frozenset[str]) -> tuple[Read, Parts]:
        return _read(self.template.html, self.template.text, kept)


@dataclass(frozen=True)
class OwnMessage:
    """A template of a text message."""

    template: SmsTemplate

    @property
    def carries(self) -> Carries | None:
        return placeholders.carried(placeholders.names_in(self.template.text))

    def draw(self, values: Mapping[str, str]) -> str:
        """Return the text; raises CannotDraw."""
        return filled(parts_of(self.template.text), values, is_html=False).strip()[:MOST_TEXT_MESSAGE_LETTERS]

    def problems(self, custom_fields: Collection[str] | None) -> Sentences:
        """Return what is wrong, as of a mail."""
        rule, text = placeholders.MESSAGES[self.template.type], self.template.text
        said = [("text", one) for one in placeholders.unknown(text, rule, custom_fields)]
        if any(ord(letter) < 32 and letter != "\n" for letter in text):
            said.append(("text", "words and line breaks, without other control characters"))
        if rule.may_carry and self.carries not in rule.may_carry:
            said.append(("text", _one_of(rule.may_carry)))
        return said


Own = OwnMail | OwnMessage


def own(template: MailTemplate | SmsTemplate) -> Own:
    """Return the template, ready to be checked or drawn."""
    return OwnMail(template) if isinstance(template, MailTemplate) else OwnMessage(template)


_CARRIED = {"link": "#Url#", "otp": "#OTP#", "both": "#Url# and #OTP#"}


def _dressed(part: Looks, looks: Mapping[str, str]) -> str:
    if part.name not in looks:
        return ""
    turns_dark = "" if part.has_class else f' class="{"link" if part.name == "a" else "ink"}"'
    return f'{turns_dark} style="{looks[part.name]}"'


def _one_of(may_carry: tuple[Carries, ...]) -> str:
    words = [_CARRIED[one] for one in may_carry if one != "both"]
    return f"{' or '.join(words)}, which a letter of this kind is sent for"


def _links_in(text: str) -> list[str]:
    return [f"no #{name}#" for name in placeholders.names_in(text) if name in LINKS]


@lru_cache(maxsize=256)
def _read(html: str, text: str | None, kept: frozenset[str]) -> tuple[Read, Parts]:
    read = sanitized_html.read(placeholders.without_sections(html, kept))
    if text is None:
        return read, read.text
    return read, parts_of(placeholders.without_sections(text, kept))
