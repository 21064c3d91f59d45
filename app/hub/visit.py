"""What the hub knows of the visit being served: the tenant, the browser, the attempt."""

from __future__ import annotations

from dataclasses import dataclass, field

from flask import g, has_app_context, has_request_context, request  # noqa: TID251 - this is the one place that keeps the visit

from app.hub.attempt import Attempt
from app.hub.locale import Language, accepted, negotiate, speak
from app.hub.tenancy import HOUSE, Tenant
from app.kit import randomness


@dataclass
class Visit:
    """One request of one browser."""

    tenant: Tenant = HOUSE
    attempt: Attempt | None = None
    binding: str = ""
    """The secret that ties forms to this browser; empty when the browser brought none."""
    nonce: str = field(default_factory=lambda: randomness.token(12))
    """Marks this answer's own style and scripts for the browser (CSP)."""
    account_language: str = ""
    """What the signed-in account prefers, when a page has learnt it."""
    chosen_language: str = ""
    """What the person clicked in this very request."""

    @property
    def binding_secret(self) -> str:
        """The attempt's binding secret where there is an attempt, else the browser's."""
        return self.attempt.binding if self.attempt else self.binding

    def choose_language(self, cookie: str = "") -> Language:
        """Settle in which language this visit speaks.

        The order is hosted-pages.md §7: what was clicked, the relying party's `ui_locales` (a click within the attempt
        replaces it), the last click in this browser, the account, the browser's languages, the tenant.
        """
        wishes = (
            [self.chosen_language],
            self.attempt.languages if self.attempt else (),
            [cookie],
            [self.account_language],
            accepted(request.headers.get("Accept-Language", "")) if has_request_context() else (),
        )
        language = negotiate(wishes, self.tenant.languages)
        speak(language)
        return language


def current() -> Visit:
    """Return the visit being served; outside of a request a fresh one at the house."""
    if not has_app_context():
        return Visit()
    if "visit" not in g:
        g.visit = Visit()
    visit: Visit = g.visit
    return visit


def begin(visit: Visit) -> Visit:
    """Make this the visit of the request."""
    g.visit = visit
    return visit
