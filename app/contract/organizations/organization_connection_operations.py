"""The tenant's servers manage the connections of organizations, and the roles of groups.

The docstrings are published.
"""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import ORGANIZATION_MANAGEMENT, Host
from app.contract.catalogue import operation
from app.contract.error_profiles import OAUTH, ORGANIZATIONS
from app.contract.organizations.models import (
    Attributes,
    AttributesUpdate,
    Connection,
    GroupRole,
    Id,
    IsActive,
    OrgPath,
    ProviderUrl,
    Status,
)
from app.contract.organizations.organization_operations import ACTIVE, FOUND
from app.contract.shared_responses import Deleted
from app.kit.operations.operation import Accept, Operation
from app.kit.operations.partial_update import PartialUpdate
from app.kit.operations.wire import From, Wire

SAML_TYPES = ("saml_custom", "saml_okta", "saml_entraid", "saml_google_workspace", "saml_salesforce")
OIDC_TYPE = "oidc_custom"
ConnectionType = Literal[
    "saml_custom", "saml_okta", "saml_entraid", "saml_google_workspace", "saml_salesforce", "oidc_custom"
]
ConnectionName = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9_-]{0,58}[A-Za-z0-9])?$")]
Text = Annotated[str, Field(max_length=1_000)]
GroupName = Annotated[str, Field(min_length=1, max_length=100)]
GroupId = Annotated[str, Field(min_length=1, max_length=200)]


class ConnectionFields(Wire):
    """What a connection consists of: `IDP…` of SAML types, from `Issuer` to `TokenAuthMethod` of `oidc_custom`.

    `IDPMetadataUrl` and `Issuer` fill in what is left out.
    """

    domain: Annotated[str | None, Field(max_length=253)] = None
    idp_entity_id: Annotated[Text | None, Field(alias="IDPEntityId")] = None
    idp_metadata_url: Annotated[ProviderUrl | None, Field(alias="IDPMetadataUrl")] = None
    is_idp_initiated: Annotated[bool | None, Field(alias="IsIDPInitiated")] = None
    idp_certificate: Annotated[str | None, Field(alias="IDPCertificate", max_length=20_000)] = None
    idp_sign_in_url: Annotated[ProviderUrl | None, Field(alias="IDPSignInUrl")] = None
    idp_sign_out_url: Annotated[ProviderUrl | None, Field(alias="IDPSignOutUrl")] = None
    issuer: ProviderUrl | None = None
    authorization_url: ProviderUrl | None = None
    token_url: ProviderUrl | None = None
    user_info_url: ProviderUrl | None = None
    client_id: Text | None = None
    client_secret: Text | None = None
    scopes: Annotated[
        list[Annotated[str, Field(pattern=r"^[\x21\x23-\x5B\x5D-\x7E]{1,100}$")]] | None, Field(max_length=30)
    ] = None
    token_auth_method: Literal["client_secret_basic", "client_secret_post"] | None = None


class CreateConnection(OrgPath, ConnectionFields):
    name: ConnectionName
    connection_type: ConnectionType
    attributes: Attributes | None = None


class ConnectionPath(OrgPath):
    """A connection of an organization, by the ids in the path."""

    conn_id: Annotated[str, From.PATH, Field(alias="connId")]


class UpdateConnection(ConnectionPath, ConnectionFields, PartialUpdate):
    """`ConnectionType` may not change from SAML to OpenID Connect or back."""

    never_cleared = ("name", "connection_type")
    attributes: AttributesUpdate | None = None
    name: ConnectionName | None = None
    connection_type: ConnectionType | None = None


class SetConnectionStatus(ConnectionPath, Status):
    pass


class Connections(Wire):
    data: list[Connection]


class UpstreamLogout(Wire):
    """The logout token of an identity provider, signed by it."""

    opaque: Annotated[str, From.PATH, Field(max_length=100)]
    logout_token: Annotated[str, Field(alias="logout_token", max_length=20_000)] = ""


class SessionsEnded(Wire):
    """An empty object: the sessions have ended, or there were none."""


class CreateGroupRole(ConnectionPath):
    """A role for the members of a group: `GroupId` is a value of the mapped attribute `Groups`."""

    group_id: GroupId
    name: GroupName
    role_id: Id


