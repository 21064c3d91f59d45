"""Checks one value against the rules of a registration form, with the messages of refusals."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from ipaddress import ip_address
from typing import Final

from app.contract.registration.form import FormField
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.profile.profile_document import parse_birth_date
from app.kit.web.urls import is_web_url


def _matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


def _is_ip(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except ValueError:
        return False


def _is_card(text: str) -> bool:
    """Return whether the text is a card number with a right check digit (ISO/IEC 7812-1, Luhn)."""
    digits = re.sub(r"[ -]", "", text)
    if not re.fullmatch(r"[0-9]{12,19}", digits):
        return False
    doubled = [sum(divmod(int(digit) * 2, 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(map(int, digits[::-2]))) % 10 == 0


_NUMBER: Final = "This must be a number."
_WHOLE: Final = "This must be a whole number."
_RULES: Final[dict[str, tuple[Callable[[str], bool], str]]] = {
    "integer": (_matches(r"[-+]?[0-9]+"), _WHOLE),
    "decimal": (_matches(r"[-+]?[0-9]+\.[0-9]+"), "This must be a number with decimals."),
    "numeric": (_matches(r"[-+]?[0-9]+(\.[0-9]+)?"), _NUMBER),
    "is_natural": (_matches(r"[0-9]+"), _WHOLE),
    "is_natural_no_zero": (_matches(r"0*[1-9][0-9]*"), "This must be a whole number above 0."),
    "alphanumeric_combo": (str.isalnum, "Only letters and digits are allowed."),
    "valid_email": (lambda text: identifiers.normalize_email(text) is not None, "This must be an email address."),
    "valid_url": (is_web_url, "This must be a web address."),
    "valid_ip": (_is_ip, "This must be an IP address."),
    "valid_base64": (_is_base64, "This must be Base64."),
    "valid_phoneno": (lambda text: identifiers.normalize_phone(text) is not None, "This must be a phone number."),
    "valid_ca_zip": (
        _matches(r"[ABCEGHJ-NPRSTVXYabceghj-nprstvxy][0-9][A-Za-z] ?[0-9][A-Za-z][0-9]"),
        "This must be a Canadian postal code.",
    ),
    "valid_credit_card": (_is_card, "This must be a card number."),
    "callback_valid_date": (lambda text: parse_birth_date(text) is not None, "This must be a date."),
}


def problem_of(field: FormField, text: str) -> str:
    """Return the sentence for a value that breaks a rule of its field, else an empty text; an empty value breaks none."""
    if not text:
        return ""
    if len(text) < field.min_length:
        return f"At least {field.min_length} characters are needed."
    if len(text) > field.max_length and field.name != "password":  # the policy checks the password's length
        return f"At most {field.max_length} characters are allowed."
    if field.options and text not in [option.value for option in field.options]:
        return "This is none of the choices."
    if field.rule:
        is_met, sentence = _RULES[field.rule]
        if not is_met(text):
            return sentence
    return _range_problem(field, text)


def _range_problem(field: FormField, text: str) -> str:
    lower, upper = field.greater_than, field.less_than
    if lower is None and upper is None:
        return ""
    if not _RULES["numeric"][0](text):
        return _NUMBER
    if lower is not None and float(text) <= lower:
        return f"This must be above {lower:g}."
    if upper is not None and float(text) >= upper:
        return f"This must be below {upper:g}."
    return ""
