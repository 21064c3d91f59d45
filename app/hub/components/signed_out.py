"""The page after sign-out. It loads the front-channel addresses of the session's applications in frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from flask import Response
from werkzeug.urls import iri_to_uri

from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Page
from app.kit.web.urls import origin_of

_WAIT_SECONDS: Final = 4
"""How long the frames may load before the browser goes on to the application."""


class SignOutForm(HubForm):
    """The button that signs out of every account of the browser."""


@dataclass(frozen=True)
class SignedOutPage(Page):
    """The page after sign-out."""

    template = "components/signed_out.html"
    scripts = ("language",)
    scripted_at = {"/logout": frozenset()}

    relying_party: str = ""
    home: str = ""
    """Address of the application; empty if unknown."""
    frames: tuple[str, ...] = ()
    """Addresses that end the sessions of applications (OpenID Connect Front-Channel Logout 1.0 section 2)."""
    onward: str = ""
    """The address that the browser opens after the frames' time limit; empty: it stays on the page."""
    accounts: tuple[str, ...] = ()
    """The labels of the accounts that the browser is still signed in to."""
    form: SignOutForm = field(default_factory=SignOutForm)

    @property
    def run(self) -> tuple[str, ...]:
        """No script beside the frames of other sites."""
        return () if self.frames else self.scripts

    @property
    def shows_secret(self) -> bool:
        """Frames name sessions, further accounts stand there by name, and an application says where the person has an account; an
        empty form is on no page.
        """
        return bool(self.frames or self.onward or self.accounts or self.relying_party or self.home)

    @property
    def frame_sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, map(origin_of, self.frames))))

    def render(self, status: int = 200) -> Response:
        """Return the page; the browser goes on by itself, without JavaScript, and a link does so at once."""
        response = super().render(status)
        if self.onward:
            response.headers["Refresh"] = f"{_WAIT_SECONDS};url={iri_to_uri(self.onward)}"
        return response

    @classmethod
    def samples(cls) -> Mapping[str, SignedOutPage]:
        home, frames = "https://shop.example.com/", ("https://shop.example.com/out?iss=x&sid=y",)
        return {
            "alone": cls(),
            "with a way back": cls("Acme Shop", home),
            "ends other sessions": cls("Acme Shop", home, frames),
            "leaves other accounts": cls("Acme Shop", home, accounts=("ada@example.com", "grace@example.com")),
            "goes on to a page": cls(frames=frames, onward="/choose-account?attempt=1"),
            "goes back to the application": cls("Acme Shop", home, frames, home),
        }
