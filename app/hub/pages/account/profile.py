"""The account's profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from flask import Response
from flask_babel import lazy_pgettext

from app.contract.accounts.pages import profile_pages
from app.contract.accounts.pages.profile_pages import editable
from app.hub.components.signed_in_account import read_profile
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page
from app.hub.rendering.formatting import long_date
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.branding import initials
from app.hub.tenants.tenant import HubTenant, IdentifierKind
from app.hub.web.visit import current_visit
from app.kit.web.urls import is_web_url


class Fact(NamedTuple):
    """One row of the profile: a name, its value, and where it is changed."""

    name: Any
    value: Any
    icon: str = "list"
    address: str = ""
    """The page that changes it; empty if the account cannot change it."""
    tag: Any = ""
    """Its state in a word."""
    tone: str = ""
    """Of the tag: ok, warn or none."""
    action: Any = ""
    """What its link does, in a word; empty for a row that leads to a page of its own."""


class Group(NamedTuple):
    """A titled group of rows."""

    heading: Any
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class ProfilePage(Page):
    """Shows the profile and links to the pages that edit it."""

    template = "pages/account/profile.html"
    scripts = ("language",)
    query = {"landing": 10, "saved": 1, "changed": 8}

    name: Any
    account: Any
    initials: Any
    groups: tuple[Group, ...]
    picture: str = ""
    is_return_url_refused: bool = False
    """Whether the requested return URL was refused, so that the browser was redirected here."""
    is_saved: bool = False
    is_password_changed: bool = False
    """Whether a forgotten password was just set, which signed the browser in."""
    deletion_days: int = 0
    """How long the deletion of the account can be undone."""
    has_to_do: bool = False
    """Whether the security check-up has something to do."""

    @property
    def notice(self) -> Notice | None:
        if self.is_password_changed:
            return Notice(_l("Your password was changed"), tone="ok")
        return Notice(_l("Saved"), tone="ok") if self.is_saved else None

    @property
    def pictures(self) -> tuple[str, ...]:
        return (self.picture,) if self.picture else ()

    @classmethod
    def samples(cls) -> Mapping[str, ProfilePage]:
        about = Group(
            _l("About you"),
            (
                Fact(_l("Name"), "Ada Lovelace", "person", EDIT, action=_CHANGE),
                Fact(_l("Date of birth"), _format_date("12/10/1815"), "calendar", EDIT, action=_CHANGE),
                Fact(_l("Language"), "English", "globe"),
            ),
        )
        emails = (
            _email("ada@example.com", is_verified=True, is_first=True),
            _email("countess.of.lovelace@analytical-engines.example.org", is_verified=False),
        )
        contact = (*emails, _phone("+44 20 7946 0018", is_verified=True), _username("countess"))
        full, bare = (about, Group(_l("Contact"), contact)), Group(_l("Contact"), emails[:1])
        unset = Group(_l("Contact"), (*emails[:1], _phone("", is_verified=False), _username("")))
        consenting = Group(about.heading, (*about.facts, _CONSENTS))
        lovelace = "Ada Lovelace", "ada@example.com", "AL"
        return {
            "full": cls(*lovelace, full, deletion_days=7),
            "with things not set": cls(*lovelace, (consenting, unset), deletion_days=1),
            "bare": cls("", "ada@example.com", "A", (bare,), has_to_do=True),
            "after a change": cls(*lovelace, full, is_saved=True),
            "after a reset": cls(*lovelace, full, is_password_changed=True),
            "after a refused address": cls(*lovelace, full, is_return_url_refused=True),
        }


@account_page("/profile")
def show_profile() -> Response:
    view = read_profile(with_checkup=True)
    visit, profile = current_visit(), view.profile
    groups = (
        Group(_ABOUT, _about(view, visit.tenant)),
        Group(_CONTACT, _contact(view, visit.tenant)),
    )
    name, picture = view.person.name, str(profile.get("ImageUrl") or "")
    page = ProfilePage(
        name=name,
        account=view.person.label,
        initials=initials(name or view.person.label),
        groups=tuple(group for group in groups if group.facts),
        picture=picture if picture.startswith("https://") and is_web_url(picture) else "",
        is_return_url_refused=visit.query.get("landing") == "refused",
        is_saved=visit.query.get("saved") == "1",
        is_password_changed=visit.query.get("changed") == "password",
        deletion_days=visit.tenant.deletion_days,
        has_to_do=view.has_to_do,
    )
    return page.render()


def _format_date(text: str) -> str:
    """Return a date of the profile (MM/dd/yyyy) in the visitor's language; malformed text unchanged."""
    try:
        return long_date(datetime.strptime(text.replace("-", "/"), "%m/%d/%Y"))  # noqa: DTZ007 - a day has no zone
    except ValueError:
        return text


