"""Error pages. Each says what happened, who can mend it, and links to a way on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask_babel import lazy_gettext as _l

from app.hub.page import Page


@dataclass(frozen=True)
class Explanation:
    """Heading and text of an error."""

    heading: Any
    text: Any


_UNREADABLE: Final = Explanation(
    _l("We could not read that"),
    _l("It does not look like what our pages send. Go back, reload the page and try again."),
)
_BY_STATUS: Final = {
    400: _UNREADABLE,
    422: _UNREADABLE,
    403: Explanation(
        _l("This is not open to you"), _l("You may be signed in with another account than the one it belongs to.")
    ),
    404: Explanation(_l("There is nothing here"), _l("The address may be old, or a letter in it may be wrong.")),
    405: Explanation(
        _l("This address works differently"), _l("It cannot be opened in that way. Go back and use the button there.")
    ),
    413: Explanation(_l("That was too much"), _l("What was sent is larger than anything this page needs.")),
    429: Explanation(_l("That was a lot at once"), _l("Wait a minute, then try again.")),
    503: Explanation(
        _l("We will be right back"),
        _l("Something behind this page does not answer. It is not you; try again in a moment."),
    ),
}
_BROKEN: Final = Explanation(
    _l("Something broke on our side"),
    _l("It is not you, and we have a note of it. Going back and trying once more often helps."),
)


class RequestError:
    """Errors in an application's request, which the visitor cannot mend."""

    UNKNOWN_APPLICATION: Final = Explanation(
        _l("We do not know this application"),
        _l(
            "The link that brought you here names an application that is not registered. Tell those who gave you the link."
        ),
    )
    WRONG_ADDRESS: Final = Explanation(
        _l("We cannot send you back"),
        _l(
            "The application asked us to send you to an address that is not registered for it. To be safe we stop here."
        ),
    )
    BAD_REQUEST: Final = Explanation(
        _l("The application's request is incomplete"),
        _l("Go back to the application and start there once more. If it stays like this, tell its makers."),
    )
    NO_PROVIDER: Final = Explanation(
        _l("That way to sign in is not set up"),
        _l("The link that brought you here leads to a provider that cannot be used here. Sign in another way."),
    )
    SIGN_IN_FAILED: Final = Explanation(
        _l("Signing in did not finish"), _l("The answer did not fit what this browser had asked for. Start once more.")
    )


@dataclass(frozen=True)
class ErrorPage(Page):
    """An error with its reference, which the log line has too, and a link back."""

    template = "pages/error.html"
    scripts = ("language",)
    query = {**Page.query, "client_id": 128, "redirect_uri": 500, "code": 40}

    explanation: Explanation
    status: int = 500
    reference: str = ""
    relying_party: str = ""
    home: str = ""
    """Address of the application; empty if unknown."""
    detail: str = ""
    """The protocol's error code, for the application's developers."""
    again: str = ""
    """Address of "try again"; empty if that cannot help."""
    has_no_tenant: bool = False
    """Whether no tenant is known, and so no login page."""

    @property
    def has_problem(self) -> bool:
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
            "503": cls.of(503, reference="7KQF-M2XD", again="/login"),
            "500 with a way back": cls.of(500, **back),
            "unknown application": cls(RequestError.UNKNOWN_APPLICATION, 400, "7KQF-M2XD", detail="invalid_client"),
            "address not registered": cls(RequestError.WRONG_ADDRESS, 400, detail="redirect_uri", **back),
            "incomplete request": cls(RequestError.BAD_REQUEST, 400, detail="invalid_request", **back),
            "no such provider": cls(RequestError.NO_PROVIDER, 403, "7KQF-M2XD", detail="1223", again="/login"),
            "sign-in did not finish": cls(RequestError.SIGN_IN_FAILED, 400, "7KQF-M2XD", again="/profile"),
        }


@dataclass(frozen=True)
class StartAgainPage(Page):
    """The interaction is gone; links to the application that started it, if known."""

    template = "pages/start_again.html"
    scripts = ("language",)

    relying_party: str = ""
    home: str = ""

    @classmethod
    def samples(cls) -> Mapping[str, StartAgainPage]:
        return {"alone": cls(), "for an application": cls("Acme Shop", "https://shop.example.com/login")}


@dataclass(frozen=True)
class UnknownTenantPage(Page):
    """No tenant has this host. Other tenants are not named."""

    template = "pages/unknown_tenant.html"
    scripts = ("language",)

    host: str

    @property
    def has_problem(self) -> bool:
        return True

    @classmethod
    def samples(cls) -> Mapping[str, UnknownTenantPage]:
        return {"unknown": cls("amce.example.com")}
