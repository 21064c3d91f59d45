"""Placeholders (`#Name#`) of a tenant's own templates: a fixed set for each kind, and the tenant's custom fields.

Text is parsed into parts once. Values are inserted and never parsed: an account named `#Url#` keeps that name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final
from urllib.parse import quote

from app.contract.messages.models import NEW_PLACE_TEXTS, Carries, MailKind, SmsKind
from app.kit.near_names import near_name

_PERSON: Final = ("Name", "FirstName", "LastName", "UserName", "Email")
ADDRESS: Final = ("Address1", "Address2", "City", "State", "Region", "PostalCode", "Country")
_ANY_MAIL: Final = (*_PERSON, *ADDRESS, "TenantName", "CurrentYear", "IpAddress", "UserAgent", "Url")
_LINK: Final = ("GUID", "LinkExpiry")
_CODE: Final = ("OTP", "OTPExpiry")
REQUIRED: Final = frozenset({"Url", "GUID", "OTP"})
"""A message that lacks one of these values is useless, and is not sent."""
LINKS: Final = frozenset({"Url", "GUID"})
SECTIONS: Final = ("FPass", "FProv", "FUName")
"""Sections of the mail for a forgotten password: `#FPass … FPass#` is kept if the account has a password, FProv if it has
a provider, FUName if it has a username."""

_PLACEHOLDER: Final = re.compile(r"#([A-Za-z][A-Za-z0-9_]{0,63})#")
_HALF_PLACEHOLDER: Final = re.compile(r"#([A-Za-z][A-Za-z0-9_]{0,63})\b(?!#)")
_OTHER_PLACEHOLDER: Final = re.compile(r"\{\{[^{}<>]{0,100}\}\}|\{%[^{}<>]{0,100}%\}|\$\{[A-Za-z][^{}<>]{0,100}\}")
_STYLES: Final = re.compile(r"<style\b.*?</style>", re.DOTALL | re.IGNORECASE)
_TAG: Final = re.compile(r"<[a-zA-Z/!][^>]*>")
_OLDER_LINK: Final = re.compile(r"#Url#\?vtype=[A-Za-z_]+&(?:amp;)?vtoken=#GUID#")
_SECTION: Final = re.compile(rf"#({'|'.join(SECTIONS)})\b(?!#)(.*?)\b\1#", re.DOTALL)
_PUNCTUATION: Final = " ,.!?:;)،؟"
_UNPAIRED_SECTION: Final = re.compile(rf"#(?:{'|'.join(SECTIONS)})\b(?!#)|\b(?:{'|'.join(SECTIONS)})#")


@dataclass(frozen=True, slots=True)
class PlaceholderRule:
    """The placeholders of one kind of template. With `may_carry` a template must contain one of these."""

    placeholders: tuple[str, ...]
    may_carry: tuple[Carries, ...] = ()
    has_sections: bool = False


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A position at which a value is inserted."""

    name: str
    is_in_address: bool = False


Parts = tuple[str | Placeholder, ...]

_LINK_OR_CODE: Final = PlaceholderRule((*_ANY_MAIL, *_LINK, *_CODE), ("link", "otp", "both"))
_NOTICE: Final = PlaceholderRule(_ANY_MAIL)
_TEXT: Final = (*_PERSON, "TenantName")
_ALL_PLACEHOLDERS: Final = frozenset((*_ANY_MAIL, *_LINK, *_CODE, "Providers", *SECTIONS))

EMAIL_RULES: Final[Mapping[MailKind, PlaceholderRule]] = {
    **dict.fromkeys(MailKind, _NOTICE),
    MailKind.VERIFICATION: _LINK_OR_CODE,
    MailKind.RESET: PlaceholderRule(
        (*_LINK_OR_CODE.placeholders, "Providers"), _LINK_OR_CODE.may_carry, has_sections=True
    ),
    MailKind.RESET_PIN: _LINK_OR_CODE,
    MailKind.ALARM: _LINK_OR_CODE,
    MailKind.ADD_EMAIL: _LINK_OR_CODE,
    MailKind.SIGN_IN: _LINK_OR_CODE,
    MailKind.SMART_LOGIN: _LINK_OR_CODE,
    MailKind.ONE_TOUCH: _LINK_OR_CODE,
    MailKind.PASSKEY_LOST: PlaceholderRule((*_ANY_MAIL, *_LINK), ("link",)),
    MailKind.CAPTCHA: PlaceholderRule((*_ANY_MAIL, *_LINK), ("link",)),
    MailKind.DELETE_ACCOUNT: PlaceholderRule((*_ANY_MAIL, *_LINK), ("link",)),
    MailKind.SECOND_FACTOR: PlaceholderRule((*_ANY_MAIL, *_CODE), ("otp",)),
}
SMS_RULES: Final[Mapping[SmsKind, PlaceholderRule]] = {
    **dict.fromkeys(SmsKind, PlaceholderRule((*_TEXT, *_CODE), ("otp",))),
    SmsKind.WELCOME: PlaceholderRule(_TEXT),
    **dict.fromkeys(NEW_PLACE_TEXTS, PlaceholderRule((*_TEXT, "IpAddress", "UserAgent", "Url"))),
}


