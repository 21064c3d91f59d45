"""What the hub asks of the identity service: one operation per use case, callers H only, outside the public OpenAPI.

Every answer that moves a visitor is a `Next`. The identity service decides it; the hub only shows it (design section 1).
The visit (tenant host, session cookie, browser binding, address, agent, languages) travels signed beside each call.
"""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from app.contract import errors as e
from app.contract.captcha import CaptchaAnswer, Challenge, Widget
from app.contract.configuration import PasswordPolicy
from app.contract.consent_forms import ConsentForm
from app.contract.error_groups import IDENTIFIER_KINDS, LOCKS
from app.contract.groups import SecurityAnswer
from app.contract.hashing import HASHES
from app.contract.operations import hub_operation
from app.contract.pin_settings import Pins
from app.contract.registration_form import FormField
from app.kit.wire import From, Wire


class Step(StrEnum):
    """Where the visitor is: each but REDIRECT and REFUSED has a page."""

    LOGIN = "login"
    REGISTER = "register"
    CHECK_MAIL = "check_mail"  # what proves the address `sent_to` waits there; said of every address, whoever has it
    EMAIL_CONFIRMED = "email_confirmed"  # `problem` is `before` where it was confirmed earlier
    FORGOT = "forgot"
    RESET_SENT = "reset_sent"  # what resets a password went to `sent_to`; said of every name, whoever has it
    PIN_SENT = "pin_sent"  # the same of a PIN
    SIGN_IN_SENT = (
        "sign_in_sent"  # what signs in went to `sent_to`, by `problem`: mail, sms or device; said of every name
    )
    NEW_PASSWORD = "new_password"  # `address` is the token of the page that sets it
    NEW_PIN = "new_pin"  # the same of a PIN
    SECOND_FACTOR = "second_factor"  # the first factor is passed; the attempt keeps it for ten minutes
    PASSKEY_OFFER = "passkey_offer"  # signed in; a passkey would make the next time easier
    BACKUP_CODES = "backup_codes"  # a second factor was just enrolled: codes on paper for whoever loses it
    ELSEWHERE = (
        "elsewhere"  # a program on another device gets in by this sign-in, if the person says so; `problem`: done, no
    )
    CONSENT = "consent"
    PRIVACY_POLICY = "privacy_policy"  # the present version is not accepted yet
    CONSENT_FORMS = "consent_forms"  # the tenant's forms for the events `consents` are not answered
    PIN = "pin"  # the tenant asks for a PIN, and the account has none; `can_skip` where it is only offered
    CONFIRM = "confirm"  # signed in, and the application wishes for a second factor that was not shown yet
    MISSING_FIELDS = "missing_fields"  # the tenant's form requires `missing`, and the account lacks it
    REDIRECT = "redirect"  # go to `address`, which is at the relying party or at a page of the hub
    FORM_POST = "form_post"  # post `fields` to `address` (OAuth 2.0 Form Post Response Mode)
    PROFILE = "profile"
    SIGNED_OUT = "signed_out"
    CONFIRM_SIGN_OUT = "confirm_sign_out"
    REFUSED = "refused"  # an error page; never a redirect, because the address cannot be believed
    START_AGAIN = "start_again"  # the attempt is gone; `relying_party` tells where to start again


class RelyingPartyView(Wire):
    """The application that asks, as pages show it."""

    name: str  # empty where the tenant's own pages ask
    client_id: str
    home: str | None = None  # where "back to the app" and "start again" lead
    logo: str | None = None
    redirect_origin: str | None = (
        None  # scheme://host[:port] of the redirect address, or its bare scheme: for form-action
    )
    policy: str | None = None
    terms: str | None = None


class ScopeView(Wire):
    """One asked permission; the page has the words for the standard scopes."""

    name: str
    description: str | None = None


class PersonView(Wire):
    """Who is signed in, as a chip shows it."""

    uid: str
    label: str  # email, username or phone
    name: str | None = None
    language: str | None = None  # the profile's LocalLanguage, as it was typed


class Session(Wire):
    """The browser session to keep in the one opaque cookie."""

    token: str
    lifetime_seconds: int | None = None  # None: until the browser closes


PASSWORD_METHOD, PASSKEY_METHOD, CONNECTION_METHOD = "password", "passkey", "connection:"
"""What `Next.ways` names beside the ways without a password; behind the last stands the name of a connection."""


