"""What the hub knows of the visit being served: the tenant, the browser, the attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from flask import g, has_app_context, has_request_context, request  # noqa: TID251 - this is the one place that keeps the visit

from app.contract.hub import PersonView, Session
from app.contract.visit import Visit as SignedVisit
from app.hub import locale
from app.hub.interaction import Interaction
from app.hub.locale import Language, negotiate, parse_accept_language, use_language
from app.hub.tenancy import NO_TENANT, Tenant
from app.kit import randomness, request_ids

RETURN_FROM_PROVIDER: Final = "/socialauth/validate.sauth"
"""Redirect address of upstream providers; its `state` starts with the interaction's id (interface federation.md §12)."""


@dataclass
class Visit:
    """One request of one browser."""

    tenant: Tenant = NO_TENANT
    interaction: Interaction | None = None
    host: str = ""
    scheme: str = "http"
    address: str = ""
    session: str = ""
    """The browser session's cookie; empty where nobody is signed in."""
    trusted: str = ""
    """The cookie of a browser that is not asked for a second factor."""
    renewed: Session | None = None
    """The cookie under which the session goes on from here, where it has changed."""
    binding: str = ""
    """The secret that ties forms without an attempt to this browser."""
    is_binding_new: bool = False
    nonce: str = field(default_factory=lambda: randomness.token(12))
    """Marks this answer's own style and scripts for the browser (CSP)."""
    chosen_language: str = ""
    """What the person clicked in this very request."""
    cookie_language: str = ""
    """What was clicked last in this browser."""
    account_language: str = ""
    """What the signed-in account speaks, once the identity service said who that is."""
    costs: list[str] = field(default_factory=list)
    """What the calls of this visit cost, where the service says so."""

    @cached_property
    def reference(self) -> str:
        """The id of the request: error pages show it, log lines and audit rows of both wings bear it."""
        held = request.environ.get(request_ids.ENVIRON) if has_request_context() else None
        return held or request_ids.new()

    @property
    def binding_secret(self) -> str:
        """The attempt's binding secret where there is an attempt, else the browser's."""
        if self.interaction:
            return self.interaction.binding
        if not self.binding:
            self.binding, self.is_binding_new = randomness.token(18), True
        return self.binding

    @property
    def interaction_id(self) -> str | None:
        return self.interaction.id if self.interaction else None

    @property
    def relying_party(self) -> str:
        """Name of the application that asked for the sign-in; empty outside of an interaction."""
        return self.interaction.relying_party if self.interaction else ""

    def signed(self) -> SignedVisit:
        """Return the visit as the identity service is told of it."""
        return SignedVisit(
            host=self.host,
            scheme=self.scheme,
            session=self.session or None,
            trusted=self.trusted or None,
            binding=self.interaction.binding if self.interaction else None,
            address=self.address,
            agent=request.headers.get("User-Agent", "")[:400],
            languages=request.headers.get("Accept-Language", "")[:200],
            language=locale.current_language().tag,
            reference=self.reference,
        )

    def renew(self, session: Session | None) -> None:
        """Go on under another cookie, which the answer gives the browser; None: under the same."""
        if session is not None:
            self.session, self.renewed = session.token, session

    def use_account_language(self, person: PersonView | None) -> None:
        """Take note of who is signed in: from here on the account's language counts."""
        if person is not None and person.language:
            self.account_language = person.language
            self.choose_language()

    def choose_language(self) -> Language:
        """Settle in which language this visit speaks.

        The order is hosted-pages.md §7: what was clicked, the relying party's `ui_locales` (a click within the attempt
        replaces it), the last click in this browser, the account, the browser's languages, the tenant.
        """
        wishes = (
            [self.chosen_language],
            self.interaction.languages if self.interaction else (),
            [self.cookie_language],
            [self.account_language],
            parse_accept_language(request.headers.get("Accept-Language", "")) if has_request_context() else (),
        )
        language = negotiate(wishes, self.tenant.languages)
        use_language(language)
        return language


def current_visit() -> Visit:
    """Return the visit being served; outside of a request a fresh one at the house."""
    if not has_app_context():
        return Visit()
    kept = g._get_current_object()  # each look through the proxy costs a look-up of its own
    if "visit" not in kept:
        kept.visit = Visit()
    visit: Visit = kept.visit
    return visit


def set_current_visit(visit: Visit) -> Visit:
    """Make this the visit of the request."""
    g.visit = visit
    return visit


def requested_interaction_id() -> str:
    """Return the interaction that the address or the form names; another browser may have started it."""
    if request.path == RETURN_FROM_PROVIDER:
        return request.args.get("state", "").partition(".")[0]
    return request.args.get("attempt") or (request.form.get("attempt", "") if request.method == "POST" else "")


def interaction_address(path: str) -> str:
    """Return the address of a page, within the interaction of the visit if there is one."""
    interaction = current_visit().interaction
    return f"{path}?attempt={interaction.id}" if interaction else path


def retry_address() -> str:
    """Return the address to try again at: this one where it was only looked at, else the page of the form."""
    if not has_request_context():
        return "/"
    path = "/" + request.path.lstrip("/\\")  # never an address of another host
    attempt = current_visit().interaction
    if request.method == "POST":
        return f"{path}?attempt={attempt.id}" if attempt else path
    return f"{path}?{request.query_string.decode('latin-1')}" if request.query_string else path
