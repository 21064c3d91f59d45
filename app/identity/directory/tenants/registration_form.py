"""A tenant's registration form, configured or by default, and its form in `/ciam/appinfo`."""

from __future__ import annotations

from typing import Any

from app.contract.configuration import TenantSettings
from app.contract.registration_form import MOST_LETTERS, TERMS, FormField

Json = dict[str, Any]
_RULES = {"email": "valid_email", "phone": "valid_phoneno", "birth_date": "callback_valid_date"}
_DISPLAY = {"email": "Email", "phone": "Phone number", TERMS: "Terms of use", "birth_date": "Date of birth"}
_MAX_USERNAME = 32


def fields_of(settings: TenantSettings) -> tuple[FormField, ...]:
    """Return the fields of the registration form.

    By default: an email address, unless the tenant disables it; the identifiers that sign-in accepts instead; a password.
    """
    if settings.registration_form:
        return settings.registration_form
    accepted = settings.login_kinds
    names = ["email"] if settings.email_login is not False or "email" in accepted else []
    names += [kind for kind in accepted if kind != "email" and "email" not in accepted]
    password = FormField(name="password", type="password", required=True)
    return *(FormField(name=name, required=True) for name in names), password


def is_configured(settings: TenantSettings) -> bool:
    """Return whether the tenant configured a form; otherwise any accepted identifier suffices."""
    return bool(settings.registration_form)


def as_schema(settings: TenantSettings) -> list[Json]:
    """Return the form for client libraries (interface tenant-config.md section 4)."""
    return [_element(settings, field) for field in fields_of(settings)]


def _element(settings: TenantSettings, field: FormField) -> Json:
    options = [{"value": one.value, "text": _in(settings, one.text) or one.value} for one in field.options]
    return {
        "Checked": True,
        "type": field.type,
        "name": field.wire_name,
        "display": _in(settings, field.label) or _display(field),
        "rules": "|".join(_rules(settings, field)),
        "options": options or None,
        "permission": "w",
        "DataSource": None,
        "Parent": None,
        "ParentDataSource": None,
    }


def _in(settings: TenantSettings, texts: dict[str, str]) -> str:
    """Return the text in the tenant's default language, otherwise the first one."""
    return texts.get(settings.default_locale) or next(iter(texts.values()), "")


def _display(field: FormField) -> str:
    plain = field.name.removeprefix("cf_").replace("_", " ")
    return _DISPLAY.get(field.name) or plain[:1].upper() + plain[1:]


def _rules(settings: TenantSettings, field: FormField) -> list[str]:
    minimum, maximum = field.min_length, field.max_length
    if field.name == "password":
        minimum = max(minimum, settings.password_policy.min_length)
        maximum = min(maximum, settings.password_policy.max_length)
    if field.name == "username":
        maximum = min(maximum, _MAX_USERNAME)
    rules = ["required"] if field.required else []
    rules += [rule] if (rule := field.rule or _RULES.get(field.name, "")) else []
    rules += [f"min_length[{minimum}]"] if minimum else []
    rules += [f"max_length[{maximum}]"] if maximum < MOST_LETTERS else []
    matched = next((other.wire_name for other in fields_of(settings) if other.name == field.matches), "")
    return rules + ([f"matches[{matched}]"] if matched else [])
