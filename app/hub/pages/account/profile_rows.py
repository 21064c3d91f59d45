"""The rows of the profile: what they show, and where each is changed."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, NamedTuple

from app.contract.accounts.pages.profile_pages import ProfileResponse, editable
from app.contract.registration.form import FormField
from app.hub.forms.profile_fields import FieldsForm, initial_values
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_pgettext
from app.hub.rendering.formatting import long_date
from app.hub.tenants.tenant import HubTenant, IdentifierKind
from app.hub.web.visit import current_visit

NAME: Final = "name"
"""The row of the first and the last name."""
EVERY: Final = "all"
"""Stands for every row that is edited in place, as one form."""
PICTURE: Final = "picture"
_NAMES: Final = ("first_name", "last_name")
_DATES: Final = frozenset({"birth_date"})


class Fact(NamedTuple):
    """One row of the profile: a name, its value, and where it is changed."""

    name: Any
    value: Any
    address: str = ""
    """The page that changes it; empty if the account cannot change it."""
    tag: Any = ""
    """Its state in a word."""
    tone: str = ""
    """Of the tag: ok, warn or none."""
    action: Any = ""
    """What its link does, in a word."""
    row: str = ""
    """Its id, if it is edited in place."""
    is_unset: bool = False
    has_menu: bool = False
    """Whether it is one of several email addresses, each of which has a menu."""
    can_lead: bool = False
    """Whether it can become the primary email address."""

    @property
    def is_link(self) -> bool:
        """Whether the whole row leads to its page."""
        return bool(self.address) and not self.has_menu


class Group(NamedTuple):
    """A titled group of rows."""

    heading: Any
    facts: tuple[Fact, ...]


def fields_of(tenant: HubTenant, row: str) -> tuple[FormField, ...]:
    """Return the fields that a row edits; none for a row that is not edited in place."""
    fields = editable(tenant.form)
    if row == EVERY:
        return fields
    return tuple(field for field in fields if _row_of(field) == row)


def form_of(view: ProfileResponse, tenant: HubTenant, row: str) -> FieldsForm | None:
    """Return the form of a row, filled in, with the focus in its first field; None if it is not edited in place."""
    fields = fields_of(tenant, row)
    if not fields:
        return None
    form = FieldsForm.of(fields, data=initial_values(fields, view.profile), formdata=None)
    if row != EVERY:
        form[fields[0].name].render_kw = {**(form[fields[0].name].render_kw or {}), "autofocus": True}
    return form


def groups_of(view: ProfileResponse, tenant: HubTenant) -> tuple[Group, ...]:
    """Return the rows of a profile by group."""
    return Group(_l("About you"), _about(view, tenant)), Group(_l("Contact"), _contact(view, tenant))


def edit_url(row: str) -> str:
    """Return the address of the profile with a row open."""
    return f"/profile?edit={row}"


def format_date(text: str) -> str:
    """Return a date of the profile (MM/dd/yyyy) in the visitor's language; malformed text unchanged."""
    try:
        return long_date(datetime.strptime(text.replace("-", "/"), "%m/%d/%Y"))  # noqa: DTZ007 - a day has no zone
    except ValueError:
        return text


def _row_of(field: FormField) -> str:
    return NAME if field.name in _NAMES else field.name


def _about(view: ProfileResponse, tenant: HubTenant) -> tuple[Fact, ...]:
    """Return the rows that the tenant's form lets the account change, set or not, then the others that are set, and the username."""
    fields = editable(tenant.form)
    form = FieldsForm.of(fields, data=initial_values(fields, view.profile), formdata=None)
    name = view.person.name
    changed = {NAME: own_fact(_NAME, name, NAME)} if any(field.name in _NAMES for field in fields) else {}
    for field in fields:
        if field.name not in _NAMES:
            changed[field.name] = own_fact(
                form[field.name].label.text, _shown(field, form[field.name], view), field.name
            )
    fixed = [Fact(_NAME, name)] if name and NAME not in changed else []
    for wire, field_name, label in _OTHERS:
        if field_name not in changed and isinstance(value := view.profile.get(wire), str) and value:
            fixed.append(Fact(label, format_date(value) if field_name in _DATES else value))
    if (username := view.profile.get("UserName")) or IdentifierKind.USERNAME in tenant.identifiers:
        fixed.append(username_fact(str(username or "")))
    has_consents = bool(tenant.consent_forms or tenant.privacy_policy.versions)
    return (*changed.values(), *fixed, *((_CONSENTS,) if has_consents else ()))


