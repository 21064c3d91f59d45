"""A tenant's configuration: settings, brand, applications. The configuration file, the store and the management operations
share these models, with their bounds and defaults; names are snake_case.

Docstrings of the models are published in docs/configuration.md.
"""

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, AwareDatetime, Field, model_validator

from app.contract.applications.application_urls import ScopeName
from app.contract.applications.security_profile import ReuseSeconds
from app.contract.captcha.models import Provider
from app.contract.configuration_model import (
    ConfigurationModel,
    Different,
    Moment,
    Network,
    Tag,
    Words,
)
from app.contract.consents.forms import ConsentForm, Paragraph, agree
from app.contract.custom_objects.settings import CustomObject
from app.contract.federation.connection_completion import complete
from app.contract.federation.connections import ConnectionName, ConnectionSettings
from app.contract.messages.models import SenderAddress, Sending
from app.contract.oauth.authorization_details import AuthorizationDetailsTypes
from app.contract.oauth.registration_settings import ClientRegistration
from app.contract.organizations.settings import OrganizationSettings
from app.contract.passkeys.settings import Passkeys
from app.contract.pins.settings import Pins
from app.contract.registration.form import FormField
from app.contract.second_factors.service_settings import DuoSettings, PushSettings
from app.contract.second_factors.settings import SecondFactors, Totp
from app.contract.sign_in.risk import Risk
from app.contract.workflows.names import WorkflowName
from app.contract.workflows.token_hook import TokenHook
from app.kit.web.urls import origin_of

Mode = Literal["required", "optional", "disabled"]
Country = Annotated[str, Field(pattern=r"^[A-Z]{2}$")]  # ISO 3166
MINUTE, HOUR, DAY = 60, 3600, 86_400


class Lockout(ConfigurationModel):
    """Brute-force protection. Failed passwords and codes count together, from all callers: after
    five the account's sign-in is locked. A suspension expires, an emailed reset removes every lock except a block, and
    `security_question` suspends accounts that have no answers. With `hide_unknown_accounts` those accounts need the emailed
    reset, because a lock that expires would reveal that the account exists."""

    type: Literal["none", "suspend", "captcha", "security_question", "block"] = "suspend"
    maximum_failed_attempts: int = Field(default=5, ge=0, le=100)  # 0: off
    suspend_seconds: int = Field(default=900, ge=1, le=30 * DAY)
    security_answer_attempts: int = Field(default=3, ge=1, le=20)  # in suspend_seconds, right ones included


class Captcha(ConfigurationModel):
    """The captcha: `own`, which needs no external service, or
    a provider with its `site_key` and the tenant's `captcha_secret`. Applications send the provider's response; pages show
    its widget, whose script runs in the page and could read typed values. Pages also offer the built-in proof of work, or without
    JavaScript an emailed link, unless `fallback` is off: then users who cannot use or load the widget cannot sign in."""

    provider: Literal["own", Provider] = "own"
    site_key: str = Field(default="", max_length=200)  # the public one; the secret is captcha_secret of the tenant
    threshold: float = Field(default=0.5, ge=0, le=1)  # recaptcha_v3: the least score; hcaptcha: the highest risk
    fallback: bool = True  # pages also offer the built-in captcha
    work_bits: int = Field(default=17, ge=8, le=22)  # own: each further bit doubles the work of a browser

    @model_validator(mode="after")
    def _agrees(self) -> "Captcha":
        if self.provider != "own" and not self.site_key:
            raise ValueError(f"site_key: the key that {self.provider} gave you")
        return self


def _script_origin(text: str) -> str:
    if not text.startswith("https://") or origin_of(text) != text:
        raise ValueError("an https origin such as https://analytics.example, in lowercase and without a path or *")
    return text


ScriptOrigin = Annotated[str, AfterValidator(_script_origin), Field(max_length=260)]


class ThemeScripts(ConfigurationModel):
    """Scripts of other hosts that the tenant's [themes](theming.md#scripts) can have. The configuration file alone sets this: no
    operation of the API does."""

    origins: Annotated[tuple[ScriptOrigin, ...], Different] = Field(
        default=(),
        max_length=10,
        description="Origins whose scripts themes can load, on some pages of verified custom domains. Each can change what those pages "
        "show at any time.",
    )


MAX_HASH_CHARACTERS: Final = 1_024
"""Of a stored password hash of any format."""


