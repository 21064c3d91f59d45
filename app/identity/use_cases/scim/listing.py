"""Lists of people and groups: by filter, in order, page by page (RFC 7644 section 3.4.2, RFC 9865)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.contract.scim import scim_errors
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.identifiers import normalize_email
from app.identity.directory.provisioning import provisioned_user_store
from app.identity.use_cases.scim import groups, people_resources, protocol
from app.identity.use_cases.scim.environment import ScimCall
from app.identity.use_cases.scim.protocol import GROUPS, LIST_SCHEMA, USERS, ResourceSearch

MAX_PAGE: Final = 200
DEFAULT_PAGE: Final = 100
MAX_SCANNED: Final = 5_000
"""People whom one filter or order may read; beyond, a filter must name one of them."""
_EMAILS: Final = ("emails", "emails.value")


def of_kind(request: ScimCall, kind: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the list response. Raises ScimInvalidFilter, ScimInvalidPath, ScimInvalidValue, ScimInvalidCursor, ScimTooMany."""
    search = protocol.search(
        kind, {name: value for name, value in parameters.items() if name.lower() != "excludedattributes"}
    )
    start = _start(search)
    size = min(DEFAULT_PAGE if search.count is None else search.count, MAX_PAGE)
    selection = _selection(parameters)
    with_members = "members" not in str(selection.get("excludedAttributes") or "").lower()
    if kind == USERS:
        total, page = _people(request, search, start, size)
    else:
        total, page = _groups(request, search, start, size, with_members=with_members)
    return _response(search, [protocol.shown(kind, item, selection) for item in page], total, start, size)


def of_every_kind(request: ScimCall, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return people and groups that match; an attribute that one kind lacks matches none of it."""
    resources: list[dict[str, Any]] = []
    problems = []
    for kind in (USERS, GROUPS):
        try:
            asked = {**parameters, "count": MAX_PAGE, "startIndex": 1}
            resources += of_kind(request, kind, asked)["Resources"]
        except scim_errors.ScimInvalidFilter as problem:
            problems.append(problem)
    if len(problems) > 1:
        raise problems[0]
    return {"schemas": [LIST_SCHEMA], "totalResults": len(resources), "startIndex": 1, "itemsPerPage": len(resources),
            "Resources": resources}  # fmt: skip


def _response(search: ResourceSearch, page: list[dict[str, Any]], total: int, start: int, size: int) -> dict[str, Any]:
    response: dict[str, Any] = {"schemas": [LIST_SCHEMA], "totalResults": total, "itemsPerPage": len(page)}
    if search.cursor is None:
        response["startIndex"] = start + 1
    elif start + len(page) < total and size:
        response["nextCursor"] = f"{search.fingerprint}-{start + len(page)}"
    response["Resources"] = page
    return response


def _selection(parameters: Mapping[str, Any]) -> dict[str, Any]:
    folded = {name.lower(): value for name, value in parameters.items()}
    chosen = {"attributes": folded.get("attributes"), "excludedAttributes": folded.get("excludedattributes")}
    return {name: value for name, value in chosen.items() if value}


def _start(search: ResourceSearch) -> int:
    """Return how many resources come before the page. Raises ScimInvalidCursor for the cursor of another query."""
    if not search.cursor:
        return search.start
    fingerprint, _, offset = search.cursor.rpartition("-")
    if fingerprint != search.fingerprint or not offset.isascii() or not offset.isdigit() or len(offset) > 9:
        raise scim_errors.ScimInvalidCursor
    return int(offset)


def _people(request: ScimCall, search: ResourceSearch, start: int, size: int) -> tuple[int, list[dict[str, Any]]]:
    context, org_id, members = request.context, request.org_id, request.scope.members()
    if search.filter is None and not search.sorts:
        total = provisioned_user_store.count(context, org_id, members)
        page = provisioned_user_store.listed(context, org_id, members, window=(size, start)) if size else []
        return total, people_resources.of_all(request, page)
    uids = _candidates(request, search) if search.filter is not None else None
    if uids is None and provisioned_user_store.count(context, org_id, members) > MAX_SCANNED:
        raise scim_errors.ScimTooMany
    found = provisioned_user_store.listed(context, org_id, members, uids=uids) if uids is None or uids else []
    return _matching(search, USERS, people_resources.of_all(request, found), start, size)


def _candidates(request: ScimCall, search: ResourceSearch) -> set[str] | None:
    """Return the people among whom those that match are, where the filter demands a value that has an index."""
    required = search.filter.required if search.filter is not None else {}
    context, org_id = request.context, request.org_id
    if (uid := required.get("id")) is not None:
        return {uid[:64]}
    if (external_id := required.get("externalid")) is not None:
        return provisioned_user_store.uids_named(context, org_id, external_id=external_id)
    name = required.get("username")
    if name is None:
        return None
    found = provisioned_user_store.uids_named(context, org_id, named=people_resources.key_of(name))
    for account in (
        accounts.by_email(context, name) if normalize_email(name) else None,
        accounts.by_username(context, name),
        accounts.by_phone(context, name),
    ):
        found |= {account.uid} if account is not None else set()
    return found or {name[:64]}


def _groups(
    request: ScimCall, search: ResourceSearch, start: int, size: int, *, with_members: bool
) -> tuple[int, list[dict[str, Any]]]:
    reads_members = search.filter is not None and search.filter.reads("members")
    found = groups.all_of(request, with_members=reads_members)
    total, page = _matching(search, GROUPS, found, start, size)
    if with_members and not reads_members:
        page = [groups.of_one(request, groups.find(request, str(item["id"]))) for item in page]
    return total, page


def _matching(
    search: ResourceSearch, kind: str, resources: list[dict[str, Any]], start: int, size: int
) -> tuple[int, list[dict[str, Any]]]:
    if search.filter is not None:
        resources = [item for item in resources if search.filter.matches(item)]
    if search.sorts:
        resources = search.ordered(kind, resources)
    return len(resources), resources[start : start + size]
