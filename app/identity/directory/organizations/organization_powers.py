"""Powers of roles and connections, and of the items that give roles: memberships, invitations, policies (decision 0316)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from app.contract.organizations.organization_operations import SetPolicies
from app.identity.directory.organizations import organization_store
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.directory.organizations.domains import domains, membership_domains
from app.identity.directory.organizations.invitations import invitation_store
from app.identity.directory.organizations.memberships import membership_store, memberships
from app.identity.directory.organizations.organization import MANAGE, OWN
from app.identity.directory.organizations.organization_names import key_of
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, GIVES_ROLES, Power

_MANAGES: Final = ("invitation:create", "role:delete")
_OF_PERMISSIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {MANAGE: _MANAGES, OWN: (*_MANAGES, "organization:update", "organization:delete")}
)
"""The scopes that correspond to this service's permissions within an organization."""
_MAX_INVITATIONS: Final = 1_000
CONNECTION: Final = Power(ALL, "connections of organizations")
"""Who answers for a connection signs in as the people of its domain."""


def of_permissions(names: Collection[str]) -> Iterator[Power]:
    """Yield the powers of a role with these permissions. A name in another letter case keeps the tenant from having this service's."""
    if names:
        yield Power(GIVES_ROLES, "roles with permissions")
    for name in names:
        yield from (Power(scope, f"roles with {name}") for scope in _OF_PERMISSIONS.get(key_of(name), ()))


def of_permission_ids(context: Context, permission_ids: Collection[str]) -> Iterator[Power]:
    """Yield the powers of a role that gets these permissions."""
    yield from of_permissions(
        {
            permissions_of_id.name
            for permissions_of_id in organization_role_store.permissions_of_ids(context, permission_ids)
        }
    )


def of_roles(context: Context, role_ids: Collection[str]) -> Iterator[Power]:
    """Yield the powers of roles; an id of none has no power."""
    found = organization_role_store.permissions_of(context, set(role_ids)) if role_ids else {}
    yield from of_permissions({permission.name for permissions in found.values() for permission in permissions})


def of_default_role(context: Context) -> Iterator[Power]:
    """Yield the powers of the role that new members of every organization get."""
    role = organization_role_store.default_role(context)
    yield from of_roles(context, [role.role_id] if role is not None else [])


def of_new_members(context: Context, org_id: str) -> Iterator[Power]:
    """Yield the powers of the role that new members of an organization get."""
    organization = organization_store.by_id(context, org_id)
    if organization is not None:
        yield from of_roles(context, memberships.default_role_ids(context, organization))


def of_new_domain_members(context: Context, org_id: str) -> Iterator[Power]:
    """Yield the powers of the domains of an organization: where their people join without approval, the role of new members."""
    organization = organization_store.by_id(context, org_id)
    policy = organization.policy.jit_policy if organization is not None else None
    if policy is not None and policy.enabled and not policy.require_approval:
        yield from of_new_members(context, org_id)


def of_domains(context: Context, org_id: str, requested: Mapping[str, bool]) -> Iterator[Power]:
    """Yield the powers of a list of domains for an organization, if it adds one or states that one is verified (True)."""
    stored = {domain.domain: domain.is_verified for domain in domains.of_organizations(context, [org_id])[org_id]}
    declared = {domains.checked(name): is_verified for name, is_verified in requested.items()}
    if any(name not in stored or (is_verified and not stored[name]) for name, is_verified in declared.items()):
        yield from of_new_domain_members(context, org_id)


def of_addresses(context: Context, forms: Collection[str]) -> Iterator[Power]:
    """Yield the powers of a new account with these verified addresses: it joins organizations by them, and accepts invitations."""
    if not forms or not context.tenant.settings.organizations.enabled:
        return
    joined = membership_domains.of_tenant(context).automatic
    for domain in {normalized.rpartition("@")[2] for normalized in forms} & joined.keys():
        yield from of_new_members(context, joined[domain])
    invitations = invitation_store.open_to(context, forms, _MAX_INVITATIONS)
    yield from of_roles(context, {role_id for invitation in invitations for role_id in invitation.role_ids})
    for org_id in {invitation.org_id for invitation in invitations if not invitation.role_ids}:
        yield from of_new_members(context, org_id)


def of_invitation(context: Context, org_id: str, role_ids: Collection[str]) -> Iterator[Power]:
    """Yield the powers of an invitation with these roles, without any with the role of new members."""
    yield from of_roles(context, role_ids) if role_ids else of_new_members(context, org_id)


def of_member(context: Context, uid: str, org_id: str | None = None) -> Iterator[Power]:
    """Yield the powers of the roles that an account has, in one organization or in all."""
    yield from of_roles(context, {member.role_id for member in membership_store.of_account(context, uid, org_id)})


def of_policies(context: Context, req: SetPolicies) -> Iterator[Power]:
    """Yield the powers of the roles that new members get before and after a change of the policies."""
    declared, members = req.model_fields_set, req.member_policy
    changes_role = "member_policy" in declared and (
        members is None or "default_member_role" in members.model_fields_set
    )
    if changes_role or "jit_policy" in declared:
        yield from of_new_members(context, req.org_id)
    methods = req.method_policy
    if methods is not None and methods.ldap_provider is not None:
        yield Power(ALL, "an organization’s LDAP provider, which says who its people are")
    if changes_role:
        role_id = members.default_member_role if members is not None else None
        yield from of_roles(context, [role_id]) if role_id is not None else of_default_role(context)


def of_connections(context: Context, org_id: str) -> Iterator[Power]:
    """Yield the power of the connections of an organization, if it has any."""
    if organization_connection_store.of_organizations(context, [org_id])[org_id]:
        yield CONNECTION
