"""Groups by SCIM: roles, and the people who have them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from app.contract.scim import scim_errors
from app.identity.directory.accounts import account_store
from app.identity.directory.provisioning import provisioned_user_store
from app.identity.directory.provisioning.provisioned_user_store import ProvisionedGroup
from app.identity.use_cases.scim import people_resources, protocol
from app.identity.use_cases.scim.environment import ScimCall
from app.identity.use_cases.scim.protocol import GROUPS, USERS
from app.identity.use_cases.scim.scope import ScimGroup
from app.kit.clock import iso

_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:Group"
MAX_CHANGED_MEMBERS: Final = 1_000
"""Members that one request adds or removes, all operations of a bulk request together: each is a change of an account with its events."""


def find(request: ScimCall, group_id: str) -> ScimGroup:
    """Return a group of the scope. Raises ScimNotFound."""
    found = request.scope.group(group_id)
    if found is None:
        raise scim_errors.ScimNotFound(f"There is no Group {group_id[:64]}.")
    return found


def all_of(request: ScimCall, *, with_members: bool = True) -> list[dict[str, Any]]:
    """Return the resources of all groups, by id."""
    written = provisioned_user_store.groups(request.context, request.org_id)
    return [of(request, group, written.get(group.id), with_members=with_members) for group in request.scope.groups()]


def of_one(request: ScimCall, group: ScimGroup, *, with_members: bool = True) -> dict[str, Any]:
    written = provisioned_user_store.groups(request.context, request.org_id, [group.id])
    return of(request, group, written.get(group.id), with_members=with_members)


def of(request: ScimCall, group: ScimGroup, written: ProvisionedGroup | None, *, with_members: bool) -> dict[str, Any]:
    """Return the resource of a group."""
    resource: dict[str, Any] = {"schemas": [_SCHEMA], "id": group.id, "displayName": group.name}
    if written is not None and written.external_id:
        resource["externalId"] = written.external_id
    if with_members:
        resource["members"] = _members(request, request.scope.group_members(group.id))
    modified_at = max(group.modified_at, written.modified_at) if written and written.modified_at else group.modified_at
    resource["meta"] = {
        "resourceType": "Group",
        "created": iso(group.created_at),
        "lastModified": iso(modified_at),
        "location": request.location(GROUPS, group.id),
        "version": protocol.version_of(resource),
    }
    return resource


def _members(request: ScimCall, uids: Sequence[str]) -> list[dict[str, Any]]:
    return [{"value": uid, "$ref": request.location(USERS, uid), "type": "User"} for uid in uids]


def create(request: ScimCall, body: Mapping[str, Any]) -> dict[str, Any]:
    """Create a role with members. Raises ScimInvalidValue, ScimUniqueness, ScimTooMany."""
    requested = protocol.read(GROUPS, body)
    request.scope.lock_groups()
    group = request.scope.add_group(_name(requested))
    provisioned_user_store.put_group(request.context, request.org_id, group.id, _external_id(requested), None)
    _set_members(request, group, set(), _requested_members(requested))
    after = of_one(request, group)
    request.record("created", GROUPS, group.id, None, after)
    return after


def replace(request: ScimCall, group_id: str, body: Mapping[str, Any], if_match: str | None) -> dict[str, Any]:
    """Replace name and members; without `members`, nobody is left. Raises as `create` does, and ScimNotFound, ScimPreconditionFailed."""
    return _change(request, group_id, if_match, lambda _: protocol.read(GROUPS, body, replaces=True))


def patch(request: ScimCall, group_id: str, body: Mapping[str, Any], if_match: str | None) -> dict[str, Any]:
    """Change name and members. Raises as `replace` does, and ScimInvalidPath, ScimNoTarget, ScimMutability."""
    return _change(request, group_id, if_match, lambda current: protocol.patched(GROUPS, current, body))


def delete(request: ScimCall, group_id: str, if_match: str | None) -> None:
    """Delete a role, and take it from its members. Raises ScimNotFound, ScimMutability, ScimPreconditionFailed."""
    request.scope.lock_groups()
    group = find(request, group_id)
    before = of_one(request, group)
    people_resources.check_version(before, if_match)
    request.scope.delete_group(group)
    provisioned_user_store.remove_group(request.context, request.org_id, group_id)
    request.record("deleted", GROUPS, group_id, before, None)


def _change(
    request: ScimCall,
    group_id: str,
    if_match: str | None,
    requested_of: Callable[[dict[str, Any]], dict[str, Any]],
) -> dict[str, Any]:
    request.scope.lock_groups()
    group = find(request, group_id)
    before = of_one(request, group)
    people_resources.check_version(before, if_match)
    requested = requested_of(before)
    name, shown = _name(requested), None
    if name != group.name or name != group.role_name:
        shown = request.scope.rename_group(group, name) if name != group.name else _alias(group)
    provisioned_user_store.put_group(request.context, request.org_id, group_id, _external_id(requested), shown)
    _set_members(request, group, {str(item["value"]) for item in before["members"]}, _requested_members(requested))
    after = of_one(request, find(request, group_id))
    request.record("changed", GROUPS, group_id, before, after)
    return after


def _alias(group: ScimGroup) -> str | None:
    return group.name if group.role_name and group.name != group.role_name else None


def _set_members(request: ScimCall, group: ScimGroup, before: Collection[str], after: Collection[str]) -> None:
    """Give the role to who joins the group, and take it from who leaves. Raises ScimTooMany.

    A person whom the scope does not have is left out, as the log tells: one who is gone must not keep the others from their role.
    """
    added, removed = sorted(set(after) - set(before)), sorted(set(before) - set(after))
    request.changed_members += len(added) + len(removed)
    if request.changed_members > MAX_CHANGED_MEMBERS:
        raise scim_errors.ScimTooMany(f"members: expected at most {MAX_CHANGED_MEMBERS} changes at once.")
    people = (
        provisioned_user_store.listed(request.context, request.org_id, request.scope.members(), uids=added)
        if added
        else []
    )
    accounts = {person.uid: person for person in people}
    if unknown := [uid for uid in added if uid not in accounts]:
        request.notes.append(
            f"members: left out {len(unknown)}, such as {unknown[0][:64]}, because there is no such User."
        )
    for uid in sorted(accounts):
        if request.scope.is_active(accounts[uid]):
            request.scope.add_member(group.id, accounts[uid].account)
        else:
            _add_later(request, group, uid)
    leaving = account_store.by_uids(request.context, removed) if removed else []
    for account in sorted(leaving, key=lambda item: item.uid):
        request.scope.remove_member(group.id, account)


def _add_later(request: ScimCall, group: ScimGroup, uid: str) -> None:
    """Remember the role of a deactivated person, who gets it with the next activation."""
    written = provisioned_user_store.by_uid(request.context, request.org_id, uid)
    if written is not None:
        role_ids = sorted({*written.role_ids, group.id})
        provisioned_user_store.put(request.context, request.org_id, uid, role_ids=role_ids)


def _requested_members(requested: Mapping[str, Any]) -> set[str]:
    return {
        str(item["value"]) for item in requested.get("members") or () if isinstance(item, Mapping) and item.get("value")
    }


def _name(requested: Mapping[str, Any]) -> str:
    name = str(requested.get("displayName") or "").strip()
    if not name or len(name) > 100:
        raise scim_errors.ScimInvalidValue("displayName: expected 1 to 100 characters.")
    return name


def _external_id(requested: Mapping[str, Any]) -> str | None:
    text = str(requested.get("externalId") or "")
    if len(text) > people_resources.MAX_NAME:
        raise scim_errors.ScimInvalidValue(f"externalId: expected at most {people_resources.MAX_NAME} characters.")
    return text or None