class Next(Wire):
    """Where the visitor goes next."""

    step: Step
    attempt: str | None = None  # rides in the address and the form
    attempt_lifetime_seconds: int = 600
    binding: str | None = None  # set when the attempt is made: the browser's secret, for the attempt's cookie
    address: str | None = None
    fields: dict[str, str] = Field(default_factory=dict)  # SIGN_IN_SENT: the `number` and the `state` of a device
    relying_party: RelyingPartyView | None = None
    person: PersonView | None = None
    scopes: list[ScopeView] = Field(default_factory=list)
    consents: list[str] = Field(default_factory=list)  # events of the tenant's consent forms
    agreed: list[str] = Field(default_factory=list)  # CONSENT_FORMS: options that stand already
    missing: list[str] = Field(default_factory=list)  # names of the tenant's form
    can_skip: bool = False  # PIN
    login_hint: str | None = None
    ui_locales: str | None = None
    display: str | None = None
    must_reauthenticate: bool = False  # `person` is signed in, and proves it once more (prompt=login, max_age)
    ways: dict[str, str] = Field(
        default_factory=dict
    )  # resume: how they prove it, and by which name each way knows them
    sent_to: str | None = None  # CHECK_MAIL: the address, as it was typed; or a number, where `problem` is `sms`
    resend_in_seconds: int = 0  # CHECK_MAIL: when the next mail may be asked for
    can_change: bool = False  # CHECK_MAIL: this browser registered, and may name another address or number
    session: Session | None = None  # renew the session cookie with this
    ends_session: bool = False  # drop the session cookie
    trusted: Session | None = None  # keep this in the cookie of a browser that is not asked for a second factor
    error: str | None = None  # REFUSED: the OAuth error, for example invalid_request
    problem: str | None = None  # REFUSED: which rule, one word: client, redirect_uri, request, tenant, return_url ...


class BrandView(Wire):
    """A tenant's own look; pages compute readable colours from it."""

    color: str = "#3b49d9"
    logo: str | None = None
    sentence: dict[str, str] = Field(default_factory=dict)  # by locale; the scene's one sentence
    signature: str | None = None
    radius_px: int = 12
    links: dict[str, str] = Field(default_factory=dict)  # privacy, terms, help


class ConnectionView(Wire):
    """Another provider where people may prove who they are, as pages name it."""

    name: str
    title: str


class TenantView(Wire):
    """What pages need of a tenant's configuration."""

    name: str
    display_name: str
    version: str
    brand: BrandView = Field(default_factory=BrandView)
    locales: list[str] = Field(default_factory=lambda: ["en", "de", "ar"])
    default_locale: str = "en"
    identifiers: list[str] = Field(default_factory=lambda: ["email"])  # of email, username, phone: what sign-in accepts
    remember_me: bool = True
    ways: list[str] = Field(default_factory=list)  # of mail, sms, device: sign-in without a password
    connections: list[ConnectionView] = Field(default_factory=list)  # other providers, in the tenant's order
    one_touch: bool = False  # whoever is new gets an account by it
    passkeys: str = ""  # autofill, button or both: how they are offered; empty where there are none
    related_origins: list[str] = Field(default_factory=list)  # other addresses where the tenant's passkeys work
    registration: bool = True
    uses_https: bool = False
    security_questions: dict[str, str] = Field(default_factory=dict)  # by id, where a locked sign-in may ask one
    every_question: dict[str, str] = Field(default_factory=dict)  # by id: what people may answer beforehand
    registration_form: list[FormField] = Field(default_factory=list)
    consent_forms: list[ConsentForm] = Field(default_factory=list)
    has_privacy_policy: bool = False
    registration_captcha: bool = False
    captcha: Widget | None = None  # None: our own challenge
    pin: Pins = Pins()
    password_policy: PasswordPolicy = PasswordPolicy()  # pages say the rules that the service enforces


class TenantRequest(Wire):
    version: Annotated[str | None, From.QUERY] = None  # the version the hub holds


class TenantResponse(Wire):
    """The view, or nothing where the version that the hub holds is the present one."""

    tenant: TenantView | None = None


tenant = hub_operation(
    "hub.tenant", "GET /hub/tenant", TenantRequest, TenantResponse, summary="Read what pages need of the tenant at this host.",
)  # fmt: skip


class AuthorizeRequest(Wire):
    """The raw authorization request (RFC 6749 section 4.1.1); `parameters` in order, repeated ones included."""

    protocol: str  # oidc or oauth
    app: str | None = None  # the application's name where the address has it; None at the tenant-wide issuer
    parameters: list[tuple[str, str]]


authorize = hub_operation(
    "hub.authorize", "POST /hub/authorize", AuthorizeRequest, Next, summary="Open an authorization request.",
)  # fmt: skip


class ReturnRequest(Wire):
    """A plain visit: sign in, then go to an address of the tenant's whitelist (hosted-pages.md section 3), or to the profile."""

    return_url: str | None = None
    action: str = "login"


open_return = hub_operation(
    "hub.open_return", "POST /hub/return", ReturnRequest, Next, summary="Open a sign-in that ends at a return address or at the profile.",
)  # fmt: skip


class InteractionRequest(Wire):
    attempt: Annotated[str, From.PATH]


resume = hub_operation(
    "hub.resume", "GET /hub/attempts/{attempt}", InteractionRequest, Next,
    summary="Read the current step of an attempt: for Back, refresh and a page opened again.",
)  # fmt: skip