class GroupRolePath(ConnectionPath):
    """A group role, by the ids in the path."""

    group_role_id: Annotated[str, From.PATH, Field(alias="groupRoleId")]


class UpdateGroupRole(GroupRolePath, PartialUpdate):
    never_cleared = ("group_id", "name", "role_id")
    group_id: GroupId | None = None
    name: GroupName | None = None
    role_id: Id | None = None


class GroupRoles(Wire):
    data: list[GroupRole]


_PATH = "/v2/manage/organizations/{orgId}/connections"
_ONE = f"{_PATH}/{{connId}}"
_GROUPS = f"{_ONE}/grouproles"
_GROUP = f"{_GROUPS}/{{groupRoleId}}"
UNKNOWN = errors.UnknownOrganizationConnection
_CONTENT = (
    errors.DomainNotVerified,
    errors.DomainNotInOrganization,
    errors.OrganizationConnectionTaken,
    errors.DomainOfOtherConnection,
)
_GROUP_TAKEN = (errors.MalformedRoleId, errors.GroupRoleNameTaken, errors.GroupTaken)
_NO_GROUP = (errors.UnknownGroupRole, errors.MalformedGroupRoleId)

list_all = operation(
    "organization_connections.list", f"GET {_PATH}", OrgPath, Connections, auth=ORGANIZATION_MANAGEMENT, scope="organization:read",
    error_profile=ORGANIZATIONS, errors=FOUND, takes_blank_segments=True,
    summary="List an organization’s connections",
    description="Returns the connections of an organization to its identity providers, oldest first.",
)  # fmt: skip
create = operation(
    "organization_connections.create", f"POST {_PATH}", CreateConnection, Connection, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update",
    accepts=Accept.JSON, error_profile=ORGANIZATIONS, errors=(*ACTIVE, *_CONTENT), takes_blank_segments=True,
    summary="Create a connection",
    description="Stores a connection of an organization to its identity provider, by SAML or OpenID Connect. The organization must have "
    "verified the domains. For SAML, give the provider’s administrator the address in `MetadataUrl`.",
)  # fmt: skip
read = operation(
    "organization_connections.read", f"GET {_ONE}", ConnectionPath, Connection, auth=ORGANIZATION_MANAGEMENT, scope="organization:read",
    error_profile=ORGANIZATIONS, errors=(*FOUND, UNKNOWN), takes_blank_segments=True,
    summary="Get a connection",
    description="Returns a connection of an organization, with masked secrets.",
)  # fmt: skip
update = operation(
    "organization_connections.update", f"PUT {_ONE}", UpdateConnection, Connection, auth=ORGANIZATION_MANAGEMENT,
    scope="organization:update",
    accepts=Accept.JSON, error_profile=ORGANIZATIONS, errors=(*ACTIVE, UNKNOWN, *_CONTENT), takes_blank_segments=True,
    summary="Update a connection",
    description="Changes a connection.",
)  # fmt: skip
delete = operation(
    "organization_connections.delete", f"DELETE {_ONE}", ConnectionPath, Deleted, auth=ORGANIZATION_MANAGEMENT, scope="organization:update",
    error_profile=ORGANIZATIONS, errors=(*ACTIVE, UNKNOWN), takes_blank_segments=True,
    summary="Delete a connection",
    description="Deletes a connection with its group roles, and takes the roles from members who got them through a group.",
)  # fmt: skip
set_status = operation(
    "organization_connections.set_status", f"PUT {_ONE}/status", SetConnectionStatus, IsActive,
    auth=ORGANIZATION_MANAGEMENT, scope="organization:update",
    accepts=Accept.JSON, error_profile=ORGANIZATIONS, errors=(*FOUND, UNKNOWN, errors.StatusAlreadySet, errors.WrongStatus),
    takes_blank_segments=True,
    summary="Activate or deactivate a connection",
    description="Sets whether a connection is active. Joining by sign-in needs an active connection.",
)  # fmt: skip
list_group_roles = operation(
    "organization_connections.list_group_roles", f"GET {_GROUPS}", ConnectionPath, GroupRoles,
    auth=ORGANIZATION_MANAGEMENT, scope="organization:read",
    error_profile=ORGANIZATIONS, errors=(*FOUND, UNKNOWN), takes_blank_segments=True,
    summary="List group roles",
    description="Returns which roles the groups of an identity provider give to members.",
)  # fmt: skip
create_group_role = operation(
    "organization_connections.create_group_role", f"POST {_GROUPS}", CreateGroupRole, GroupRole,
    auth=ORGANIZATION_MANAGEMENT, scope="organization:update",
    accepts=Accept.JSON, error_profile=ORGANIZATIONS, errors=(*ACTIVE, UNKNOWN, *_GROUP_TAKEN), takes_blank_segments=True,
    summary="Create a group role",
    description="Gives a role to members of a group of the identity provider, from their next sign-in on.",
)  # fmt: skip
end_sessions = operation(
    "organization_connections.end_sessions", "POST /oauth/sp/{opaque}/backchannel-logout", UpstreamLogout, SessionsEnded,
    error_profile=OAUTH, on=Host.TENANT,
    summary="End the sessions of a provider’s session",
    description="Takes the `logout_token` of the identity provider of an OpenID Connect connection (Back-Channel Logout 1.0), and ends the "
    "sessions that a sign-in by the connection began. At the provider, register it as the client’s back-channel logout URI.",
)  # fmt: skip
update_group_role = operation(
    "organization_connections.update_group_role", f"PUT {_GROUP}", UpdateGroupRole, GroupRole,
    auth=ORGANIZATION_MANAGEMENT, scope="organization:update",
    accepts=Accept.JSON, error_profile=ORGANIZATIONS, errors=(*ACTIVE, UNKNOWN, *_GROUP_TAKEN, *_NO_GROUP),
    takes_blank_segments=True,
    summary="Update a group role",
    description="Changes the name, group or roles of a group role.",
)  # fmt: skip
delete_group_role = operation(
    "organization_connections.delete_group_role", f"DELETE {_GROUP}", GroupRolePath, Deleted,
    auth=ORGANIZATION_MANAGEMENT, scope="organization:update",
    error_profile=ORGANIZATIONS, errors=(*FOUND, UNKNOWN, *_NO_GROUP), takes_blank_segments=True,
    summary="Delete a group role",
    description="Deletes a group role. Members lose the roles that they have only through it.",
)  # fmt: skip


