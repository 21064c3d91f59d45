"""The hub's copy of an interaction (one sign-in in one tab), and its encrypted cookie. The identity service owns the interaction
and decides its steps; the copy lets the hub render a page without an API call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from operator import attrgetter, itemgetter
from typing import Any, Final

from app.contract.applications.application_logo_pages import COPIED_LOGOS
from app.contract.organizations.settings import ConnectionOption, MethodLimit
from app.contract.organizations.views import OrganizationBranding
from app.contract.steps import StepResponse
from app.contract.workflows.workflow_display import WorkflowDisplay
from app.hub.encryption import CookieCipher
from app.kit import randomness
from app.kit.text.languages import tags_in
from app.kit.web.urls import is_web_url

MAX_OPEN: Final = 5
"""Maximum number of interaction cookies per browser, which fit into one header; the tab of an evicted one reopens its interaction
(`pages_api/sign_in/resume_interaction.py`)."""
MAX_REMEMBERED: Final = 8
"""Maximum number of evicted interactions whose relying party is remembered."""
MAX_ADDRESS_LENGTH: Final = 160
"""Longest address of an application's logo, privacy notice or terms that the cookie carries: five cookies share one header."""
_FEWEST_FIELDS: Final = 10
"""Fields of a cookie without logo and links, which the previous release reads and writes."""
_PREFIX: Final = "conn_"
"""What the ids of connections begin with, and the cookie leaves out."""
COOKIE_LIFETIME_SECONDS: Final = 4 * 24 * 3600
"""Lifetime of an interaction in the identity service, during which the sign-in can restart."""


