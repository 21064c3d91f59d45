"""Operations for the hub: one per use case, callers H only, outside the public OpenAPI.

A response that moves the visitor is a `StepResponse`. The identity service decides the step; the hub renders it.
The visit (tenant host, session cookie, browser binding, address, agent, languages) is sent and signed with each call.
"""

from typing import Annotated, Any

from pydantic import Field

from app.contract import errors as e
from app.contract.captcha import CaptchaAnswer, CaptchaChallenge, CaptchaWidget
from app.contract.configuration import PasswordPolicy, PrivacyPolicy
from app.contract.consent_forms import ConsentForm
from app.contract.credential_settings import Pins
from app.contract.error_groups import IDENTIFIER_KINDS, LOCKS
from app.contract.groups import SecurityAnswer
from app.contract.hub_models import (
    AddressView,
    BrandView,
    InteractionDecision,
    NoParameters,
    PersonView,
    SwitchAccountRequest,
)
from app.contract.operations import HASHES, hub_operation
from app.contract.registration_form import FormField
from app.contract.steps import StepResponse
from app.kit.wire import From, Wire


class AccountView(Wire):
    """The account of a page that can change it, and whether the visitor must reauthenticate first."""

    person: PersonView
    needs_password: bool = False  # the last authentication is too old for sensitive changes
    must_confirm: bool = False  # as `needs_password`, but the password alone is not sufficient


class ConnectionView(Wire):
    """A connection, as pages show it."""

    name: str
    title: str
    mark: str = ""  # the well-known provider at the connection's address, whose mark pages show: google, github ...


class TenantView(Wire):
    """The part of a tenant's configuration that pages need."""

    name: str
    display_name: str
    version: str
    brand: BrandView = Field(default_factory=BrandView)
    locales: list[str] = Field(default_factory=lambda: ["en", "de", "ar"])
    default_locale: str = "en"
    # email, username, phone: the identifiers for sign-in
    identifiers: list[str] = Field(default_factory=lambda: ["email"])
    remember_me: bool = True
    sign_in_page_hours: int = 8
    ways: list[str] = Field(default_factory=list)  # mail, sms, device, phone: passwordless methods
    connections: list[ConnectionView] = Field(default_factory=list)  # in the tenant's order
    one_touch: bool = False  # registers new accounts
    passkeys: str = ""  # autofill, button or both; empty: passkeys are off
    related_origins: list[str] = Field(default_factory=list)  # other origins where the tenant's passkeys work
    registration: bool = True
    uses_https: bool = False
    session_management: bool = False  # the session iframe is served
    organization_domains: bool = False  # organizations prove domains by DNS
    security_questions: dict[str, str] = Field(default_factory=dict)  # by id; a locked sign-in may ask one
    every_question: dict[str, str] = Field(default_factory=dict)  # by id: questions that accounts may answer
    registration_form: list[FormField] = Field(default_factory=list)
    consent_forms: list[ConsentForm] = Field(default_factory=list)
    privacy_policy: PrivacyPolicy = PrivacyPolicy()
    registration_captcha: bool = False
    captcha: CaptchaWidget | None = None  # None: the built-in challenge
    deletion_days: int = 0  # how long a deletion can be undone
    organizations: bool = False  # whether the tenant has organizations
    creates_organizations: bool = False  # whether people create them
    skip_backup_codes: bool = False  # whether a sign-in continues without saved backup codes
    pin: Pins = Pins()
    password_policy: PasswordPolicy = PasswordPolicy()  # pages show its rules


class TenantRequest(Wire):
    version: Annotated[str | None, From.QUERY] = None  # the version that the hub has cached


class TenantResponse(Wire):
    """The view; None if the cached version is current."""

    tenant: TenantView | None = None


tenant = hub_operation(
    "hub.tenant", "GET /hub/tenant", TenantRequest, TenantResponse, summary="Read what pages need of the tenant at this host.",
)  # fmt: skip


class AuthorizeRequest(Wire):
    """The raw authorization request (RFC 6749 section 4.1.1); `parameters` in order, repeated ones included."""

    protocol: str  # oidc or oauth
    app: str | None = None  # the application's name in the address; None at the tenant-wide issuer
    parameters: list[tuple[str, str]]


authorize = hub_operation(
    "hub.authorize", "POST /hub/authorize", AuthorizeRequest, StepResponse, summary="Open an authorization request.",
)  # fmt: skip


class ReturnRequest(Wire):
    """Sign in, then redirect to an allowed return address (hosted-pages.md section 3) or to the profile."""

    return_url: str | None = None
    action: str = "login"
    organization: str | None = (
        None  # name or id: pages show it, if it has a look; the answer is the same if there is none
    )


open_return = hub_operation(
    "hub.open_return", "POST /hub/return", ReturnRequest, StepResponse,
    summary="Open a sign-in that ends at a return address or at the profile.",
)  # fmt: skip


class InteractionRequest(Wire):
    interaction_id: Annotated[str, From.PATH]


