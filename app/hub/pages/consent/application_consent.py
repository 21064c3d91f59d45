"""The consent page for applications."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from flask import Response

from app.contract.auth import INTERFACE_SCOPES
from app.contract.oauth.models import RelyingPartyView
from app.contract.oauth.pages import authorization_pages
from app.contract.sessions.pages import account_choice_pages
from app.contract.sessions.pages.account_choice_pages import SwitchAccountRequest
from app.contract.steps import ConsentStep
from app.hub import journey
from app.hub.components.authorization_details import SAMPLE_PAYMENT, Detail
from app.hub.pages import pages
from app.hub.rendering.form import HubForm
from app.hub.rendering.formatting import DEFAULT_SCOPES, Scope
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials, tone_of
from app.hub.web.cookies import set_interaction_cookie
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.web.proxies import hostname_of, is_local
from app.kit.web.urls import host_of


class ApplicationConsentForm(HubForm):
    """Two buttons named `decision`, with the values `allow` and `deny`.

    An optional scope has a checkbox `keep.SCOPE`, and `optional` lists them all.
    """

    def to_request(self) -> authorization_pages.ConsentRequest:
        visit = current_visit()
        optional = visit.form.get("optional", "").split()[:100]
        return authorization_pages.ConsentRequest(
            interaction_id=visit.interaction_id or "",
            allow=visit.form.get("decision") == "allow",
            account=visit.form.get("account", "")[:64],
            refused=[name[:100] for name in optional if f"keep.{name}" not in visit.form],
        )


class SwitchForm(HubForm):
    """Switches the account."""

    def to_request(self) -> SwitchAccountRequest:
        visit = current_visit()
        return SwitchAccountRequest(
            interaction_id=visit.interaction_id or "",
            account=visit.form.get("account", "")[:64],
            chooses="choose" in visit.form,
        )


_LOGO: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 56 56'%3E%3Crect width='56' height='56' rx='14'"
    " fill='%231f1c17'/%3E%3Ctext x='28' y='37' font-family='Georgia,serif' font-size='26' fill='%23f6efe2'"
    " text-anchor='middle'%3EP%3C/text%3E%3C/svg%3E"
).replace(" ", "%20")
"""A sample of an application's logo."""


_LOOPBACK: Final = ("127.0.0.1", "[::1]")


@dataclass(frozen=True)
class ConsentPage(Page):
    """Asks to allow or deny the scopes."""

    template = "pages/consent/application_consent.html"
    required_blocks = frozenset({"lead"})
    own_rules = ("scopes",)

    form: ApplicationConsentForm
    relying_party: str
    account: str
    """The label of the account."""
    scopes: tuple[Scope, ...]
    """The scopes that the application does not have yet."""
    granted: tuple[Scope, ...] = ()
    """The scopes that the application has already."""
    details: tuple[Detail, ...] = ()
    logo: str = ""
    home: str = ""
    """The host of the application, since its name alone could be spoofed."""
    policy: str = ""
    """Address of the application's privacy notice."""
    terms: str = ""
    """Address of the application's terms."""
    person_name: str = ""
    """What the profile scope shows first: the full name; empty if the account has none."""
    uid: str = ""
    """The id of the account that answers; the service refuses the answer of another account."""
    destination: str = ""
    """The host, or the private-use scheme, that gets the response of a dynamically registered application."""

    @property
    def opens_scheme(self) -> bool:
        """Whether the response opens the app of a private-use scheme, which the page then names."""
        return self.destination.endswith(":")

    @property
    def is_on_device(self) -> bool:
        """Whether an app on this device gets the response: its name is not verified."""
        return self.opens_scheme or is_local(host := self.destination) or hostname_of(host) in _LOOPBACK

    @property
    def pictures(self) -> tuple[str, ...]:
        return (self.logo,)

    @property
    def initials(self) -> str:
        return initials(self.account)

    @property
    def tone(self) -> str:
        return tone_of(self.relying_party, beside=current_visit().brand.colour)

    @classmethod
    def samples(cls) -> Mapping[str, ConsentPage]:
        scopes = tuple(Scope(name) for name in ("openid", "profile", "email"))
        access = tuple(Scope(name) for name in INTERFACE_SCOPES)
        special = (*scopes, Scope("offline_access"), Scope("orders", "See what you ordered in the last 12 months"))
        policy, terms = "https://shop.example.com/privacy", "https://shop.example.com/terms"
        shop, ink = partial(cls, ApplicationConsentForm(), "Acme Shop", "ada@example.com"), "paperandink.example"
        known = partial(shop, home="shop.example.com", person_name="Ada Lovelace")
        device = partial(
            cls, ApplicationConsentForm(), "Code Editor", "ada@example.com", destination="com.example.editor:"
        )
        calendar = partial(cls, ApplicationConsentForm(), "Calendar", "ada@example.com", destination="calendar.example")
        optional = (Scope("openid"), *(Scope(name, is_optional=True) for name in ("profile", "email", "phone")))
        return {
            "default": known(scopes, policy=policy, terms=terms),
            "with a logo": cls(
                ApplicationConsentForm(), "Paper & Ink", "ada@example.com", scopes, logo=_LOGO, home=ink
            ),
            "to know who it is": known(DEFAULT_SCOPES),
            "with access to the account": shop((*scopes, *access)),
            "with roles": shop((*scopes, Scope("roles"), Scope("permissions"))),
            "with optional scopes": known(optional),
            "for more access": shop((Scope("address"), Scope("phone")), scopes, policy=policy, terms=terms),
            "for a payment": known((), scopes, (Detail(SAMPLE_PAYMENT),)),
            "self-registered": calendar(scopes, policy=policy, terms=terms),
            "described by a document": cls(
                ApplicationConsentForm(),
                "Code Editor",
                "ada@example.com",
                scopes,
                home="editor.example",
                destination="127.0.0.1:33418",
            ),
            "self-registered on the device": device(scopes),
            "self-registered with a short scheme": device(scopes, destination="cursor:"),
            "with scopes of its own": shop(special),
        }


