"""People as SCIM resources: what the identity provider wrote, or else what the account has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from app.contract.scim import scim_errors
from app.identity.directory.accounts.account import Account, full_name
from app.identity.directory.accounts.account_search_rows import key_of as _folded
from app.identity.directory.provisioning.provisioned_user_store import ListedUser
from app.identity.use_cases.scim import protocol
from app.identity.use_cases.scim.environment import ScimCall
from app.identity.use_cases.scim.protocol import ENTERPRISE, GROUPS, USER_SCHEMA, USERS
from app.kit.clock import iso

MAX_NAME: Final = 400
HIDES_ACTIVE: Final = "isActiveUnassigned"
"""The key in the stored content of a person whose `active` was removed: it is not shown until it is written again."""


def key_of(name: str) -> str:
    """Return a `userName` as it is compared: without differences of letter case."""
    return _folded(name)


def of_one(request: ScimCall, person: ListedUser) -> dict[str, Any]:
    return of_all(request, [person])[0]


def of_all(request: ScimCall, people: Sequence[ListedUser]) -> list[dict[str, Any]]:
    """Return the resources of these people, in one further statement."""
    groups = request.scope.groups_of([person.uid for person in people]) if people else {}
    return [_of(request, person, groups.get(person.uid, [])) for person in people]


def _of(request: ScimCall, person: ListedUser, groups: Sequence[tuple[str, str]]) -> dict[str, Any]:
    account, written = person.account, person.written
    content = dict(written.content) if written is not None and written.content else _of_account(account)
    resource = {
        "schemas": [USER_SCHEMA, *([ENTERPRISE] if ENTERPRISE in content else [])],
        **content,
        "id": account.uid,
        "active": request.scope.is_active(person),
    }
    if resource.pop(HIDES_ACTIVE, False):
        del resource["active"]
    if written is not None and written.external_id:
        resource["externalId"] = written.external_id
    if groups:
        resource["groups"] = [
            {"value": id_, "display": name, "$ref": request.location(GROUPS, id_), "type": "direct"}
            for id_, name in groups
        ]
    instants = written or account
    resource["meta"] = {
        "resourceType": "User",
        "created": iso(account.created_at),
        "lastModified": iso(max(instants.modified_at, account.created_at)),
        "location": request.location(USERS, account.uid),
        "version": protocol.version_of(resource),
    }
    return resource


def _of_account(account: Account) -> dict[str, Any]:
    """Return the resource of an account that no identity provider has written."""
    names = {"givenName": account.profile.get("FirstName"), "familyName": account.profile.get("LastName")}
    emails = [
        {"value": item.value, "type": "work", "primary": account.email_list.is_primary(item)}
        for item in account.email_list.present
    ]
    content = {
        "userName": account.email or account.username or account.phone or account.uid,
        "name": {part: text for part, text in {**names, "formatted": full_name(account)}.items() if text},
        "displayName": full_name(account),
        "emails": emails,
    }
    return {name: value for name, value in content.items() if value}


def check_version(resource: Mapping[str, Any], if_match: str | None) -> None:
    """Raise ScimPreconditionFailed unless `If-Match` has the version of the resource, or `*`."""
    if if_match is None or not if_match.strip():
        return
    expected = [text.strip().removeprefix("W/") for text in if_match.split(",")]
    if "*" not in expected and str(resource["meta"]["version"]).removeprefix("W/") not in expected:
        raise scim_errors.ScimPreconditionFailed
