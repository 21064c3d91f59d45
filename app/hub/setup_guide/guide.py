"""What the pages of the set-up guide have in common: the session's cookie, the steps, and samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, Final

from flask import Response

from app.contract import errors
from app.contract.organizations import setup_operations
from app.contract.organizations.pages.domain_pages import OwnDomain
from app.contract.organizations.setup_operations import (
    SetupClaim,
    SetupField,
    SetupGuide,
    SetupInstruction,
    SetupProduct,
    SetupTrial,
)
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_pgettext
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Page
from app.hub.web.cookies import delete_cookie
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit

START: Final = setup_operations.PAGE
RENEWAL: Final = f"{START}/certificate"
_MAX_SESSION: Final = 100
STEPS: Final = {
    "domain": lazy_pgettext("setup step", "Domain"),
    "provider": lazy_pgettext("setup step", "Provider"),
    "connection": lazy_pgettext("setup step", "Connection"),
    "test": lazy_pgettext("setup step", "Test"),
    "activate": lazy_pgettext("setup step", "Activate"),
}
"""The steps in their order: the end of each one's address, and its name."""
View = Callable[..., Response]


@dataclass(frozen=True)
class StepLink:
    """A step in the list above a page."""

    title: Any
    address: str
    is_done: bool
    is_current: bool
    is_open: bool
    """Whether it can be opened: every step before it is done."""


@dataclass(frozen=True)
class SetupPage(Page):
    """A page of the guide."""

    scripts = (*Page.scripts, "copy")
    own_rules = ("guide",)
    query = {}
    step: ClassVar[str]

    form: HubForm
    guide: SetupGuide

    @property
    def steps(self) -> list[StepLink]:
        done = done_steps(self.guide)
        first = next((name for name in STEPS if name not in done), "")
        return [
            StepLink(title, address_of(name), name in done, name == self.step, name in done or name == first)
            for name, title in STEPS.items()
        ]

    @property
    def position(self) -> int:
        """The number of the step, from 1."""
        return list(STEPS).index(self.step) + 1


def address_of(step: str) -> str:
    return f"{START}/{step}"


def done_steps(guide: SetupGuide) -> set[str]:
    """Return the names of the steps that are done."""
    is_tried = guide.trial is not None and guide.trial.is_accepted
    states = {
        "domain": bool(guide.domain) or guide.skips_domain,
        "provider": guide.product is not None,
        "connection": guide.is_configured,
        "test": guide.is_configured and is_tried,
        "activate": guide.is_completed,
    }
    return {name for name, is_done in states.items() if is_done}


def session() -> str:
    """Return the session in the browser's cookie; empty if there is none."""
    return current_visit().cookies.get(services().setup_cookie, "")[:_MAX_SESSION]


def read() -> SetupGuide:
    """Return the guide of the browser's session. Raises SetupSessionOver."""
    if not session():
        raise errors.SetupSessionOver
    return api()(setup_operations.read_guide, setup_operations.SetupSession(session=session()))


def go_on(guide: SetupGuide | None = None) -> Response:
    """Redirect to the first step that is not done; to the last one where all are. The session of a renewal has one page."""
    shown = guide or read()
    if shown.renews:
        return redirect_to(RENEWAL)
    done = done_steps(shown)
    return redirect_to(address_of(next((name for name in STEPS if name not in done), "activate")))


def step_view(step: str) -> Callable[[View], View]:
    """Declare the view of a step (decorator), which gets the guide: without a session it leads to the page that says so, before its
    turn to the step whose turn it is, and after the end to the last one.
    """

    def declare(view: View) -> View:
        @wraps(view)
        def checked() -> Response:
            try:
                guide = read()
                done = done_steps(guide)
                before = list(STEPS)[: list(STEPS).index(step)]
                is_over = guide.renews or (guide.is_completed and step != "activate")
                if is_over or not done.issuperset(before):
                    return go_on(guide)
                return view(guide)
            except errors.SetupSessionOver:
                return over()
            except errors.ClosedSetupLink:
                return go_on()

        return checked

    return declare


def over() -> Response:
    """Redirect to the page that says that there is no session, and delete the cookie."""
    response = redirect_to(START)
    if session():
        delete_cookie(response, services().setup_cookie)
    return response


