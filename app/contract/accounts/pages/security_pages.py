"""Operations behind the security pages: credentials, sessions, trusted browsers and authorized applications."""

from enum import StrEnum
from typing import Any, Final

from pydantic import Field

from app.contract import errors
from app.contract.accounts.pages.profile_pages import FORM_ERRORS
from app.contract.accounts.pages.reauthentication_pages import OfAccount
from app.contract.catalogue import hub_operation
from app.contract.oauth.models import ScopeView
from app.contract.page_models import NoParameters
from app.contract.second_factors.pages.account_factor_pages import FactorsView
from app.contract.sessions.pages.sign_out_pages import SessionView
from app.contract.shared_parameters import SecurityAnswer
from app.contract.shared_responses import Posted
from app.kit.operations.wire import Wire


class BrowserView(Wire):
    """A trusted browser: exempt from the second factor."""

    id: str
    browser: str | None = None
    os: str | None = None
    device_type: str | None = None
    trusted_at: str
    ends_at: str


FEW_CODES: Final = 2
"""With so few unused backup codes or fewer, an account should create new ones."""


class Improvement(StrEnum):
    """An action that would make an account safer."""

    TWO_STEP = "two_step"
    BACKUP_CODES = "backup_codes"
    PASSKEY = "passkey"


class CheckupStep(Wire):
    """A protection that the tenant offers."""

    improvement: Improvement
    is_done: bool


class SecurityView(OfAccount):
    """The overview."""

    has_password: bool
    password_changed_at: str | None = None
    has_pin: bool = False
    factors: FactorsView | None = None  # None: second factors are off
    passkeys: list[str] | None = None  # the name of each; None: passkeys are off
    identities: int | None = None  # linked identities; None: there are none, and no connection
    phone: str | None = None  # formatted for display
    answered: int = 0  # number of answered security questions
    sessions: list[SessionView] = Field(default_factory=list)
    browsers: list[BrowserView] = Field(default_factory=list)
    applications: int = 0
    checkup: list[CheckupStep] = Field(default_factory=list)  # the most urgent first


class ForgetBrowserRequest(Wire):
    """One browser by its id, or with `every` all of them."""

    id: str = Field(default="", max_length=64)
    every: bool = False


class ApplicationView(Wire):
    """An authorized application."""

    client_id: str
    name: str
    home: str | None = None
    opens: str | None = None  # the address at the application that starts a sign-in of this account
    scopes: list[ScopeView] = Field(default_factory=list)
    since: str


class ApplicationsView(OfAccount):
    applications: list[ApplicationView] = Field(default_factory=list)
    has_to_do: bool = False  # the account could be made safer


class RevokeApplicationRequest(Wire):
    client_id: str = Field(max_length=128)


class DataView(Wire):
    """The export (docs/own-data.md)."""

    data: dict[str, Any]


read = hub_operation(
    "hub.read_security", "GET /hub/own/security", NoParameters, SecurityView, errors=(errors.NotAuthenticated,),
    summary="Read the account's credentials, sessions and trusted browsers.",
)  # fmt: skip
forget_browsers = hub_operation(
    "hub.forget_browsers", "POST /hub/own/browsers/forget", ForgetBrowserRequest, Posted, errors=(errors.NotAuthenticated,),
    summary="Stop trusting a browser; removing an absent one is no error.",
)  # fmt: skip
applications = hub_operation(
    "hub.applications", "GET /hub/own/applications", NoParameters, ApplicationsView, errors=(errors.NotAuthenticated,),
    summary="List the applications that are authorized by the account.",
)  # fmt: skip
revoke_application = hub_operation(
    "hub.revoke_application", "POST /hub/own/applications/revoke", RevokeApplicationRequest, Posted, errors=(errors.NotAuthenticated,),
    summary="Revoke an application's authorization: the consent, its codes and all of its tokens.",
)  # fmt: skip
export_data = hub_operation(
    "hub.export_data", "POST /hub/own/data", NoParameters, DataView, reauthentication=True,
    summary="Export the account's data, without secrets.",
)  # fmt: skip


class AnswersEdit(Wire):
    answers: dict[str, SecurityAnswer] = Field(max_length=50)


edit_answers = hub_operation(
    "hub.edit_answers", "POST /hub/own/answers", AnswersEdit, Posted, reauthentication=True, errors=FORM_ERRORS,
    summary="Change the answers to security questions.",
)  # fmt: skip
