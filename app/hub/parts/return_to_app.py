"""The response at a private-use scheme: a browser stays where it is while the app opens (RFC 8252 section 7.1, decisions/0335)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.hub.page import Page


@dataclass(frozen=True)
class ReturnToAppPage(Page):
    """Opens the app, and says that the window can be closed."""

    template = "pages/return_to_app.html"
    scripts = ()

    address: str
    relying_party: str = ""

    @classmethod
    def samples(cls) -> Mapping[str, ReturnToAppPage]:
        address = "com.example.shop:/callback?code=c0de&state=5tate"
        return {"to an app": cls(address, "Acme Shop"), "to an app without a name": cls(address)}


def opens_app(address: str | None) -> bool:
    """Return whether an address is at a private-use scheme, where a browser shows no page."""
    return bool(address) and urlsplit(str(address)).scheme not in ("", "http", "https")
