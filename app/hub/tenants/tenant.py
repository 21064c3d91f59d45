"""A tenant's configuration for pages: branding, languages and sign-in options."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from app.contract.captcha.models import CaptchaWidget
from app.contract.consents.forms import ConsentForm
from app.contract.pins.settings import Pins
from app.contract.registration.form import FormField
from app.contract.tenants import tenant_pages
from app.contract.tenants.settings import PasswordPolicy, PrivacyPolicy
from app.hub.tenants.branding import PageBranding
from app.hub.tenants.captcha_widget import WidgetView
from app.hub.tenants.read_branding import page_branding

if TYPE_CHECKING:
    from app.hub.tenants.themes import Themes


class UpstreamConnection(NamedTuple):
    """A connection as the pages show it; the mark is that of a well-known provider, or empty."""

    name: str
    title: str
    mark: str


class IdentifierKind(StrEnum):
    """A kind of identifier that the tenant accepts at sign-in."""

    EMAIL = "email"
    USERNAME = "username"
    PHONE = "phone"


@dataclass(frozen=True, slots=True)
class RegistrationView:
    """The tenant's self-registration."""

    form: tuple[FormField, ...]
    has_captcha: bool = False
    has_federated_password: bool = False
    """Whether people who sign up through a provider choose a password, too."""


@dataclass(frozen=True, slots=True)
class HubTenant:
    """A tenant's configuration for pages, at one version."""

    name: str
    """The first label of its host; empty if no tenant is known."""
    brand: PageBranding
    languages: tuple[str, ...] = ("en", "de", "ar")
    """BCP 47 tags of its pages' languages, the default first."""
    identifiers: tuple[IdentifierKind, ...] = (IdentifierKind.EMAIL,)
    has_remember_me: bool = True
    is_identifier_first: bool = False
    """Whether the sign-in page asks for the password on a second step."""
    finds_connections: bool = False
    """Whether the domain of an address may lead to a provider."""
    sign_in_page_seconds: int = 8 * 3600
    """How long a page of a sign-in can stay open."""
    passkeys: str = ""
    """How passkeys are offered: autofill, button or both; empty if they are off."""
    related_origins: tuple[str, ...] = ()
    """Other origins where the tenant's passkeys work (WebAuthn Level 3 §5.11)."""
    version: str = ""
    security_questions: tuple[tuple[str, str], ...] = ()
    """Ids and texts of the security questions that unlock a sign-in; empty if the tenant does not unlock by questions."""
    form: tuple[FormField, ...] = ()
    """The registration form's fields; some of them are editable in the profile."""
    every_question: tuple[tuple[str, str], ...] = ()
    """Ids and texts of all security questions that an account may answer."""
    connections: tuple[UpstreamConnection, ...] = ()
    passwordless_methods: tuple[str, ...] = ()
    """Passwordless methods: mail, sms, device."""
    has_one_touch: bool = False
    """Whether a passwordless sign-in creates an account for a new identifier."""
    registration: RegistrationView | None = None
    """The registration page; None if self-registration is off."""
    consent_forms: tuple[ConsentForm, ...] = ()
    privacy_policy: PrivacyPolicy = field(default_factory=PrivacyPolicy)
    """The versions of the privacy policy that accounts accept."""
    deletion_days: int = 0
    """How long the deletion of an account can be undone."""
    has_organizations: bool = False
    creates_organizations: bool = False
    may_skip_backup_codes: bool = False
    """Whether a sign-in continues without saved backup codes."""
    pin: Pins = field(default_factory=Pins)
    """The rules of PINs."""
    password_policy: PasswordPolicy = field(default_factory=PasswordPolicy)
    """The rules that the identity service enforces for new passwords."""
    captcha: WidgetView | None = None
    """The captcha provider's widget; None for the built-in challenge."""
    has_session_management: bool = False
    """Whether the session iframe is served."""
    has_default_workflow: bool = False
    """Whether sign-ins without an application follow a workflow."""
    themes: Themes | None = None
    """The themes over its look; None if it has none."""
    has_organization_domains: bool = False
    """Whether organizations verify domains by DNS."""


NO_TENANT: Final = HubTenant(name="", brand=PageBranding(name="Gatehouse"))
"""Used while no tenant is known: an unknown host, or an unavailable identity service."""


def tenant_from_view(view: tenant_pages.TenantView) -> HubTenant:
    """Return the tenant of a view. A colour, logo or link that is invalid is replaced by the default."""
    kinds = tuple(IdentifierKind(kind) for kind in view.identifiers if kind in set(IdentifierKind))
    others = tuple(tag for tag in view.locales if tag != view.default_locale)
    return HubTenant(
        name=view.name,
        brand=_branding(view),
        has_default_workflow=view.has_default_workflow,
        themes=_themes(view),
        languages=(view.default_locale, *others),
        identifiers=kinds or (IdentifierKind.EMAIL,),
        has_remember_me=view.remember_me,
        is_identifier_first=view.identifier_first,
        finds_connections=view.finds_connections,
        sign_in_page_seconds=view.sign_in_page_hours * 3600,
        passkeys=view.passkeys,
        related_origins=tuple(view.related_origins),
        version=view.version,
        security_questions=tuple(view.security_questions.items()),
        registration=RegistrationView(tuple(view.registration_form), view.registration_captcha, view.federated_password)
        if view.registration
        else None,
        password_policy=view.password_policy,
        connections=tuple(
            UpstreamConnection(connection.name, connection.title, connection.mark) for connection in view.connections
        ),
        passwordless_methods=tuple(view.passwordless_methods),
        has_one_touch=view.one_touch,
        consent_forms=tuple(view.consent_forms),
        privacy_policy=view.privacy_policy,
        form=tuple(view.registration_form),
        every_question=tuple(view.every_question.items()),
        deletion_days=view.deletion_days,
        has_organizations=view.organizations,
        creates_organizations=view.creates_organizations,
        may_skip_backup_codes=view.skip_backup_codes,
        pin=view.pin,
        has_session_management=view.session_management,
        has_organization_domains=view.organization_domains,
        captcha=_widget(view.captcha),
    )


def _branding(view: tenant_pages.TenantView) -> PageBranding:
    name = view.display_name or view.name
    return page_branding(view.brand, view.name, name, view.default_locale, script_origins=view.script_origins)


def _widget(captcha: CaptchaWidget | None) -> WidgetView | None:
    return WidgetView(captcha.provider, captcha.site_key, captcha.has_fallback) if captcha else None


def _themes(view: tenant_pages.TenantView) -> Themes | None:
    if not view.themes:
        return None
    from app.hub.tenants.themes import Themes  # noqa: PLC0415 - most tenants have none

    return Themes(view)
