"""A tenant's configuration for pages: branding, languages and sign-in options."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple
from zlib import crc32

from app.contract.captcha.models import CaptchaWidget
from app.contract.consents.forms import ConsentForm
from app.contract.pins.settings import Pins
from app.contract.registration.form import FormField
from app.contract.tenants import tenant_pages
from app.contract.tenants.branding import DRAWINGS
from app.contract.tenants.settings import PasswordPolicy, PrivacyPolicy
from app.hub.tenants.branding import DEFAULT_COLOUR, PageBranding, valid_colour
from app.hub.tenants.captcha_widget import WidgetView
from app.hub.tenants.layouts import layouts_of
from app.kit.design.colour import Colour, NotAColour
from app.kit.design.fonts import NotAFontStack, font_stack
from app.kit.text.tenant_texts import compile_texts
from app.kit.web.urls import is_web_url, web_url


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
    themes: tuple[tuple[str, PageBranding], ...] = ()
    """The brandings that workflows name, by name."""
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
        brand=_brand(view.brand, view.name, view.display_name or view.name, view.default_locale),
        has_default_workflow=view.has_default_workflow,
        themes=_themes(view),
        languages=(view.default_locale, *others),
        identifiers=kinds or (IdentifierKind.EMAIL,),
        has_remember_me=view.remember_me,
        is_identifier_first=view.identifier_first,
        sign_in_page_seconds=view.sign_in_page_hours * 3600,
        passkeys=view.passkeys,
        related_origins=tuple(view.related_origins),
        version=view.version,
        security_questions=tuple(view.security_questions.items()),
        registration=RegistrationView(tuple(view.registration_form), view.registration_captcha)
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


def _widget(captcha: CaptchaWidget | None) -> WidgetView | None:
    return WidgetView(captcha.provider, captcha.site_key, captcha.has_fallback) if captcha else None


def _themes(view: tenant_pages.TenantView) -> tuple[tuple[str, PageBranding], ...]:
    """Return the brandings that workflows name; one without a name of its own has the tenant's."""
    own = view.display_name or view.name
    return tuple(
        (name, _brand(theme, view.name, theme.display_name or own, view.default_locale))
        for name, theme in view.themes.items()
    )


def _drawing_of(tenant: str) -> str:
    """Return the drawing of a tenant that chose none: the same on every page, and often another than its neighbour's."""
    return DRAWINGS[crc32(tenant.encode()) % len(DRAWINGS)]


def _brand(brand: tenant_pages.BrandView, tenant: str, name: str, default_locale: str) -> PageBranding:
    picture, layouts, css = _file(brand.picture), layouts_of(brand.templates), _css(brand.css)
    return PageBranding(
        name=name,
        colour=valid_colour(brand.color, DEFAULT_COLOUR),
        logo=_picture(brand.logo),
        logo_dark=_picture(brand.logo_dark),
        icon_url=_picture(brand.favicon),
        scene=brand.scene if brand.scene != "picture" or picture else "dusk",
        drawing=brand.drawing or _drawing_of(tenant),
        picture=picture,
        background=_ground(brand.background),
        background_dark=_ground(brand.background_dark),
        font=_fonts(brand.font),
        font_file=_file(brand.font_file),
        radius_pixels=brand.radius_px,
        button_shape=brand.button_shape,
        sentence=_with_fallback(brand.sentence, default_locale),
        signature=(("", brand.signature),) if brand.signature else (),
        texts=compile_texts(brand.texts),
        css=css,
        layouts=layouts,
        theme_digest=_digest(brand),
        left_out=(
            *((f"templates/{name}", reason) for name, reason in layouts.left_out),
            *([("static/css/theme.css", _css_problem(brand.css))] if brand.css and not css else []),
        ),
        links=tuple(
            (kind, brand.links[kind]) for kind in ("privacy", "terms", "help") if web_url(brand.links.get(kind))
        ),
    )


_ABOVE: Final = ".main,form,.methods,.bar,.tabs,.foot{position:relative!important;z-index:1!important}.bar,.foot{z-index:2!important}"
"""Lifts the page above the theme's own elements, whose `z-index` is at most 0: none covers the form."""


def _digest(brand: tenant_pages.BrandView) -> str:
    """Return a digest of what a theme can fail by; empty without layouts and style sheet."""
    if not (brand.templates or brand.css):
        return ""
    content = json.dumps([brand.templates, brand.css, brand.texts], sort_keys=True)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _css_problem(text: str) -> str:
    from app.kit.design.theme_css.check import checked

    return next((f"line {problem.line}: {problem.sentence}" for problem in checked(text).problems), "")


@lru_cache(maxsize=128)
def _css(text: str) -> str:
    """Return the style sheet as browsers get it; empty if this version refuses it."""
    if not text:
        return ""
    from app.kit.design.theme_css.check import checked

    css = checked(text).css
    return css and css + _ABOVE


def _picture(address: str | None) -> str:
    """Return a data: image or what `_file` accepts; empty for any other."""
    return address if address and address.startswith("data:image/") else _file(address)


def _file(address: str | None) -> str:
    """Return a path of this host or an https address; empty for any other."""
    if not address or any(letter in address for letter in '"\\<>\n'):
        return ""
    is_here = address.startswith("/") and not address.startswith("//")
    return address if is_here or (address.startswith("https://") and is_web_url(address)) else ""


def _fonts(names: str | None) -> str:
    try:
        return font_stack(names) if names else ""
    except NotAFontStack:
        return ""


def _ground(colour: str | None) -> str:
    try:
        return str(Colour.parse(colour)) if colour else ""
    except NotAColour:
        return ""


def _with_fallback(texts: Mapping[str, str], default: str) -> tuple[tuple[str, str], ...]:
    """Return the texts by language; `""` holds the text of the default language for all others."""
    fallback = texts.get(default) or next(iter(texts.values()), "")
    return (*texts.items(), ("", fallback)) if fallback else ()
