"""The responses to an application that are pages: `response_mode=form_post`, and those at a private-use scheme (decision 0335)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.hub.rendering.page import Page
from app.kit.web.urls import origin_of


@dataclass(frozen=True)
class FormPostPage(Page):
    """Posts the authorization response to the application (OAuth 2.0 Form Post Response Mode), or a SAML message to a provider."""

    template = "components/form_post.html"
    scripts = ("onward",)

    address: str
    parameters: tuple[tuple[str, str], ...]
    relying_party: str = ""
    provider: str = ""
    """The name of the provider that the form goes to; empty for an application."""
    frames: tuple[str, ...] = ()
    """As of the page after a sign-out, which this one stands in for where the sign-out goes on by a form."""

    @property
    def run(self) -> tuple[str, ...]:
        """No script beside the frames of other sites, which need time to load: the person goes on by the button."""
        return () if self.frames else self.scripts

    @property
    def frame_sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, map(origin_of, self.frames))))

    @property
    def form_targets(self) -> tuple[str, ...]:
        """The application's origin, and its scheme for the application's own redirect."""
        return (origin_of(self.address), f"{self.address.partition(':')[0].lower()}:")

    @classmethod
    def samples(cls) -> Mapping[str, FormPostPage]:
        request = ("https://idp.globex.example/sso", (("SAMLRequest", "PHg+"),))
        return {
            "to a provider": cls(*request, provider="Globex Gardens"),
            "to a provider after a sign-out": cls(
                *request, provider="Globex Gardens", frames=("https://shop.example.com/out?iss=x&sid=y",)
            ),
            "to the shop": cls(
                "https://shop.example.com/callback", (("code", "c0de"), ("state", "5tate")), "Acme Shop"
            ),
        }


@dataclass(frozen=True)
class ReturnToAppPage(Page):
    """Opens the app, and says that the window can be closed: the browser stays where it is (RFC 8252 section 7.1)."""

    template = "components/return_to_app.html"
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
