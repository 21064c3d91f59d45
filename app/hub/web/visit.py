"""The visit: what the hub knows about the current request and its browser, tenant and interaction."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from wsgiref.types import WSGIEnvironment

from flask import g  # noqa: TID251 - the one module that stores the visit
from werkzeug.datastructures import EnvironHeaders
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wsgi import get_path_info

from app.contract.accounts.models import PersonView
from app.contract.federation.pages import connection_pages
from app.contract.images.uploads import FORM_ADDRESSES, MAX_IMAGE_FORM_BYTES
from app.contract.sessions.models import Session
from app.contract.tenants.brand_levels import ThemeNames
from app.contract.visitor_claims import VisitorClaims
from app.contract.workflows.result_pages import RETURN_PATH
from app.hub.locale import Language, current_language, negotiate, parse_accept_language, use_language
from app.hub.tenants.branding import PageBranding
from app.hub.tenants.tenant import NO_TENANT, HubTenant
from app.hub.web.interaction import HubInteraction
from app.hub.web.parameters import (
    MAX_FORM_BYTES,
    MAX_SAML_FORM_BYTES,
    NO_PARAMETERS,
    Files,
    Parameters,
    read_form,
    read_query,
)
from app.hub.web.short_links import given_path, is_short_link
from app.kit import randomness
from app.kit.caching.cached_attribute import cached_attribute
from app.kit.observability.instrumentation import is_generated_id, new_request_id

_OURS: Final = "gatehouse-"
"""Prefix of the names of all cookies that the hub sets."""
LANGUAGE_PARAMETER: Final = "lang"
"""The parameter of an address that chooses the language."""
BRAND_PARAMETER: Final = "brand"
"""The parameter of an address that chooses one of the tenant's brands."""
FAILED_REFERENCE: Final = "reference"
COOKIE_TEST: Final = "cookies"
COOKIE_TEST_VALUE: Final = "asked"
"""The query parameter and its value that mark the redirect of a browser without cookies; if the cookie is still missing then, the
browser blocks cookies."""
"""The parameter of an address with the reference of the earlier request that its page explains."""
SHOWN_UID: Final = "shown_uid"
"""The field of account pages' forms with the account that the page shows."""
_OF_TENANT: Final = (connection_pages.CALLBACK, connection_pages.SAML_CALLBACK.lower())
_OF_ORGANIZATION: Final = re.compile(
    "|".join(
        path.format(address_key="[^/]+") for path in (connection_pages.ORGANIZATION_CALLBACK, connection_pages.SAML_ACS)
    )
)


