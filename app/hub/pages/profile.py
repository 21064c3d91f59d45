"""Profile: what the account says of its person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask_babel import lazy_gettext as _l

from app.hub.brand import initials
from app.hub.page import Page


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

    name: str
    account: str
    groups: tuple[Group, ...]
    picture: str = ""
    is_landing_refused: bool = False
    """The visitor asked to be sent to an address that is not registered, and landed here instead."""

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
                    Fact(_l("Date of birth"), "10.12.1815"),
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
            "full": cls("Ada Lovelace", "ada@example.com", full),
            "bare": cls("", "ada@example.com", (Group(_l("How to reach you"), (Fact(_l("Email"), "ada@example.com", True, True),)),)),
            "after a refused address": cls("Ada Lovelace", "ada@example.com", full, is_landing_refused=True),
        }
