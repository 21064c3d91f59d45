"""The page of a tenant that does not allow self-registration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Response

from app.hub.rendering.page import Page
from app.hub.web.visit import current_visit


@dataclass(frozen=True)
class RegistrationOffPage(Page):
    """The tenant does not allow self-registration."""

    template = "pages/registration/registration_off.html"
    scripts = ("language",)
    scripted_at = {"/register": frozenset()}

    relying_party: str = ""

    @property
    def help(self) -> str:
        """The tenant's support address; empty if it has none."""
        return dict(current_visit().brand.links).get("help", "")

    @classmethod
    def samples(cls) -> Mapping[str, RegistrationOffPage]:
        return {"alone": cls(), "for an application": cls("Acme Shop")}


def registration_off() -> Response:
    """Return the page."""
    return RegistrationOffPage(current_visit().relying_party).render(403)