class SignInRequest(Wire):
    """The sign-in form. `attempt` is None where somebody opened /login alone: the landing is then the profile."""

    attempt: str | None = None
    identifier: str = Field(max_length=320)
    password: str = Field(max_length=1024)
    remember: bool = False
    security_answer: dict[str, SecurityAnswer] | None = Field(default=None, max_length=10)
    captcha: CaptchaAnswer | None = None
    connects: bool = False  # the page said that what was brought from another provider is connected


class CaptchaRequest(Wire):
    """Nothing: a challenge is made for whoever asks."""


captcha = hub_operation(
    "hub.captcha", "GET /hub/captcha", CaptchaRequest, Challenge,
    summary="Make a captcha for a form that always has one; a locked sign-in brings its own.",
)  # fmt: skip


SIGN_IN_ERRORS = (
    *LOCKS, *IDENTIFIER_KINDS, e.WrongCredentials, e.LoginDisabled, e.EmailUnverified, e.PhoneUnverified, e.TooManySessions,
    e.LoginNotAllowed, e.WrongCaptcha, e.PasswordBreached, e.PasswordResetMailed, e.RiskBlocked, e.NewDevice, e.NewBrowser, e.NewCity,
    e.NewCountry, e.NewAddress, e.WrongQuestionOrAnswer, e.AccountLeaving,
)  # fmt: skip

sign_in = hub_operation(
    "hub.sign_in", "POST /hub/sign-in", SignInRequest, Next, hashing=HASHES, errors=SIGN_IN_ERRORS,
    summary="Sign in with identifier and password within an attempt. A refusal by a lock bears `captcha.Lock` as its data.",
)  # fmt: skip


class ConsentRequest(Wire):
    attempt: str
    allow: bool


consent = hub_operation(
    "hub.consent", "POST /hub/consent", ConsentRequest, Next, summary="Answer the consent question of an attempt.",
)  # fmt: skip


class SwitchAccountRequest(Wire):
    attempt: str


switch_account = hub_operation(
    "hub.switch_account", "POST /hub/switch-account", SwitchAccountRequest, Next,
    summary="Not you? End the session and return to the attempt's sign-in step.",
)  # fmt: skip


class SignOutRequest(Wire):
    """OpenID Connect RP-Initiated Logout 1.0 section 2; `confirmed` after the person said yes on our page."""

    id_token_hint: str | None = None
    client_id: str | None = None
    post_logout_redirect_uri: str | None = None
    state: str | None = None
    return_url: str | None = None
    confirmed: bool = False


sign_out = hub_operation(
    "hub.sign_out", "POST /hub/sign-out", SignOutRequest, Next,
    summary="End the browser session: REDIRECT, SIGNED_OUT, or CONFIRM_SIGN_OUT where nothing proves who asks.",
)  # fmt: skip


class SessionView(Wire):
    """One live session of the account: in a browser, or of an application that signs in without one."""

    id: str
    is_current: bool
    application: str | None = None  # its name, where no browser has the session
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


class AddressView(Wire):
    """One address of the signed-in person's account."""

    email: str
    is_first: bool = False
    is_confirmed: bool = False
    is_asked: bool = False  # it is the account's once it is proved
    can_resend: bool = False  # what proves it may be mailed again
    resend_in_seconds: int = 0


class ProfileResponse(Wire):
    """The signed-in person's profile page. `profile` is the interface's profile (profile.json.md)."""

    person: PersonView
    profile: dict[str, Any]
    has_password: bool = True
    must_confirm: bool = False  # as `needs_password`, and the password is none or not enough
    answered: list[str] = Field(default_factory=list)  # ids of the security questions that have an answer
    needs_password: bool = False  # the last proof is too old for what a thief would profit from
    phone: str | None = None  # as people read it
    asked_phone: str | None = None  # another one, whose code was texted and did not come back yet
    resend_in_seconds: int = 0  # when the next code for `asked_phone` may be asked for
    addresses: list[AddressView] = Field(default_factory=list)


profile = hub_operation(
    "hub.profile", "GET /hub/profile", ProfileRequest, ProfileResponse, errors=(e.NotAuthenticated,),
    summary="Read the signed-in person's profile; 1409 when nobody is signed in.",
)  # fmt: skip


class EndSessionRequest(Wire):
    """End one session by its id, or with `others` all but the present one."""

    id: str | None = None
    others: bool = False


end_session = hub_operation(
    "hub.end_session", "POST /hub/sessions/end", EndSessionRequest, Next, errors=(e.NotAuthenticated, e.SessionExpired),
    summary="Sign out other sessions of the signed-in person.",
)  # fmt: skip


class HubClientRequest(Wire):
    """The hub's own client: what it needs to finish a redirect at /callback/{name}."""

    name: Annotated[str, From.PATH]


class HubClient(Wire):
    client_id: str
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    scope: str = "openid profile email"


own_client = hub_operation(
    "hub.own_client", "GET /hub/clients/{name}", HubClientRequest, HubClient, errors=(e.UnknownAccount,),
    summary="Read the hub's own registration as a relying party (a public client, PKCE).",
)  # fmt: skip
