"""Operations for the hub: one per use case, callers H only, outside the public OpenAPI.

A response that moves the visitor is a `Next`. The identity service decides the step; the hub renders it.
The visit (tenant host, session cookie, browser binding, address, agent, languages) is sent and signed with each call.
"""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from app.contract import errors as e
from app.contract.captcha import CaptchaAnswer, Challenge, Widget
from app.contract.configuration import PasswordPolicy, PrivacyPolicy
from app.contract.consent_forms import ConsentForm
from app.contract.credential_settings import Pins
from app.contract.error_groups import IDENTIFIER_KINDS, LOCKS
from app.contract.groups import SecurityAnswer
from app.contract.hub_models import (
    AccountOption,
    AddressView,
    BrandView,
    DetailView,
    InteractionDecision,
    InvitationHint,
    JoinableOrganization,
    NoParameters,
    OrganizationLook,
    OrganizationOption,
    OtherSessions,
    SwitchAccountRequest,
)
from app.contract.hub_models import Session as Session
from app.contract.operations import HASHES, hub_operation
from app.contract.organizations_models import MethodLimit
from app.contract.registration_form import FormField
from app.kit.wire import From, Wire


class Step(StrEnum):
    """The visitor's step. `app/hub/journey.py` has a page or a response for each; only the sign-out page handles CONFIRM_SIGN_OUT."""

    LOGIN = "login"
    REGISTER = "register"
    CHECK_MAIL = "check_mail"  # a link or a code was sent to `sent_to`; the same for every address
    EMAIL_CONFIRMED = "email_confirmed"  # `problem` is `before` if it was verified earlier
    FORGOT = "forgot"
    RESET_SENT = "reset_sent"  # a link or a code was sent to `sent_to`; the same for every identifier
    PIN_SENT = "pin_sent"  # as RESET_SENT, for a PIN
    SIGN_IN_SENT = "sign_in_sent"  # sent to `sent_to` by `problem` (mail, sms or device); the same for every identifier
    NEW_PASSWORD = "new_password"  # `address` is the token for the page that sets it
    NEW_PIN = "new_pin"  # as NEW_PASSWORD, for a PIN
    SECOND_FACTOR = "second_factor"  # the first factor is verified; the interaction keeps it for ten minutes
    PASSKEY_OFFER = "passkey_offer"  # signed in; offer a passkey for the next sign-in
    BACKUP_CODES = "backup_codes"  # the account has no saved backup codes; `problem`: last (just used), replaced (newer ones exist)
    INVITATION = "invitation"  # to an organization, which this account cannot join
    QR_CODE = "qr_code"  # show the code of `fields` (code, number, state) until a phone approves it
    APPROVE_SIGN_IN = "approve_sign_in"  # ask to approve the browser of `fields`; `problem`: wrong, or what was decided
    ELSEWHERE = "elsewhere"  # ask to approve the sign-in of a program on another device; `problem`: done, no
    SELECT_ORGANIZATION = "select_organization"  # choose one of `organizations`, or the personal account if `can_skip`
    SELECT_ACCOUNT = "select_account"  # choose one of `accounts`, or another one
    CONSENT = "consent"
    DEVICE_CODE = "device_code"  # type the code that a device shows; `problem`: wrong
    DEVICE = "device"  # allow the device of `fields` (user_code, device, place); `scopes` as for CONSENT
    DEVICE_DONE = "device_done"  # `problem`: allowed, denied, or expired
    PRIVACY_POLICY = "privacy_policy"  # the current version is not accepted yet
    CONSENT_FORMS = "consent_forms"  # the tenant's forms for the events in `consents` are not answered
    PIN = "pin"  # the account has no PIN; `can_skip` if it is optional
    CONFIRM = "confirm"  # signed in, but the application requires a second factor
    MISSING_FIELDS = "missing_fields"  # the tenant's form requires `missing`, and the account lacks it
    REDIRECT = "redirect"  # go to `address`, which is at the relying party or at a page of the hub
    FORM_POST = "form_post"  # post `fields` to `address` (OAuth 2.0 Form Post Response Mode)
    PROFILE = "profile"
    SIGNED_OUT = "signed_out"
    CONFIRM_SIGN_OUT = "confirm_sign_out"
    REFUSED = "refused"  # an error page; never a redirect, because the redirect address is not verified
    START_AGAIN = "start_again"  # the interaction is gone; `relying_party` says where to start again


