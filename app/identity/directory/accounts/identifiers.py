"""Normalizes identifiers for comparison and formats them for display.

Equal mailboxes, usernames and phone numbers have equal normal forms; confusable texts of different scripts do not.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from app.contract.accounts.file import MAX_USERNAME_LENGTH
from app.identity.platform.context import NO_ACCOUNT
from app.kit import randomness
from app.kit.caching.bounded_cache import bounded_cache
from app.kit.text.code_normalization import typed_code

EMAIL, USERNAME, PHONE, IDENTITY = "email", "username", "phone", "identity"
PREVIOUS_UID, PROFILE = "previous_uid", "profile"
FORMER_DOMAIN = "former_domain"
"""A domain of a verified address that the account had. The value is `UID DOMAIN`, so that several accounts can have one domain."""
_MAX_EMAIL_LENGTH = 254  # RFC 5321 section 4.5.3.1.3
_UID = re.compile(r"[A-Za-z0-9_-]{1,50}\Z")
_DIALLED = re.compile(r"\+?[0-9()./]+\Z")
_TWO_ZEROS = re.compile(r"^\+?00")
_RESERVED_SEGMENTS = (
    "identities", "uid", "sott", "role", "rolecontext", "forgot", "verify", "vtoken", "emailtoken", "smsotp", "access_token",
    "2fa", "passkey",
)  # fmt: skip


def normalize_email(text: str) -> str | None:
    """Return an address in NFC and lower case, its domain as IDNA; None if malformed.

    The local part is not folded further, because ß and ss, or full-width and ASCII letters, may be different mailboxes.
    """
    checked = _checked_email(text)
    if checked is None:
        return None
    local, domain = checked
    return f"{unicodedata.normalize('NFC', local.lower())}@{domain}"


def smtp_address(text: str) -> str:
    """Return an address for SMTP: the mailbox unchanged, the domain as IDNA (RFC 5890)."""
    checked = _checked_email(text)
    return f"{checked[0]}@{checked[1]}" if checked else text.strip()


def display_email(text: str) -> str:
    """Return an address for display: as entered, in NFC and stripped."""
    return unicodedata.normalize("NFC", text.strip())


def identity_value(provider: str, subject: str) -> str:
    """Return the identifier value of an account at a provider; the subject, of any length, is hashed."""
    return f"{provider} {randomness.digest(subject)}"


def masked(text: str) -> str:
    """Mask an identifier, so that only its owner recognizes it and no mail program links it."""
    name, at, domain = text.strip().rpartition("@")
    host, dot, top = domain.rpartition(".")
    return f"{name[:1]}***@{host[:1]}***{dot}{top}" if at else f"{text.strip()[:1]}***"


def normalize_username(text: str) -> str | None:
    """Return a username in NFKC and case-folded; None if empty, too long or not allowed."""
    normalized = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    normalized = unicodedata.normalize("NFKC", normalized.casefold())
    return normalized if is_username_length(normalized) and is_username_format(normalized) else None


def is_username_length(text: str) -> bool:
    """Return whether a username has 1 to `MAX_USERNAME_LENGTH` characters and no space (else MalformedUsername)."""
    return 0 < len(text) <= MAX_USERNAME_LENGTH and not any(character.isspace() for character in text)


def is_username_format(text: str) -> bool:
    """Return whether a username contains no control or space characters and no `@` (else UsernameFormatRefused)."""
    return "@" not in text and not any(unicodedata.category(character)[0] in "CZ" for character in text)


def looks_like_phone(text: str) -> bool:
    """Return whether the login page, which has one field for all identifiers, would read a text as a phone number."""
    return sum(character.isdigit() for character in text) >= 6 and not any(character.isalpha() for character in text)


def normalize_phone(text: str) -> str | None:
    """Return a phone number as E.164; None unless it is a possible number in international form.

    Accepts digits of any script, and 00 for +, but no letters of vanity numbers.
    """
    line = _digits_of(text)
    return _e164(line, None) if line.startswith("+") else None


def to_international(text: str, country: str | None) -> str:
    """Return a nationally dialled number of a country as E.164; any other text unchanged."""
    line = _digits_of(text)
    if not line or line.startswith("+") or country is None:
        return text
    return _e164(line, country) or text


def display_phone(text: str) -> str:
    """Return a number in the international display format; any other text unchanged."""
    import phonenumbers

    normalized = normalize_phone(text)
    if normalized is None:
        return text
    return phonenumbers.format_number(
        phonenumbers.parse(normalized, None), phonenumbers.PhoneNumberFormat.INTERNATIONAL
    )


def is_well_formed_uid(text: str) -> bool:
    """Return whether a text can be an account id: 32 hexadecimal digits or a custom id of 1 to 50 characters (else MalformedUid)."""
    return bool(_UID.match(text))


def is_allowed_uid(text: str) -> bool:
    """Return whether a custom account id is well-formed and not reserved by a path or by NO_ACCOUNT (else MalformedUid)."""
    return is_well_formed_uid(text) and text.lower() not in (NO_ACCOUNT, *_RESERVED_SEGMENTS)


def normal_form(kind: str, text: str) -> str | None:
    """Return the form in which an identifier of this kind is stored, or None if the text cannot be one."""
    return _NORMAL_FORMS[kind](text)


_NORMAL_FORMS: Final = {EMAIL: normalize_email, USERNAME: normalize_username, PHONE: normalize_phone}


def normalize(kind: str, text: str) -> str:
    """Return the normalized identifier; a malformed one gets a form that no account has."""
    return normal_form(kind, text) or f"?{text.strip().lower()[:300]}"


def _digits_of(text: str) -> str:
    """Return the plus and digits of a number; an empty string if it contains anything else."""
    if len(text) > 64:
        return ""
    digits = typed_code(text.strip())
    return _TWO_ZEROS.sub("+", digits) if _DIALLED.match(digits) else ""


def _e164(line: str, country: str | None) -> str | None:
    import phonenumbers

    try:
        number = phonenumbers.parse(line, country)
    except phonenumbers.NumberParseException:
        return None
    if number.extension or not phonenumbers.is_possible_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


@bounded_cache(max_entries=256, length=_MAX_EMAIL_LENGTH)  # one request validates the same address several times
def _checked_email(text: str) -> tuple[str, str] | None:
    from email_validator import EmailNotValidError, validate_email

    stripped = text.strip()
    if len(stripped) > _MAX_EMAIL_LENGTH:
        return None
    try:
        checked = validate_email(
            stripped, check_deliverability=False, globally_deliverable=False, test_environment=True, strict=True
        )
    except (EmailNotValidError, UnicodeError):
        return None
    domain = checked.ascii_domain.lower()
    return (checked.local_part, domain) if "." in domain or domain == "localhost" else None


def mask_email(email: str) -> str:
    """Mask an address to the first and last character of its local part and of each label: `x**z@e****e.c*m`."""
    local, _, domain = email.rpartition("@")
    return f"{_mask_inner(local)}@{'.'.join(_mask_inner(label) for label in domain.split('.'))}"


def mask_email_for_owner(email: str) -> str:
    """Mask an address to what its owner recognizes, with its whole domain: `x••z@example.com`. At least one character is masked."""
    local, _, domain = email.rpartition("@")
    return f"{_mask_inner(local, '•') if len(local) > 1 else f'{local}•'}@{domain}"


def mask_phone(phone: str) -> str:
    """Mask a number except its last two digits."""
    return f"{'*' * max(0, len(phone) - 2)}{phone[-2:]}"


def _mask_inner(text: str, mark: str = "*") -> str:
    return f"{text[:1]}{mark * (len(text) - 2)}{text[-1:]}" if len(text) > 2 else f"{text[:1]}{mark * (len(text) - 1)}"
