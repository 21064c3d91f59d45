"""The response for `response_mode=form_post`: a form that submits itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.hub.page import Page
from app.kit.web_addresses import origin


@dataclass(frozen=True)
class FormPostPage(Page):
    """Posts the authorization response to the application (OAuth 2.0 Form Post Response Mode)."""

    template = "pages/form_post.html"
    scripts = ("onward",)

    address: str
    parameters: tuple[tuple[str, str], ...]
    relying_party: str = ""

    @property
    def form_targets(self) -> tuple[str, ...]:
        """The application's origin, and its scheme for the application's own redirect."""
        return (origin(self.address), f"{self.address.partition(':')[0].lower()}:")

    @classmethod
    def samples(cls) -> Mapping[str, FormPostPage]:
        return {
            "to the shop": cls("https://shop.example.com/callback", (("code", "c0de"), ("state", "5tate")), "Acme Shop")
        }
