"""The SCIM protocol by scim2-models, which no other module imports: messages, schemas, PATCH, filters, order and pages.

Resources go in and out as JSON objects, so that the rules in other modules do not depend on the library.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError
from scim2_models import (
    Context,
    EnterpriseUser,
    Error,
    Group,
    PatchOp,
    Resource,
    ResourceType,
    ResponseParameters,
    SCIMException,
    ScimPolicy,
    SearchRequest,
    User,
)
from scim2_models.path import CompareOperator, Comparison, FilterNode, LogicalExpr, LogicalOperator, Not, ValuePath

from app.contract.scim import scim_errors
from app.identity.use_cases.scim import member_operations
from app.kit.operations.errors import ScimError

USERS: Final = "Users"
GROUPS: Final = "Groups"
ENTERPRISE: Final = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
USER_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:User"
LIST_SCHEMA: Final = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
BULK_SCHEMA: Final = "urn:ietf:params:scim:api:messages:2.0:BulkResponse"
MODELS: Final[Mapping[str, type[Resource[Any]]]] = {USERS: User[EnterpriseUser], GROUPS: Group}
_PATCHES: Final[Mapping[str, Any]] = {USERS: PatchOp[User[EnterpriseUser]], GROUPS: PatchOp[Group]}
_SELECTIONS: Final[Mapping[str, Any]] = {
    USERS: ResponseParameters[User[EnterpriseUser]],
    GROUPS: ResponseParameters[Group],
}
_SEARCHES: Final[Mapping[str, Any]] = {USERS: SearchRequest[User[EnterpriseUser]], GROUPS: SearchRequest[Group]}
_POLICY: Final = ScimPolicy(
    unknown=ScimPolicy.Unknown.ignore,
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
)
"""What Entra ID and Okta send beside the specification."""
_READ_ONLY: Final = ("id", "meta", "groups", "schemas")
_TEXT: Final = r'"(?:[^"\\]|\\.)*"'
_SELECTED_VALUE: Final = re.compile(
    rf"(?P<attribute>\w+)\[(?P<condition>(?:{_TEXT}|[^\[\]\"])+)\]\.(?P<sub>\w+)\s+"
    rf"(?:pr\b|(?P<operator>eq|ne|co|sw|ew|gt|ge|lt|le)\s+(?P<value>{_TEXT}|[\w.+-]+))|{_TEXT}",
    re.IGNORECASE,
)
"""`emails[type eq "work"].value eq "…"`, which is a filter of Entra ID's and none of RFC 7644."""
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
MAX_FILTER: Final = 4_000
_MAX_OPERATIONS: Final = 1_000
_MAX_MEMBERS_COPIED: Final = 100_000
"""Operations of one PATCH by members of the group: the library copies every member for each operation."""
_MAX_COMPARISONS: Final = 50
"""A filter is evaluated for thousands of people."""
_LAST_START: Final = 1_000_000_000
"""No tenant has as many people; databases count no further than 64 bits."""
_ERRORS: Final[Mapping[str, type[ScimError]]] = {
    str(kind.code): kind
    for kind in (
        scim_errors.ScimInvalidSyntax, scim_errors.ScimInvalidFilter, scim_errors.ScimInvalidPath, scim_errors.ScimInvalidValue,
        scim_errors.ScimInvalidCursor, scim_errors.ScimNoTarget, scim_errors.ScimMutability, scim_errors.ScimTooMany,
        scim_errors.ScimUniqueness,
    )
}  # fmt: skip


@dataclass(frozen=True)
class ResourceFilter:
    """A filter, and the values that a resource must have to match it, by attribute in lower case."""

    matches: Callable[[Mapping[str, Any]], bool]
    required: Mapping[str, str]
    text: str

    def reads(self, attribute: str) -> bool:
        """Return whether the filter may name an attribute."""
        return attribute.lower() in self.text.lower()