def _certificate_operation(
    name: str, address: str, summary: str, description: str
) -> Operation[ConnectionPath, Connection]:
    """Return an operation on the life of our key for a SAML connection: published, activated, and removed when it is the former one."""
    return operation(
        f"organization_connections.{name}", address, ConnectionPath, Connection, auth=ORGANIZATION_MANAGEMENT, scope="organization:update",
        error_profile=ORGANIZATIONS, errors=(*ACTIVE, UNKNOWN), takes_blank_segments=True, summary=summary, description=description,
    )  # fmt: skip


renew_certificate = _certificate_operation(
    "renew_certificate", f"POST {_ONE}/renew-certificate", "Renew a SAML connection’s certificate",
    "Replaces the current certificate at once, by the next one or, without it, by a new one. An identity provider that doesn’t know it "
    "yet refuses what it signs: to avoid that, create the next certificate, and activate it when the provider knows it.",
)  # fmt: skip
create_next_certificate = _certificate_operation(
    "create_next_certificate", f"POST {_ONE}/next-certificate", "Create a SAML connection’s next certificate",
    "Publishes a certificate beside the current one, so that the identity provider knows it before it signs. Returns the present next "
    "certificate if there is one.",
)  # fmt: skip
activate_certificate = _certificate_operation(
    "activate_certificate", f"POST {_ONE}/activate-certificate", "Activate a SAML connection’s next certificate",
    "Lets the next certificate sign. The former one stays published, and its key decrypts, until you delete it or it expires.",
)  # fmt: skip
delete_next_certificate = _certificate_operation(
    "delete_next_certificate", f"DELETE {_ONE}/next-certificate", "Delete a SAML connection’s next certificate",
    "Takes the next certificate back before it signs.",
)  # fmt: skip
delete_former_certificate = _certificate_operation(
    "delete_former_certificate", f"DELETE {_ONE}/former-certificate", "Delete a SAML connection’s former certificate",
    "Stops publishing the former certificate. Its key is deleted, and no longer decrypts.",
)  # fmt: skip