@dataclass(frozen=True, slots=True)
class HubInteraction:
    """The values of one interaction that pages show. The cookie holds the fields in this order."""

    id: str
    binding: str
    """Secret of the browser that started the interaction."""
    relying_party: str = ""
    """Name of the application that asked for the sign-in."""
    home: str = ""
    """Address at the application where a new sign-in starts."""
    redirect_origin: str = ""
    """Origin, or bare scheme, that the last step redirects to."""
    languages: tuple[str, ...] = ()
    """`ui_locales` of the request, or the language that the person chose since."""
    hint: str = ""
    """`login_hint`: prefills the identifier field."""
    display: str = ""
    """`display` of the request; a pop-up keeps its reference to the page that opened it."""
    opened_at: int = 0
    """Seconds since 1970."""
    expires_at: int = 0
    """Seconds since 1970."""
    logo: str = ""
    """https address of the application's logo; empty if it has none, or a long one."""
    policy: str = ""
    """Address of the application's privacy notice."""
    terms: str = ""
    """Address of the application's terms."""
    invitation: str = ""
    """Name of the organization that this sign-in or registration joins at its end."""
    limited_by: str = ""
    """Name of an organization that refused the last sign-in's method; the page shows it for `needs=method` in the address."""
    limited_to: str = ""
    """The methods that this organization allows, separated by spaces."""
    organization: str = ""
    """Display name of the organization that the sign-in is for, if its look is shown."""
    organization_logo: str = ""
    """https address of its logo; empty if it has none, or a long one."""
    organization_colour: str = ""
    """Its colour; empty for the tenant's."""

    theme: str = ""
    """The theme that the workflow of the sign-in names; empty for the tenant's look."""
    entry: str = ""
    """The methods that its entry takes, separated by spaces; empty for all."""
    brand: str = ""
    """The key of the brand that its address chose; empty for none."""
    application_theme: str = ""
    """The theme that the application names; empty for none."""
    organization_theme: str = ""
    """The theme that the organization names; empty for none."""
    limited_connection: str = ""
    """The connection of the organization that refused the last sign-in's method, the first of several; empty if it has none of its
    own, and where nobody has signed in yet."""
    needs_confirmation: str = ""
    """`y` once a provider's identity waits for a sign-in to the account that it will be linked to; otherwise empty."""
    limited_connections: str = ""
    """The connections of that organization, where it has several: one a line, the id without its prefix and the title."""
    organization_connections: str = ""
    """The connections of the organization that the sign-in is for, written in the same way."""
    requires_connection: str = ""
    """`y` if that organization accepts nothing else of its members; otherwise empty."""

    @property
    def application(self) -> tuple[str, ...]:
        """What pages show of the application, the organization that the sign-in is for, and its workflow."""
        organization = (self.organization, self.organization_logo, self.organization_colour)
        connections = (self.organization_connections, self.requires_connection)
        application = (self.relying_party, self.logo, self.policy, self.terms)
        return (*application, *organization, *connections, self.theme, self.entry)

    def anonymous(self, id: str) -> HubInteraction:  # noqa: A002 - the field
        """Return an interaction with this id that renders the same pages, without any other value of this one. The pages show
        `application`, and their headers have `redirect_scheme` and `display`.
        """
        return HubInteraction(
            id,
            "",
            relying_party=self.relying_party,
            redirect_origin=self.redirect_scheme,
            display=self.display,
            logo=self.logo,
            policy=self.policy,
            terms=self.terms,
            organization=self.organization,
            organization_logo=self.organization_logo,
            organization_colour=self.organization_colour,
            theme=self.theme,
            entry=self.entry,
            brand=self.brand,
            application_theme=self.application_theme,
            organization_theme=self.organization_theme,
            organization_connections=self.organization_connections,
            requires_connection=self.requires_connection,
        )

    @property
    def redirect_scheme(self) -> str:
        """The scheme that redirects after this interaction's forms may use (`https:`); empty if none is known.

        A whole origin would block the application's own next redirect: browsers check `form-action` on every hop.
        """
        return self.redirect_origin.partition(":")[0] + ":" if self.redirect_origin else ""

    @property
    def method_limit(self) -> MethodLimit | None:
        """The methods that an organization allows; None unless it refused one."""
        methods = self.limited_to.split()
        if not methods:
            return None
        limit = MethodLimit.model_validate({"organization": self.limited_by, "allowed_methods": methods})
        connections = _options_in(self.limited_connections) or None
        return limit.model_copy(update={"connection": self.limited_connection or None, "connections": connections})

    @property
    def connections(self) -> list[ConnectionOption]:
        """The connections of the organization that the sign-in is for."""
        return _options_in(self.organization_connections)

    def with_method_limit(self, limit: MethodLimit) -> HubInteraction:
        """Return the interaction after an organization refused the method of a sign-in."""
        return replace(
            self,
            limited_by=limit.organization[:80],
            limited_to=" ".join(limit.allowed_methods),
            limited_connection=limit.connection or "",
            limited_connections=_options_text(limit.connections or ()),
        )

    def with_confirmation(self) -> HubInteraction:
        """Return the interaction, marked as waiting for the sign-in that links a provider's identity."""
        return replace(self, needs_confirmation="y")

    def with_organization(self, look: OrganizationBranding | None) -> HubInteraction:
        """Return the interaction with the look of an organization; unchanged for None."""
        if look is None:
            return self
        logo, colour = _short(look.logo), look.color or ""
        shown = replace(self, organization=look.name[:80], organization_logo=logo, organization_colour=colour[:7])
        shown = replace(shown, requires_connection="y" if look.requires_connection else "")
        return replace(shown, organization_theme=look.theme, organization_connections=_options_text(look.connections))

    @property
    def entry_methods(self) -> frozenset[str]:
        """The methods that the workflow's entry takes; empty for all."""
        return frozenset(self.entry.split())

    def with_workflow(self, shown: WorkflowDisplay | None) -> HubInteraction:
        """Return the interaction with what its pages show of the workflow; unchanged for None."""
        return self if shown is None else replace(self, theme=shown.theme[:60], entry=" ".join(shown.methods))

    def with_language(self, language: str) -> HubInteraction:
        """Return the interaction in the language that the person chose on its page."""
        return replace(self, languages=(language,))

    def with_brand(self, key: str) -> HubInteraction:
        """Return the interaction with the brand that an address of its pages chose."""
        return replace(self, brand=key)


def interaction_from_step(response: StepResponse, binding: str, now: int, lifetime_seconds: int) -> HubInteraction:
    """Return the interaction that a response of the identity service starts."""
    relying_party = response.relying_party
    interaction = HubInteraction(
        id=response.interaction_id or "",
        binding=binding,
        relying_party=relying_party.name[:80] if relying_party else "",
        home=(relying_party.home or "")[:200] if relying_party else "",
        redirect_origin=(relying_party.redirect_origin or "")[:120] if relying_party else "",
        languages=tags_in(response.ui_locales or ""),
        hint=(response.login_hint or "")[:120],
        display=(response.display or "")[:10],
        opened_at=now,
        expires_at=now + lifetime_seconds,
        logo=_short(relying_party.logo) if relying_party else "",
        policy=_short(relying_party.policy) if relying_party else "",
        terms=_short(relying_party.terms) if relying_party else "",
        invitation=(response.invitation or "")[:80],
        brand=response.brand or "",
        application_theme=relying_party.theme if relying_party else "",
    )
    return interaction.with_organization(response.organization).with_workflow(response.workflow)


def _options_text(options: Iterable[ConnectionOption]) -> str:
    return "\n".join(f"{item.connection.removeprefix(_PREFIX)} {' '.join(item.title.split())}" for item in options)