@dataclass(frozen=True)
class ResourceSearch:
    """A query for resources. `start`: from 0; `count`: None for the default."""

    filter: ResourceFilter | None
    sorts: bool
    start: int
    count: int | None
    cursor: str | None
    request: Any
    fingerprint: str

    def ordered(self, kind: str, resources: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the resources in the requested order."""
        models = [(MODELS[kind].model_validate(dict(item)), item) for item in resources]
        by_model = {id(model): dict(item) for model, item in models}
        return [by_model[id(model)] for model in self.request.sort([model for model, _ in models])]


def read(kind: str, body: Mapping[str, Any], *, replaces: bool = False) -> dict[str, Any]:
    """Return a resource that a client sends: known attributes, in their spelling. Raises ScimInvalidValue, ScimInvalidSyntax."""
    context = Context.RESOURCE_REPLACEMENT_REQUEST if replaces else Context.RESOURCE_CREATION_REQUEST
    with _refusing(), _POLICY:
        model = MODELS[kind].model_validate(
            _tolerated({"schemas": [str(MODELS[kind].__schema__)], **body}), scim_ctx=context
        )
    return _stored(model)


def patched(kind: str, current: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resource after a PATCH. Raises the errors of RFC 7644 section 3.5.2."""
    operations = _member(body, "operations")
    if isinstance(operations, list) and len(operations) > _MAX_OPERATIONS:
        raise scim_errors.ScimPayloadTooLarge(
            f"Expected at most {_MAX_OPERATIONS} operations; found {len(operations)}."
        )
    tolerated = list(map(_tolerated_operation, operations)) if isinstance(operations, list) else operations
    steps = member_operations.runs(tolerated) if kind == GROUPS and isinstance(tolerated, list) else [tolerated]
    if len(steps) > 1 and len(steps) * len(current.get("members") or ()) > _MAX_MEMBERS_COPIED:
        raise scim_errors.ScimTooMany("Operations: expected fewer for a group of so many members.")
    message = {name: value for name, value in body.items() if name.lower() != "operations"}
    kept, resource = {name: current[name] for name in _READ_ONLY if name in current}, dict(current)
    with _refusing(), _POLICY:
        _PATCHES[kind].model_validate({**message, "Operations": tolerated}, scim_ctx=Context.RESOURCE_PATCH_REQUEST)
        for step in steps:
            if isinstance(step, member_operations.MemberChange):
                resource["members"] = step.applied(resource.get("members") or ())
            else:
                resource = {**kept, **_applied(kind, resource, {**message, "Operations": step})}
    _refuse_unstorable(resource)
    return {name: value for name, value in resource.items() if name not in _READ_ONLY}


def _applied(kind: str, resource: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
    patch = _PATCHES[kind].model_validate(message, scim_ctx=Context.RESOURCE_PATCH_REQUEST)
    model = MODELS[kind].model_validate(dict(resource))
    patch.patch(model)
    return _stored(model)


def shown(kind: str, resource: Mapping[str, Any], selection: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a resource as a response shows it, with the selected attributes. Raises ScimInvalidPath, ScimInvalidValue."""
    with _refusing(), _POLICY:
        model = MODELS[kind].model_validate(dict(resource))
        chosen = {name: text for name, text in (selection or {}).items() if text}
        parameters = _SELECTIONS[kind].model_validate(chosen) if chosen else None
        return model.model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE, response_parameters=parameters)


def resource_types() -> list[dict[str, Any]]:
    """Return the resource types of RFC 7643 section 6."""
    return [
        ResourceType.from_resource(model).model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE)
        for model in MODELS.values()
    ]


def schemas() -> list[dict[str, Any]]:
    """Return the schemas of RFC 7643 section 7."""
    described = (User, EnterpriseUser, Group)
    found: list[dict[str, Any]] = [
        model.to_schema().model_dump(scim_ctx=Context.RESOURCE_QUERY_RESPONSE) for model in described
    ]
    members = next(item for item in found[-1]["attributes"] if item["name"] == "members")
    # The name of a member is the person's own: a group neither shows nor takes it.
    members["subAttributes"] = [item for item in members["subAttributes"] if item["name"] != "display"]
    return found


def version_of(resource: Mapping[str, Any]) -> str:
    """Return the entity tag of a resource: weak, because responses may leave attributes out."""
    content = {name: value for name, value in resource.items() if name != "meta"}
    digest = hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
    return f'W/"{digest[:24]}"'


def search(kind: str, parameters: Mapping[str, Any]) -> ResourceSearch:
    """Read a query. Raises ScimInvalidFilter, ScimInvalidPath, ScimInvalidValue, ScimInvalidCursor."""
    given = {
        name: value
        for name, value in parameters.items()
        if value is not None and (value != "" or name.lower() == "cursor")
    }
    text = given.pop("filter", None)
    found = compiled(kind, text) if text is not None else None
    with _refusing(), _POLICY:
        request = _SEARCHES[kind].model_validate(given)
    order = [text, str(request.sort_by or ""), str(request.sort_order or "")]
    fingerprint = hashlib.sha256(json.dumps([kind, *order]).encode()).hexdigest()[:16]
    start = min(request.start_index_0 or 0, _LAST_START)
    return ResourceSearch(
        found, request.sort_by is not None, start, request.count, request.cursor, request, fingerprint
    )


def compiled(kind: str, text: Any) -> ResourceFilter:
    """Return a filter. Raises ScimInvalidFilter."""
    if not isinstance(text, str) or len(text) > MAX_FILTER:
        raise scim_errors.ScimInvalidFilter(f"Expected a filter of at most {MAX_FILTER} characters.")
    normalized = _SELECTED_VALUE.sub(_selected_inside, text)
    try:
        with _refusing(), _POLICY:
            expression = _SEARCHES[kind].model_validate({"filter": normalized}).filter
            if _comparisons(expression.ast) > _MAX_COMPARISONS:
                raise scim_errors.ScimInvalidFilter(f"Expected at most {_MAX_COMPARISONS} comparisons.")
            required = dict(_required(expression.ast))
            _refuse_unstorable(list(required.values()))
    except ScimError as problem:
        raise scim_errors.ScimInvalidFilter(problem.description) from None
    except RecursionError:
        raise scim_errors.ScimInvalidFilter("The filter nests too deeply.") from None

    def matches(resource: Mapping[str, Any]) -> bool:
        with _POLICY:
            return bool(expression.match(MODELS[kind].model_validate(dict(resource))))

    return ResourceFilter(matches, required, text)


def _selected_inside(found: re.Match[str]) -> str:
    """Return a value selection with its comparison inside; a text in quotes elsewhere stays."""
    attribute, condition, sub, operator, value = found.group("attribute", "condition", "sub", "operator", "value")
    return f"{attribute}[{condition} and {sub} {operator or 'pr'} {value or ''}]" if attribute else found.group()


def _comparisons(node: FilterNode) -> int:
    if isinstance(node, LogicalExpr):
        return sum(map(_comparisons, node.terms))
    inner = node.expr if isinstance(node, Not) else node.val_filter if isinstance(node, ValuePath) else None
    return 1 if inner is None else _comparisons(inner)


def _required(node: FilterNode, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the comparisons for equality that must all hold."""
    if isinstance(node, LogicalExpr) and node.op == LogicalOperator.and_:
        for term in node.terms:
            yield from _required(term, prefix)
    elif isinstance(node, ValuePath) and not prefix:
        yield from _required(node.val_filter, f"{node.attr_path.attr.lower()}.")
    elif isinstance(node, Comparison) and node.op == CompareOperator.eq and isinstance(node.value, str):
        sub = f".{node.attr_path.sub_attr.lower()}" if node.attr_path.sub_attr else ""
        yield f"{prefix}{node.attr_path.attr.lower()}{sub}", node.value


def _stored(model: Any) -> dict[str, Any]:
    """Return a resource to store: without what the service decides, and without its password."""
    content: dict[str, Any] = json.loads(json.dumps(model.model_dump(scim_ctx=Context.DEFAULT), default=str))
    _refuse_unstorable(content)
    return {name: value for name, value in content.items() if name not in (*_READ_ONLY, "password")}


def _refuse_unstorable(value: Any) -> None:
    """Raise ScimInvalidValue for a text that no database stores; in a filter, JSON's escapes hide it from the checks of a request."""
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise scim_errors.ScimInvalidValue("A text has a NUL or half of a surrogate pair.")
    elif isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            _refuse_unstorable(item)


def _tolerated(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resource without attributes that only the service sets, and with the forms of values that Entra ID sends."""
    kept = {name: value for name, value in body.items() if name.lower() not in ("id", "meta", "groups")}
    for name, value in kept.items():
        if name.lower() == ENTERPRISE.lower() and isinstance(value, Mapping):
            kept[name] = {inner: _manager(inner, item) for inner, item in value.items()}
        elif name.lower() in ("roles", "entitlements") and isinstance(value, list):
            kept[name] = [{"value": item} if isinstance(item, str) else item for item in value]
        else:
            kept[name] = _manager(name, value)
    return kept


def _manager(name: str, value: Any) -> Any:
    """Return a manager given by its id alone as the object of RFC 7643."""
    return {"value": value} if name.lower().rpartition(":")[2] == "manager" and isinstance(value, str) else value


def _tolerated_operation(operation: Any) -> Any:
    """Return an operation of a PATCH with the forms of values that Entra ID and Okta send."""
    if not isinstance(operation, Mapping):
        return operation
    path, value = _member(operation, "path"), _member(operation, "value")
    plain = {name.lower(): item for name, item in operation.items() if isinstance(name, str)}
    if isinstance(path, str) and path:
        if path.lower().endswith(("roles", "entitlements")) and isinstance(value, list):
            value = [{"value": item} if isinstance(item, str) else item for item in value]
        return {**plain, "value": _manager(path, value)} if "value" in plain else plain
    plain.pop("path", None)
    if isinstance(value, Mapping):
        return {**plain, "value": {name: item for name, item in _tolerated(value).items() if name.lower() != "schemas"}}
    return plain


def _member(body: Mapping[str, Any], name: str) -> Any:
    return next((value for key, value in body.items() if str(key).lower() == name), None)


class _refusing:  # noqa: N801 - a context manager
    """Turns the library's refusals into ours; the first of several is reported."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, problem: BaseException | None, traceback: Any) -> None:
        if isinstance(problem, SCIMException):
            error = problem.to_error()
        elif isinstance(problem, ValidationError):
            error = Error.from_validation_errors(problem)[0]
        else:
            return
        refusal = _ERRORS.get(str(error.scim_type), scim_errors.ScimInvalidValue)
        text = str(error.detail or refusal.description).partition("\n    For further")[0]
        raise refusal(" ".join(text.split())[:500]) from None
