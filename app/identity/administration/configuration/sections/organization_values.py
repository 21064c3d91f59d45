"""Converts organizations between a configuration file and the store."""

from __future__ import annotations

from typing import Any

from app.contract.organizations.file import OrganizationFile, OrganizationPolicies
from app.contract.organizations.models import Display, Policies
from app.identity.directory.accounts import account_store
from app.identity.directory.organizations import organization_store, organizations
from app.identity.directory.organizations.domains import domains
from app.identity.directory.organizations.memberships import membership_store
from app.identity.directory.organizations.organization import OrganizationRecord, RoleRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.platform.context import Context

_SAME = ("expiry_days", "min_length", "max_length", "require_lowercase", "require_uppercase", "require_number")
"""Rules of passwords with the same name in a file and in the interface."""


def stored(existing: OrganizationRecord) -> dict[str, Any]:
    """Return the values of an organization that a file can name."""
    return {
        "name": existing.name,
        "display_name": existing.display.get("Name"),
        "logo": existing.logo_url,
        "color": existing.color,
        "theme_name": existing.theme_name or None,
        "metadata": existing.metadata,
        "is_active": existing.is_active,
    }


def declared(requested: OrganizationFile, existing: OrganizationRecord) -> dict[str, Any]:
    """Return the values after the file: those that it names, else those that the organization has."""
    provided = requested.model_dump(mode="json", include=requested.model_fields_set & set(stored(existing)))
    return {**stored(existing), **provided}


def columns(requested: OrganizationFile, existing: OrganizationRecord | None) -> dict[str, Any]:
    """Return the columns to write. Raises BadField for a misleading name, or metadata that is too large."""
    after = declared(requested, existing) if existing is not None else requested.model_dump(mode="json")
    display = Display.model_construct(
        name=after["display_name"], logo_url=after["logo"], color=after["color"], theme_name=after["theme_name"]
    )
    return {
        "name": after["name"],
        "display": organizations.checked_display(display),
        "metadata": organizations.checked_metadata(after["metadata"]),
    }


def policies(requested: OrganizationPolicies, role_id: str | None) -> Policies:
    """Return the policies of a file in the interface's form."""
    password = requested.password
    rules = {name: getattr(password, name) for name in _SAME}
    return Policies.model_validate(
        {
            "jit_policy": {"enabled": requested.join_by_domain, "require_approval": requested.join_needs_approval},
            "mfa_policy": {"enforcement_mode": requested.second_factor},
            "member_policy": {"default_member_role": role_id, "seats": requested.seats},
            "password_policy": {**rules, "require_special_char": password.require_symbol},
            "session_policy": {
                "access_token_ttl": requested.access_token_seconds,
                "refresh_token_ttl": requested.refresh_token_seconds,
            },
            "method_policy": {
                "allowed_methods": requested.allowed_methods and list(requested.allowed_methods),
                "ldap_provider": requested.ldap_provider,
            },
        }
    )


def stored_policies(after: Policies) -> dict[str, Any]:
    """Return policies as the store has them: only the values that are set."""
    dumped = after.model_dump(by_alias=True, exclude_none=True)
    return {name: members for name, members in dumped.items() if members}


def of_role(context: Context, role: RoleRecord) -> dict[str, Any]:
    """Return the values of a role that a file can name."""
    found = organization_role_store.permissions_of(context, [role.role_id])[role.role_id]
    return {"description": role.description, "permissions": sorted(permission.name for permission in found)}


def exported(context: Context, *, has_all_members: bool) -> dict[str, Any]:
    """Return roles and organizations as a file has them, with all members or those whose accounts a file created.

    Empty where the tenant has none. A member without email, username and phone is left out: a file could not name it.
    """
    organizations = organization_store.page(context, None, None, 0)
    roles = organization_role_store.roles(context, ["", *(element.org_id for element in organizations)])
    permissions = organization_role_store.permissions_of(context, [element.role_id for element in roles])
    by_level: dict[str, list[dict[str, Any]]] = {}
    for role in roles:
        entry: dict[str, Any] = {"name": role.name}
        entry |= {"description": role.description} if role.description else {}
        entry |= (
            {"permissions": [permission.name for permission in permissions[role.role_id]]}
            if permissions[role.role_id]
            else {}
        )
        by_level.setdefault(role.org_id, []).append({**entry, **({"default": True} if role.is_default else {})})
    names = {role.role_id: role.name for role in roles}
    of_domains = domains.of_organizations(context, [element.org_id for element in organizations])
    listed = []
    for item in organizations:
        entry = {name: value for name, value in stored(item).items() if value not in (None, {}, True)}
        entry |= {"roles": by_level[item.org_id]} if item.org_id in by_level else {}
        existing = [
            {"name": domain.domain, **({"verified": True} if domain.is_verified else {})}
            for domain in of_domains[item.org_id]
        ]
        entry |= {"domains": existing} if existing else {}
        entry |= {"policies": policies} if (policies := _of_policies(item.policy, names)) else {}
        listed.append(entry)
    _add_members(context, organizations, listed, names, has_all=has_all_members)
    return {
        **({"organization_roles": by_level[""]} if "" in by_level else {}),
        **({"organizations": listed} if listed else {}),
    }


def _add_members(
    context: Context,
    organizations: list[OrganizationRecord],
    listed: list[dict[str, Any]],
    names: dict[str, str],
    *,
    has_all: bool,
) -> None:
    """Add the members: all, or those whose accounts a file created."""
    by_id = {item.org_id: entry for item, entry in zip(organizations, listed, strict=True)}
    of_file = None if has_all else {row.uid for row in account_store.accounts_from_file(context.work)}
    roles: dict[tuple[str, str], list[str]] = {}
    labels: dict[str, str] = {}
    for row in membership_store.with_accounts(context):
        labels[row.uid] = row.email or row.username or row.phone or ""
        if labels[row.uid] and (of_file is None or row.uid in of_file):
            roles.setdefault((row.org_id, row.uid), []).append(names[row.role_id])
    for (org_id, uid), role in roles.items():
        by_id[org_id].setdefault("members", []).append({"account": labels[uid], "roles": sorted(role)})


def _of_policies(existing: Policies, names: dict[str, str]) -> dict[str, Any]:
    role_id, password = existing.member_policy.default_member_role, existing.password_policy
    rules = {**{name: getattr(password, name) for name in _SAME}, "require_symbol": password.require_special_char}
    shown = {
        "join_by_domain": existing.jit_policy.enabled,
        "join_needs_approval": existing.jit_policy.require_approval,
        "second_factor": existing.mfa_policy.enforcement_mode,
        "default_role": names.get(role_id) if role_id is not None else None,
        "seats": existing.member_policy.seats,
        "password": {name: value for name, value in rules.items() if value is not None} or None,
        "allowed_methods": existing.method_policy.allowed_methods,
        "ldap_provider": existing.method_policy.ldap_provider,
        "access_token_seconds": existing.session_policy.access_token_ttl,
        "refresh_token_seconds": existing.session_policy.refresh_token_ttl,
    }
    return {name: value for name, value in shown.items() if value is not None}