def _about(view: profile_pages.ProfileResponse, tenant: HubTenant) -> tuple[Fact, ...]:
    """Return the rows with the person's name and birth date; each links to the form if the tenant's form has the field."""
    profile = view.profile
    fields = {field.name for field in editable(tenant.form)}
    name = view.person.name
    own = [(_NAME, name, "person", "first_name")] if name else []
    for wire, field, label, icon in _OTHERS:
        if isinstance(value := profile.get(wire), str) and value:
            own.append((label, _format_date(value) if wire == "BirthDate" else value, icon, field))
    facts = tuple(
        Fact(label, value, icon, EDIT, action=_CHANGE) if field in fields else Fact(label, value, icon)
        for label, value, icon, field in own
    )
    if not any(fact.address for fact in facts):
        facts = (*facts, _EDIT_LINK)
    has_consents = bool(tenant.consent_forms or tenant.privacy_policy.versions)
    return (*facts, *((_CONSENTS,) if has_consents else ()))


def _contact(view: profile_pages.ProfileResponse, tenant: HubTenant) -> tuple[Fact, ...]:
    """Return addresses, phone number and username; the account's own flag applies to its primary address."""
    profile, identifiers = view.profile, tenant.identifiers
    entries = [entry for entry in profile.get("Email") or () if isinstance(entry, dict) and entry.get("Value")]
    facts = [
        _email(
            str(entry["Value"]),
            is_verified=bool(entry.get("IsVerified", entry.get("Verified", profile.get("EmailVerified")))),
            is_first=at == 0 and len(entries) > 1,
        )
        for at, entry in enumerate(entries)
    ]
    if not entries:
        facts.append(_NO_EMAIL)
    if view.phone or IdentifierKind.PHONE in identifiers:
        facts.append(_phone(view.phone or "", is_verified=bool(profile.get("PhoneIdVerified"))))
    if profile.get("UserName") or IdentifierKind.USERNAME in identifiers:
        facts.append(_username(str(profile.get("UserName") or "")))
    return tuple(facts)


def _email(address: Any, *, is_verified: bool, is_first: bool = False) -> Fact:
    return Fact(_PRIMARY_EMAIL if is_first else _EMAIL, address, "mail", "/emails", *_VERIFIED[is_verified], _CHANGE)


def _phone(number: Any, *, is_verified: bool) -> Fact:
    if not number:
        return Fact(_PHONE, _l("Add one to sign in with"), "phone", "/phone", _NOT_SET, action=_ADD)
    page = "/phone" if IdentifierKind.PHONE in current_visit().tenant.identifiers else ""
    return Fact(_PHONE, number, "phone", page, *_VERIFIED[is_verified], _CHANGE)


def _username(name: Any) -> Fact:
    hint = name or _l("Choose one to sign in with")
    return Fact(_USERNAME, hint, "at", "/username", "" if name else _NOT_SET, action=_CHANGE if name else _ADD)


EDIT: Final = "/profile/edit"
_ABOUT: Final = _l("About you")
_CONTACT: Final = _l("Contact")
_NAME: Final = _l("Name")
_EMAIL: Final = _l("Email")
_PRIMARY_EMAIL: Final = _l("Primary email")
_PHONE: Final = _l("Phone number")
_USERNAME: Final = _l("Username")
_CHANGE: Final = _l("Edit")
_ADD: Final = _l("Add")
_NOT_SET: Final = _l("Not set")
_VERIFIED: Final = {True: (_l("Verified"), "ok"), False: (_l("Not verified"), "warn")}
_EDIT_LINK: Final = Fact(_l("Edit your profile"), _l("Name, date of birth and more"), "pen", EDIT)
_NO_EMAIL: Final = Fact(_EMAIL, _l("Add one to reset your password if you forget it"), "mail", "/emails", action=_ADD)
_CONSENTS: Final = Fact(_l("Consent"), _l("Review or change your consent"), "tick", "/consents")
_OTHERS: Final = (
    ("NickName", "nick_name", _l("Nickname"), "person"),
    ("BirthDate", "birth_date", _l("Date of birth"), "calendar"),
    ("Company", "company", _l("Company"), "list"),
    ("LocalLanguage", "local_language", _l("Language"), "globe"),
    ("City", "city", _l("City"), "map"),
    ("State", "state", lazy_pgettext("address", "State"), "map"),
    ("HomeTown", "home_town", _l("Hometown"), "map"),
    ("TimeZone", "time_zone", _l("Time zone"), "clock"),
)