resume = hub_operation(
    "hub.resume", "GET /hub/interactions/{interactionid}", InteractionRequest, StepResponse,
    summary="Read the current step of an interaction: for Back, refresh and a reopened page.",
)  # fmt: skip


reopen = hub_operation(
    "hub.reopen", "POST /hub/interactions/{interactionid}/reopen", InteractionRequest, StepResponse,
    summary="Read what the pages of an interaction show, whose cookie is gone; one that expired starts anew.",
)  # fmt: skip


class SignInRequest(Wire):
    """The sign-in form. `interaction_id` is None if /login was opened without one; the profile follows then."""

    interaction_id: str | None = None
    identifier: str = Field(max_length=320)
    password: str = Field(max_length=1024)
    remember: bool = False
    security_answer: dict[str, SecurityAnswer] | None = Field(default=None, max_length=10)
    captcha: CaptchaAnswer | None = None
    connects: bool = False  # the page said that the provider's identity will be linked


captcha = hub_operation(
    "hub.captcha", "GET /hub/captcha", NoParameters, CaptchaChallenge,
    summary="Create a captcha for a form that always has one; the error of a locked sign-in holds its own.",
)  # fmt: skip


SIGN_IN_ERRORS = (
    *LOCKS, *IDENTIFIER_KINDS, e.WrongCredentials, e.LoginDisabled, e.EmailUnverified, e.PhoneUnverified, e.TooManySessions,
    e.LoginNotAllowed, e.WrongCaptcha, e.PasswordBreached, e.PasswordResetMailed, e.RiskBlocked, e.NewDevice, e.NewBrowser, e.NewCity,
    e.NewCountry, e.NewAddress, e.WrongQuestionOrAnswer, e.AccountLeaving,
)  # fmt: skip

sign_in = hub_operation(
    "hub.sign_in", "POST /hub/sign-in", SignInRequest, StepResponse, hashing=HASHES, errors=SIGN_IN_ERRORS,
    summary="Sign in with identifier and password in an interaction. The `Data` of a lock error is a `captcha.Lock`.",
)  # fmt: skip


class ConsentRequest(InteractionDecision):
    """`refused`: optional scopes that the person left out."""

    refused: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list, max_length=100)


consent = hub_operation(
    "hub.consent", "POST /hub/consent", ConsentRequest, StepResponse, summary="Answer the consent page of an interaction.",
)  # fmt: skip


switch_account = hub_operation(
    "hub.switch_account", "POST /hub/switch-account", SwitchAccountRequest, StepResponse,
    summary="End the session and return to the interaction's sign-in step.",
)  # fmt: skip


class SessionView(Wire):
    """A live session of the account: in a browser, or of an application without one."""

    id: str
    is_current: bool
    application: str | None = None  # its name, if the session is not in a browser
    browser: str | None = None
    os: str | None = None
    device_type: str | None = None  # desktop, phone, tablet
    address: str | None = None
    signed_in_at: str
    last_seen_at: str
    relying_parties: list[str] = Field(default_factory=list)


class ProfileRequest(Wire):
    with_asked_phone: Annotated[bool, From.QUERY] = False
    with_addresses: Annotated[bool, From.QUERY] = False
    with_checkup: Annotated[bool, From.QUERY] = False
    with_password_policy: Annotated[bool, From.QUERY] = False


class ProfileResponse(AccountView):
    """The account's profile page. `profile` is what its owner entered, by the names of the interface's profile (profile.json.md)."""

    profile: dict[str, Any]
    has_password: bool = True
    answered: list[str] = Field(default_factory=list)  # ids of the security questions that have an answer
    phone: str | None = None  # formatted for display
    asked_phone: str | None = None  # pending: a code was texted, but not entered yet
    resend_in_seconds: int = 0  # wait before the next code for `asked_phone`
    addresses: list[AddressView] = Field(default_factory=list)
    has_to_do: bool = False  # the account could be made safer; only `with_checkup`
    password_policy: PasswordPolicy | None = (
        None  # with the rules of the account's organizations; only `with_password_policy`
    )


profile = hub_operation(
    "hub.profile", "GET /hub/profile", ProfileRequest, ProfileResponse, errors=(e.NotAuthenticated,),
    summary="Read the account's profile; 1409 without a session.",
)  # fmt: skip


class EndSessionRequest(Wire):
    """End one session by its id, or with `others` all but the current one."""

    id: str | None = None
    others: bool = False


end_session = hub_operation(
    "hub.end_session", "POST /hub/sessions/end", EndSessionRequest, StepResponse, errors=(e.NotAuthenticated, e.SessionExpired),
    summary="Sign out other sessions of the signed-in person.",
)  # fmt: skip


class HubClientRequest(Wire):
    """The hub's own client: for the redirect to /callback/{name}."""

    name: Annotated[str, From.PATH]


class HubClient(Wire):
    client_id: str
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    scope: str = "openid profile email"


hub_client = hub_operation(
    "hub.own_client", "GET /hub/clients/{name}", HubClientRequest, HubClient, errors=(e.UnknownAccount,),
    summary="Read the hub's own registration as a relying party (a public client, PKCE).",
)  # fmt: skip