class RelyingPartyView(Wire):
    """The relying party, as pages show it."""

    name: str  # empty for the tenant's own pages
    client_id: str
    home: str | None = None  # where "back to the app" and "start again" lead
    logo: str | None = None
    redirect_origin: str | None = None  # scheme://host[:port] of the redirect address, or its bare scheme
    policy: str | None = None
    terms: str | None = None
    is_self_registered: bool = False  # the tenant does not vouch for it
    document_host: str | None = None  # of the client-id metadata document that describes it


class ScopeView(Wire):
    """A requested scope; the page describes the standard scopes."""

    name: str
    description: str | None = None
    is_optional: bool = False  # the person may leave it out
    is_granted: bool = False  # before; the page asks for the others


class PersonView(Wire):
    """The signed-in account, as pages show it."""

    uid: str
    label: str  # email, username or phone
    name: str | None = None
    language: str | None = None  # the profile's LocalLanguage, unchanged
    has_organizations: bool = False  # the account joined one at some time


class AccountView(Wire):
    """The account of a page that can change it, and whether the visitor must reauthenticate first."""

    person: PersonView
    needs_password: bool = False  # the last authentication is too old for sensitive changes
    must_confirm: bool = False  # as `needs_password`, but the password alone is not sufficient


PASSWORD_METHOD, PASSKEY_METHOD, CONNECTION_METHOD = "password", "passkey", "connection:"
"""Keys of `Next.ways` beside the passwordless methods; the last is followed by the name of a connection."""


class Next(Wire):
    """The visitor's next step."""

    step: Step
    attempt: str | None = None  # in the address and the form
    binding: str | None = None  # set for a new interaction: the browser's secret, for the interaction's cookie
    address: str | None = None
    # CHECK_MAIL, RESET_SENT, PIN_SENT, SIGN_IN_SENT: `number` and `state` (waits, approved ...) of the waiting page, what mails `carries`
    fields: dict[str, str] = Field(default_factory=dict)
    relying_party: RelyingPartyView | None = None
    person: PersonView | None = None
    scopes: list[ScopeView] = Field(default_factory=list)
    details: list[DetailView] = Field(default_factory=list)  # CONSENT: what the application asks to do, once
    consents: list[str] = Field(default_factory=list)  # events of the tenant's consent forms
    agreed: list[str] = Field(default_factory=list)  # CONSENT_FORMS: options that are accepted already
    missing: list[str] = Field(default_factory=list)  # field names of the tenant's form
    organizations: list[OrganizationOption] = Field(default_factory=list)  # SELECT_ORGANIZATION
    organization: OrganizationLook | None = None  # pages show it from now on; None leaves what they show
    can_skip: bool = False  # PIN; SELECT_ORGANIZATION: whether the personal account is offered
    joinable: list[JoinableOrganization] = Field(default_factory=list)  # SELECT_ORGANIZATION: organizations to ask
    can_create: bool = False  # SELECT_ORGANIZATION: whether the account can create an organization
    invitations: InvitationHint = Field(default_factory=InvitationHint)  # SELECT_ORGANIZATION
    login_hint: str | None = None
    connection: str | None = None  # LOGIN: go straight to this identity provider
    method_limit: MethodLimit | None = None  # LOGIN, if `problem` is `method`: an organization requires another method
    invitation: str | None = None  # the organization that a sign-in or registration joins at its end
    ui_locales: str | None = None
    display: str | None = None
    must_reauthenticate: bool = False  # `person` is signed in and must authenticate again (prompt=login, max_age)
    ways: dict[str, str] = Field(default_factory=dict)  # resume: methods for that, each with the account's identifier
    sent_to: str | None = None  # CHECK_MAIL: the address as typed, or a number if `problem` is `sms`
    resend_in_seconds: int = 0  # CHECK_MAIL: wait before the next resend
    can_change: bool = False  # CHECK_MAIL: this browser registered, and may change the address or number
    session: Session | None = None  # set the session cookie to it
    accounts: list[AccountOption] = Field(default_factory=list)  # SELECT_ACCOUNT; SIGNED_OUT: who stays
    other_sessions: OtherSessions | None = None  # set their cookie; None leaves it
    ends_session: bool = False  # delete the session cookie
    frames: list[str] = Field(default_factory=list)  # SIGNED_OUT, REDIRECT: addresses to load in frames first
    browser_state: str | None = None  # the session's state for the session iframe; set its cookie to it
    trusted: Session | None = None  # set the trusted-browser cookie to it
    error: str | None = None  # REFUSED: the OAuth error, for example invalid_request
    error_description: str | None = None  # REFUSED: what the application's developers mend
    problem: str | None = None  # REFUSED: the rule, one word: client, redirect_uri, request, tenant, return_url ...


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
    captcha: Widget | None = None  # None: the built-in challenge
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
    "hub.authorize", "POST /hub/authorize", AuthorizeRequest, Next, summary="Open an authorization request.",
)  # fmt: skip


