"""Which tenant a host is: its look, its languages and what its people sign in with; kept for a few seconds."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Lock
from typing import Final

from app.contract import hub as contract
from app.contract.configuration import PasswordPolicy
from app.contract.consent_forms import ConsentForm
from app.contract.errors import UnknownTenant
from app.contract.pin_settings import Pins
from app.contract.registration_form import FormField
from app.hub.brand import DEFAULT_COLOUR, Brand
from app.hub.forms.captcha_widget import Widget
from app.kit.client import Client, ResponseHeaders, ServiceUnavailable
from app.kit.clock import monotonic
from app.kit.colour import Colour, NotAColour
from app.kit.web_addresses import is_web_address, web_address

log = logging.getLogger("gatehouse.hub")

FRESH_SECONDS: Final = 2.0
"""After this long a copy asks whether it is still the present one; a change shows everywhere within five seconds."""
MOST_KEPT: Final = 2000
VERSION_HEADER: Final = "x-gatehouse-tenant-version"


class Identifier(StrEnum):
    """What an account may be named by when it signs in."""

    EMAIL = "email"
    USERNAME = "username"
    PHONE = "phone"


@dataclass(frozen=True, slots=True)
class Registration:
    """How people make accounts of their own."""

    form: tuple[FormField, ...]
    has_captcha: bool = False


@dataclass(frozen=True, slots=True)
class Tenant:
    """What the pages know of a tenant; a copy of its configuration at one version."""

    name: str
    """The first label of its host; empty for the house itself, where no tenant is known."""
    brand: Brand
    languages: tuple[str, ...] = ("en", "de", "ar")
    """BCP 47 tags that its pages speak, the default first."""
    identifiers: tuple[Identifier, ...] = (Identifier.EMAIL,)
    has_remember_me: bool = True
    passkeys: str = ""
    """How they are offered: autofill, button or both; empty where there are none."""
    related_origins: tuple[str, ...] = ()
    """Other addresses where the tenant's passkeys work."""
    version: str = ""
    security_questions: tuple[tuple[str, str], ...] = ()
    """Each by its id, where a locked sign-in may ask one."""
    form: tuple[FormField, ...] = ()
    """What a new account is asked for, whoever makes it; part of it is what people change later."""
    every_question: tuple[tuple[str, str], ...] = ()
    """The security questions, each by its id, that people may answer beforehand."""
    connections: tuple[tuple[str, str], ...] = ()
    """Other providers where people may prove who they are: each by its name, with its title."""
    ways: tuple[str, ...] = ()
    """Of mail, sms and device: sign-in without a password."""
    has_one_touch: bool = False
    """Whoever is new gets an account by it."""
    registration: Registration | None = None
    """What the page of registration draws; None where the tenant takes none."""
    consent_forms: tuple[ConsentForm, ...] = ()
    has_privacy_policy: bool = False
    """Whether it has versions of one, which people accept."""
    pin: Pins = field(default_factory=Pins)
    """What a PIN may be, where there are any."""
    password_policy: PasswordPolicy = field(default_factory=PasswordPolicy)
    """The rules that the identity service enforces for new passwords."""
    captcha: Widget | None = None
    """The captcha provider's; None where our own challenge stands alone."""


NO_TENANT: Final = Tenant(name="", brand=Brand(name="Gatehouse"))
"""Stands in where no tenant is known: an unknown host, a service that does not answer."""


@dataclass(slots=True)
class _Copy:
    tenant: Tenant | None
    """None where nobody lives at the host."""
    read_at: float


