"""You are signed out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.hub.page import Page


@dataclass(frozen=True)
class SignedOutPage(Page):
    """You are signed out."""

    template = "pages/signed_out.html"
    scripts = ("language",)

    relying_party: str = ""
    home: str = ""
    """The way back to the application, where one is known."""

    @classmethod
    def samples(cls) -> Mapping[str, SignedOutPage]:
        return {"alone": cls(), "with a way back": cls("Acme Shop", "https://shop.example.com/")}
