"""Organizations as the pages of sign-in show them."""

from pydantic import Field

from app.contract.organizations.settings import ConnectionOption
from app.kit.operations.wire import Wire


class OrganizationBranding(Wire):
    """How pages show the organization that a sign-in is for; empty after the visitor chose the personal account."""

    name: str = ""
    logo: str | None = None
    color: str | None = None
    theme: str = ""  # the name of the theme of its pages
    connections: list[ConnectionOption] = Field(default_factory=list)  # by which its people sign in
    requires_connection: bool = False  # it accepts nothing else of its members


class OrganizationOption(Wire):
    """An organization that the visitor may continue with."""

    id: str
    name: str
    logo: str | None = None
    roles: list[str] = Field(default_factory=list)
    people: int  # its members
    is_last_used: bool = False  # chosen last for this application


class InvitationHint(Wire):
    """How many open invitations the account has, and the names of the first organizations."""

    count: int = 0
    organizations: list[str] = Field(default_factory=list)


class JoinableOrganization(Wire):
    """An organization that the visitor may ask to join."""

    id: str
    name: str
    logo: str | None = None
    is_requested: bool = False  # a request is open
    until: str | None = None  # when the visitor can ask again, after a declined request
