"""Fields of the registration form as WTForms fields: type, label, attributes for keyboards and password managers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from wtforms import BooleanField, Field, PasswordField, SelectField, StringField, TextAreaField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its stubs
from wtforms.validators import InputRequired, Length, Optional

from app.contract.registration.form import CUSTOM, IDENTIFIERS, MAX_LETTERS, TERMS, FormField
from app.hub import locale
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import too_long
from app.hub.web.visit import current_visit

_LABELS: Final[dict[str, Any]] = {
    "email": _l("Email"),
    "username": _l("Username"),
    "phone": _l("Phone number"),
    "password": _l("Password"),
    "prefix": _l("Title"),
    "first_name": _l("First name"),
    "middle_name": _l("Middle name"),
    "last_name": _l("Last name"),
    "nick_name": _l("Nickname"),
    "birth_date": _l("Date of birth"),
    "gender": _l("Gender"),
    "company": _l("Company"),
    "website": _l("Website"),
    "main_address": _l("Address"),
    "city": _l("City"),
    "state": _l("State or region"),
    "about": _l("About you"),
    "is_email_subscribed": _l("Email me news and offers"),
    TERMS: _l("I agree to the terms"),
}
_MISSING: Final[dict[str, Any]] = {
    "email": _l("Enter your email."),
    "username": _l("Choose a username."),
    "phone": _l("Enter your phone number with + and the country code."),
    "password": _l("Choose a password."),
    "prefix": _l("Enter your title."),
    "first_name": _l("Enter your first name."),
    "middle_name": _l("Enter your middle name."),
    "last_name": _l("Enter your last name."),
    "nick_name": _l("Enter your nickname."),
    "birth_date": _l("Enter your date of birth."),
    "gender": _l("Enter your gender."),
    "company": _l("Enter your company."),
    "website": _l("Enter your website."),
    "main_address": _l("Enter your postal address."),
    "city": _l("Enter your city."),
    "state": _l("Enter your state or region."),
    "about": _l("Tell us about yourself."),
}
_MISSING_BY_TYPE: Final[dict[str, Any]] = {
    "multi": _l("Check this box to continue."),
    "option": _l("Choose an option."),
}
USERNAME_FORMAT: Final = _l("Use letters from one alphabet. Usernames can’t include @ or look like a phone number.")
_FILL_IN: Final = _l("Fill in this field.")

# Autofill detail tokens (HTML §4.10.18.7) and input types.
_LINE: Final = {"type": "text", "dir": "auto"}
_ATTRIBUTES: Final[dict[str, dict[str, str]]] = {
    "email": {"type": "email", "autocomplete": "username", "spellcheck": "false"},
    "username": {**_LINE, "autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"},
    "phone": {"type": "tel", "autocomplete": "tel", "dir": "ltr"},
    "password": {"autocomplete": "new-password"},
    "prefix": {**_LINE, "autocomplete": "honorific-prefix"},
    "first_name": {**_LINE, "autocomplete": "given-name"},
    "middle_name": {**_LINE, "autocomplete": "additional-name"},
    "last_name": {**_LINE, "autocomplete": "family-name"},
    "nick_name": {**_LINE, "autocomplete": "nickname"},
    "birth_date": {"type": "date", "autocomplete": "bday"},
    "gender": {**_LINE, "autocomplete": "sex"},
    "company": {**_LINE, "autocomplete": "organization"},
    "website": {"type": "url", "autocomplete": "url", "dir": "ltr"},
    "main_address": {**_LINE, "autocomplete": "street-address"},
    "city": {**_LINE, "autocomplete": "address-level2"},
    "state": {**_LINE, "autocomplete": "address-level1"},
}


def widget(field: FormField, *, is_second_name: bool) -> Field:
    """Return the unbound WTForms field of a registration field.

    Args:
        is_second_name: whether another field of the form is the username for password managers.
    """
    label = field_label(field)
    required: list[Any] = [InputRequired(_missing(field))] if field.required else []
    if field.type == "multi":
        return BooleanField(label, required)
    if field.type == "password":
        length = Length(max=field.max_length, message=too_long(field.max_length))
        return PasswordField(label, [*required, length], render_kw={**_ATTRIBUTES["password"], "maxlength": False})
    if field.type == "option":
        offered = [(option.value, localized(option.text) or option.value) for option in field.options]
        choices = [SelectChoice(value, text) for value, text in [("", _l("Choose")), *offered]]
        return SelectField(label, required, choices=choices, validate_choice=False)
    checks = [*(required or [Optional()]), Length(max=field.max_length, message=too_long(field.max_length))]
    attributes: dict[str, Any] = dict(_ATTRIBUTES.get(field.name, _LINE))
    if field.max_length == MAX_LETTERS:
        attributes["maxlength"] = False  # the default, not set by the tenant
    if is_second_name and attributes.get("autocomplete") == "username":
        attributes["autocomplete"] = "email" if field.name == "email" else "nickname"
    kind = TextAreaField if field.type == "text" else StringField
    if field.type == "text":
        attributes.pop("type", None)
    return kind(label, checks, render_kw=attributes)


class _OwnLabel(str):
    """A label that the tenant wrote. The field keeps the placeholder that it has with the built-in label."""

    built_in: Any = ""

    @property
    def placeholder(self) -> str:
        """The tenant's placeholder in the language of the page; empty without one."""
        return getattr(self.built_in, "placeholder", "")


def field_label(field: FormField) -> Any:
    """Return the label of a field: the tenant's, else the built-in one, else its name."""
    built_in = _LABELS.get(field.name)
    if own := localized(field.label):
        label = _OwnLabel(own)
        label.built_in = built_in
        return label
    name = field.name.removeprefix(CUSTOM).replace("_", " ").strip()
    return built_in or name[:1].upper() + name[1:]


def _missing(field: FormField) -> Any:
    """Return the error of an empty required field. A built-in sentence would contradict a label that the tenant wrote."""
    has_own_label = bool(field.label) and field.name not in IDENTIFIERS
    return _MISSING_BY_TYPE.get(field.type) or (_FILL_IN if has_own_label else _MISSING.get(field.name, _FILL_IN))


def localized(texts: Mapping[str, str]) -> str:
    """Return the text in the visitor's language, else in the tenant's languages, else the first one."""
    tags = (locale.current_language().tag, *current_visit().tenant.languages)
    return next((texts[tag] for tag in tags if texts.get(tag)), next(iter(texts.values()), ""))


def to_wire_value(field: FormField, typed: Any) -> str:
    """Return a typed value in wire format: a checkbox as `true`, a date as MM/dd/yyyy."""
    if field.type == "multi":
        return "true" if typed else ""
    text = str(typed or "")
    parts = text.split("-")
    is_day = field.name == "birth_date" and [len(part) for part in parts] == [4, 2, 2]
    return f"{parts[1]}/{parts[2]}/{parts[0]}" if is_day else text
