"""The operations of SCIM. Their rules, with scim2-models, are imported with the first request: few tenants have a connection."""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

from typing import Any

from app.contract.scim import scim_operations
from app.identity.platform.context import Context
from app.kit.operations.wire import Document, NoContent


@scim_operations.list_all.implements
def list_all(context: Context, req: scim_operations.ListResources) -> Document:
    from app.identity.use_cases.scim import service

    parameters = {
        "filter": req.filter, "sortBy": req.sort_by, "sortOrder": req.sort_order, "startIndex": req.start_index,
        "count": req.count, "cursor": _cursor(context, req), **_selection(req),
    }  # fmt: skip
    return service.serve(context, lambda request: service.list_of(request, req.kind, parameters))


@scim_operations.search.implements
def search(context: Context, req: scim_operations.SearchResources) -> Document:
    from app.identity.use_cases.scim import service

    return service.serve(context, lambda request: service.list_of(request, req.kind, req.body))


@scim_operations.search_all.implements
def search_all(context: Context, req: scim_operations.ScimMessage) -> Document:
    from app.identity.use_cases.scim import service

    return service.serve(context, lambda request: service.list_of_all(request, req.body))


@scim_operations.create.implements
def create(context: Context, req: scim_operations.NewResource) -> Document:
    from app.identity.use_cases.scim import service

    return service.serve(context, lambda request: service.create(request, req.kind, req.body, _selection(req)))


@scim_operations.read.implements
def read(context: Context, req: scim_operations.ReadResource) -> Document:
    from app.identity.use_cases.scim import service

    return service.serve(context, lambda request: service.read(request, req.kind, req.id, _selection(req)))


@scim_operations.replace.implements
def replace(context: Context, req: scim_operations.ChangedResource) -> Document:
    from app.identity.use_cases.scim import service

    return service.serve(
        context, lambda request: service.put(request, req.kind, req.id, req.body, req.if_match, _selection(req))
    )


@scim_operations.change.implements
def change(context: Context, req: scim_operations.ChangedResource) -> Document:
    from app.identity.use_cases.scim import service

    return service.serve(
        context, lambda request: service.patch(request, req.kind, req.id, req.body, req.if_match, _selection(req))
    )


@scim_operations.remove.implements
def remove(context: Context, req: scim_operations.RemovedResource) -> NoContent | Document:
    from app.identity.use_cases.scim import service

    return service.serve(context, lambda request: service.delete(request, req.kind, req.id, req.if_match))


@scim_operations.bulk.implements
def bulk(context: Context, req: scim_operations.ScimMessage) -> Document:
    from app.identity.use_cases.scim import service

    return service.serve(context, lambda request: service.run_bulk(request, req.body))


@scim_operations.configuration.implements
def configuration(context: Context, req: scim_operations.ReadConfiguration) -> Document:
    from app.identity.use_cases.scim import discovery, service

    return service.serve(context, lambda request: service.document(discovery.configuration(request)))


def _selection(req: scim_operations.AttributeSelection) -> dict[str, Any]:
    return {"attributes": req.attributes, "excludedAttributes": req.excluded_attributes}


def _cursor(context: Context, req: scim_operations.ListResources) -> str | None:
    """Return the cursor; an empty one asks for the first page by cursors (RFC 9865 section 2)."""
    names = {name.lower() for name, _ in context.raw.query_pairs}
    return req.cursor if req.cursor is not None else "" if "cursor" in names else None