class ReturnRequest(Wire):
    """Sign in, then redirect to an allowed return address (hosted-pages.md section 3) or to the profile."""

    return_url: str | None = None
    action: str = "login"
    organization: str | None = (
        None  # name or id: pages show it, if it has a look; the answer is the same if there is none
    )


open_return = hub_operation(
    "hub.open_return", "POST /hub/return", ReturnRequest, Next, summary="Open a sign-in that ends at a return address or at the profile.",
)  # fmt: skip


class InteractionRequest(Wire):
    attempt: Annotated[str, From.PATH]


resume = hub_operation(
    "hub.resume", "GET /hub/attempts/{attempt}", InteractionRequest, Next,
    summary="Read the current step of an interaction: for Back, refresh and a reopened page.",
)  # fmt: skip


reopen = hub_operation(
    "hub.reopen", "POST /hub/attempts/{attempt}/reopen", InteractionRequest, Next,
    summary="Read what the pages of an interaction show, whose cookie is gone; one that expired starts anew.",
)  # fmt: skip


class SignInRequest(Wire):
    """The sign-in form. `attempt` is None if /login was opened without one; the profile follows then."""

    attempt: str | None = None
    identifier: str = Field(max_length=320)
    password: str = Field(max_length=1024)
    remember: bool = False
    security_answer: dict[str, SecurityAnswer] | None = Field(default=None, max_length=10)
    captcha: CaptchaAnswer | None = None
    connects: bool = False  # the page said that the provider's identity will be linked


captcha = hub_operation(
    "hub.captcha", "GET /hub/captcha", NoParameters, Challenge,
    summary="Create a captcha for a form that always has one; the error of a locked sign-in holds its own.",
)  # fmt: skip


SIGN_IN_ERRORS = (
    *LOCKS, *IDENTIFIER_KINDS, e.WrongCredentials, e.LoginDisabled, e.EmailUnverified, e.PhoneUnverified, e.TooManySessions,
    e.LoginNotAllowed, e.WrongCaptcha, e.PasswordBreached, e.PasswordResetMailed, e.RiskBlocked, e.NewDevice, e.NewBrowser, e.NewCity,
    e.NewCountry, e.NewAddress, e.WrongQuestionOrAnswer, e.AccountLeaving,
)  # fmt: skip

sign_in = hub_operation(
    "hub.sign_in", "POST /hub/sign-in", SignInRequest, Next, hashing=HASHES, errors=SIGN_IN_ERRORS,
    summary="Sign in with identifier and password in an interaction. The `Data` of a lock error is a `captcha.Lock`.",
)  # fmt: skip


class ConsentRequest(InteractionDecision):
    """`refused`: optional scopes that the person left out."""

    refused: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list, max_length=100)


consent = hub_operation(
    "hub.consent", "POST /hub/consent", ConsentRequest, Next, summary="Answer the consent page of an interaction.",
)  # fmt: skip


switch_account = hub_operation(
    "hub.switch_account", "POST /hub/switch-account", SwitchAccountRequest, Next,
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
    "hub.end_session", "POST /hub/sessions/end", EndSessionRequest, Next, errors=(e.NotAuthenticated, e.SessionExpired),
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
