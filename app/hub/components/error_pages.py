"""Error pages: each names the error, who can fix it, and links to the next page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.countdown import retry_text
from app.hub.rendering.page import Page
from app.hub.web.visit import FAILED_REFERENCE


@dataclass(frozen=True)
class Explanation:
    """Heading and text of an error."""

    heading: Any
    text: Any


_UNREADABLE: Final = Explanation(
    _l("Something’s wrong with this request"),
    _l("Go back, reload the page and try again."),
)
_BY_STATUS: Final = {
    400: _UNREADABLE,
    422: _UNREADABLE,
    403: Explanation(
        _l("You don’t have access"),
        _l("You may be signed in to the wrong account. Sign in with another one, or ask for access."),
    ),
    404: Explanation(
        _l("Page not found"),
        _l("It may have moved. Check the address for typos, or start again from the home page."),
    ),
    405: Explanation(_l("This link doesn’t work here"), _l("Go back and use the button on the page.")),
    413: Explanation(_l("Request too large"), _l("Go back and try again with less text.")),
    429: Explanation(_l("Too many attempts"), _l("Try again in a minute.")),
    503: Explanation(
        _l("We’ll be right back"),
        _l("Something isn’t responding on our side. Try again in a moment."),
    ),
}
_BROKEN: Final = Explanation(
    _l("Something went wrong"),
    _l("The problem is on our side, and we’ve logged it. Go back and try again in a moment."),
)


class RequestError:
    """Errors in an application's request, which the visitor cannot mend."""

    UNKNOWN_APPLICATION: Final = Explanation(
        _l("App not found"),
        _l("This link is for an app that isn’t registered here. Contact the app’s support team."),
    )
    WRONG_URL: Final = Explanation(
        _l("We can’t send you back"),
        _l("The app’s return address isn’t registered, so we stopped here to protect your account."),
    )
    BAD_REQUEST: Final = Explanation(
        _l("The app’s request is incomplete"),
        _l("Go back to the app and try again. If it keeps happening, contact the app’s support team."),
    )
    NO_PROVIDER: Final = Explanation(
        _l("Sign-in method unavailable"),
        _l("This link leads to a provider that isn’t available here. Sign in another way."),
    )
    SIGN_IN_FAILED: Final = Explanation(_l("Sign-in didn’t finish"), _l("We couldn’t verify the response. Start over."))


PREVIEW_ENDED: Final = Explanation(
    _l("Preview link expired"),
    _l("Preview links work for 24 hours. Ask for a new one, or create one with “gatehouse theme preview-link”."),
)
"""The preview of a theme expired, or never existed: the page does not tell which."""
_UNKNOWN_CLIENT: Final = "invalid_client: acme has no active application with the client_id 489d342c."
_UNREGISTERED_URL: Final = (
    "invalid_request: The redirect_uri http://localhost:5001/callback is not registered for this application "
    "(desk, client_id 489d342c-1df6-4cde-a5a8-93fc4f8bc0a2). Add it to its redirect_uris, exactly as it is sent."
)


@dataclass(frozen=True)
class ErrorPage(Page):
    """An error with its reference, which the log line has too, and a link back."""

    template = "components/error.html"
    required_blocks = frozenset({"lead"})
    scripts = ("language", "copy")
    own_rules = ("typed", "error")
    query = {**Page.query, "client_id": 128, "redirect_uri": 500, "code": 40, FAILED_REFERENCE: 64}

    explanation: Explanation
    status: int = 500
    reference: str = ""
    relying_party: str = ""
    home: str = ""
    """Address of the application; empty if unknown."""
    detail: str = ""
    """The protocol's error and its description, for the application's developers: plain text, because a request is repeated in it."""
    again: str = ""
    """Address of "try again"; empty if that cannot help."""
    has_no_tenant: bool = False
    """Whether no tenant is known, and so no login page."""
    wait_seconds: int = 0
    """Seconds until the next try; 0 if unknown."""

    @property
    def text(self) -> Any:
        """What to do: wait, where the error says how long."""
        return retry_text(self.wait_seconds) if self.wait_seconds else self.explanation.text

    @property
    def has_error(self) -> bool:
        return True

    @classmethod
    def of(cls, status: int, **more: Any) -> ErrorPage:
        """Return the page for an HTTP status."""
        return cls(_BY_STATUS.get(status, _BROKEN), status, **more)

    @classmethod
    def samples(cls) -> Mapping[str, ErrorPage]:
        back: dict[str, Any] = {
            "relying_party": "Acme Shop",
            "home": "https://shop.example.com/",
            "reference": "7KQF-M2XD",
        }
        return {
            **{str(status): cls.of(status, reference="7KQF-M2XD") for status in (400, 403, 404, 405, 413, 429, 500)},
            "429 for a while": cls.of(429, reference="7KQF-M2XD", again="/login", wait_seconds=40),
            "503": cls.of(503, reference="7KQF-M2XD", again="/login"),
            "500 with a way back": cls.of(500, **back),
            "unknown application": cls(RequestError.UNKNOWN_APPLICATION, 400, "7KQF-M2XD", detail=_UNKNOWN_CLIENT),
            "address not registered": cls(RequestError.WRONG_URL, 400, detail=_UNREGISTERED_URL, **back),
            "incomplete request": cls(RequestError.BAD_REQUEST, 400, detail="invalid_request", **back),
            "no such provider": cls(RequestError.NO_PROVIDER, 403, "7KQF-M2XD", detail="1223", again="/login"),
            "preview ended": cls(PREVIEW_ENDED, 404, "7KQF-M2XD"),
            "sign-in did not finish": cls(RequestError.SIGN_IN_FAILED, 400, "7KQF-M2XD", again="/profile"),
        }


@dataclass(frozen=True)
class StartAgainPage(Page):
    """The interaction is gone; links to the application that started it, if known."""

    template = "components/start_again.html"
    scripts = ("language",)

    relying_party: str = ""
    home: str = ""
    reference: str = ""
    """The request's reference after a provider's callback; empty otherwise."""

    @classmethod
    def samples(cls) -> Mapping[str, StartAgainPage]:
        return {
            "alone": cls(),
            "for an application": cls("Acme Shop", "https://shop.example.com/login"),
            "after a provider": cls(reference="7KQF-M2XD"),
        }


@dataclass(frozen=True)
class CookiesBlockedPage(Page):
    """The browser sends no cookie back, so no sign-in can work; it links to the page to try again."""

    template = "components/cookies_blocked.html"
    scripts = ("language",)

    again: str = "/login"
    reference: str = ""
    """The request's reference after a provider's callback; empty otherwise."""

    @property
    def has_error(self) -> bool:
        return True

    @classmethod
    def samples(cls) -> Mapping[str, CookiesBlockedPage]:
        return {"blocked": cls(), "after a provider": cls(reference="BCDF-GHJK-LMNP")}


@dataclass(frozen=True)
class UnknownTenantPage(Page):
    """No tenant has this host. Other tenants are not named."""

    template = "components/unknown_tenant.html"
    scripts = ("language",)

    host: str

    @property
    def has_error(self) -> bool:
        return True

    @classmethod
    def samples(cls) -> Mapping[str, UnknownTenantPage]:
        return {"unknown": cls("amce.example.com")}