_RECORD: Final = "gatehouse-domain-verification=" + "q7Kd0aXw" * 4
_ENTITY: Final = "https://acme.example.com/saml/sp/4fT9wq2LkMZx7RbYc1VnHs8DgJpAe6UuQo"
_CALLBACK: Final = "https://acme.example.com/oauth/sp/4fT9wq2LkMZx7RbYc1VnHs8DgJpAe6UuQo/callback"
SAMPLE_PRODUCTS: Final = [
    SetupProduct(name=name, title=title, protocols=["openid", "saml"])
    for name, title in (
        ("entra", "Microsoft Entra ID"),
        ("okta", "Okta"),
        ("google", "Google Workspace"),
        ("keycloak", "Keycloak"),
        ("adfs", "AD FS"),
        ("jumpcloud", "JumpCloud"),
        ("onelogin", "OneLogin"),
        ("pingone", "PingOne"),
    )
] + [
    SetupProduct(name="openid", title="OpenID Connect", is_generic=True, protocols=["openid"]),
    SetupProduct(name="saml", title="SAML 2.0", is_generic=True, protocols=["saml"]),
]
FRESH: Final = SetupGuide(
    organization="Globex Gardens",
    ends_at="2026-11-30T18:00:00.000Z",
    checks_dns=True,
    domains=[],
    products=SAMPLE_PRODUCTS,
)
WITH_DOMAINS: Final = FRESH.model_copy(
    update={
        "domains": [
            OwnDomain(id="org_domain_a", name="globex.example", record=_RECORD, is_verified=True),
            OwnDomain(id="org_domain_b", name="gardens.example", record=_RECORD),
        ]
    }
)
CHOSEN: Final = WITH_DOMAINS.model_copy(
    update={
        "domain": "globex.example",
        "product": SAMPLE_PRODUCTS[1],
        "instructions": [
            SetupInstruction(do="visit", words=["Okta Admin Console"], value="https://login.okta.com"),
            SetupInstruction(do="go", words=["Applications", "Applications", "Create App Integration"]),
            SetupInstruction(do="choose", words=["Sign-in method", "OIDC - OpenID Connect"]),
            SetupInstruction(do="enter", words=["Sign-in redirect URIs"], value=_CALLBACK),
            SetupInstruction(do="attribute", words=["Attribute Statements", "email"], value="user.email"),
            SetupInstruction(do="assign", words=["Assignments"]),
            SetupInstruction(do="press", words=["Save"]),
            SetupInstruction(do="copy", words=["Client ID", "Client secret"]),
        ],
        "fields": [
            SetupField(name="issuer", label="Okta domain", example="globex.okta.com"),
            SetupField(name="client_id", label="Client ID"),
            SetupField(name="client_secret", label="Client secret"),
        ],
        "attributes": {
            "ID": "sub", "Email": "email", "FirstName": "given_name", "LastName": "family_name", "Groups": "groups",
        },
    }
)  # fmt: skip
SAML: Final = CHOSEN.model_copy(
    update={
        "product": SAMPLE_PRODUCTS[-1],
        "protocol": "saml",
        "instructions": [
            SetupInstruction(do="enter", words=["Entity ID"], value=_ENTITY),
            SetupInstruction(
                do="enter", words=["Assertion Consumer Service (ACS)"], value=_ENTITY.replace("/sp/", "/sp/acs/")
            ),
            SetupInstruction(do="choose", words=["NameID", "persistent"]),
            SetupInstruction(do="attribute", words=["Attributes", "email"], value="email address"),
            SetupInstruction(do="copy", words=["Metadata"]),
        ],
        "fields": [
            SetupField(name="metadata_url", example="https://globex.example/metadata.xml"),
            SetupField(name="metadata"),
        ],
    }
)
CONFIGURED: Final = CHOSEN.model_copy(
    update={
        "is_configured": True,
        "fields": [
            SetupField(name="issuer", label="Okta domain", text="globex.okta.com"),
            SetupField(name="client_id", label="Client ID", text="0oa1b2c3d4"),
            SetupField(name="client_secret", label="Client secret", has_secret=True),
        ],
    }
)
ACCEPTED: Final = SetupTrial(
    is_accepted=True,
    at="2026-11-30T10:00:00.000Z",
    claims=[
        SetupClaim(name="sub", text="00u1mina"),
        SetupClaim(name="email", text="mina@globex.example"),
        SetupClaim(name="given_name", text="Mina"),
        SetupClaim(name="family_name", text="Harker"),
        SetupClaim(name="groups", text="Gardeners, Everyone"),
        SetupClaim(name="refresh_token_hint", text="[masked]"),
    ],
    email="mina@globex.example",
    groups=["Gardeners", "Everyone"],
)
REFUSED: Final = SetupTrial(
    is_accepted=False,
    at="2026-11-30T10:00:00.000Z",
    problem="The token endpoint didn’t answer, or refused this client.",
    advice="Enter the client secret again, and check whether it expired.",
    expected="HTTP 200",
    received="HTTP 401 invalid_client",
)
_CLAIM: Final = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/"
SAML_TRIED: Final = SAML.model_copy(
    update={
        "is_configured": True,
        "attributes": {
            "ID": "NameID", "Email": f"{_CLAIM}emailaddress", "FirstName": f"{_CLAIM}givenname", "LastName": f"{_CLAIM}surname",
            "Groups": "groups",
        },
        "trial": ACCEPTED.model_copy(
            update={
                "claims": [
                    SetupClaim(name="NameID", text="8f4be54a-2c1d-4a5b-9d0e-7b1f3c2a6d90"),
                    SetupClaim(name=f"{_CLAIM}emailaddress", text="mina@globex.example"),
                    SetupClaim(name=f"{_CLAIM}givenname", text="Mina"),
                    SetupClaim(name=f"{_CLAIM}surname", text="Harker"),
                ],
                "groups": [],
            }
        ),
    }
)  # fmt: skip
SAML_REFUSED: Final = SetupTrial(
    is_accepted=False,
    at="2026-11-30T10:00:00.000Z",
    problem="The answer is for another service, request or time, or your provider didn’t sign you in.",
    advice="Copy the entity ID and the ACS URL from step 3 to your provider again, character by character. If the time is wrong, "
    "correct your provider’s clock: we accept a difference of up to 60 seconds.",
    expected=_ENTITY,
    received="https://acme.example.com/",
)
TRIED: Final = CONFIGURED.model_copy(update={"trial": ACCEPTED})
INVALID: Final = _l("That doesn’t look right. Check it and try again.")
MISSING: Final = _l("Fill in this field.")
