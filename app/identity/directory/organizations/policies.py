"""The rules of an organization's policies."""

from __future__ import annotations

from sqlalchemy import select

from app.contract import errors
from app.contract.ldap import ldap_operations
from app.contract.organizations.models import Policies
from app.contract.organizations.organization_operations import SetPolicies
from app.contract.tenants.settings import TenantSettings
from app.identity.directory.organizations import organization_names, organization_store, organizations, sign_in_methods
from app.identity.directory.organizations.domains import membership_domains
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.directory.organizations.tables import organization_connections
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.resource_store import items_of
from app.kit.operations.partial_update import merged


def change(context: Context, req: SetPolicies) -> Policies:
    """Change the policies, member by member, and return all.

    Raises:
        BadField: the shortest password would be longer than the longest, or the tenant does not offer a sign-in method.
        WrongDefaultMemberRole: no role of the tenant or of the organization.
        MfaPolicyConflict: the tenant's settings do not allow the mode.
        JitWithoutConnection: the organization has no active connection.
    """
    organization = organizations.lock_active(context, req.org_id, is_alone=True)
    provided = Policies.model_validate(req.model_dump(exclude={"org_id"}, exclude_unset=True, exclude_none=True))
    stored = merged(organization.policies, req)
    policies = Policies.model_validate(stored)
    _check_role(context, organization, provided)
    check(context, organization, provided, policies)
    changed = organization_store.change(context, organization.org_id, {"policies": stored})
    if req.model_fields_set & {"jit_policy", "method_policy"}:
        membership_domains.forget(context)
    context.audit.record("organization.policies_changed", org_id=organization.org_id, policies=stored)
    return (changed or organization).policy


def check(
    context: Context, organization: OrganizationRecord | None, requested: Policies, policies: Policies | None = None
) -> None:
    """Check given policies, and all of them together if others stay; None: of an organization that does not exist yet.

    Raises BadField, MfaPolicyConflict, JitWithoutConnection.
    """
    password = (policies or requested).password_policy
    shortest, longest = password.min_length, password.max_length
    if shortest is not None and longest is not None and shortest > longest:
        raise errors.BadField("The PasswordPolicy.MinLength is not formatted correctly: it exceeds MaxLength.")
    if (methods := requested.method_policy.allowed_methods) is not None:
        has_connection = organization is not None and _has_active_connection(context, organization)
        sign_in_methods.check(context.tenant.settings, methods, has_connection=has_connection)
    _refuse_unknown_directory(context, requested.method_policy.ldap_provider)
    mode = requested.mfa_policy.enforcement_mode
    if mode is not None and not is_mode_allowed(context.tenant.settings, mode):
        raise errors.MfaPolicyConflict
    if requested.jit_policy.enabled and (organization is None or not _has_active_connection(context, organization)):
        raise errors.JitWithoutConnection


def _refuse_unknown_directory(context: Context, name: str | None) -> None:
    """Raise BadField for a name of no LDAP provider, unless a configuration file is applied, which may add it later."""
    if name is None or context.operation is None:
        return
    if not any(key.lower() == name.lower() for (key,) in items_of(context, ldap_operations.PROVIDERS)):
        raise errors.BadField("MethodPolicy.LdapProvider: the name of an LDAP provider.")


def _check_role(context: Context, organization: OrganizationRecord, requested: Policies) -> None:
    role_id = requested.member_policy.default_member_role
    if role_id is not None:
        role = (
            organization_role_store.by_ids(context, [role_id], is_locked=True)
            if organization_names.is_id(organization_names.ROLE, role_id)
            else []
        )
        if not role or not role[0].fits(organization.org_id):
            raise errors.WrongDefaultMemberRole


def is_mode_allowed(settings: TenantSettings, mode: str) -> bool:
    """Return whether an organization may choose this mode of the second factor under the tenant's settings."""
    if settings.two_factor == "disabled":
        return mode == "none"
    if settings.two_factor == "required":
        return mode == "force"
    return mode == "optional" or (mode == "force" and settings.second_factors.has_any)


def _has_active_connection(context: Context, organization: OrganizationRecord) -> bool:
    """Return whether the organization has an active connection."""
    c = organization_connections.c
    where = (c.tenant_id == context.tenant.tenant_id, c.org_id == organization.org_id, c.is_active)
    return context.work.one(select(c.connection_id).where(*where).limit(1)) is not None
