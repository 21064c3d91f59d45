"""The operations that identity providers call (RFC 7644). The token names the connection, and so the people whom it sees."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from app.contract import errors
from app.contract.auth import Host
from app.contract.catalogue import operation
from app.contract.scim import scim_errors
from app.kit.operations.operation import Accept, ErrorProfile
from app.kit.operations.wire import Document, From, NoContent, Wire

MEDIA_TYPE = "application/scim+json"
BASE = "/scim/v2"

SCIM = ErrorProfile(
    name="scim",
    bad_parameter=scim_errors.ScimInvalidValue,
    bad_body=scim_errors.ScimInvalidSyntax,
    bad_content_type=scim_errors.ScimInvalidSyntax,
    broken=scim_errors.ScimServerError,
    dangerous=scim_errors.ScimInvalidValue,
    wrong_method=scim_errors.ScimWrongMethod,
    common=(
        scim_errors.ScimUnauthorized, scim_errors.ScimForbidden, scim_errors.ScimNotFound, scim_errors.ScimTooManyRequests,
        scim_errors.ScimPayloadTooLarge, scim_errors.ScimPaused, scim_errors.ScimWrongMethod, errors.UnknownTenant, errors.UnknownKey,
    ),
)  # fmt: skip
"""Requests of identity providers, whose errors are those of RFC 7644 section 3.12."""

Body = Annotated[dict[str, Any], From.WHOLE, Field(alias="body")]
_Text = Annotated[str | None, From.QUERY, Field(max_length=10_000)]


class ResourceKind(Wire):
    """`Users` or `Groups`; to read, also `ResourceTypes` and `Schemas`."""

    kind: Annotated[str, From.PATH, Field(max_length=64)]


class AttributeSelection(Wire):
    """Which attributes the response has."""

    attributes: _Text = None
    excluded_attributes: Annotated[str | None, From.QUERY, Field(max_length=10_000, alias="excludedAttributes")] = None


class ListResources(ResourceKind, AttributeSelection):
    filter: _Text = None
    sort_by: Annotated[str | None, From.QUERY, Field(max_length=500, alias="sortBy")] = None
    sort_order: Annotated[str | None, From.QUERY, Field(max_length=20, alias="sortOrder")] = None
    start_index: Annotated[str | None, From.QUERY, Field(max_length=20, alias="startIndex")] = None
    count: Annotated[str | None, From.QUERY, Field(max_length=20)] = None
    cursor: Annotated[str | None, From.QUERY, Field(max_length=500)] = None


class NewResource(ResourceKind, AttributeSelection):
    body_is_optional: ClassVar[bool] = True  # so that read-only kinds refuse the method, whatever the body is

    body: Annotated[dict[str, Any], From.WHOLE, Field(alias="body", default_factory=dict)]


class ResourceAddress(ResourceKind, AttributeSelection):
    id: Annotated[str, From.PATH, Field(max_length=200)]


class ReadResource(ResourceAddress):
    pass


class ChangedResource(ResourceAddress):
    if_match: Annotated[str | None, From.HEADER, Field(max_length=200, alias="if-match")] = None
    body: Body


class RemovedResource(ResourceAddress):
    if_match: Annotated[str | None, From.HEADER, Field(max_length=200, alias="if-match")] = None


class SearchResources(ResourceKind):
    body: Body


class ScimMessage(Wire):
    body: Body


class ReadConfiguration(Wire):
    """The features of this service provider."""


_WRITE = (
    scim_errors.ScimInvalidPath, scim_errors.ScimInvalidFilter, scim_errors.ScimNoTarget, scim_errors.ScimMutability,
    scim_errors.ScimUniqueness, scim_errors.ScimTooMany, scim_errors.ScimPreconditionFailed,
)  # fmt: skip
_READ = (
    scim_errors.ScimInvalidFilter,
    scim_errors.ScimInvalidPath,
    scim_errors.ScimInvalidCursor,
    scim_errors.ScimTooMany,
)
_OF_ALL: dict[str, Any] = {"error_profile": SCIM, "on": Host.TENANT, "accepts": Accept.SCIM, "answers": (MEDIA_TYPE,)}
_TOKEN = " Send a token of a SCIM connection as `Authorization: Bearer …`."

list_all = operation(
    "scim.list", f"GET {BASE}/{{kind}}", ListResources, Document, errors=_READ, **_OF_ALL,
    summary="List SCIM resources",
    description="Returns people (`Users`) or roles (`Groups`), by filter, in order, page by page (RFC 7644, section 3.4.2), by index or "
    "by cursor (RFC 9865). `ResourceTypes` and `Schemas` describe them." + _TOKEN,
)  # fmt: skip
create = operation(
    "scim.create", f"POST {BASE}/{{kind}}", NewResource, Document, errors=_WRITE, **_OF_ALL,
    summary="Create a SCIM resource",
    description="Creates a person or a role. In an organization, an existing account with an address of its verified domains joins "
    "it." + _TOKEN,
)  # fmt: skip
search = operation(
    "scim.search", f"POST {BASE}/{{kind}}/.search", SearchResources, Document, errors=_READ, **_OF_ALL,
    summary="Search SCIM resources",
    description="Lists people or roles by a search request in the body (RFC 7644, section 3.4.3)." + _TOKEN,
)  # fmt: skip
search_all = operation(
    "scim.search_all", f"POST {BASE}/.search", ScimMessage, Document, errors=_READ, **_OF_ALL,
    summary="Search all SCIM resources",
    description="Lists people and roles together by a search request in the body." + _TOKEN,
)  # fmt: skip
read = operation(
    "scim.read", f"GET {BASE}/{{kind}}/{{id}}", ReadResource, Document, errors=(scim_errors.ScimInvalidPath,), **_OF_ALL,
    summary="Get a SCIM resource",
    description="Returns a person, a role, a resource type or a schema. `ETag` has the version." + _TOKEN,
)  # fmt: skip
replace = operation(
    "scim.replace", f"PUT {BASE}/{{kind}}/{{id}}", ChangedResource, Document, errors=_WRITE, **_OF_ALL,
    summary="Replace a SCIM resource",
    description="Replaces the attributes of a person or the name and members of a role." + _TOKEN,
)  # fmt: skip
change = operation(
    "scim.change", f"PATCH {BASE}/{{kind}}/{{id}}", ChangedResource, Document, errors=_WRITE, **_OF_ALL,
    summary="Change a SCIM resource",
    description="Changes attributes of a person or members of a role (RFC 7644, section 3.5.2). With `active` false, the person’s "
    "sessions and tokens end at once." + _TOKEN,
)  # fmt: skip
remove = operation(
    "scim.remove", f"DELETE {BASE}/{{kind}}/{{id}}", RemovedResource, NoContent, error_profile=SCIM, on=Host.TENANT, answers=(),
    errors=(scim_errors.ScimPreconditionFailed, scim_errors.ScimMutability),
    summary="Delete a SCIM resource",
    description="Takes a person out of the organization, or deletes the account with a token of the tenant; or deletes a role." + _TOKEN,
)  # fmt: skip
bulk = operation(
    "scim.bulk", f"POST {BASE}/Bulk", ScimMessage, Document, errors=_WRITE, **_OF_ALL,
    summary="Change several SCIM resources",
    description="Runs up to 100 requests in one transaction (RFC 7644, section 3.7). A failed one changes nothing of its own." + _TOKEN,
)  # fmt: skip
configuration = operation(
    "scim.configuration", f"GET {BASE}/ServiceProviderConfig", ReadConfiguration, Document, **_OF_ALL,
    summary="Get the SCIM configuration",
    description="Returns the features and limits of this service provider (RFC 7643, section 5)." + _TOKEN,
)  # fmt: skip