@pages.get("/consent")
def show_consent() -> Response:
    response = journey.present_step()
    if not isinstance(response.step, ConsentStep):
        return journey.follow(response)
    return _page(ApplicationConsentForm(), response.step, response.relying_party).render()


@pages.post("/consent")
def submit_consent() -> Response:
    journey.require_interaction()
    form = ApplicationConsentForm()
    if not form.validate():
        response = journey.present_step()
        if not isinstance(response.step, ConsentStep):
            return journey.follow(response)
        return _page(form, response.step, response.relying_party).render(form.error_status)
    return journey.follow(api()(authorization_pages.consent, form.to_request()))


@pages.post("/switch-account")
def switch_account() -> Response:
    """Continue the interaction with another account: on the page that chooses one, or with a sign-in after the session's end."""
    visit, form = current_visit(), SwitchForm()
    journey.refuse_unknown_interaction()
    if visit.interaction is None or not form.validate():
        return redirect_to("/consent?attempt=" + visit.interaction.id if visit.interaction else "/logout")
    response = journey.follow(api()(account_choice_pages.switch_account, form.to_request()))
    set_interaction_cookie(response, replace(visit.interaction, hint=""))  # the hint named the previous account
    return response


def _host(relying_party: RelyingPartyView) -> str:
    if relying_party.is_self_registered:
        return relying_party.document_host or ""
    return host_of(relying_party.home)


def _destination(relying_party: RelyingPartyView) -> str:
    origin = relying_party.redirect_origin or ""
    return host_of(origin) or origin


def _page(form: ApplicationConsentForm, step: ConsentStep, application: RelyingPartyView | None) -> ConsentPage:
    current_visit().use_account_language(step.person)
    relying_party = application or RelyingPartyView(name="", client_id="")
    shown = [(scope, Scope(scope.name, scope.description or "", scope.is_optional)) for scope in step.scopes]
    requested = tuple(scope for item, scope in shown if not item.is_granted)
    granted = tuple(scope for item, scope in shown if item.is_granted)
    return ConsentPage(
        form,
        relying_party=relying_party.name,
        account=step.person.label if step.person else "",
        person_name=(step.person.name or "") if step.person else "",
        uid=step.person.uid if step.person else "",
        scopes=requested or (() if granted or step.details else DEFAULT_SCOPES),
        granted=granted,
        details=tuple(Detail(detail) for detail in step.details),
        logo=relying_party.logo or "",
        home=_host(relying_party),
        policy=relying_party.policy or "",
        terms=relying_party.terms or "",
        destination=_destination(relying_party) if relying_party.is_self_registered else "",
    )
