"""The one form in which an identifier is compared. Two texts that name one mailbox, name or line have the same form; two
that merely look alike do not: letters of different scripts are never merged."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import phonenumbers
from email_validator import EmailNotValidError, validate_email

from app.kit import randomness

EMAIL, USERNAME, PHONE, IDENTITY = "email", "username", "phone", "identity"
PREVIOUS_UID, PROFILE = "previous_uid", "profile"
MOST_USERNAME_LETTERS = 32
_MOST_EMAIL_LETTERS = 254  # RFC 5321 section 4.5.3.1.3
_UID = re.compile(r"[A-Za-z0-9_-]{1,50}\Z")
_DIALLED = re.compile(r"\+?[0-9()./]+\Z")
_TWO_ZEROS = re.compile(r"^\+?00")
NOBODY = "nobody"
"""Under this id proofs are kept for a name that has nothing to prove, so that it is answered as any other; no account has it."""
_SEGMENTS_BESIDE_UID = (
    "identities", "uid", "sott", "role", "rolecontext", "forgot", "verify", "vtoken", "emailtoken", "smsotp", "access_token",
    "2fa", "passkey",
)  # fmt: skip


def normalize_email(text: str) -> str | None:
    """Return an address's form: NFC and lower case, the domain as IDNA; None where it is no address.

    The local part is not folded further: ß and ss, or a full-width letter and a plain one, may be two mailboxes.
    """
    checked = _checked_email(text)
    if checked is None:
        return None
    local, domain = checked
    return f"{unicodedata.normalize('NFC', local.lower())}@{domain}"


def smtp_address(text: str) -> str:
    """Return an address as mail servers take it: the mailbox as it is written, the domain as IDNA (RFC 5890)."""
    checked = _checked_email(text)
    return f"{checked[0]}@{checked[1]}" if checked else text.strip()


def display_email(text: str) -> str:
    """Return an address as it is kept for showing: as typed, without the spaces around it."""
    return unicodedata.normalize("NFC", text.strip())


def identity_value(provider: str, subject: str) -> str:
    """Return the form of somebody at a provider, whose name for them may be of any length and any letters."""
    return f"{provider} {randomness.digest(subject)}"


def masked(text: str) -> str:
    """Return a name that its owner knows again and nobody else learns, an address for one: no reader is led there, either."""
    name, at, domain = text.strip().rpartition("@")
    host, dot, top = domain.rpartition(".")
    return f"{name[:1]}***@{host[:1]}***{dot}{top}" if at else f"{text.strip()[:1]}***"


def normalize_username(text: str) -> str | None:
    """Return a username's form: NFKC and case-folded; None where it is too long, empty or not allowed."""
    form = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    form = unicodedata.normalize("NFKC", form.casefold())
    return form if is_username_length(form) and is_username_format(form) else None


def is_username_length(text: str) -> bool:
    """Return whether a username has 1 to 32 characters and no space (error 1204)."""
    return 0 < len(text) <= MOST_USERNAME_LETTERS and not any(letter.isspace() for letter in text)


def is_username_format(text: str) -> bool:
    """Return whether a username is free of invisible characters, and cannot be taken for an address (error 1024)."""
    return "@" not in text and not any(unicodedata.category(letter)[0] in "CZ" for letter in text)


def looks_like_phone(text: str) -> bool:
    """Return whether our pages, which have one field for every name, read a text as a number where numbers sign in."""
    return sum(letter.isdigit() for letter in text) >= 6 and not any(letter.isalpha() for letter in text)


def normalize_phone(text: str) -> str | None:
    """Return a phone number as E.164; None unless it is a possible number in international form.

    Digits of any script count, 00 as +. What merely looks like a digit does not: letters of a vanity number neither.
    """
    line = _line(text)
    return _e164(line, None) if line.startswith("+") else None


def to_international(text: str, country: str | None) -> str:
    """Return a number as E.164 that somebody in a country typed as they dial it there; any other text as it is."""
    line = _line(text)
    if not line or line.startswith("+") or country is None:
        return text
    return _e164(line, country) or text


def display_phone(text: str) -> str:
    """Return a number as people read it, in international form; what is none stays as it is."""
    form = normalize_phone(text)
    if form is None:
        return text
    return phonenumbers.format_number(phonenumbers.parse(form, None), phonenumbers.PhoneNumberFormat.INTERNATIONAL)


def is_well_formed_uid(text: str) -> bool:
    """Return whether a text can be an account's id: 32 hexadecimal digits, or 1 to 50 characters of a custom one (error 1200)."""
    return bool(_UID.match(text))


def is_allowed_uid(text: str) -> bool:
    """Return whether a custom account id has the interface's form, hides no other address and is not nobody's (error 1200)."""
    return is_well_formed_uid(text) and text.lower() not in (NOBODY, *_SEGMENTS_BESIDE_UID)


def normal_form(kind: str, text: str) -> str | None:
    """Return the form in which an identifier of this kind is stored; None where the text cannot be one."""
    return {EMAIL: normalize_email, USERNAME: normalize_username, PHONE: normalize_phone}[kind](text)


def normalize(kind: str, text: str) -> str:
    """Return the form of an identifier; a text that cannot be one keeps its own, which no account has."""
    return normal_form(kind, text) or f"?{text.strip().lower()[:300]}"


def _line(text: str) -> str:
    """Return what is dialled: a plus and digits; an empty text where anything else stands between them."""
    if len(text) > 64:
        return ""
    kept = "".join(letter for letter in text.strip() if unicodedata.category(letter) not in ("Zs", "Pd", "Cf"))
    digits = "".join(str(unicodedata.decimal(letter, letter)) for letter in kept).replace("\uff0b", "+")
    return _TWO_ZEROS.sub("+", digits) if _DIALLED.match(digits) else ""


def _e164(line: str, country: str | None) -> str | None:
    try:
        number = phonenumbers.parse(line, country)
    except phonenumbers.NumberParseException:
        return None
    if number.extension or not phonenumbers.is_possible_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


@lru_cache(maxsize=256)  # one request asks for the same address several times
def _checked_email(text: str) -> tuple[str, str] | None:
    typed = text.strip()
    if len(typed) > _MOST_EMAIL_LETTERS:
        return None
    try:
        checked = validate_email(
            typed, check_deliverability=False, globally_deliverable=False, test_environment=True, strict=True
        )
    except (EmailNotValidError, UnicodeError):
        return None
    domain = checked.ascii_domain.lower()
    return (checked.local_part, domain) if "." in domain or domain == "localhost" else None
