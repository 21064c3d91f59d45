"""The page after sign-out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.hub.page import Page


@dataclass(frozen=True)
class SignedOutPage(Page):
    """The page after sign-out."""

    template = "pages/signed_out.html"
    scripts = ("language",)

    relying_party: str = ""
    home: str = ""
    """Address of the application; empty if unknown."""

    @classmethod
    def samples(cls) -> Mapping[str, SignedOutPage]:
        return {"alone": cls(), "with a way back": cls("Acme Shop", "https://shop.example.com/")}