@dataclass
class Visit:
    """One request of one browser. It is read from the WSGI environment alone; views and forms read nothing else."""

    tenant: HubTenant = NO_TENANT
    interaction: HubInteraction | None = None
    host: str = ""
    scheme: str = "http"
    address: str = ""
    is_post: bool = False
    agent: str = ""
    """The header `User-Agent`."""
    accept_language: str = ""
    cookies: Mapping[str, str] = field(default_factory=dict)
    environ: WSGIEnvironment = field(default_factory=dict)
    """Of the request; empty outside of one."""
    request_id: str = ""
    session: str = ""
    """The browser session's cookie; empty if there is none."""
    others: tuple[str, ...] = ()
    """The cookies of sessions of other accounts."""
    posted_uid: str = ""
    """The account that the page of the posted form showed; the identity service refuses the form for another one."""
    named_uid: str = ""
    """The signed-in account, once a response of the identity service named it."""
    trusted: str = ""
    """The cookie with which a browser is not asked for a second factor."""
    renewed: Session | None = None
    """The new session cookie if the session's token was renewed."""
    binding: str = ""
    """The secret of this browser, to which interactions and forms outside of one are bound."""
    is_binding_new: bool = False
    is_reopened: bool = False
    """Whether the response sets the interaction's cookie again, from the identity service's copy."""
    form_token: str = ""
    """The placeholder that forms render instead of a CSRF token; empty unless a page is rendered for the cache."""
    device_passkey: str = ""
    """A digest of the passkey that this device used last."""
    is_device_passkey_new: bool = False
    requested_languages: tuple[str, ...] = ()
    """`ui_locales` of a request without an interaction."""
    chosen_language: str = ""
    """The language chosen in this request."""
    cookie_language: str = ""
    """The language chosen last in this browser."""
    chosen_brand: str | None = None
    """The key of the brand chosen in this request; empty: none any more; None: the request says nothing."""
    cookie_brand: str = ""
    """The key of the brand chosen last in this browser."""
    account_language: str = ""
    """The signed-in account's language, once the identity service named the account."""
    has_organizations: bool = False
    """Whether the signed-in account has organizations, once the identity service named the account."""
    files: Files = field(default_factory=dict)
    """Of a posted form, once `form` was read."""
    is_upload_too_large: bool = False
    """Whether such a form was too large to be read; its page says so at the field, because no other form would."""
    costs: list[str] = field(default_factory=list)
    """The cost headers of this visit's API calls, where the service sends them."""

    @property
    def method(self) -> str:
        return str(self.environ.get("REQUEST_METHOD", "GET"))

    @cached_attribute
    def path(self) -> str:
        """The path that is routed: short links are resolved, fixed segments are in lower case."""
        return "/" + get_path_info(self.environ).lstrip("/")

    @property
    def query_text(self) -> str:
        """The address after its `?`, as it was sent."""
        return str(self.environ.get("QUERY_STRING", ""))

    @property
    def origin(self) -> str:
        """Scheme and host of the hub, as the browser sees it."""
        return f"{self.scheme}://{self.host}"

    @cached_attribute
    def headers(self) -> EnvironHeaders:
        """The header fields of the request; names in any letter case."""
        return EnvironHeaders(self.environ)

    @cached_attribute
    def query(self) -> Parameters:
        """The parameters of the address."""
        return read_query(self.query_text)

    @cached_attribute
    def form(self) -> Parameters:
        """The fields of a posted form; none for other methods. Raises as `read_form`, on the first access only."""
        if not self.is_post:
            return NO_PARAMETERS
        self.form = NO_PARAMETERS  # of a refused form: its error page may read it, too
        if self.path not in FORM_ADDRESSES:
            takes_saml = self.path.startswith(connection_pages.SAML_PREFIX)
            fields, self.files = read_form(self.environ, MAX_SAML_FORM_BYTES if takes_saml else MAX_FORM_BYTES)
            return fields
        try:
            fields, self.files = read_form(self.environ, MAX_IMAGE_FORM_BYTES)
        except RequestEntityTooLarge:
            self.is_upload_too_large = True
            return NO_PARAMETERS
        return fields

    @cached_attribute
    def nonce(self) -> str:
        """The nonce of this response's Content-Security-Policy."""
        return randomness.token(12)

    @cached_attribute
    def reference(self) -> str:
        """The request id: error pages show it; log lines and audit entries of hub and identity service have it."""
        return self.request_id or new_request_id()

    @property
    def failed_reference(self) -> str:
        """The reference of an earlier request that the address names; only the forms of ids, so that no address adds other text."""
        named = self.query.get(FAILED_REFERENCE, "")
        return named if is_generated_id(named) else ""

    @property
    def binding_secret(self) -> str:
        """The interaction's binding secret; the browser's outside of an interaction."""
        if self.interaction:
            return self.interaction.binding
        if not self.binding:
            self.binding, self.is_binding_new = randomness.token(18), True
        return self.binding

    def adopt_binding(self, binding: str | None) -> None:
        """Store the binding secret of a new interaction as the browser's, if it has none: all its interactions share one."""
        if binding and not self.binding:
            self.binding, self.is_binding_new = binding, True

    @property
    def has_cookies(self) -> bool:
        """Whether the browser sent any cookie of the hub; a browser that blocks cookies never does."""
        return any(_OURS in name for name in self.cookies)

    @property
    def is_probed(self) -> bool:
        """Whether it is known if the browser keeps cookies: it sent one, or was led here to find out."""
        return self.has_cookies or self.query.get(COOKIE_TEST) == COOKIE_TEST_VALUE

    @property
    def is_for_cache(self) -> bool:
        """Whether a page is rendered for the cache, from which other visits get it."""
        return bool(self.form_token)

    @property
    def brand_key(self) -> str:
        """The key of the tenant's brand: chosen in this request, in the interaction, or else the last one chosen in this browser."""
        if self.tenant.themes is None:
            return ""
        former = self.interaction.brand if self.interaction else self.cookie_brand
        return self.tenant.themes.known_key(former if self.chosen_brand is None else self.chosen_brand)

    @property
    def themes(self) -> ThemeNames | None:
        """The names of the themes that the page has, by level; None if it has the tenant's look."""
        known, shown = self.tenant.themes, self.interaction
        if known is None:
            return None
        named = (shown.theme, shown.application_theme, shown.organization_theme) if shown is not None else ("", "", "")
        return known.names(self.brand_key, *named)

    @property
    def brand(self) -> PageBranding:
        """The branding of the tenant with its themes over it, and with the look of the organization that the interaction is for."""
        names, known, shown = self.themes, self.tenant.themes, self.interaction
        brand = known.look(names) if known is not None and names is not None else self.tenant.brand
        if brand.names:
            brand = brand.in_language(current_language().tag)
        if shown is None or not shown.organization:
            return brand
        return brand.for_organization(shown.organization, shown.organization_logo, shown.organization_colour)

    @property
    def shown_uid(self) -> str:
        """The account that the forms of this response are for; empty within an interaction, whose forms name it themselves."""
        return "" if self.interaction else self.named_uid or self.posted_uid

    @property
    def interaction_id(self) -> str | None:
        return self.interaction.id if self.interaction else None

    @property
    def relying_party(self) -> str:
        """Name of the application that asked for the sign-in; empty outside of an interaction."""
        return self.interaction.relying_party if self.interaction else ""

    def to_visitor_claims(self, language: Language, password: str | None = None) -> VisitorClaims:
        """Return the claims that are signed and sent to the identity service; `password` reauthenticates the person."""
        return VisitorClaims(
            host=self.host,
            scheme=self.scheme,
            session=self.session or None,
            others=self.others,
            password=password,
            account=self.posted_uid,
            trusted=self.trusted or None,
            binding=(self.interaction.binding if self.interaction else self.binding) or None,
            address=self.address,
            agent=self.agent[:400],
            languages=self.accept_language[:200],
            language=language.tag,
            brand=self.brand_key,
            themes=self.themes or (),
            application=self.relying_party[:60],
            reference=self.reference,
        )

    def renew(self, session: Session | None) -> None:
        """Use a renewed session for the rest of the request; do nothing for None."""
        if session is not None:
            self.session, self.renewed = session.token, session

    def use_account_language(self, person: PersonView | None) -> None:
        """Use the signed-in account for the rest of the request: its id, its language, and whether it has organizations."""
        self.has_organizations = person is not None and person.has_organizations
        self.named_uid = person.uid if person is not None else ""
        if person is not None and person.language:
            self.account_language = person.language
            self.choose_language()

    def forget_account(self) -> None:
        """Remove the account from the rest of the request, because its session ended."""
        self.posted_uid = self.named_uid = ""

    def choose_language(self) -> Language:
        """Choose the language of the visit, and use it."""
        language = self.language_for(self.accept_language)
        use_language(language, self.brand.texts)
        return language

    def language_for(self, accept_language: str) -> Language:
        """Return the language of the visit, for the browser's `Accept-Language`.

        In this order: the language chosen in this request; `ui_locales`, or a choice within the
        interaction; the last choice in this browser; the account's; the browser's; the tenant's.
        """
        candidates = (
            [self.chosen_language],
            self.interaction.languages if self.interaction else self.requested_languages,
            [self.cookie_language],
            [self.account_language],
            parse_accept_language(accept_language) if accept_language else (),
        )
        return negotiate(candidates, self.tenant.languages)