class Argon2(ConfigurationModel):
    """Password hashing: argon2id; after a change, a password is rehashed at the next sign-in."""

    memory_kib: int = Field(default=19_456, ge=8_192, le=1_048_576)
    iterations: int = Field(default=2, ge=1, le=20)
    parallelism: int = Field(default=1, ge=1, le=8)


class PasswordPolicy(ConfigurationModel):
    """Requirements for new passwords."""

    min_length: int = Field(default=10, ge=1, le=128)
    max_length: int = Field(default=128, ge=8, le=1024)
    require_lowercase: bool = False
    require_uppercase: bool = False
    require_number: bool = True
    require_symbol: bool = True
    history: int = Field(default=5, ge=0, le=24)
    expiry_days: int = Field(default=0, ge=0, le=3650)
    common_check: bool = True
    profile_check: bool = True
    profile_exact_match: bool = False  # with profile_check: refuse only a password that equals a word of the profile
    breached: Literal["off", "record", "notify", "change"] = (
        "off"  # change: refuse it when it is set, and require a reset at sign-in
    )

    @model_validator(mode="after")
    def _agrees(self) -> "PasswordPolicy":
        if self.min_length > self.max_length:
            raise ValueError(f"max_length: at least min_length, which is {self.min_length}; found {self.max_length}")
        return self


class RequestLimits(ConfigurationModel):
    """Rate limits; 0 means no limit. An IPv6 address counts as its /64."""

    sign_in_per_minute_per_address: int = Field(default=20, ge=0)  # those that fail
    sign_in_per_minute: int = Field(default=3_000, ge=0)
    register_per_minute_per_address: int = Field(default=30, ge=0)
    forgot_per_minute_per_address: int = Field(default=5, ge=0)
    forgot_per_minute: int = Field(default=600, ge=0)
    reset_per_minute_per_address: int = Field(default=20, ge=0)
    passwordless_per_minute_per_address: int = Field(default=10, ge=0)  # requested links and codes
    authorize_per_minute_per_address: int = Field(default=600, ge=0)  # a whole office may sit behind one address
    token_per_minute_per_client: int = Field(default=3_000, ge=0)
    # a browser or a device: each person of a large office, every time that a token is refreshed
    public_client_per_minute_per_address: int = Field(default=300, ge=0)
    federation_starts_per_minute_per_address: int = Field(default=60, ge=0)
    native_sign_in_per_minute_per_address: int = Field(default=60, ge=0)  # where an app calls without the API secret
    web_sso_per_minute_per_address: int = Field(default=120, ge=0)
    # shown, and opened by phones
    qr_codes_per_minute_per_address: int = Field(default=60, ge=0)
    qr_answers_per_minute_per_address: int = Field(default=20, ge=0)
    qr_polls_per_minute_per_address: int = Field(default=300, ge=0)
    device_codes_per_minute_per_address: int = Field(default=20, ge=0)  # those that are wrong
    register_clients_per_hour_per_address: int = Field(default=20, ge=0)  # applications, not accounts
    availability_per_minute_per_address: int = Field(default=60, ge=0)
    email_codes_tried_per_day: int = Field(default=15, ge=0)  # to verify one address, by all callers together
    # ceremonies started, also by the sign-in page itself
    passkeys_per_minute_per_address: int = Field(default=60, ge=0)
    captcha_question_per_minute_per_address: int = Field(default=6, ge=0)  # built-in captchas, beside a provider
    captcha_tries_per_hour_per_account: int = Field(default=30, ge=0)  # passwords tried with a solved captcha


ContactSubject = Literal["webhooks", "theme"]
ContactAddresses = Annotated[tuple[SenderAddress, ...], Different]


class Contacts(ConfigurationModel):
    """Email addresses of your own team, by what they hear about."""

    default: ContactAddresses = Field(
        default=(), max_length=10, description="Who hears about subjects without addresses."
    )
    webhooks: ContactAddresses = Field(
        default=(), max_length=10, description="Who hears that a webhook was turned off because its target is gone."
    )
    theme: ContactAddresses = Field(
        default=(),
        max_length=10,
        description="Who hears that a theme fails on a page, so that people see the built-in one.",
    )

    def of(self, subject: ContactSubject) -> tuple[str, ...]:
        """Return the addresses of a subject, or the default ones if it has none."""
        addresses: tuple[str, ...] = getattr(self, subject)
        return addresses or self.default


class EmailAccess(ConfigurationModel):
    """Email addresses and domains that may register."""

    allow: tuple[str, ...] = Field(default=(), max_length=1_000)  # if not empty, no other may register
    block: tuple[str, ...] = Field(default=(), max_length=1_000)