def _options_in(text: str) -> list[ConnectionOption]:
    pairs = (line.partition(" ") for line in text.splitlines())
    return [ConnectionOption(connection=f"{_PREFIX}{connection}", title=title) for connection, _, title in pairs]


def _short(address: str | None) -> str:
    """Return a web address that fits the cookie; empty for a longer one, which only the consent page shows, and for data:."""
    is_known = bool(address) and (is_web_url(str(address)) or str(address).startswith(COPIED_LOGOS))
    return str(address) if is_known and len(str(address)) <= MAX_ADDRESS_LENGTH else ""


_FIELDS: Final = tuple(field.name for field in fields(HubInteraction))
_values_of: Final = attrgetter(*_FIELDS)


class InteractionCookies:
    """Reads and writes the interactions of one browser, one encrypted cookie each.

    Args:
        prefix: prefix of the cookie names, including `__Host-` where browsers should enforce it.
    """

    def __init__(self, cipher: CookieCipher, prefix: str) -> None:
        self._cipher = cipher
        self._prefix = f"{prefix}gatehouse-attempt-"

    def name_of(self, interaction_id: str) -> str:
        """Return the cookie's name, which does not reveal the id."""
        return self._prefix + randomness.digest(interaction_id)[:12]

    def is_one(self, name: str) -> bool:
        """Return whether a cookie of this name holds an interaction."""
        return name.startswith(self._prefix)

    def read(self, cookies: Mapping[str, str], tenant: str, interaction_id: str) -> HubInteraction | None:
        """Return the interaction; None if this browser did not start it."""
        name = self.name_of(interaction_id)
        interaction = self._decrypt(cookies.get(name, ""), tenant, name)
        return interaction if interaction is not None and interaction.id == interaction_id else None

    def write(self, interaction: HubInteraction, tenant: str) -> tuple[str, str]:
        """Return the cookie's name and value."""
        name = self.name_of(interaction.id)
        content = [list(value) if isinstance(value, tuple) else value for value in _values_of(interaction)]
        while len(content) > _FEWEST_FIELDS and not content[-1]:
            content.pop()
        return name, self._cipher.encrypt(content, f"{tenant} {name}")

    def to_evict(self, cookies: Mapping[str, str], tenant: str, keep: str) -> dict[str, HubInteraction | None]:
        """Return the cookies to delete, all but `keep` and the newest: the interaction by cookie name, None if it cannot be decrypted."""
        aged = []
        for name, value in cookies.items():
            if name.startswith(self._prefix) and name != keep:
                interaction = self._decrypt(value, tenant, name)
                aged.append((interaction.opened_at if interaction else 0, name, interaction))
        aged.sort(key=itemgetter(0, 1), reverse=True)
        return {name: interaction for _, name, interaction in aged[MAX_OPEN - 1 :]}

    @property
    def relying_parties_cookie(self) -> str:
        """Name of the cookie with the relying parties of evicted interactions, for "start again" in their tabs."""
        return self._prefix.replace("attempt-", "asked")

    def remember(self, cookies: Mapping[str, str], tenant: str, evicted: Mapping[str, HubInteraction | None]) -> str:
        """Return the value of that cookie with the interactions evicted now; the oldest beyond the limit are dropped."""
        added = [[name, known.relying_party[:40], known.home[:160]] for name, known in evicted.items() if known]
        entries = [*self._remembered(cookies, tenant), *(entry for entry in added if entry[2])]
        return self._cipher.encrypt(entries[-MAX_REMEMBERED:], f"{tenant} asked")

    def remembered_relying_party(self, cookies: Mapping[str, str], tenant: str, interaction_id: str) -> tuple[str, str]:
        """Return name and home of the relying party of an evicted interaction; both empty if unknown."""
        name = self.name_of(interaction_id)
        entries = self._remembered(cookies, tenant)
        return next(((entry[1], entry[2]) for entry in entries if entry[0] == name), ("", ""))

    def _remembered(self, cookies: Mapping[str, str], tenant: str) -> list[list[str]]:
        content: Any = self._cipher.decrypt(cookies.get(self.relying_parties_cookie, ""), f"{tenant} asked")
        return content if isinstance(content, list) else []

    def _decrypt(self, value: str, tenant: str, name: str) -> HubInteraction | None:
        content: Any = self._cipher.decrypt(value, f"{tenant} {name}")
        if not isinstance(content, list) or not _FEWEST_FIELDS <= len(content) <= len(_FIELDS):
            return None
        values = dict(zip(_FIELDS, content, strict=False))
        return HubInteraction(**{**values, "languages": tuple(values["languages"])})
