"""What the service provider says about itself (RFC 7643 sections 5 to 7, RFC 9865 section 4)."""

from __future__ import annotations

from typing import Any, Final

from app.contract.scim import scim_errors
from app.contract.scim.scim_operations import BASE
from app.identity.use_cases.scim import bulk, listing, protocol
from app.identity.use_cases.scim.environment import ScimCall
from app.identity.use_cases.scim.protocol import LIST_SCHEMA
from app.kit.operations.operation import MAX_BODY_BYTES

RESOURCE_TYPES: Final = "ResourceTypes"
SCHEMAS: Final = "Schemas"


def configuration(request: ScimCall) -> dict[str, Any]:
    """Return the features and limits."""
    return {
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
        "patch": {"supported": True},
        "bulk": {"supported": True, "maxOperations": bulk.MAX_OPERATIONS, "maxPayloadSize": MAX_BODY_BYTES},
        "filter": {"supported": True, "maxResults": listing.MAX_PAGE},
        "changePassword": {"supported": False},
        "sort": {"supported": True},
        "etag": {"supported": True},
        "pagination": {
            "cursor": True, "index": True, "defaultPaginationMethod": "index",
            "defaultPageSize": listing.DEFAULT_PAGE, "maxPageSize": listing.MAX_PAGE,
        },
        "authenticationSchemes": [
            {
                "type": "oauthbearertoken", "name": "OAuth bearer token", "primary": True,
                "description": "A token of the SCIM connection, as Authorization: Bearer.",
                "specUri": "https://www.rfc-editor.org/info/rfc6750",
            }
        ],
        "meta": {
            "resourceType": "ServiceProviderConfig",
            "location": f"{request.context.pages_url}{BASE}/ServiceProviderConfig",
        },
    }  # fmt: skip


def list_of(request: ScimCall, kind: str, *, has_filter: bool) -> dict[str, Any]:
    """Return all resource types or schemas. Raises ScimForbidden for a filter (RFC 7644 section 4)."""
    if has_filter:
        raise scim_errors.ScimForbidden(f"{kind} has no filter.")
    found = _described(request, kind)
    return {
        "schemas": [LIST_SCHEMA], "totalResults": len(found), "startIndex": 1, "itemsPerPage": len(found), "Resources": found,
    }  # fmt: skip


def one_of(request: ScimCall, kind: str, id_: str) -> dict[str, Any]:
    """Return a resource type or a schema. Raises ScimNotFound."""
    found = next((item for item in _described(request, kind) if str(item["id"]).lower() == id_.lower()), None)
    if found is None:
        raise scim_errors.ScimNotFound
    return found


def _described(request: ScimCall, kind: str) -> list[dict[str, Any]]:
    resource_type = "ResourceType" if kind == RESOURCE_TYPES else "Schema"
    return [
        {
            **item,
            "id": item["id"],
            "meta": {"resourceType": resource_type, "location": request.location(kind, str(item["id"]))},
        }
        for item in (protocol.resource_types() if kind == RESOURCE_TYPES else protocol.schemas())
    ]