class PrivacyPolicyVersion(ConfigurationModel):
    """A version of the privacy policy, and when it takes effect."""

    version: Annotated[str, Field(min_length=1, max_length=50)]
    starts_at: AwareDatetime
    changes: dict[Tag, Paragraph] = Field(default_factory=dict)  # by language


class PrivacyPolicy(ConfigurationModel):
    """The privacy policy that users accept; `brand.links.privacy` links to its text."""

    mode: Literal["strict", "moderated"] = "moderated"  # strict: an account must accept the current version to continue
    versions: tuple[PrivacyPolicyVersion, ...] = Field(default=(), max_length=50)

    def current(self, now: datetime) -> PrivacyPolicyVersion | None:
        """Return the version that started last; None if the tenant has none."""
        return max(
            (version for version in self.versions if version.starts_at <= now),
            key=lambda version: version.starts_at,
            default=None,
        )


def _unique(objects: tuple[CustomObject, ...]) -> tuple[CustomObject, ...]:
    for values in ([item.name for item in objects], [item.id for item in objects if item.id is not None]):
        if len(set(values)) < len(values):
            raise ValueError("each name and each id once")
    return objects


class TenantSettings(ConfigurationModel):
    """The settings of a tenant."""

    email_verification: Mode = "required"
    email_verification_codes: bool = False  # programs may request a code in addition to the link
    login_on_email_verification: bool = False  # verifying an address signs in
    session_management: bool = False  # OpenID Connect Session Management 1.0: its iframe and `session_state`
    logout_on_email_verification: bool = False  # verifying an address ends all sessions of the account
    reset_password_codes: bool = False  # programs may request a code in addition to the link
    reset_code_minutes: int = Field(default=5, ge=1, le=60)  # lifetime of codes that reset a password or a PIN
    # setting a new password signs in; by default on the hosted pages, but not in operations
    login_on_password_reset: bool | None = None
    captcha_at: tuple[
        Literal["forgot_password", "change_password", "update_profile"], ...
    ] = ()  # operations where programs must send a captcha
    two_factor: Mode = "disabled"  # optional: required for accounts that enrolled a second factor
    second_factors: SecondFactors = SecondFactors()
    risk: Risk = Risk()
    default_workflow: WorkflowName | None = (
        None  # of sign-ins whose application has none; absent: only the settings decide
    )
    token_hook: TokenHook | None = None  # of applications that have none
    totp: Totp | None = None
    push: PushSettings | None = None
    duo: DuoSettings | None = None
    connections: Annotated[dict[ConnectionName, ConnectionSettings], AfterValidator(complete)] = Field(
        default_factory=dict, max_length=30
    )
    account_linking: bool = True  # link identities of providers to an existing account
    federated_password: bool = False  # people who sign up through a provider choose a password, too
    no_callback_login: bool = False  # programs may poll for a federated sign-in with a GUID, without a callback
    passkeys: bool = False  # sign-in with a passkey instead of a password
    passkey_settings: Passkeys = Passkeys()
    passwordless_email: bool = False  # sign in with an emailed link or code
    passwordless_sms: bool = False  # sign in with a texted code, if `phone_login` is on
    smart_login: bool = False  # a link in the mailbox approves the sign-in of another device
    one_touch: bool = False  # an emailed link or a texted code signs in, and registers new accounts
    sign_in_link_minutes: int = Field(default=60, ge=5, le=4_320)  # lifetime of emailed sign-in links
    pin: Pins = Pins()
    email_login: bool | None = None  # absent: username or phone replace email; set: each kind is independent
    phone_login: bool = False
    default_country: Country | None = None  # the country of numbers that are typed without +
    username_login: bool = False
    registration: bool = True
    registration_captcha: bool = False  # the registration page requires a captcha
    registration_form: tuple[FormField, ...] = Field(default=(), max_length=60)  # empty: the fields that sign-in needs
    minimum_age: int = Field(default=0, ge=0, le=120)  # checked against the birth date, if there is one
    email_access: EmailAccess = EmailAccess()
    privacy_policy: PrivacyPolicy = PrivacyPolicy()
    consent_forms: Annotated[tuple[ConsentForm, ...], AfterValidator(agree)] = Field(default=(), max_length=30)
    ask_required_fields: bool = False  # at sign-in, if an account lacks required fields of the form
    audit_days: int = Field(default=365, ge=1, le=3650)  # retention of the audit trail
    deletion_days: int = Field(default=14, ge=0, le=365)  # until an account that its owner deleted is erased
    remember_me: bool = True
    identifier_first: bool = False  # the sign-in page asks for the identifier, and for the password on a second step
    hide_unknown_accounts: bool = Field(
        default=False,
        description="No response reveals whether an account exists. Availability checks report every name as available.",
    )
    fresh_proof_for_credentials: bool = Field(
        default=False,
        description="Tokens of the API's own sign-ins can change credentials only within 10 minutes of a sign-in or step-up.",
    )
    token_in_return_url: bool = Field(
        default=False,
        description="Append an access token to a `return_url` that `url_whitelist` lists in full. For older applications only: "
        "OpenID Connect is safer.",
    )
    code_in_return_url: bool = Field(
        default=False,
        description="Append a one-time code, instead of a token, to a `return_url` that `url_whitelist` lists in full. Your server "
        "exchanges it within two minutes at `POST /identity/v2/auth/hosted/token`.",
    )
    web_sso: bool = Field(
        default=False,
        description="Scripts of sites in `url_whitelist` can read, start and end the session of this host (`/ssologin/*`). For "
        "older sites only: OpenID Connect is safer.",
    )
    qr_sign_on: bool = Field(
        default=False,
        description="People sign in on another device by scanning its QR code with a phone that's signed in: on the sign-in page, "
        "and in your own apps (`/sso/mobile/*`).",
    )
    legacy_native_login: bool = False
    custom_uid: bool = False
    url_whitelist: tuple[str, ...] = ()
    trial_ends_at: Moment | None = None
    lockout: Lockout = Lockout()
    captcha: Captcha = Captcha()
    limits: RequestLimits = RequestLimits()
    sending: Sending = Sending()
    contacts: Contacts = Contacts()
    theme_scripts: ThemeScripts = ThemeScripts()
    argon2: Argon2 = Argon2()
    password_policy: PasswordPolicy = PasswordPolicy()
    access_token_minutes: int = Field(default=15, ge=1, le=129_600)
    refresh_token_minutes: int = Field(default=86_400, ge=1, le=525_600)
    refresh_tokens: bool = True
    refresh_token_reuse_seconds: ReuseSeconds | None = None  # absent: by the kind of the client
    # from sign-in; limits refreshing and sliding expiry, `offline_access` included
    token_absolute_days: int = Field(default=180, ge=1, le=3_650)
    session_idle_minutes: int = Field(default=120, ge=5, le=43_200)
    session_absolute_hours: int = Field(default=24, ge=1, le=8_760)
    remember_days: int = Field(default=30, ge=1, le=365)
    session_limit: int = Field(default=0, ge=0, le=100)
    sign_in_page_hours: int = Field(default=8, ge=1, le=24)
    request_signing: Literal["off", "preferred", "strict"] = "preferred"
    custom_fields: Annotated[tuple[Words, ...], Different] = Field(default=(), max_length=15)
    organizations: OrganizationSettings = OrganizationSettings()
    client_registration: ClientRegistration = ClientRegistration()
    default_scopes: Annotated[tuple[ScopeName, ...], Different] = Field(default=(), max_length=50)
    authorization_details_types: AuthorizationDetailsTypes = Field(default_factory=dict)
    custom_objects: Annotated[tuple[CustomObject, ...], AfterValidator(_unique)] = Field(default=(), max_length=100)
    security_questions: dict[Words, Words] = Field(default_factory=dict, max_length=50)  # question by its id
    locales: Annotated[tuple[Tag, ...], Different] = ("en", "de", "ar")
    default_locale: str = "en"
    denied_ips: tuple[Network, ...] = ()
    allowed_ips: tuple[Network, ...] = ()

    @model_validator(mode="after")
    def _agrees(self) -> "TenantSettings":
        if not self.locales:
            raise ValueError("locales: at least one language; found none")
        if self.default_locale not in self.locales:
            offered = ", ".join(self.locales)
            raise ValueError(f"default_locale: one of locales ({offered}); found {self.default_locale!r}")
        return self

    @property
    def login_kinds(self) -> tuple[str, ...]:
        """The kinds of identifiers for sign-in, of email, username and phone, in the order of the pages (decision 0050)."""
        if self.email_login is None:
            return ("username",) if self.username_login else ("phone",) if self.phone_login else ("email",)
        switched = (("email", self.email_login), ("username", self.username_login), ("phone", self.phone_login))
        return tuple(kind for kind, is_on in switched if is_on) or ("email",)
