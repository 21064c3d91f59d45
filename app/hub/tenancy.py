"""Which tenant a host is: its look, its languages and what its people sign in with."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.hub.brand import Brand


class Identifier(StrEnum):
    """What an account may be named by when it signs in."""

    EMAIL = "email"
    USERNAME = "username"
    PHONE = "phone"


@dataclass(frozen=True, slots=True)
class Tenant:
    """What the pages know of a tenant; a copy of its configuration at one version."""

    name: str
    """The first label of its host; empty for the house itself, where no tenant is known."""
    brand: Brand
    languages: tuple[str, ...] = ("en", "de", "ar")
    """BCP 47 tags that its pages speak, the default first."""
    identifiers: tuple[Identifier, ...] = (Identifier.EMAIL,)
    has_remember_me: bool = True


HOUSE: Final = Tenant(name="", brand=Brand(name="Gatehouse"))
"""Stands in where no tenant is known: an unknown host, a service that does not answer."""
