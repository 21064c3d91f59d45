"""The account's profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from flask import Response, request
from flask_babel import format_date, lazy_pgettext
from flask_babel import lazy_gettext as _l

from app.contract import hub as contract
from app.hub import oidc_client
from app.hub.brand import initials
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.parts.account import read_profile
from app.hub.tenancy import Identifier
from app.hub.visit import current_visit
from app.kit.web_addresses import is_web_address


@dataclass(frozen=True)
class Fact:
    """One line of the profile."""

    label: Any
    value: Any
    is_verified: bool | None = None
    """None if the value is never verified."""
    is_code: bool = False
    """Whether the value is rendered left to right in every language, like an address."""


@dataclass(frozen=True)
class Group:
    """A titled group of lines."""

    heading: Any
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class ProfilePage(Page):
    """Shows the profile and links to the pages that edit it."""

    template = "pages/profile.html"
    scripts = ("language",)
    query = {"landing": 10, "saved": 1}

    name: str
    account: str
    groups: tuple[Group, ...]
    picture: str = ""
    is_return_url_refused: bool = False
    """Whether the requested return URL was refused, so that the browser landed here."""
    is_saved: bool = False
    has_phone: bool = False
    """Whether the tenant allows sign-in by phone number."""
    has_username: bool = False
    """Whether the tenant allows sign-in by username, or the account has one."""
    has_consents: bool = False
    """Whether the tenant has consent forms or a versioned privacy policy."""

    @property
    def notice(self) -> Notice | None:
        return Notice(_l("Saved"), tone="ok") if self.is_saved else None

    @property
    def pictures(self) -> tuple[str, ...]:
        return (self.picture,)

    @property
    def initials(self) -> str:
        return initials(self.name or self.account)

    @classmethod
    def samples(cls) -> Mapping[str, ProfilePage]:
        full = (
            Group(
                _l("About you"),
                (
                    Fact(_l("First name"), "Ada"),
                    Fact(_l("Last name"), "Lovelace"),
                    Fact(_l("Date of birth"), _format_date("12/10/1815")),
                    Fact(_l("Language"), "English"),
                ),
            ),
            Group(
                _l("Contact"),
                (
                    Fact(_l("Email"), "ada@example.com", True, True),
                    Fact(_l("Email"), "countess.of.lovelace@analytical-engines.example.org", False, True),
                    Fact(_l("Phone number"), "+44 20 7946 0018", True, True),
                ),
            ),
        )
        return {
            "full": cls("Ada Lovelace", "ada@example.com", full, has_username=True),
            "with numbers": cls(
                "Ada Lovelace", "ada@example.com", full, has_phone=True, has_username=True, has_consents=True
            ),
            "bare": cls(
                "",
                "ada@example.com",
                (Group(_l("Contact"), (Fact(_l("Email"), "ada@example.com", True, True),)),),
            ),
            "after a change": cls("Ada Lovelace", "ada@example.com", full, is_saved=True),
            "after a refused address": cls("Ada Lovelace", "ada@example.com", full, is_return_url_refused=True),
        }


@pages.get("/profile")
def show_profile() -> Response:
    view = read_profile()
    if view is None:
        return oidc_client.start_login("/profile")
    tenant = current_visit().tenant
    groups = tuple(group for group in (_personal(view.profile), _contact(view), _location(view.profile)) if group.facts)
    picture, identifiers = str(view.profile.get("ImageUrl") or ""), tenant.identifiers
    return ProfilePage(
        name=view.person.name or "",
        account=view.person.label,
        groups=groups,
        picture=picture if picture.startswith("https://") and is_web_address(picture) else "",
        is_return_url_refused=request.args.get("landing") == "refused",
        is_saved=request.args.get("saved") == "1",
        has_phone=Identifier.PHONE in identifiers,
        has_consents=bool(tenant.consent_forms) or tenant.has_privacy_policy,
        has_username=Identifier.USERNAME in identifiers or bool(view.profile.get("UserName")),
    ).render()


def _facts(profile: Mapping[str, Any], table: tuple[tuple[str, Any], ...]) -> tuple[Fact, ...]:
    values = ((name, label, profile.get(name)) for name, label in table)
    return tuple(
        Fact(label, _format_date(value) if name == "BirthDate" else value)
        for name, label, value in values
        if isinstance(value, str) and value
    )


def _format_date(text: str) -> str:
    """Return a date of the profile (MM/dd/yyyy) in the visitor's language; malformed text unchanged."""
    try:
        return str(format_date(datetime.strptime(text.replace("-", "/"), "%m/%d/%Y").date(), "long"))  # noqa: DTZ007 - a day has no zone
    except ValueError:
        return text


def _personal(profile: Mapping[str, Any]) -> Group:
    return Group(_l("About you"), _facts(profile, _PERSON))


def _contact(view: contract.ProfileResponse) -> Group:
    """Return addresses, phone number and username; the account's own flag applies to its primary address."""
    profile, facts = view.profile, []
    for entry in profile.get("Email") or ():
        if isinstance(entry, dict) and entry.get("Value"):
            is_verified = bool(entry.get("IsVerified", entry.get("Verified", profile.get("EmailVerified"))))
            facts.append(Fact(_l("Email"), str(entry["Value"]), is_verified, is_code=True))
    if view.phone:
        is_verified = bool(profile.get("PhoneIdVerified"))
        facts.append(Fact(_l("Phone number"), view.phone, is_verified, is_code=True))
    if profile.get("UserName"):
        facts.append(Fact(_l("Username"), str(profile["UserName"]), is_code=True))
    return Group(_l("Contact"), tuple(facts))


def _location(profile: Mapping[str, Any]) -> Group:
    return Group(_l("Location"), _facts(profile, _PLACE))


_PERSON: Final = (
    ("FirstName", _l("First name")),
    ("MiddleName", _l("Middle name")),
    ("LastName", _l("Last name")),
    ("NickName", _l("Nickname")),
    ("BirthDate", _l("Date of birth")),
    ("Company", _l("Company")),
    ("LocalLanguage", _l("Language")),
)
_PLACE: Final = (
    ("City", _l("City")),
    ("State", lazy_pgettext("address", "State")),
    ("HomeTown", _l("Hometown")),
    ("TimeZone", _l("Time zone")),
)