class Tenancy:
    """Remembers tenants by host. Threads share it."""

    def __init__(self) -> None:
        self._copies: OrderedDict[str, _Copy] = OrderedDict()
        self._lock = Lock()

    def by_host(self, host: str, ask: Callable[[], Client]) -> Tenant:
        """Return the tenant of a host; asks the identity service only when the copy is old.

        Raises:
            UnknownTenant: nobody lives there.
            ServiceUnavailable: the service does not answer and there is no copy to go on with.
        """
        copy = self._copies.get(host)
        if copy is None or monotonic() - copy.read_at > FRESH_SECONDS:
            copy = self._renewed(host, copy, ask)
        if copy.tenant is None:
            raise UnknownTenant
        return copy.tenant

    def cached_name(self, host: str) -> str:
        """Return the tenant's name for a cached host; empty for any other. Makes no call."""
        copy = self._copies.get(host)
        return copy.tenant.name if copy is not None and copy.tenant is not None else ""

    def on_response(self, host: str, headers: ResponseHeaders) -> None:
        """Take note of the version that an answer bears: an older copy is read anew at the next visit."""
        version, copy = headers.get(VERSION_HEADER), self._copies.get(host)
        if version and copy is not None and copy.tenant is not None and copy.tenant.version != version:
            copy.read_at = float("-inf")

    def _renewed(self, host: str, copy: _Copy | None, ask: Callable[[], Client]) -> _Copy:
        known = copy.tenant if copy else None
        if copy is not None:
            copy.read_at = monotonic()  # the others go on with the old copy while this visit asks
        try:
            answer = ask()(contract.tenant, contract.TenantRequest(version=known.version if known else None))
        except UnknownTenant:
            return self._keep(host, None)
        except ServiceUnavailable:
            if copy is None or known is None:
                raise
            log.warning("the identity service does not answer; pages of %s go on with their copy", known.name)
            return copy
        return self._keep(host, tenant_from_view(answer.tenant) if answer.tenant else known)

    def _keep(self, host: str, tenant: Tenant | None) -> _Copy:
        copy = _Copy(tenant, monotonic())
        with self._lock:
            self._copies[host] = copy
            self._copies.move_to_end(host)
            while len(self._copies) > MOST_KEPT:
                self._copies.popitem(last=False)
        return copy


def tenant_from_view(view: contract.TenantView) -> Tenant:
    """Return a tenant as the pages see it. A look that cannot be drawn gives way to the house's."""
    kinds = tuple(Identifier(kind) for kind in view.identifiers if kind in set(Identifier))
    others = tuple(tag for tag in view.locales if tag != view.default_locale)
    return Tenant(
        name=view.name,
        brand=_brand(view),
        languages=(view.default_locale, *others),
        identifiers=kinds or (Identifier.EMAIL,),
        has_remember_me=view.remember_me,
        passkeys=view.passkeys,
        related_origins=tuple(view.related_origins),
        version=view.version,
        security_questions=tuple(view.security_questions.items()),
        registration=Registration(tuple(view.registration_form), view.registration_captcha)
        if view.registration
        else None,
        password_policy=view.password_policy,
        connections=tuple((one.name, one.title) for one in view.connections),
        ways=tuple(view.ways),
        has_one_touch=view.one_touch,
        consent_forms=tuple(view.consent_forms),
        has_privacy_policy=view.has_privacy_policy,
        form=tuple(view.registration_form),
        every_question=tuple(view.every_question.items()),
        pin=view.pin,
        captcha=Widget(view.captcha.provider, view.captcha.site_key, view.captcha.has_question)
        if view.captcha
        else None,
    )


def _brand(view: contract.TenantView) -> Brand:
    given = view.brand
    return Brand(
        name=view.display_name or view.name,
        colour=_colour(given.color),
        logo=_logo(given.logo or ""),
        radius_pixels=given.radius_px,
        sentence=_for_all(given.sentence, view.default_locale),
        signature=(("", given.signature),) if given.signature else (),
        links=tuple(
            (kind, given.links[kind]) for kind in ("privacy", "terms", "help") if web_address(given.links.get(kind))
        ),
    )


def _logo(address: str) -> str:
    """An address of this host, a picture within the address, or one elsewhere over https; nothing for any other."""
    is_here = address.startswith(("/", "data:image/")) and not address.startswith(("//", "/\\"))
    return address if is_here or (address.startswith("https://") and is_web_address(address)) else ""


def _for_all(texts: Mapping[str, str], default: str) -> tuple[tuple[str, str], ...]:
    """The texts, and for languages without one that of the tenant's default."""
    fallback = texts.get(default) or next(iter(texts.values()), "")
    return (*texts.items(), ("", fallback)) if fallback else ()


def _colour(text: str) -> str:
    try:
        return str(Colour.parse(text))
    except NotAColour:
        return DEFAULT_COLOUR
