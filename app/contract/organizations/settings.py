"""A tenant's settings of organizations, in the configuration file, and the limit that one organization sets to its members' sign-ins."""

from typing import Literal

from pydantic import Field

from app.contract.configuration_model import ConfigurationModel
from app.kit.operations.wire import Wire


class OrganizationSettings(ConfigurationModel):
    """Organizations: the companies among the tenant's customers, with their own members, roles, policies and sign-in."""

    enabled: bool = True
    dns: bool = False  # ask DNS: for the TXT records that verify domains, and for the mail servers of new domains
    trial_limit: int = Field(default=5, ge=1, le=10_000)  # most organizations of a tenant with `trial_ends_at`
    self_service_creation: bool = False  # people create organizations on the account pages
    owned_limit: int = Field(default=10, ge=1, le=10_000)  # most organizations of one owner who creates them there


SignInMethod = Literal["password", "passkey", "email", "sms", "connection", "pin"]
"""The first factor of a sign-in: `email` is a link or code by email, `connection` an identity provider, `pin` renews a session."""


class ConnectionOption(Wire):
    """A connection of an organization, as a button of its sign-in page."""

    connection: str  # its id
    title: str  # of the button
    login_url: str | None = None  # where a browser signs in by it


class MethodLimit(Wire):
    """`Data` of error 1220: the methods that an organization of the account allows, one of which it has set up."""

    organization: str  # its display name
    allowed_methods: list[SignInMethod]
    connection: str | None = None  # the id of the organization's own connection, the only one that it accepts
    login_url: str | None = None  # where a browser signs in by it
    connections: list[ConnectionOption] | None = None  # all of them, where it has several

    @property
    def is_of_domain(self) -> bool:
        """Whether a typed domain led to it, and no account is known that it binds."""
        return bool(self.connections) and self.connection is None
