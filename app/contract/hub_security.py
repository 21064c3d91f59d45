"""What the hub asks for the pages of an account's security: what opens it, where it is signed in, and who else may read it."""

from typing import Any

from pydantic import Field

from app.contract import errors as e
from app.contract.error_groups import REAUTHENTICATION
from app.contract.groups import Posted
from app.contract.hashing import HASHES_SECRETS
from app.contract.hub import PersonView, ScopeView, SessionView
from app.contract.hub_account import SessionRenewal, WithPassword
from app.contract.hub_account_factors import FactorsView
from app.contract.operations import hub_operation
from app.kit.wire import Wire


class SecurityRequest(Wire):
    """Nothing: the session says whose."""


class BrowserView(Wire):
    """A browser that is not asked for a second factor."""

    id: str
    browser: str | None = None
    os: str | None = None
    device_type: str | None = None
    trusted_at: str
    ends_at: str


class SecurityView(Wire):
    """Everything that the overview shows."""

    person: PersonView
    has_password: bool
    password_changed_at: str | None = None
    has_pin: bool = False
    factors: FactorsView | None = None  # None: the tenant has no second factors
    passkeys: int | None = None  # None: the tenant has none
    identities: int | None = None  # linked ones of other providers; None: there is none, and none can be had
    phone: str | None = None  # as people read it
    answered: int = 0  # how many security questions have an answer
    sessions: list[SessionView] = Field(default_factory=list)
    browsers: list[BrowserView] = Field(default_factory=list)
    applications: int = 0


class ForgetBrowserRequest(Wire):
    """One browser by its id, or with `every` all of them."""

    id: str = Field(default="", max_length=64)
    every: bool = False


class ApplicationView(Wire):
    """An application that may act for the account."""

    client_id: str
    name: str
    home: str | None = None
    scopes: list[ScopeView] = Field(default_factory=list)
    since: str


class ApplicationsView(Wire):
    person: PersonView
    applications: list[ApplicationView] = Field(default_factory=list)


class RevokeApplicationRequest(Wire):
    client_id: str = Field(max_length=128)


class DataView(SessionRenewal):
    """One document (docs/own-data.md)."""

    data: dict[str, Any]


read = hub_operation(
    "hub.security", "GET /hub/own/security", SecurityRequest, SecurityView, errors=(e.NotAuthenticated,),
    summary="Read what opens the signed-in person's account and where it is signed in.",
)  # fmt: skip
forget_browsers = hub_operation(
    "hub.forget_browsers", "POST /hub/own/browsers/forget", ForgetBrowserRequest, Posted, errors=(e.NotAuthenticated,),
    summary="Ask a trusted browser for a second factor again; one that is gone is no error.",
)  # fmt: skip
applications = hub_operation(
    "hub.applications", "GET /hub/own/applications", SecurityRequest, ApplicationsView, errors=(e.NotAuthenticated,),
    summary="List the applications that may act for the signed-in person.",
)  # fmt: skip
revoke_application = hub_operation(
    "hub.revoke_application", "POST /hub/own/applications/revoke", RevokeApplicationRequest, Posted, errors=(e.NotAuthenticated,),
    summary="End what an application may do for the signed-in person: the consent, its codes and all of its tokens.",
)  # fmt: skip
own_data = hub_operation(
    "hub.own_data", "POST /hub/own/data", WithPassword, DataView, hashing=HASHES_SECRETS, errors=REAUTHENTICATION,
    summary="Read everything that is kept of the signed-in person, without secrets.",
)  # fmt: skip
