"""The registration form as the interface spells it: schema elements with rules joined by `|`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, get_args

from app.contract.accounts.file import MAX_USERNAME_LENGTH
from app.contract.profile import FIELDS
from app.contract.registration.form import CUSTOM, MAX_LETTERS, TERMS, FormField, Rule
from app.contract.tenants.settings import TenantSettings
from app.identity.directory.tenants.registration_form import fields_of

Json = dict[str, Any]
_OWN_RULES: Final = {"email": "valid_email", "phone": "valid_phoneno", "birth_date": "callback_valid_date"}
"""Rules that a field always has."""
_DISPLAY: Final = {"email": "Email", "phone": "Phone number", TERMS: "Terms of use", "birth_date": "Date of birth"}
_RULES: Final = frozenset(get_args(Rule)) - {""}
_NAMES: Final = {"emailid": "email", "phoneid": "phone"} | {
    name.lower(): re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() for name in FIELDS
}
"""The names of the form's fields by those of the interface."""


def as_schema(settings: TenantSettings) -> list[Json]:
    """Return the form for client libraries."""
    return [_element(settings, field) for field in fields_of(settings)]


def from_element(settings: TenantSettings, elements: Sequence[Mapping[str, Any]], number: int) -> Json:
    """Return a field of a form as the settings state it, without values that derive from other settings.

    The field keeps its labels in other languages. Raises ValueError with the expected form of a rule.
    """
    element = elements[number]
    name = _name(element["name"])
    before = next((field for field in fields_of(settings) if field.name == name), None)
    field: Json = {"name": name, "type": element["type"]}
    field |= _read_rules(settings, name, element["rules"], {item["name"] for item in elements})
    label, display = dict(before.label) if before else {}, element["display"]
    if display and display != (_in(settings, label) or _display(name)):
        label[settings.default_locale] = display
    texts = {option.value: option.text for option in before.options} if before else {}
    options = [_option(settings, item, texts.get(item["value"], {})) for item in element["options"] or ()]
    return {**field, "label": label, "options": options}


def _element(settings: TenantSettings, field: FormField) -> Json:
    options = [{"value": option.value, "text": _in(settings, option.text) or option.value} for option in field.options]
    return {
        "Checked": True,
        "type": field.type,
        "name": field.wire_name,
        "display": _in(settings, field.label) or _display(field.name),
        "rules": "|".join(_rules(settings, field)),
        "options": options or None,
        "permission": "w",
        "DataSource": None,
        "Parent": None,
        "ParentDataSource": None,
    }


def _in(settings: TenantSettings, texts: Mapping[str, str]) -> str:
    """Return the text in the tenant's default language, otherwise the first one."""
    return texts.get(settings.default_locale) or next(iter(texts.values()), "")


def _display(name: str) -> str:
    plain = name.removeprefix(CUSTOM).replace("_", " ")
    return _DISPLAY.get(name) or plain[:1].upper() + plain[1:]


def _lengths(settings: TenantSettings, name: str) -> tuple[int, int]:
    """Return the lengths to which other settings hold a field."""
    if name == "password":
        return settings.password_policy.min_length, min(settings.password_policy.max_length, MAX_LETTERS)
    return 0, MAX_USERNAME_LENGTH if name == "username" else MAX_LETTERS


def _rules(settings: TenantSettings, field: FormField) -> list[str]:
    shortest, longest = _lengths(settings, field.name)
    minimum, maximum = max(field.min_length, shortest), min(field.max_length, longest)
    rules = ["required"] if field.required else []
    rules += [rule] if (rule := field.rule or _OWN_RULES.get(field.name, "")) else []
    rules += [f"min_length[{minimum}]"] if minimum else []
    rules += [f"max_length[{maximum}]"] if maximum < MAX_LETTERS else []
    rules += [
        f"{name}[{bound:g}]"
        for name, bound in (("greater_than", field.greater_than), ("less_than", field.less_than))
        if bound is not None
    ]
    matched = next((other.wire_name for other in fields_of(settings) if other.name == field.matches), "")
    return rules + ([f"matches[{matched}]"] if matched else [])


def _name(wire_name: str) -> str:
    return wire_name if wire_name.startswith(CUSTOM) else _NAMES.get(wire_name.lower(), wire_name.lower())


def _option(settings: TenantSettings, option: Mapping[str, Any], before: Mapping[str, str]) -> Json:
    texts, text = dict(before), option["text"]
    if text and text != (_in(settings, texts) or option["value"]):
        texts[settings.default_locale] = text
    return {"value": option["value"], "text": texts}


def _read_rules(settings: TenantSettings, name: str, rules: str, names: Collection[str]) -> Json:
    field: Json = {}
    for rule in filter(None, (part.strip() for part in rules.split("|"))):
        key, _, argument = rule.removesuffix("]").partition("[")
        if rule == "required":
            field["required"] = True
        elif key in ("min_length", "max_length", "exact_length") and argument.isdecimal():
            bounds = ("min_length", "max_length") if key == "exact_length" else (key,)
            field |= dict.fromkeys(bounds, int(argument))
        elif key in ("greater_than", "less_than") and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", argument):
            field[key] = float(argument)
        elif key == "matches" and argument in names:
            field["matches"] = _name(argument)
        elif rule in _RULES and "rule" not in field:
            field["rule"] = rule
        else:
            raise ValueError(f"rules: known rules, one of a kind; found {rule[:60]}")
    shortest, longest = _lengths(settings, name)
    is_derived = {"min_length": shortest, "max_length": longest, "rule": _OWN_RULES.get(name)}
    return {key: value for key, value in field.items() if key not in is_derived or is_derived[key] != value}
