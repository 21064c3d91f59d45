"""Profile: what the account says of its person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from flask import Response, request
from flask_babel import format_date, lazy_pgettext
from flask_babel import lazy_gettext as _l

from app.contract import hub as contract
from app.contract.errors import NotAuthenticated
from app.hub import oidc_client
from app.hub.brand import initials
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.services import api
from app.hub.tenancy import Identifier
from app.hub.visit import current_visit
from app.kit.web_addresses import is_web_address


@dataclass(frozen=True)
class Fact:
    """One line of a profile."""

    label: Any
    value: Any
    is_verified: bool | None = None
    """None where there is nothing to verify."""
    is_code: bool = False
    """Drawn left to right in every language: an address, a number."""


@dataclass(frozen=True)
class Group:
    """Lines that belong together."""

    heading: Any
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class ProfilePage(Page):
    """The account as its owner sees it."""

    template = "pages/profile.html"
    scripts = ("language",)
    query = {"landing": 10, "saved": 1}

    name: str
    account: str
    groups: tuple[Group, ...]
    picture: str = ""
    is_landing_refused: bool = False
    """The visitor asked to be sent to an address that is not registered, and landed here instead."""
    is_saved: bool = False
    has_phone: bool = False
    """People sign in with numbers here."""
    has_username: bool = False
    """People sign in with usernames here, or this one has one."""
    has_consents: bool = False
    """The tenant asks for consent, or has a privacy policy that is accepted."""

    @property
    def notice(self) -> Notice | None:
        return Notice(_l("Saved"), tone="ok") if self.is_saved else None

    @property
    def pictures(self) -> tuple[str, ...]:
        return (self.picture,)

    @property
    def letters(self) -> str:
        return initials(self.name or self.account)

    @classmethod
    def samples(cls) -> Mapping[str, ProfilePage]:
        full = (
            Group(
                _l("You"),
                (
                    Fact(_l("First name"), "Ada"),
                    Fact(_l("Last name"), "Lovelace"),
                    Fact(_l("Date of birth"), _day("12/10/1815")),
                    Fact(_l("Language"), "English"),
                ),
            ),
            Group(
                _l("How to reach you"),
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
                (Group(_l("How to reach you"), (Fact(_l("Email"), "ada@example.com", True, True),)),),
            ),
            "after a change": cls("Ada Lovelace", "ada@example.com", full, is_saved=True),
            "after a refused address": cls("Ada Lovelace", "ada@example.com", full, is_landing_refused=True),
        }


def read_own_profile(**more: bool) -> contract.ProfileAnswer | None:
    """Return the signed-in person's profile, with what else of `ProfileRequest` is asked; None where nobody is signed in."""
    if not current_visit().session:
        return None
    try:
        known = api()(contract.profile, contract.ProfileRequest(**more))
    except NotAuthenticated:
        return None
    current_visit().use_account_language(known.person)
    return known


@pages.get("/profile")
def show_profile() -> Response:
    known = read_own_profile()
    if known is None:
        return oidc_client.start_login("/profile")
    tenant = current_visit().tenant
    groups = tuple(group for group in (_you(known.profile), _reach(known), _place(known.profile)) if group.facts)
    picture, named_by = str(known.profile.get("ImageUrl") or ""), tenant.identifiers
    return ProfilePage(
        name=known.person.name or "",
        account=known.person.label,
        groups=groups,
        picture=picture if picture.startswith("https://") and is_web_address(picture) else "",
        is_landing_refused=request.args.get("landing") == "refused",
        is_saved=request.args.get("saved") == "1",
        has_phone=Identifier.PHONE in named_by,
        has_consents=bool(tenant.consent_forms) or tenant.has_privacy_policy,
        has_username=Identifier.USERNAME in named_by or bool(known.profile.get("UserName")),
    ).render()


def _facts(profile: Mapping[str, Any], table: tuple[tuple[str, Any], ...]) -> tuple[Fact, ...]:
    held = ((name, label, profile.get(name)) for name, label in table)
    return tuple(
        Fact(label, _day(value) if name == "BirthDate" else value)
        for name, label, value in held
        if isinstance(value, str) and value
    )


def _day(text: str) -> str:
    """Return a day of the profile (MM/dd/yyyy) in the visitor's language; what is no such day as it is."""
    try:
        return str(format_date(datetime.strptime(text.replace("-", "/"), "%m/%d/%Y").date(), "long"))  # noqa: DTZ007 - a day has no zone
    except ValueError:
        return text


def _you(profile: Mapping[str, Any]) -> Group:
    return Group(_l("You"), _facts(profile, _PERSON))


def _reach(known: contract.ProfileAnswer) -> Group:
    """Each address with whether it is confirmed: the flag of the account speaks of its first one."""
    profile, facts = known.profile, []
    for entry in profile.get("Email") or ():
        if isinstance(entry, dict) and entry.get("Value"):
            is_verified = bool(entry.get("IsVerified", entry.get("Verified", profile.get("EmailVerified"))))
            facts.append(Fact(_l("Email"), str(entry["Value"]), is_verified, is_code=True))
    if known.phone:
        is_verified = bool(profile.get("PhoneIdVerified"))
        facts.append(Fact(_l("Phone number"), known.phone, is_verified, is_code=True))
    if profile.get("UserName"):
        facts.append(Fact(_l("Username"), str(profile["UserName"]), is_code=True))
    return Group(_l("How to reach you"), tuple(facts))


def _place(profile: Mapping[str, Any]) -> Group:
    return Group(_l("Where you are"), _facts(profile, _PLACE))


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
    ("HomeTown", _l("Home town")),
    ("TimeZone", _l("Time zone")),
)
