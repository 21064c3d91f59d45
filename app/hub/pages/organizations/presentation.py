"""Organizations as pages show them: tile, roles, number of people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from flask_babel import format_decimal, get_locale

from app.contract import errors
from app.contract.organizations.pages.account_organization_pages import OwnOrganization
from app.contract.organizations.views import InvitationHint, JoinableOrganization
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_ngettext as _n
from app.hub.rendering import formatting
from app.hub.tenants.branding import initials, tone_of
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

_LOGOS: Final = 20
"""Maximum number of logos on one page, because each is a source in the content security policy."""


@dataclass(frozen=True)
class Tile:
    """The logo of an organization, or the initials of its name in a colour that its id decides."""

    name: str
    id: str
    logo: str = ""

    @property
    def initials(self) -> str:
        return initials(self.name)[:2]

    @property
    def tone(self) -> str:
        return tone_of(self.id)


@dataclass(frozen=True)
class Tab:
    """A page of an organization, as the tabs of its managers name it; `address` takes the organization as `id`."""

    name: str
    text: Any
    address: str
    is_for_owners: bool = False
    is_for_requests: bool = False
    """Whether the tab is only for organizations that accept join requests."""


TABS: Final = (
    Tab("members", _l("Members"), "/organizations/members"),
    Tab("requests", _l("Requests"), "/organizations/requests", is_for_requests=True),
    Tab("domains", _l("Domains"), "/organizations/domains", is_for_owners=True),
    Tab("settings", _l("Settings"), "/organizations/settings", is_for_owners=True),
)  # fmt: skip
"""The pages of an organization that its managers see; one page alone shows no tabs."""


def tabs_of(organization: OwnOrganization) -> tuple[Tab, ...]:
    """Return the tabs that this account sees."""
    has_domains = current_visit().tenant.has_organization_domains
    shown = (tab for tab in TABS if organization.is_owner or not tab.is_for_owners)
    shown = (tab for tab in shown if organization.takes_requests or not tab.is_for_requests)
    return tuple(tab for tab in shown if has_domains or tab.name != "domains")


@dataclass(frozen=True)
class Joinable:
    """An organization that the visitor may ask to join. `until`: the day when it can ask again, after a declined request."""

    tile: Tile
    is_requested: bool = False
    until: str = ""

    @classmethod
    def of(cls, view: JoinableOrganization) -> Joinable:
        until = formatting.short_day(view.until) if view.until else ""
        return cls(Tile(view.name, view.id, view.logo or ""), view.is_requested, until)

    @classmethod
    def samples(cls) -> tuple[Joinable, ...]:
        """Return one in each state."""
        day = formatting.short_day("2026-12-12T10:00:00+00:00")
        long = "Northern Association of Independent Garden and Landscape Architects"
        return (
            cls(Tile("Hazel Labs", "org_2")),
            cls(Tile("Initech", "org_3"), True),
            cls(Tile(long, "org_4"), until=day),
        )


@dataclass(frozen=True)
class InvitationsRow:
    """The row that leads to the account's open invitations."""

    count: int
    organizations: tuple[str, ...]

    @property
    def text(self) -> Any:
        """A text such as "2 invitations"."""
        return _n("%(num)d invitation", "%(num)d invitations", self.count)

    @property
    def senders(self) -> Any:
        """A text such as "From Hazel Labs"."""
        return _l("From %(names)s", names=listed(self.organizations))

    @classmethod
    def of(cls, hint: InvitationHint) -> InvitationsRow | None:
        return cls(hint.count, tuple(hint.organizations)) if hint.count else None


def ids_in(key: str) -> tuple[str, str]:
    """Return the ids in a key of the form `organization-other`; ids that are too long are empty."""
    organization, _, other = key.partition("-")
    return (organization, other) if len(organization) <= 64 and len(other) <= 64 else ("", "")


def people(count: int) -> Any:
    """Return a text such as "24 people"."""
    return _n("%(count)s person", "%(count)s people", count, count=format_decimal(count))


def members(count: int) -> Any:
    """Return a text such as "24 members"."""
    return _n("%(count)s member", "%(count)s members", count, count=format_decimal(count))


def listed(names: Iterable[str]) -> str:
    """Return the names as one text, separated as the visitor's language does."""
    separator = "، " if str(get_locale()).startswith("ar") else ", "
    return separator.join(names)


def logos(tiles: Iterable[Tile]) -> tuple[str, ...]:
    """Return the addresses of the logos that a page shows."""
    return tuple(dict.fromkeys(tile.logo for tile in tiles if tile.logo))[:_LOGOS]


NAME_ERRORS: Final[dict[type[ApiError], Any]] = {
    errors.OrganizationNameTaken: _l("This name is taken."),
    errors.BadField: _l("Use plain letters of one alphabet."),
}
"""What the field of an organization's name says."""