def current_visit() -> Visit:
    """Return the current visit; outside of a request a new one without a tenant."""
    try:
        visit: Visit = g._get_current_object().visit  # each access through the proxy costs a look-up
    except AttributeError:
        return set_current_visit(Visit())
    except RuntimeError:
        return Visit()
    return visit


def set_current_visit(visit: Visit) -> Visit:
    """Store the visit of the request, and return it."""
    g._get_current_object().visit = visit
    return visit


def is_provider_callback(path: str) -> bool:
    """Return whether an upstream provider returns the browser to this path."""
    return path in _OF_TENANT or _OF_ORGANIZATION.fullmatch(path) is not None


def requested_interaction_id() -> str:
    """Return the interaction that the address or the form names; another browser may have started it."""
    visit = current_visit()
    path, state = visit.environ.get("PATH_INFO"), visit.query.get("state")
    if is_provider_callback(path or "") or (path == RETURN_PATH and state):
        return (state or "").partition(".")[0]
    return visit.query.get("attempt") or visit.form.get("attempt", "")


def interaction_url(path: str) -> str:
    """Return the address of a page, within the interaction of the visit if there is one."""
    interaction = current_visit().interaction
    return f"{path}?attempt={interaction.id}" if interaction else path


def retry_url() -> str:
    """Return the address of "try again": this address after a GET, the form's page after a POST."""
    visit = current_visit()
    if is_short_link(visit.environ):
        return interaction_url(given_path(visit.environ))
    path = own_url(visit.path)
    if visit.is_post:
        return interaction_url(path)
    return f"{path}?{visit.query_text}" if visit.query_text else path


def own_url(path: str) -> str:
    """Return the path as an address of this host: browsers read `//` and `/\\` at its beginning as another host."""
    return "/" + path.lstrip("/\\")
