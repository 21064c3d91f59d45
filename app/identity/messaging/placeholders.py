"""What a tenant's own template may hold in the place of `#Name#`: a fixed set for each kind, and the tenant's custom fields.

Text is cut into parts once. A value is put in as it is and never read again: a person called `#Url#` stays that.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final
from urllib.parse import quote

from app.contract.messages import NEW_PLACE_TEXTS, Carries, MailKind, SmsKind

_PERSON: Final = ("Name", "FirstName", "LastName", "UserName", "Email")
ADDRESS: Final = ("Address1", "Address2", "City", "State", "Region", "PostalCode", "Country")
_ANY_MAIL: Final = (*_PERSON, *ADDRESS, "TenantName", "CurrentYear", "IpAddress", "UserAgent", "Url")
_LINK: Final = ("GUID", "LinkExpiry")
_CODE: Final = ("OTP", "OTPExpiry")
REQUIRED: Final = frozenset({"Url", "GUID", "OTP"})
"""Without these a letter is worth nothing: one that lacks a value is not sent."""
LINKS: Final = frozenset({"Url", "GUID"})
SECTIONS: Final = ("FPass", "FProv", "FUName")
"""Parts of the mail of a forgotten password: `#FPass … FPass#` stays where the account has a password, FProv where it has
a provider, FUName where it has a username."""

_WORD: Final = re.compile(r"#([A-Za-z][A-Za-z0-9_]{0,63})#")
_OLDER_LINK: Final = re.compile(r"#Url#\?vtype=[A-Za-z_]+&(?:amp;)?vtoken=#GUID#")
_SECTION: Final = re.compile(rf"#({'|'.join(SECTIONS)})\b(?!#)(.*?)\b\1#", re.DOTALL)
_AFTER_A_NAME: Final = " ,.!?:;)،؟"
_HALF_A_SECTION: Final = re.compile(rf"#(?:{'|'.join(SECTIONS)})\b(?!#)|\b(?:{'|'.join(SECTIONS)})#")


@dataclass(frozen=True, slots=True)
class PlaceholderRule:
    """What templates of one kind may hold; where `may_carry` names something, they must hold one of that."""

    placeholders: tuple[str, ...]
    may_carry: tuple[Carries, ...] = ()
    has_sections: bool = False


@dataclass(frozen=True, slots=True)
class Placeholder:
    """The place of a value."""

    name: str
    is_in_address: bool = False


Parts = tuple[str | Placeholder, ...]

_LINK_OR_CODE: Final = PlaceholderRule((*_ANY_MAIL, *_LINK, *_CODE), ("link", "otp", "both"))
_NOTICE: Final = PlaceholderRule(_ANY_MAIL)
_TEXT: Final = (*_PERSON, "TenantName")
_EVERY: Final = frozenset((*_ANY_MAIL, *_LINK, *_CODE, "Providers", *SECTIONS))

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
    MailKind.DELETE_ACCOUNT: PlaceholderRule((*_ANY_MAIL, *_LINK), ("link",)),
    MailKind.SECOND_FACTOR: PlaceholderRule((*_ANY_MAIL, *_CODE), ("otp",)),
}
SMS_RULES: Final[Mapping[SmsKind, PlaceholderRule]] = {
    **dict.fromkeys(SmsKind, PlaceholderRule((*_TEXT, *_CODE), ("otp",))),
    SmsKind.WELCOME: PlaceholderRule(_TEXT),
    **dict.fromkeys(NEW_PLACE_TEXTS, PlaceholderRule((*_TEXT, "IpAddress", "UserAgent", "Url"))),
}


class RenderError(Exception):
    """A letter that would lack what it is for, or a template that is broken."""


def parse(text: str) -> Parts:
    """Cut a text at its placeholders. `#Url#?vtype=…&vtoken=#GUID#`, the older form of the link, is the link as a whole."""
    found: list[str | Placeholder] = []
    for number, piece in enumerate(_WORD.split(_OLDER_LINK.sub("#Url#", text))):
        if number % 2:
            found.append(Placeholder(piece))
        elif piece:
            found.append(piece)
    return tuple(found)


def placeholder_names(text: str) -> list[str]:
    """Return the placeholders of a text in their order."""
    return [part.name for part in parse(text) if isinstance(part, Placeholder)]


def keep_sections(text: str, kept: Collection[str]) -> str:
    """Return the text with the sections that are kept, and without those that are not."""
    return _SECTION.sub(lambda found: found[2] if found[1] in kept else "", text)


def has_sections(text: str) -> bool:
    """Return whether a part of the text is for some accounts alone."""
    return _SECTION.search(text) is not None


def unknown_placeholders(text: str, rule: PlaceholderRule, custom_fields: Collection[str] | None) -> list[str]:
    """Return a sentence for each placeholder that the kind does not have; with None for fields, every other name may be one."""
    said = []
    allowed = (*rule.placeholders, *(custom_fields or ()))
    for name in dict.fromkeys(placeholder_names(text)):
        if name in allowed or (custom_fields is None and name not in _EVERY):
            continue
        near = difflib.get_close_matches(name.casefold(), [one.casefold() for one in allowed], n=1, cutoff=0.6)
        meant = next((one for one in allowed if near and one.casefold() == near[0]), None)
        said.append(f"a placeholder of this kind; found #{name}#" + (f", did you mean #{meant}#?" if meant else ""))
    if not rule.has_sections and has_sections(text):
        said.append("no sections such as #FPass … FPass# outside of forgotpassword")
    elif _HALF_A_SECTION.search(_SECTION.sub("", text)):
        said.append("a section to begin and to end, as in #FPass … FPass#")
    return said


def carries(names: Collection[str]) -> Carries | None:
    """Return whether these placeholders are a link, a code or both."""
    has_link, has_code = bool(LINKS & set(names)), "OTP" in names
    return "both" if has_link and has_code else "link" if has_link else "otp" if has_code else None


def fill(parts: Sequence[str | Placeholder], values: Mapping[str, str], *, is_html: bool) -> str:
    """Put the values in, escaped where it is HTML; raises CannotDraw where one is missing that the letter is sent for."""
    texts = [part if isinstance(part, str) else _value(part, values, is_html) for part in parts]
    made = ""
    for number, (part, text) in enumerate(zip(parts, texts, strict=True)):
        if isinstance(part, Placeholder) and not text and made.endswith(" "):
            after = texts[number + 1] if number + 1 < len(texts) else ""
            if not after or after[0] in _AFTER_A_NAME:
                made = made[:-1]  # "Hello #Name#," greets nobody as "Hello,"
        made += text
    return made


def _value(slot: Placeholder, values: Mapping[str, str], is_html: bool) -> str:
    value = values.get(slot.name, "")
    if not value and slot.name in REQUIRED:
        raise RenderError(f"there is no #{slot.name}# to say")
    if slot.is_in_address and slot.name != "Url":
        value = quote(value, safe="")
    elif slot.name not in REQUIRED and not value.isascii():
        value = f"\u2068{value}\u2069"  # a name of another script does not turn the sentence around it
    return escape(value) if is_html else value
