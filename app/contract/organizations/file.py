"""Organizations and their roles in a configuration file."""

from typing import Annotated, Any, Literal

from pydantic import Field

from app.contract.configuration_model import ConfigurationModel, Picture
from app.contract.organizations.settings import SignInMethod
from app.contract.tenants.branding import Hex, ThemeName

_Name = Annotated[str, Field(min_length=1, max_length=100)]
_PermissionName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:/*-]{0,99}$")]


class OrganizationRoleFile(ConfigurationModel):
    """An organization role. Permissions that do not exist are created."""

    name: _Name
    description: str = Field(default="", max_length=500)
    permissions: tuple[_PermissionName, ...] = Field(default=(), max_length=200)


class TenantRoleFile(OrganizationRoleFile):
    """A role for the members of all organizations. Permissions that do not exist are created."""

    default: bool = False  # the role of new members, in place of the present default


class OrganizationDomainFile(ConfigurationModel):
    """A domain of an organization."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    verified: bool = False  # states that it is the organization's; false leaves a verified domain as it is


class OrganizationPasswordFile(ConfigurationModel):
    """What passwords of members must have; of this and the tenant's settings, the stricter rule holds."""

    expiry_days: int | None = Field(default=None, ge=0, le=3_650)
    min_length: int | None = Field(default=None, ge=1, le=128)
    max_length: int | None = Field(default=None, ge=8, le=1_024)
    require_lowercase: bool | None = None
    require_uppercase: bool | None = None
    require_number: bool | None = None
    require_symbol: bool | None = None


class OrganizationPolicies(ConfigurationModel):
    """The policies of an organization; where a key is absent, the tenant's settings apply."""

    join_by_domain: bool | None = None  # accounts of its verified domains join at sign-in
    join_needs_approval: bool | None = None  # they ask to join, and a manager approves
    second_factor: Literal["optional", "force", "none"] | None = None
    default_role: _Name | None = None
    seats: int | None = Field(default=None, ge=1, le=1_000_000)
    password: OrganizationPasswordFile = OrganizationPasswordFile()
    allowed_methods: tuple[SignInMethod, ...] | None = Field(default=None, min_length=1, max_length=20)
    ldap_provider: str | None = Field(default=None, min_length=1, max_length=60)
    access_token_seconds: int | None = Field(default=None, ge=60, le=7_776_000)
    refresh_token_seconds: int | None = Field(default=None, ge=60, le=31_536_000)


class OrganizationMemberFile(ConfigurationModel):
    """A member of an organization. Roles are added; those that the file does not list stay."""

    account: Annotated[str, Field(min_length=1, max_length=320)]
    roles: tuple[_Name, ...] = Field(min_length=1, max_length=200)


class OrganizationFile(ConfigurationModel):
    """An organization, found by its name. What it has beside the file's roles, domains and members stays. Connections and their
    secrets are not part of a file."""

    name: _Name
    display_name: _Name | None = None
    logo: Picture | None = None
    color: Hex | None = None
    theme_name: ThemeName | None = None
    metadata: dict[str, Any] = Field(default_factory=dict, max_length=50)
    is_active: bool = True
    roles: tuple[OrganizationRoleFile, ...] = Field(default=(), max_length=1_000)
    domains: tuple[OrganizationDomainFile, ...] = Field(default=(), max_length=100)
    policies: OrganizationPolicies | None = None
    members: tuple[OrganizationMemberFile, ...] = Field(default=(), max_length=10_000)