def own_fact(label: Any, value: Any, row: str) -> Fact:
    """Return a row that is edited in place."""
    return Fact(label, value or _NOT_SET, edit_url(row), action=_CHANGE if value else _ADD, row=row, is_unset=not value)


def _shown(field: FormField, control: Any, view: ProfileResponse) -> Any:
    """Return the value of a field as the profile shows it; empty if it is not set."""
    if field.type == "multi":
        return _l("Yes") if control.data else _l("No")
    if field.name in _DATES:
        return format_date(str(view.profile.get("BirthDate") or ""))
    return next(
        (label for value, label, *_ in getattr(control, "iter_choices", list)() if value == control.data), control.data
    )


def _contact(view: ProfileResponse, tenant: HubTenant) -> tuple[Fact, ...]:
    """Return addresses and phone number; the account's own flag applies to its primary address."""
    profile = view.profile
    entries = [entry for entry in profile.get("Email") or () if isinstance(entry, dict) and entry.get("Value")]
    facts = [
        email_fact(
            str(entry["Value"]),
            is_verified=bool(entry.get("IsVerified", entry.get("Verified", profile.get("EmailVerified")))),
            is_first=at == 0,
            has_others=len(entries) > 1,
        )
        for at, entry in enumerate(entries)
    ]
    facts.append(ADD_EMAIL if entries else _NO_EMAIL)
    if view.phone or IdentifierKind.PHONE in tenant.identifiers:
        facts.append(phone_fact(view.phone or "", is_verified=bool(profile.get("PhoneIdVerified"))))
    return tuple(facts)


def email_fact(address: Any, *, is_verified: bool, is_first: bool = True, has_others: bool = False) -> Fact:
    """Return the row of an email address."""
    fact = Fact(_EMAIL, address, "/emails", *_VERIFIED[is_verified])
    if not has_others:
        return fact
    return fact._replace(
        name=_PRIMARY_EMAIL if is_first else _EMAIL, has_menu=True, can_lead=is_verified and not is_first
    )


def phone_fact(number: Any, *, is_verified: bool) -> Fact:
    """Return the row of the phone number."""
    if not number:
        return Fact(_PHONE, _l("Add one to sign in with"), "/phone", action=_ADD, is_unset=True)
    page = "/phone" if IdentifierKind.PHONE in current_visit().tenant.identifiers else ""
    return Fact(_PHONE, number, page, *_VERIFIED[is_verified])


def username_fact(name: Any) -> Fact:
    """Return the row of the username."""
    hint = name or _l("Choose one to sign in with")
    return Fact(_USERNAME, hint, "/username", action=_CHANGE if name else _ADD, is_unset=not name)


_NAME: Final = _l("Name")
_EMAIL: Final = _l("Email")
_PRIMARY_EMAIL: Final = _l("Primary email")
_PHONE: Final = _l("Phone number")
_USERNAME: Final = _l("Username")
_CHANGE: Final = _l("Edit")
_ADD: Final = _l("Add")
_NOT_SET: Final = _l("Not set")
_VERIFIED: Final = {True: (_l("Verified"), "ok", _CHANGE), False: (_l("Not verified"), "warn", _l("Verify"))}
_NO_EMAIL: Final = Fact(_EMAIL, _l("Add one to reset your password if you forget it"), "/emails", action=_ADD)
ADD_EMAIL: Final = Fact("", "", "/emails/add", action=_l("Add email"))
_CONSENTS: Final = Fact(_l("Consent"), _l("Review or change your consent"), "/consents", action=_l("Review"))
_OTHERS: Final = (
    ("NickName", "nick_name", _l("Nickname")),
    ("BirthDate", "birth_date", _l("Date of birth")),
    ("Company", "company", _l("Company")),
    ("LocalLanguage", "local_language", _l("Language")),
    ("City", "city", _l("City")),
    ("State", "state", lazy_pgettext("address", "State")),
    ("HomeTown", "home_town", _l("Hometown")),
    ("TimeZone", "time_zone", _l("Time zone")),
)