class RenderError(Exception):
    """A template cannot be rendered: a required value is missing, or the template is broken."""


def parse(text: str) -> Parts:
    """Split a text at its placeholders. `#Url#?vtype=…&vtoken=#GUID#`, the older form of the link, counts as `#Url#`."""
    parts: list[str | Placeholder] = []
    for number, piece in enumerate(_PLACEHOLDER.split(_OLDER_LINK.sub("#Url#", text))):
        if number % 2:
            parts.append(Placeholder(piece))
        elif piece:
            parts.append(piece)
    return tuple(parts)


def placeholder_names(text: str) -> list[str]:
    """Return the names of a text's placeholders in order."""
    return [part.name for part in parse(text) if isinstance(part, Placeholder)]


def keep_sections(text: str, sections: Collection[str]) -> str:
    """Return the text without the sections that are not in `sections`."""
    return _SECTION.sub(lambda match: match[2] if match[1] in sections else "", text)


def has_sections(text: str) -> bool:
    """Return whether the text has sections for some accounts only."""
    return _SECTION.search(text) is not None


def unknown_placeholders(text: str, rule: PlaceholderRule, custom_fields: Collection[str] | None) -> list[str]:
    """Return a sentence for each unknown placeholder. Without `custom_fields` any other name may be a custom field."""
    problems = []
    allowed = (*rule.placeholders, *(custom_fields or ()))
    for name in dict.fromkeys(placeholder_names(text)):
        if name in allowed or (custom_fields is None and name not in _ALL_PLACEHOLDERS):
            continue
        suggestion = near_name(name, allowed)
        problems.append(
            f"a placeholder of this kind; found #{name}#" + (f", did you mean #{suggestion}#?" if suggestion else "")
        )
    if not rule.has_sections and has_sections(text):
        problems.append("no sections such as #FPass … FPass# outside of forgotpassword")
    elif _UNPAIRED_SECTION.search(_SECTION.sub("", text)):
        problems.append("a section to begin and to end, as in #FPass … FPass#")
    return problems


def misspelled_placeholders(text: str, rule: PlaceholderRule, custom_fields: Collection[str]) -> list[str]:
    """Return a sentence for each `#Name` that isn't closed, and each `{{ name }}` of other products, which would be sent as it is.

    A fragment in an address (`href="/a#City"`) and a selector in styles are no placeholders.
    """
    allowed = (*rule.placeholders, *custom_fields)
    unstyled = _STYLES.sub(" ", text)
    halves = _HALF_PLACEHOLDER.findall(_PLACEHOLDER.sub(" ", _TAG.sub(" ", unstyled)))
    problems = [f"#{name}#; #{name} isn't closed" for name in halves if name in allowed]
    for found in _OTHER_PLACEHOLDER.findall(unstyled):
        meant = near_name(found.strip("{}%$ ").rpartition(".")[2].replace("_", ""), allowed)
        problems.append(f"{f'#{meant}#' if meant else 'placeholders such as #Name#'}; {found} isn't a placeholder")
    return list(dict.fromkeys(problems))


def carries(names: Collection[str]) -> Carries | None:
    """Return whether these placeholders include a link, a code or both."""
    has_link, has_code = bool(LINKS & set(names)), "OTP" in names
    return "both" if has_link and has_code else "link" if has_link else "otp" if has_code else None


def fill(parts: Sequence[str | Placeholder], values: Mapping[str, str], *, is_html: bool) -> str:
    """Insert the values, escaped in HTML. Raises RenderError if a required one is missing."""
    texts = [part if isinstance(part, str) else _value(part, values, is_html) for part in parts]
    filled = ""
    for number, (part, text) in enumerate(zip(parts, texts, strict=True)):
        if isinstance(part, Placeholder) and not text and filled.endswith(" "):
            after = texts[number + 1] if number + 1 < len(texts) else ""
            if not after or after[0] in _PUNCTUATION:
                filled = filled[:-1]  # "Hello #Name#," without a name becomes "Hello,"
        filled += text
    return filled


def _value(placeholder: Placeholder, values: Mapping[str, str], is_html: bool) -> str:
    value = values.get(placeholder.name, "")
    if not value and placeholder.name in REQUIRED:
        raise RenderError(f"there is no #{placeholder.name}# to say")
    if placeholder.is_in_address and placeholder.name != "Url":
        value = quote(value, safe="")
    elif placeholder.name not in REQUIRED and not value.isascii():
        value = f"\u2068{value}\u2069"  # isolated, so that a right-to-left name does not reorder the sentence
    return escape(value) if is_html else value
